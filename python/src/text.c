/* text.c - texts between numpy and the pipeline. numpy has fixed-width elements ("U7": 7 characters, "S7": 7 bytes); the
 * pipeline has UTF-8 or bytes in the last axis of a tensor, padded with NUL (MS_STRING, MS_BYTES). Single texts, the
 * usual case, go through str and bytes; arrays through numpy.char. */
#include "py.h"

#include <string.h>

static PyObject *numpy_char(const char *name, PyObject *array)
{
    PyObject *utf8 = PyUnicode_FromString("utf-8");
    PyObject *r = utf8 ? py_import_call("numpy.char", name, array, utf8) : NULL;
    Py_XDECREF(utf8);
    return r;
}

static MsTensor *from_bytes(PyObject *array, MsDtype dtype)
{
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) return NULL;
    int64_t shape[MS_MAX_DIM];
    MsTensor *t = NULL;
    if (view.ndim >= MS_MAX_DIM) {
        PyErr_Format(PyExc_ValueError, "An array of texts has at most %d dimensions.", MS_MAX_DIM - 1);
    } else {
        for (int d = 0; d < view.ndim; d++) shape[d] = view.shape[d];
        shape[view.ndim] = view.itemsize ? view.itemsize : 1;
        t = ms_tensor_empty(dtype, view.ndim + 1, shape);
        if (!t)
            py_raise();
        else if (view.itemsize)
            memcpy(ms_tensor_data(t), view.buf, (size_t)view.len);
        else
            memset(ms_tensor_data(t), 0, (size_t)ms_tensor_numel(t));
    }
    PyBuffer_Release(&view);
    return t;
}

static MsTensor *one_text(MsDtype dtype, const char *s, Py_ssize_t n)
{
    int64_t width = n ? n : 1;
    MsTensor *t = ms_tensor_empty(dtype, 1, &width);
    if (!t) return (MsTensor *)py_raise();
    *(char *)ms_tensor_data(t) = 0;
    memcpy(ms_tensor_data(t), s, (size_t)n);
    return t;
}

MsTensor *py_text(PyObject *o)
{
    if (PyUnicode_Check(o)) {
        Py_ssize_t n;
        const char *s = PyUnicode_AsUTF8AndSize(o, &n);
        return s ? one_text(MS_STRING, s, n) : NULL;
    }
    if (PyBytes_Check(o)) return one_text(MS_BYTES, PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o));
    PyObject *kind = NULL, *dtype = PyObject_GetAttrString(o, "dtype");
    if (dtype) kind = PyObject_GetAttrString(dtype, "kind");
    Py_XDECREF(dtype);
    const char *k = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : "";
    bool text = *k == 'U', bytes = *k == 'S';
    Py_XDECREF(kind);
    PyErr_Clear();
    if (bytes) return from_bytes(o, MS_BYTES);
    if (!text) return NULL;
    PyObject *encoded = numpy_char("encode", o);
    MsTensor *t = encoded ? from_bytes(encoded, MS_STRING) : NULL;
    Py_XDECREF(encoded);
    return t;
}

PyObject *py_text_array(MsTensor *t)
{
    static PyObject *array, *ndarray;
    if (!ndarray) {
        array = py_import("numpy", "array");
        ndarray = array ? py_import("numpy", "ndarray") : NULL;
        if (!ndarray) return NULL;
    }
    int n = ms_tensor_ndim(t) - 1;
    const int64_t *shape = ms_tensor_shape(t);
    const char *s = ms_tensor_data(t);
    bool text = ms_tensor_dtype(t) == MS_STRING;
    if (n == 0 && text) {
        PyObject *str = PyUnicode_DecodeUTF8(s, (Py_ssize_t)strnlen(s, (size_t)shape[0]), "replace");
        PyObject *r = str ? PyObject_CallOneArg(array, str) : NULL;
        Py_XDECREF(str);
        return r;
    }
    PyObject *sizes = PyTuple_New(n);
    for (int d = 0; sizes && d < n; d++) PyTuple_SET_ITEM(sizes, d, PyLong_FromLongLong(shape[d]));
    PyObject *type = PyUnicode_FromFormat("S%lld", (long long)shape[n]);
    PyObject *content = PyByteArray_FromStringAndSize(s, (Py_ssize_t)ms_tensor_numel(t));
    PyObject *r =
        sizes && type && content ? PyObject_CallFunctionObjArgs(ndarray, sizes, type, content, NULL) : NULL;
    Py_XDECREF(sizes);
    Py_XDECREF(type);
    Py_XDECREF(content);
    if (r && text) {
        PyObject *decoded = numpy_char("decode", r);
        Py_DECREF(r);
        r = decoded;
    }
    return r;
}
