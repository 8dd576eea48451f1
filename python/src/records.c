/* records.c - MindRecord, TFRecord and lines of text for Python: arguments to descriptions of the pipeline. */
#include "py.h"

#include "mindspore_data.h"

#include "dataset.h"

#include <stdlib.h>

#define SPANS "mindspore.Spans"

static void free_spans(PyObject *c)
{
    ms_spans_unref(PyCapsule_GetPointer(c, SPANS));
}

/* Paths as bytes in a list. */
static const char **get_paths(PyObject *list, int *n)
{
    *n = (int)PyList_GET_SIZE(list);
    const char **path = malloc(((size_t)*n + 1) * sizeof *path);
    for (int k = 0; path && k < *n; k++)
        if (!(path[k] = PyBytes_AsString(PyList_GET_ITEM(list, k)))) {
            free(path);
            return NULL;
        }
    return path ? path : (const char **)PyErr_NoMemory();
}

/* A list of sizes, or None. */
static bool get_shape(PyObject *o, MsInts *shape, int64_t *v)
{
    *shape = (MsInts){-1, v};
    if (o == Py_None) return true;
    if (!PyList_Check(o) || PyList_GET_SIZE(o) > MS_MAX_DIM) {
        PyErr_Format(PyExc_ValueError, "A shape must be a list of at most %d sizes.", MS_MAX_DIM);
        return false;
    }
    shape->n = (int)PyList_GET_SIZE(o);
    for (int d = 0; d < shape->n; d++) v[d] = PyLong_AsLongLong(PyList_GET_ITEM(o, d));
    return !PyErr_Occurred();
}

/* spans(kind, paths, compression) -> (capsule, [rows of each file]) */
static PyObject *ds_spans(PyObject *m, PyObject *args)
{
    (void)m;
    const char *kind, *compression;
    PyObject *paths;
    int n;
    if (!PyArg_ParseTuple(args, "sO!z", &kind, &PyList_Type, &paths, &compression)) return NULL;
    const char **path = get_paths(paths, &n);
    if (!path) return NULL;
    MsSpans *s;
    PyThreadState *gil = PyEval_SaveThread();
    s = ms_spans_new(kind, n, path, compression);
    PyEval_RestoreThread(gil);
    free(path);
    if (!s) return py_raise();
    PyObject *counts = PyList_New(n);
    for (int k = 0; counts && k < n; k++)
        PyList_SET_ITEM(counts, k, PyLong_FromLongLong(ms_spans_count(s, k)));
    return Py_BuildValue("NN", PyCapsule_New(s, SPANS, free_spans), counts);
}

static MsSpans *get_spans(PyObject *o)
{
    MsSpans *s = PyCapsule_GetPointer(o, SPANS);
    return s ? ms_spans_ref(s) : NULL;
}

static PyObject *ds_lines(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *spans, *sampler;
    MsSampler *s;
    int workers;
    if (!PyArg_ParseTuple(args, "OOi", &spans, &sampler, &workers)) return NULL;
    MsSpans *p = get_spans(spans);
    if (!p || py_sampler(sampler, &s)) return NULL;
    return py_dataset(ms_dataset_lines(p, "text", s, workers));
}

/* features(spans) -> [name] of the first record */
static PyObject *ds_features(PyObject *m, PyObject *o)
{
    (void)m;
    MsSpans *s = PyCapsule_GetPointer(o, SPANS);
    char *text = s ? ms_spans_features(s) : NULL;
    if (!text) return PyErr_Occurred() ? NULL : py_raise();
    PyObject *all = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *list = all ? PyObject_CallMethod(all, "split", "s", "\n") : NULL;
    Py_XDECREF(all);
    free(text);
    return list;
}

