/* dataset.h - what the files about the data pipeline share (dataset.c). */
#ifndef MS_PY_DATASET_H
#define MS_PY_DATASET_H
#include "py.h"

#include "mindspore_data.h"

/* A description as a capsule, taken over; NULL raises the library's error. */
PyObject *py_dataset(MsDataset *d);
/* A sampler in a capsule, given away, or None. -1 and an exception for anything else. */
int py_sampler(PyObject *o, MsSampler **s);
/* A value as a tensor in the open scope, with numpy's idea of its dtype. */
MsTensor *py_to_tensor(PyObject *o);

#endif
