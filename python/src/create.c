/* create.c - tensors from Python data and back: numbers, nested lists, buffers and numpy arrays. Invariant:
 * what is made from data owns a copy; what is made by from_numpy shares memory and holds the buffer until its
 * last view is gone. numpy is reached by the buffer protocol and by name, never by its C headers, so that one
 * build serves numpy 1 and 2 and a program that needs no array never imports it. */
#include "py.h"

#include "cpu/copy.h"

#include <string.h>

/* ---- numbers ---- */

typedef enum Kind {
    K_NONE,
    K_BOOL,
    K_INT,
    K_UINT,
    K_FLOAT,
    K_COMPLEX
} Kind;

static uint16_t to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static double from_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* numpy's conversion of a float to a 64-bit integer: what does not fit is the smallest one. */
static int64_t to_int(double f)
{
    return f >= -9223372036854775808.0 && f < 9223372036854775808.0 ? (int64_t)f : INT64_MIN;
}

static void store_int(MsDtype dtype, void *p, int64_t i, bool is_unsigned)
{
    double f = is_unsigned ? (double)(uint64_t)i : (double)i;
    switch (dtype) {
    case MS_BOOL: *(bool *)p = i != 0; break;
    case MS_INT8:
    case MS_UINT8:
    case MS_INT4: *(int8_t *)p = (int8_t)i; break;
    case MS_INT16:
    case MS_UINT16: *(int16_t *)p = (int16_t)i; break;
    case MS_INT32:
    case MS_UINT32: *(int32_t *)p = (int32_t)i; break;
    case MS_INT64:
    case MS_UINT64: *(int64_t *)p = i; break;
    case MS_FLOAT16: *(_Float16 *)p = (_Float16)f; break;
    case MS_BFLOAT16: *(uint16_t *)p = to_bf16((float)f); break;
    case MS_FLOAT32: *(float *)p = (float)f; break;
    case MS_FLOAT64: *(double *)p = f; break;
    case MS_COMPLEX64: ((float *)p)[0] = (float)f, ((float *)p)[1] = 0; break;
    case MS_COMPLEX128: ((double *)p)[0] = f, ((double *)p)[1] = 0; break;
    default: break;
    }
}

static void store_float(MsDtype dtype, void *p, double f, double imag)
{
    switch (dtype) {
    case MS_BOOL: *(bool *)p = f != 0 || imag != 0; break;
    case MS_FLOAT16: *(_Float16 *)p = (_Float16)f; break;
    case MS_BFLOAT16: *(uint16_t *)p = to_bf16((float)f); break;
    case MS_FLOAT32: *(float *)p = (float)f; break;
    case MS_FLOAT64: *(double *)p = f; break;
    case MS_COMPLEX64: ((float *)p)[0] = (float)f, ((float *)p)[1] = (float)imag; break;
    case MS_COMPLEX128: ((double *)p)[0] = f, ((double *)p)[1] = imag; break;
    default: store_int(dtype, p, to_int(f), false);
    }
}