/* tfrecord(spans, [(name, dtype or None, shape or None)], sampler, workers) */
static PyObject *ds_tfrecord(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *spans, *list, *sampler, *shape;
    MsSampler *s;
    int workers;
    if (!PyArg_ParseTuple(args, "OO!Oi", &spans, &PyList_Type, &list, &sampler, &workers)) return NULL;
    int n = (int)PyList_GET_SIZE(list);
    MsFeature f[MS_DATA_MAX_COLUMN];
    int64_t sizes[MS_DATA_MAX_COLUMN][MS_MAX_DIM];
    if (n > MS_DATA_MAX_COLUMN)
        return PyErr_Format(PyExc_ValueError, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
    for (int k = 0; k < n; k++) {
        const char *dtype;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, k), "szO", &f[k].name, &dtype, &shape) ||
            !get_shape(shape, &f[k].shape, sizes[k]))
            return NULL;
        f[k].dtype = dtype ? ms_dtype_named(dtype) : MS_DTYPE_NONE;
    }
    MsSpans *p = get_spans(spans);
    if (!p || py_sampler(sampler, &s)) return NULL;
    return py_dataset(ms_dataset_tfrecord(p, n, f, s, workers));
}

/* mindrecord(paths, [(name, dtype, shape or None, is_blob)], [field of a column], index, n_padded, [array], sampler,
 * workers) */
static PyObject *ds_mindrecord(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *paths, *fields, *columns, *index, *padded, *sampler, *shape, *result = NULL;
    long long n_padded;
    int workers, n = 0;
    MsSampler *s;
    if (!PyArg_ParseTuple(args, "O!O!O!OLO!Oi", &PyList_Type, &paths, &PyList_Type, &fields, &PyList_Type,
                          &columns, &index, &n_padded, &PyList_Type, &padded, &sampler, &workers))
        return NULL;
    int n_field = (int)PyList_GET_SIZE(fields), n_col = (int)PyList_GET_SIZE(columns),
        column[MS_DATA_MAX_COLUMN];
    if (n_col > MS_DATA_MAX_COLUMN)
        return PyErr_Format(PyExc_ValueError, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
    MsRecordField *f = calloc((size_t)n_field + 1, sizeof *f);
    int64_t(*sizes)[MS_MAX_DIM] = calloc((size_t)n_field + 1, sizeof *sizes);
    const char **path = f && sizes ? get_paths(paths, &n) : (const char **)PyErr_NoMemory();
    MsTensor *pad[MS_DATA_MAX_COLUMN];
    int mark = ms_scope_begin();
    bool good = path != NULL;
    for (int k = 0; good && k < n_field; k++) {
        const char *dtype;
        int is_blob;
        good = PyArg_ParseTuple(PyList_GET_ITEM(fields, k), "ssOp", &f[k].name, &dtype, &shape, &is_blob) &&
               get_shape(shape, &f[k].shape, sizes[k]);
        if (good) f[k].dtype = ms_dtype_named(dtype), f[k].blob = is_blob;
    }
    for (int k = 0; good && k < n_col; k++) {
        column[k] = (int)PyLong_AsLong(PyList_GET_ITEM(columns, k));
        good = !PyErr_Occurred() && column[k] >= 0 && column[k] < n_field;
    }
    for (int k = 0; good && n_padded && k < n_col; k++)
        good = (pad[k] = py_to_tensor(PyList_GET_ITEM(padded, k))) != NULL;
    MsTensor *rows = good ? py_to_tensor(index) : NULL;
    if (rows && py_sampler(sampler, &s) == 0) {
        MsRecordFiles files = {n, n_field, n_col, path, f, column, rows, n_padded, pad};
        result = py_dataset(ms_dataset_mindrecord(&files, s, workers));
    } else if (!PyErr_Occurred()) {
        py_raise();
    }
    ms_scope_end(mark, NULL, 0);
    free(path), free(f), free(sizes);
    return result;
}

static PyMethodDef methods[] = {
    {"ds_spans", ds_spans, METH_VARARGS, NULL},           {"ds_lines", ds_lines, METH_VARARGS, NULL},
    {"ds_features", ds_features, METH_O, NULL},           {"ds_tfrecord", ds_tfrecord, METH_VARARGS, NULL},
    {"ds_mindrecord", ds_mindrecord, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static int add_records(PyObject *m)
{
    return PyModule_AddFunctions(m, methods);
}

__attribute__((constructor)) static void hook(void)
{
    py_register(add_records);
}
