/* dlpack.c - tensors to and from other libraries without a copy, by the DLPack protocol (dmlc/dlpack, version 0.8):
 * a capsule named "dltensor" holds a DLManagedTensor; who takes it renames the capsule and calls the deleter. A tensor
 * that came in keeps the capsule's tensor until its storage dies. Refused: the header as a dependency; the layout is
 * fixed and short. */
#include "py.h"

#include <stdlib.h>

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id; /* 1 = CPU */
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor t;
    void *ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

enum {
    DL_INT,
    DL_UINT,
    DL_FLOAT,
    DL_BFLOAT = 4,
    DL_COMPLEX,
    DL_BOOL
};

static const struct {
    uint8_t code, bits;
} kind_of[] = {
    [MS_BOOL] = {DL_BOOL, 8},      [MS_INT8] = {DL_INT, 8},           [MS_INT16] = {DL_INT, 16},
    [MS_INT32] = {DL_INT, 32},     [MS_INT64] = {DL_INT, 64},         [MS_UINT8] = {DL_UINT, 8},
    [MS_UINT16] = {DL_UINT, 16},   [MS_UINT32] = {DL_UINT, 32},       [MS_UINT64] = {DL_UINT, 64},
    [MS_FLOAT16] = {DL_FLOAT, 16}, [MS_BFLOAT16] = {DL_BFLOAT, 16},   [MS_FLOAT32] = {DL_FLOAT, 32},
    [MS_FLOAT64] = {DL_FLOAT, 64}, [MS_COMPLEX64] = {DL_COMPLEX, 64}, [MS_COMPLEX128] = {DL_COMPLEX, 128},
};
#define N_KINDS ((int)(sizeof kind_of / sizeof *kind_of))

typedef struct Export {
    DLManagedTensor m;
    MsStorage *storage;
    int64_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
} Export;

static void export_done(DLManagedTensor *m)
{
    Export *e = (Export *)m;
    ms__storage_unref(e->storage);
    free(e);
}

/* The capsule of nobody: its tensor was not taken. */
static void capsule_done(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    DLManagedTensor *m = PyCapsule_GetPointer(capsule, "dltensor");
    if (m->deleter) m->deleter(m);
}

static PyObject *to_dlpack(PyObject *self, PyObject *x)
{
    (void)self;
    if (!PY_IS_TENSOR(x))
        return PyErr_Format(PyExc_TypeError, "For 'to_dlpack', a Tensor is needed, but got '%s'.",
                            Py_TYPE(x)->tp_name);
    int mark = ms_scope_begin();
    PyObject *capsule = NULL;
    MsTensor *t = py_concrete(x);
    if (!t) goto done;
    if (ms__settle(t) != MS_OK) {
        py_raise();
        goto done;
    }
    if (t->dtype >= N_KINDS || !kind_of[t->dtype].bits) {
        PyErr_Format(PyExc_TypeError, "For 'to_dlpack', tensors of %s are not part of DLPack.",
                     ms_dtype_name((MsDtype)t->dtype));
        goto done;
    }
    Export *e = calloc(1, sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        goto done;
    }
    e->storage = t->storage;
    atomic_fetch_add(&t->storage->ref, 1);
    for (int d = 0; d < t->ndim; d++) e->shape[d] = t->shape[d], e->strides[d] = t->strides[d];
    e->m.t.data = ms_tensor_data(t);
    e->m.t.device.type = 1;
    e->m.t.ndim = t->ndim;
    e->m.t.dtype.code = kind_of[t->dtype].code;
    e->m.t.dtype.bits = kind_of[t->dtype].bits;
    e->m.t.dtype.lanes = 1;
    e->m.t.shape = e->shape;
    e->m.t.strides = e->strides;
    e->m.deleter = export_done;
    capsule = PyCapsule_New(e, "dltensor", capsule_done);
    if (!capsule) export_done(&e->m);
done:
    ms_scope_end(mark, NULL, 0);
    return capsule;
}

static void import_done(void *ctx)
{
    DLManagedTensor *m = ctx;
    PyGILState_STATE gil = PyGILState_Ensure(); /* the owner may be a Python object */
    if (m->deleter) m->deleter(m);
    PyGILState_Release(gil);
}

static PyObject *from_capsule(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor"))
        return PyErr_Format(
            PyExc_ValueError,
            "For 'from_dlpack', a capsule of DLPack is needed that was not taken before, but got %R.",
            capsule);
    DLManagedTensor *m = PyCapsule_GetPointer(capsule, "dltensor");
    DLTensor *t = &m->t;
    int dtype = 0;
    while (dtype < N_KINDS && !(kind_of[dtype].code == t->dtype.code && kind_of[dtype].bits == t->dtype.bits))
        dtype++;
    if (t->device.type != 1 || t->dtype.lanes != 1 || dtype == N_KINDS || t->ndim > MS_MAX_DIM || t->ndim < 0)
        return PyErr_Format(
            PyExc_ValueError,
            "For 'from_dlpack', the data must lie in host memory and have a known dtype and at most "
            "%d dimensions, but got device %d, type code %d of %d bits, %d dimensions.",
            MS_MAX_DIM, (int)t->device.type, (int)t->dtype.code, (int)t->dtype.bits, (int)t->ndim);
    int mark = ms_scope_begin();
    MsTensor *x = ms_tensor_wrap((MsDtype)dtype, t->ndim, t->shape, t->strides,
                                 (char *)t->data + t->byte_offset, import_done, m);
    if (x) (void)PyCapsule_SetName(capsule, "used_dltensor"); /* fails for invalid capsules only */
    return py_leave(mark, x);
}

/* A capsule, or an object with __dlpack__. */
PyObject *py_from_dlpack(PyObject *self, PyObject *x)
{
    (void)self;
    if (PyCapsule_CheckExact(x)) return from_capsule(x);
    PyObject *capsule = PyObject_CallMethod(x, "__dlpack__", NULL);
    if (!capsule) return NULL;
    PyObject *r = from_capsule(capsule);
    Py_DECREF(capsule);
    return r;
}

static PyMethodDef functions[] = {
    {"to_dlpack", to_dlpack, METH_O, "A capsule that shares the tensor's memory."},
    {"from_dlpack", py_from_dlpack, METH_O,
     "A tensor over the memory of a capsule or of an object with __dlpack__."},
    {NULL, NULL, 0, NULL},
};

static int add(PyObject *m)
{
    return PyModule_AddFunctions(m, functions);
}

__attribute__((constructor)) static void init(void)
{
    py_register(add);
}