/* numpy's rule: an integer that the dtype cannot hold is an error, bool and floats take any. */
static int store_long(MsDtype dtype, void *p, PyObject *o)
{
    int over;
    int64_t i = PyLong_AsLongLongAndOverflow(o, &over);
    if (!over && ms__int_side(dtype, i) == 0) {
        store_int(dtype, p, i, false);
        return 0;
    }
    if (over && !ms_dtype_is_int(dtype)) {
        double f = PyLong_AsDouble(o);
        if (f != -1 || !PyErr_Occurred()) store_float(dtype, p, f, 0);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (over > 0 && dtype == MS_UINT64) {
        i = (int64_t)PyLong_AsUnsignedLongLong(o);
        if (!PyErr_Occurred()) {
            store_int(dtype, p, i, true);
            return 0;
        }
        PyErr_Clear();
    }
    PyErr_Format(PyExc_OverflowError, "For 'Tensor', the integer %R is out of bounds for %s.", o,
                 ms_dtype_name(dtype));
    return -1;
}

static int store(MsDtype dtype, void *p, PyObject *o)
{
    if (PyFloat_Check(o)) {
        store_float(dtype, p, PyFloat_AS_DOUBLE(o), 0);
    } else if (PyLong_Check(o)) {
        return store_long(dtype, p, o);
    } else if (PyComplex_Check(o)) {
        store_float(dtype, p, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    } else {
        PyObject *number = py_numpy_number(o);
        if (!number) return -1;
        int rc = store(dtype, p, number);
        Py_DECREF(number);
        return rc;
    }
    return 0;
}

static PyObject *load(MsDtype dtype, const void *p)
{
    switch (dtype) {
    case MS_BOOL: return PyBool_FromLong(*(const bool *)p);
    case MS_INT4:
    case MS_INT8: return PyLong_FromLong(*(const int8_t *)p);
    case MS_UINT8: return PyLong_FromLong(*(const uint8_t *)p);
    case MS_INT16: return PyLong_FromLong(*(const int16_t *)p);
    case MS_UINT16: return PyLong_FromLong(*(const uint16_t *)p);
    case MS_INT32: return PyLong_FromLong(*(const int32_t *)p);
    case MS_UINT32: return PyLong_FromUnsignedLong(*(const uint32_t *)p);
    case MS_INT64: return PyLong_FromLongLong(*(const int64_t *)p);
    case MS_UINT64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
    case MS_FLOAT16: return PyFloat_FromDouble((double)*(const _Float16 *)p);
    case MS_BFLOAT16: return PyFloat_FromDouble(from_bf16(*(const uint16_t *)p));
    case MS_FLOAT32: return PyFloat_FromDouble(*(const float *)p);
    case MS_FLOAT64: return PyFloat_FromDouble(*(const double *)p);
    case MS_COMPLEX64: return PyComplex_FromDoubles(((const float *)p)[0], ((const float *)p)[1]);
    default: return PyComplex_FromDoubles(((const double *)p)[0], ((const double *)p)[1]);
    }
}

PyObject *py_item(MsTensor *t)
{
    return load(ms_tensor_dtype(t), t->data);
}

static PyObject *list_of(const MsTensor *t, int d, const char *p)
{
    if (d == ms_tensor_ndim(t)) return load(ms_tensor_dtype(t), p);
    int64_t n = ms_tensor_shape(t)[d],
            step = ms_tensor_strides(t)[d] * (int64_t)ms_dtype_size(ms_tensor_dtype(t));
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *item = list_of(t, d + 1, p + i * step);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *py_tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    int mark = ms_scope_begin();
    MsTensor *t = py_concrete(self);
    PyObject *list = t ? list_of(t, 0, t->data) : NULL;
    ms_scope_end(mark, NULL, 0);
    return list;
}

/* ---- numpy by name ---- */

static bool is_numpy(PyObject *o, const char *base)
{
    for (PyTypeObject *type = Py_TYPE(o); type; type = type->tp_base)
        if (strcmp(type->tp_name, base) == 0) return true;
    return false;
}

bool py_is_numpy_scalar(PyObject *o)
{
    return strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0 && is_numpy(o, "numpy.generic");
}

bool py_is_ndarray(PyObject *o)
{
    return is_numpy(o, "numpy.ndarray");
}

PyObject *py_numpy_number(PyObject *o)
{
    if (!py_is_numpy_scalar(o)) {
        PyErr_Format(PyExc_TypeError, "expected a number, but got '%s'", Py_TYPE(o)->tp_name);
        return NULL;
    }
    PyObject *number = PyObject_CallMethod(o, "item", NULL);
    if (number && !PyFloat_Check(number) && !PyLong_Check(number) && !PyComplex_Check(number)) {
        Py_CLEAR(number);
        PyErr_Format(PyExc_TypeError, "expected a number, but got '%s'", Py_TYPE(o)->tp_name);
    }
    return number;
}

static PyObject *numpy_call(const char *name, PyObject *arg)
{
    return py_import_call("numpy", name, arg, NULL);
}

/* ---- nested lists ---- */

typedef struct Scan {
    Kind kind;
    int ndim;
    int64_t shape[MS_MAX_DIM];
    bool arrays;  /* holds arrays or tensors: numpy has to stack them */
    bool scalars; /* holds scalars of numpy, whose dtype counts where none is given */
} Scan;

static Kind kind_of(PyObject *o)
{
    if (PyFloat_Check(o)) return K_FLOAT;
    if (PyBool_Check(o)) return K_BOOL;
    if (PyLong_Check(o)) {
        int over;
        PyLong_AsLongLongAndOverflow(o, &over);
        return over > 0 ? K_UINT : K_INT;
    }
    return PyComplex_Check(o) ? K_COMPLEX : K_NONE;
}

static bool is_list(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o);
}
static Py_ssize_t list_n(PyObject *o)
{
    return PyList_Check(o) ? PyList_GET_SIZE(o) : PyTuple_GET_SIZE(o);
}
static PyObject *list_at(PyObject *o, Py_ssize_t i)
{
    return PyList_Check(o) ? PyList_GET_ITEM(o, i) : PyTuple_GET_ITEM(o, i);
}

/* Finds shape and kind; -1 for ragged or foreign content (no exception). */
static int scan(PyObject *o, int d, Scan *s, bool first)
{
    if (!is_list(o)) {
        if (first) s->ndim = d;
        if (d != s->ndim) return -1;
        Kind k = kind_of(o);
        if (k == K_NONE) {
            bool scalar = py_is_numpy_scalar(o);
            if (!PY_IS_TENSOR(o) && !py_is_ndarray(o) && !scalar) return -1;
            s->arrays |= !scalar;
            s->scalars |= scalar;
        }
        if (k > s->kind) s->kind = k;
        return 0;
    }
    Py_ssize_t n = list_n(o);
    if (first) {
        if (d == MS_MAX_DIM) return -1;
        s->shape[d] = n;
        if (n == 0) s->ndim = d + 1;
    }
    if (!first && (d >= s->ndim || s->shape[d] != n)) return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (scan(list_at(o, i), d + 1, s, first && i == 0) < 0) return -1;
    return 0;
}

static int fill(PyObject *o, MsDtype dtype, char **p)
{
    if (!is_list(o)) {
        if (store(dtype, *p, o) < 0) return -1;
        *p += ms_dtype_size(dtype);
        return 0;
    }
    for (Py_ssize_t i = 0, n = list_n(o); i < n; i++)
        if (i >= list_n(o) || fill(list_at(o, i), dtype, p) < 0) return -1;
    return 0;
}

static MsTensor *from_numbers(PyObject *data, MsDtype dtype)
{
    static const MsDtype natural[] = {MS_FLOAT32, MS_BOOL, MS_INT64, MS_UINT64, MS_FLOAT32, MS_COMPLEX128};
    Scan s = {K_NONE, 0, {0}, false, false};
    if (scan(data, 0, &s, true) < 0) {
        PyErr_Format(PyExc_TypeError, "For Tensor, the input_data is %R that contain unsupported element.",
                     data);
        return NULL;
    }
    if (s.arrays || (s.scalars && dtype == MS_DTYPE_NONE)) {
        PyObject *array = numpy_call("array", data);
        PyObject *from = array ? PyObject_GetAttrString(array, "dtype") : NULL;
        if (dtype == MS_DTYPE_NONE && from && py_dtype_of(from) == MS_FLOAT64 && s.kind != K_NONE)
            dtype = MS_FLOAT32;
        MsTensor *t = from && !is_list(array) ? py_from_data(array, dtype) : NULL;
        Py_XDECREF(from);
        Py_XDECREF(array);
        return t;
    }
    if (dtype == MS_DTYPE_NONE) dtype = natural[s.kind];
    MsTensor *t = ms_tensor_empty(dtype, s.ndim, s.shape);
    if (!t) return (MsTensor *)py_raise();
    char *p = t->data;
    return fill(data, dtype, &p) < 0 ? NULL : t;
}

/* ---- buffers ---- */

static MsDtype dtype_of_format(const char *f, Py_ssize_t itemsize)
{
    if (!f) return MS_UINT8;
    if (*f == '@' || *f == '=' || *f == '|' || (*f == '<' && PY_LITTLE_ENDIAN)) f++;
    if (*f == 'Z' && (f[1] == 'f' || f[1] == 'd') && f[2] == 0)
        return f[1] == 'f' ? MS_COMPLEX64 : MS_COMPLEX128;
    if (*f == 0 || f[1] != 0) return MS_DTYPE_NONE;
    static const MsDtype s[] = {[1] = MS_INT8, [2] = MS_INT16, [4] = MS_INT32, [8] = MS_INT64};
    static const MsDtype u[] = {[1] = MS_UINT8, [2] = MS_UINT16, [4] = MS_UINT32, [8] = MS_UINT64};
    if (*f == '?') return MS_BOOL;
    if (*f == 'e') return MS_FLOAT16;
    if (*f == 'f') return MS_FLOAT32;
    if (*f == 'd') return MS_FLOAT64;
    if (itemsize < 0 || itemsize > 8) return MS_DTYPE_NONE;
    if (strchr("bhilqn", *f)) return s[itemsize];
    if (strchr("BHILQN", *f)) return u[itemsize];
    return MS_DTYPE_NONE;
}

static void release(void *ctx)
{
    if (!Py_IsInitialized()) return; /* at exit: the memory goes with the process */
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(ctx);
    PyMem_Free(ctx);
    PyGILState_Release(gil);
}

/* TypeError for elements that are no numbers: times, objects, texts, records. */
static void refuse(PyObject *o, const char *format)
{
    PyErr_Clear();
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    if (!dtype) {
        PyErr_Clear();
        dtype = PyUnicode_FromString(format ? format : "?");
    }
    if (dtype)
        PyErr_Format(PyExc_TypeError,
                     "For 'Tensor', elements of type '%S' are not supported (data of type '%s').", dtype,
                     Py_TYPE(o)->tp_name);
    Py_XDECREF(dtype);
}

MsTensor *py_from_buffer(PyObject *o, bool need_writable)
{
    Py_buffer *view = PyMem_Malloc(sizeof *view);
    if (!view) return (MsTensor *)PyErr_NoMemory();
    if (PyObject_GetBuffer(o, view, need_writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0) {
        PyMem_Free(view);
        if (!need_writable && PyErr_ExceptionMatches(PyExc_ValueError) && py_is_ndarray(o)) refuse(o, NULL);
        return NULL;
    }
    MsDtype dtype = dtype_of_format(view->format, view->itemsize);
    MsTensor *t = NULL;
    int64_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
    if (dtype == MS_DTYPE_NONE && view->format && strchr("<>!", *view->format)) {
        PyErr_SetString(PyExc_BufferError, "the array has a foreign byte order");
    } else if (dtype == MS_DTYPE_NONE) {
        refuse(o, view->format);
    } else if (view->ndim > 0 && (!view->shape || !view->strides)) { /* numpy's scalars of time do not say */
        refuse(o, view->format);
    } else if (view->ndim > MS_MAX_DIM) {
        PyErr_Format(PyExc_ValueError, "A tensor has at most %d dimensions, but got %d.", MS_MAX_DIM,
                     view->ndim);
    } else {
        bool fits = (uintptr_t)view->buf % (size_t)view->itemsize == 0 || view->itemsize == 16;
        for (int d = 0; d < view->ndim; d++) {
            shape[d] = view->shape[d];
            strides[d] = view->strides[d] / view->itemsize;
            fits = fits && view->strides[d] % view->itemsize == 0;
        }
        if (!fits) {
            PyErr_SetString(PyExc_BufferError, "the array is not aligned");
        } else {
            t = ms_tensor_wrap(dtype, view->ndim, shape, strides, view->buf, release, view);
            if (!t) py_raise();
        }
    }
    if (!t) {
        PyBuffer_Release(view);
        PyMem_Free(view);
    }
    return t;
}

/* A fresh tensor with t's content in `dtype`. */
static MsTensor *copy_of(MsTensor *t, MsDtype dtype)
{
    if (dtype == MS_DTYPE_NONE) dtype = ms_tensor_dtype(t);
    MsTensor *c;
    if (dtype == ms_tensor_dtype(t) && ms_tensor_is_contiguous(t)) {
        c = ms_tensor_from(dtype, ms_tensor_ndim(t), ms_tensor_shape(t), t->data);
    } else {
        c = ms_tensor_empty(dtype, ms_tensor_ndim(t), ms_tensor_shape(t));
        if (c && ms__copy(c, t) != MS_OK) c = NULL;
    }
    return c ? c : (MsTensor *)py_raise();
}

static MsTensor *from_array(PyObject *o, MsDtype dtype)
{
    MsTensor *t = py_from_buffer(o, false);
    if (!t && PyErr_ExceptionMatches(PyExc_BufferError)) { /* unaligned, packed or foreign byte order */
        PyErr_Clear();
        PyObject *from = PyObject_GetAttrString(o, "dtype");
        PyObject *native = from ? PyObject_CallMethod(from, "newbyteorder", "s", "=") : NULL;
        PyObject *plain = native ? PyObject_CallMethod(o, "astype", "O", native) : NULL;
        t = plain ? py_from_buffer(plain, false) : NULL;
        Py_XDECREF(from);
        Py_XDECREF(native);
        Py_XDECREF(plain);
    }
    return t ? copy_of(t, dtype) : NULL;
}

MsTensor *py_from_data(PyObject *data, MsDtype dtype)
{
    if (PY_IS_TENSOR(data)) {
        MsTensor *t = py_concrete(data);
        return t ? copy_of(t, dtype) : NULL;
    }
    if (is_list(data) || kind_of(data) != K_NONE || (dtype != MS_DTYPE_NONE && py_is_numpy_scalar(data))) {
        if (!PyFloat_Check(data) || !py_is_numpy_scalar(data))
            return from_numbers(data, dtype); /* np.float64 is a float */
    }
    if (py_is_ndarray(data) || py_is_numpy_scalar(data) || PyObject_CheckBuffer(data)) {
        if (!PyBytes_Check(data) && !PyByteArray_Check(data)) return from_array(data, dtype);
    }
    PyErr_Format(
        PyExc_TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['Tensor', 'ndarray', 'list', 'tuple', "
        "'float', 'int', 'bool', 'complex']', but got type '%s'.",
        Py_TYPE(data)->tp_name);
    return NULL;
}

/* ---- to numpy ---- */

static PyObject *asarray(PyObject *tensor)
{
    static PyObject *function;
    if (!function && !(function = py_import("numpy", "asarray"))) return NULL;
    PyObject *view = PyMemoryView_FromObject(tensor);
    PyObject *array = view ? PyObject_CallFunctionObjArgs(function, view, NULL) : NULL;
    Py_XDECREF(view);
    return array;
}

PyObject *py_asnumpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    int mark = ms_scope_begin();
    MsTensor *t = py_concrete(self);
    if (t && (ms_tensor_dtype(t) == MS_BFLOAT16)) t = copy_of(t, MS_FLOAT32);
    if (t && (ms_tensor_dtype(t) == MS_INT4)) t = copy_of(t, MS_INT8);
    PyObject *array = NULL;
    if (t == PY_HANDLE(self)) {
        array = asarray(self);
    } else if (t) {
        PyObject *holder = py_wrap(ms_tensor_ref(t));
        array = holder ? asarray(holder) : NULL;
        Py_XDECREF(holder);
    }
    ms_scope_end(mark, NULL, 0);
    return array;
}

PyObject *py_from_numpy(PyObject *self, PyObject *array)
{
    (void)self;
    if (!py_is_ndarray(array)) {
        PyErr_Format(PyExc_TypeError, "For 'from_numpy', the input must be an ndarray, but got '%s'.",
                     Py_TYPE(array)->tp_name);
        return NULL;
    }
    int mark = ms_scope_begin();
    MsTensor *t = py_from_buffer(array, true);
    if (!t && (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError))) {
        PyErr_Clear(); /* read-only or unaligned memory cannot be shared */
        t = from_array(array, MS_DTYPE_NONE);
    }
    return py_leave(mark, t);
}

static PyObject *frombuffer(PyObject *self, PyObject *args, PyObject *kw)
{
    (void)self;
    static char *names[] = {"buffer", "dtype", "count", "offset", NULL};
    PyObject *buffer, *dtype_arg;
    Py_ssize_t count = -1, offset = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "OO|nn", names, &buffer, &dtype_arg, &count, &offset))
        return NULL;
    MsDtype dtype = py_dtype_of(dtype_arg);
    if (dtype == MS_DTYPE_NONE)
        return PyErr_Format(PyExc_TypeError, "For 'frombuffer', %R is not a dtype.", dtype_arg);
    Py_buffer *view = PyMem_Malloc(sizeof *view);
    if (!view) return PyErr_NoMemory();
    if (PyObject_GetBuffer(buffer, view, PyBUF_SIMPLE) < 0) {
        PyMem_Free(view);
        return NULL;
    }
    int mark = ms_scope_begin();
    Py_ssize_t size = (Py_ssize_t)ms_dtype_size(dtype);
    bool inside = offset >= 0 && offset <= view->len;
    int64_t n = count >= 0 ? count : inside ? (view->len - offset) / size : 0;
    MsTensor *t = NULL;
    if (inside && count < 0 && (view->len - offset) % size) {
        PyErr_Format(PyExc_ValueError,
                     "For 'frombuffer', %zd bytes are no whole number of elements of %zd bytes.",
                     view->len - offset, size);
    } else if (!inside || n > (view->len - offset) / size) {
        PyErr_Format(
            PyExc_ValueError,
            "For 'frombuffer', the buffer of %zd bytes is too small for offset %zd and %lld elements.",
            view->len, offset, (long long)n);
    } else {
        bool copied = view->readonly || ((uintptr_t)view->buf + (size_t)offset) % (size < 8 ? size : 8);
        t = copied ? ms_tensor_from(dtype, 1, &n, (char *)view->buf + offset)
                   : ms_tensor_wrap(dtype, 1, &n, NULL, (char *)view->buf + offset, release, view);
        if (!t)
            py_raise();
        else if (!copied)
            view = NULL;
    }
    if (view) {
        PyBuffer_Release(view);
        PyMem_Free(view);
    }
    return py_leave(mark, t);
}

PyMethodDef py_create_methods[] = {
    {"from_numpy", py_from_numpy, METH_O, "A tensor that shares the memory of an ndarray."},
    {"frombuffer", (PyCFunction)(void (*)(void))frombuffer, METH_VARARGS | METH_KEYWORDS,
     "A 1-d tensor over the memory of an object with the buffer protocol."},
    {NULL, NULL, 0, NULL},
};
