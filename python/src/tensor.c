/* tensor.c - the Python type Tensor: life cycle, attributes, number and mapping protocol. Operators are rows
 * of the registry called `Tensor.__add__` and so on; a slot resolves its row once and passes MsArg on the
 * stack, so that `x + y` costs two type checks more than the C call. */
#include "py.h"

#include <structmember.h>

#include <string.h>

PyTypeObject *py_tensor_type;
static PyObject *concrete_hook; /* asked for the value of a staged tensor */

/* Dead Tensor objects are kept: making one costs a pop. The GIL guards them. */
static PyMsTensor *spare[64];
static int n_spare;

static PyObject *wrap_as(PyTypeObject *type, MsTensor *t)
{
    PyMsTensor *o;
    if (type == py_tensor_type && n_spare > 0) {
        o = spare[--n_spare];
        (void)PyObject_Init((PyObject *)o, type);
    } else {
        o = (PyMsTensor *)type->tp_alloc(type, 0);
        if (!o) {
            ms_tensor_unref(t);
            return NULL;
        }
    }
    o->t = t;
    o->weakrefs = NULL;
    o->init = NULL;
    return (PyObject *)o;
}

PyObject *py_wrap(MsTensor *t)
{
    return t ? wrap_as(py_tensor_type, t) : py_raise();
}

PyObject *py_leave(int mark, MsTensor *t)
{
    if (t) ms_tensor_ref(t);
    ms_scope_end(mark, NULL, 0);
    if (t) return wrap_as(py_tensor_type, t);
    return PyErr_Occurred() ? NULL : py_raise();
}

int py_fulfil(PyObject *x)
{
    PyObject *init = ((PyMsTensor *)x)->init;
    if (PyTuple_CheckExact(init)) return 0;
    ((PyMsTensor *)x)->init = NULL;
    MsTrace *was = ms__trace_enter(NULL); /* the values belong to no transformation */
    PyObject *recorder = py_recorder;
    py_recorder = NULL;
    PyObject *done = py_import_call("mindspore.common.initializer", "init_tensor", init, x);
    py_recorder = recorder;
    ms__trace_enter(was);
    if (!done) {
        ((PyMsTensor *)x)->init = init;
        return -1;
    }
    Py_DECREF(done);
    Py_DECREF(init);
    return 0;
}

MsTensor *py_concrete(PyObject *x)
{
    if (((PyMsTensor *)x)->init && py_fulfil(x) < 0) return NULL;
    MsTensor *t = PY_HANDLE(x);
    if (__builtin_expect(!t->trace && !ms__trace_top(), 1))
        return ms__ready(t) == MS_OK ? t : (MsTensor *)py_raise();
    MsTensor *c = ms__concrete(t);
    if (c) return c;
    if (ms_error()->code != MS_OK) return (MsTensor *)py_raise();
    if (concrete_hook) {
        PyObject *value = PyObject_CallFunctionObjArgs(concrete_hook, x, NULL);
        if (!value) return NULL;
        if (PY_IS_TENSOR(value) && !PY_HANDLE(value)->trace) {
            ms_tensor_ref(c = PY_HANDLE(value));
            Py_DECREF(value);
            return ms__scope_own(c);
        }
        Py_DECREF(value);
    }
    PyErr_SetString(PyExc_RuntimeError, "The value of a tensor is not known while a function is compiled.");
    return NULL;
}

static void tensor_dealloc(PyObject *self)
{
    PyMsTensor *o = (PyMsTensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (o->weakrefs) PyObject_ClearWeakRefs(self);
    Py_XDECREF(o->init);
    ms_tensor_unref(o->t);
    if (type == py_tensor_type && n_spare < 64)
        spare[n_spare++] = o;
    else
        type->tp_free(self);
    Py_DECREF(type);
}

/* None, or a Symbol (python/mindspore/common/symbol.py). */
static bool is_open(PyObject *size)
{
    return size == Py_None || strcmp(Py_TYPE(size)->tp_name, "Symbol") == 0;
}

static MsTensor *zeros(MsDtype dtype, PyObject *shape)
{
    int64_t size[MS_MAX_DIM];
    PyObject *seq = PyLong_Check(shape) ? PyTuple_Pack(1, shape) : PySequence_Tuple(shape);
    if (!seq) return NULL;
    int nd = (int)PyTuple_GET_SIZE(seq);
    for (int d = 0; d < nd && d < MS_MAX_DIM; d++) {
        PyObject *n = PyTuple_GET_ITEM(seq, d);
        size[d] = is_open(n) ? 0 : PyLong_AsLongLong(n);
    }
    Py_DECREF(seq);
    if (PyErr_Occurred()) return NULL;
    MsTensor *t = ms_tensor_empty(dtype, nd, size);
    if (!t) return (MsTensor *)py_raise();
    memset(t->data, 0, (size_t)ms_tensor_numel(t) * ms_dtype_size(dtype));
    return t;
}

static int dtype_arg(PyObject *o, MsDtype *dtype)
{
    *dtype = MS_DTYPE_NONE;
    if (!o || o == Py_None) return 0;
    if (!PyUnicode_Check(o)) *dtype = py_dtype_of(o);
    if (*dtype != MS_DTYPE_NONE) return 0;
    PyErr_Format(PyExc_TypeError,
                 "For 'Tensor', the 'dtype' should be one of the dtypes of mindspore, but got %R.", o);
    return -1;
}

/* A tensor that only describes inputs has no data: its `init` is the tuple of sizes, -1 where they are open,
 * (-2) where the number of axes is. NULL without an exception when all sizes are given. */
static PyObject *open_shape(PyObject *shape)
{
    if (!shape || shape == Py_None) return Py_BuildValue("(i)", -2);
    if (PyLong_Check(shape)) return NULL;
    PyObject *seq = PySequence_Tuple(shape), *open = NULL;
    for (Py_ssize_t d = 0; seq && d < PyTuple_GET_SIZE(seq) && !open; d++)
        if (is_open(PyTuple_GET_ITEM(seq, d))) open = PyTuple_New(PyTuple_GET_SIZE(seq));
    for (Py_ssize_t d = 0; open && d < PyTuple_GET_SIZE(seq); d++) {
        PyObject *n = PyTuple_GET_ITEM(seq, d);
        PyTuple_SET_ITEM(open, d, is_open(n) ? PyLong_FromLong(-1) : Py_NewRef(n));
    }
    Py_XDECREF(seq);
    return open;
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"input_data", "dtype", "shape", "init", "const_arg", "device", NULL};
    PyObject *data = NULL, *dt = NULL, *shape = NULL, *init = NULL, *constant = NULL, *device = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOOOOO:Tensor", names, &data, &dt, &shape, &init, &constant,
                                     &device))
        return NULL;
    MsDtype dtype;
    if (dtype_arg(dt, &dtype) < 0) return NULL;
    if (device && device != Py_None && !PyUnicode_Check(device))
        return PyErr_Format(PyExc_TypeError, "For 'Tensor', the 'device' must be a string, but got %R.",
                            device);
    if (device && device != Py_None && PyUnicode_CompareWithASCIIString(device, "CPU") != 0)
        return PyErr_Format(PyExc_ValueError, "For 'Tensor', the 'device' must be 'CPU', but got %R.",
                            device);
    if (init == Py_None) init = NULL;
    PyObject *described = NULL;
    int mark = ms_scope_begin();
    MsTensor *t = NULL;
    if (data && data != Py_None) {
        t = py_from_data(data, dtype);
    } else if (shape && shape != Py_None && (init || dtype != MS_DTYPE_NONE)) {
        t = zeros(dtype == MS_DTYPE_NONE ? MS_FLOAT32 : dtype, shape);
        if (t && !init) init = described = open_shape(shape);
    } else if (dtype != MS_DTYPE_NONE && (dt != NULL && (data || shape))) {
        t = ms_tensor_empty(dtype, 1, &(int64_t){0});
        if (t) init = described = open_shape(NULL);
    } else {
        PyErr_SetString(
            PyExc_TypeError,
            "For 'Tensor', 'input_data' or 'shape', 'dtype' and 'init' must be given, but got None.");
    }
    if (t) ms_tensor_ref(t);
    ms_scope_end(mark, NULL, 0);
    PyObject *self = t ? wrap_as(type, t) : NULL;
    if (self && init && (!data || data == Py_None)) ((PyMsTensor *)self)->init = Py_NewRef(init);
    Py_XDECREF(described);
    return self;
}

/* ---- attributes ---- */

static PyObject *ints(const int64_t *v, int n, int64_t scale)
{
    PyObject *tuple = PyTuple_New(n);
    for (int d = 0; tuple && d < n; d++) {
        PyObject *i = PyLong_FromLongLong(v[d] * scale);
        if (!i)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, d, i);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *init = ((PyMsTensor *)self)->init;
    if (init && PyTuple_CheckExact(init)) return Py_NewRef(init);
    if (py_recorder && PY_HANDLE(self)->trace) return py_record_question("shape", self);
    return ints(PY_HANDLE(self)->shape, PY_HANDLE(self)->ndim, 1);
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(py_dtype((MsDtype)PY_HANDLE(self)->dtype));
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(PY_HANDLE(self)->ndim);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    if (py_recorder && PY_HANDLE(self)->trace) return py_record_question("size", self);
    return PyLong_FromLongLong(PY_HANDLE(self)->numel);
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(ms_dtype_size((MsDtype)PY_HANDLE(self)->dtype));
}

/* Tells the recorder that all sizes matter. */
static bool pinned(PyObject *self)
{
    PyObject *r = py_recorder ? py_record_question("pin", self) : Py_NewRef(Py_None);
    Py_XDECREF(r);
    return r != NULL;
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    if (!pinned(self)) return NULL;
    return PyLong_FromSize_t((size_t)PY_HANDLE(self)->numel * ms_dtype_size((MsDtype)PY_HANDLE(self)->dtype));
}

static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    if (!pinned(self)) return NULL;
    MsTensor *t = PY_HANDLE(self);
    return ints(t->strides, t->ndim, (int64_t)ms_dtype_size((MsDtype)t->dtype));
}

static PyObject *get_itself(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* The view with the axes reversed, or only the last two swapped. */
static PyObject *axes_swapped(PyObject *self, bool last_two)
{
    int64_t axis[MS_MAX_DIM];
    int n = PY_HANDLE(self)->ndim;
    if (n < 2) return Py_NewRef(self);
    for (int d = 0; d < n; d++) axis[d] = !last_two ? n - 1 - d : d < n - 2 ? d : 2 * n - 3 - d;
    PyObject *axes = ints(axis, n, 1);
    PyObject *view = axes ? PyObject_CallMethod(self, "permute", "(O)", axes) : NULL;
    Py_XDECREF(axes);
    return view;
}

static PyObject *get_transposed(PyObject *self, void *which)
{
    const char *name = which;
    int n = PY_HANDLE(self)->ndim;
    if (name[0] == 'm' ? n < 2 : name[0] == 'H' && n != 2 && n != 0)
        return PyErr_Format(PyExc_ValueError,
                            "For 'Tensor.%s', the tensor must have %s dimensions, but got %d.", name,
                            name[0] == 'm' ? "at least 2" : "2", n);
    PyObject *view = axes_swapped(self, name[0] == 'm');
    if (!view || !strchr(name, 'H')) return view;
    PyObject *conj = PyObject_CallMethod(view, "conj", NULL);
    Py_DECREF(view);
    return conj;
}

static PyObject *get_init(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *init = ((PyMsTensor *)self)->init;
    return Py_NewRef(init && !PyTuple_CheckExact(init) ? init : Py_None);
}

static int set_init(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    PyObject *old = ((PyMsTensor *)self)->init;
    ((PyMsTensor *)self)->init = value && value != Py_None ? Py_NewRef(value) : NULL;
    Py_XDECREF(old);
    return 0;
}

static PyObject *get_has_init(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *init = ((PyMsTensor *)self)->init;
    return PyBool_FromLong(init && !PyTuple_CheckExact(init));
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString("CPU");
}

static PyObject *get_false(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static PyObject *get_none(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    Py_RETURN_NONE;
}

static PyObject *get_traced(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(PY_HANDLE(self)->trace != NULL);
}

static PyGetSetDef getset[] = {
    {"shape", get_shape, NULL, "Sizes of the axes.", NULL},
    {"dtype", get_dtype, NULL, "Type of the elements.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next, per axis.", NULL},
    {"T", get_transposed, NULL, "The tensor with its axes reversed.", "T"},
    {"mT", get_transposed, NULL, "The tensor with its last two axes swapped.", "mT"},
    {"H", get_transposed, NULL, "The conjugate of a transposed matrix.", "H"},
    {"mH", get_transposed, NULL, "The conjugate with the last two axes swapped.", "mH"},
    {"data", get_itself, NULL, "The tensor itself.", NULL},
    {"init", get_init, set_init, "The initializer of a tensor whose data was not made yet, or None.", NULL},
    {"has_init", get_has_init, NULL, "Whether data is still to be made by init_data().", NULL},
    {"device", get_device, NULL, "Where the data lies.", NULL},
    {"const_arg", get_false, NULL, NULL, NULL},
    {"is_meta", get_false, NULL, "Whether it has no data at all; every tensor has.", NULL},
    {"virtual_flag", get_false, NULL, NULL, NULL},
    {"symbolic_shape", get_none, NULL, NULL, NULL},
    {"_traced", get_traced, NULL, "Whether it stands for a value of an open transformation.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- values ---- */

static PyObject *item(PyObject *self, PyObject *unused)
{
    (void)unused;
    int64_t n = PY_HANDLE(self)->numel;
    if (n != 1)
        return PyErr_Format(
            PyExc_ValueError,
            "The tensor should have only one element, but got %lld, more than one element is ambiguous.",
            (long long)n);
    int mark = ms_scope_begin();
    MsTensor *t = py_concrete(self);
    PyObject *value = t ? py_item(t) : NULL;
    ms_scope_end(mark, NULL, 0);
    return value;
}

static PyObject *scalar(PyObject *self)
{
    if (PY_HANDLE(self)->numel == 1) return item(self, NULL);
    PyErr_SetString(PyExc_ValueError, "Only one element tensors can be converted to Python scalars");
    return NULL;
}

static PyObject *through(PyObject *self, PyObject *(*convert)(PyObject *))
{
    PyObject *value = scalar(self);
    PyObject *r = value ? convert(value) : NULL;
    Py_XDECREF(value);
    return r;
}

static PyObject *tensor_int(PyObject *self)
{
    return through(self, PyNumber_Long);
}
static PyObject *tensor_float(PyObject *self)
{
    return through(self, PyNumber_Float);
}

static PyObject *tensor_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *value = scalar(self);
    PyObject *r = value ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL) : NULL;
    Py_XDECREF(value);
    return r;
}

static PyObject *tensor_index(PyObject *self)
{
    MsTensor *t = PY_HANDLE(self);
    if (t->numel == 1 && ms_dtype_is_int((MsDtype)t->dtype)) return item(self, NULL);
    /* a sequence times a tensor comes here: no number at all, so TypeError */
    PyErr_SetString(t->numel == 1 ? PyExc_ValueError : PyExc_TypeError,
                    "Only integer tensors of a single element can be converted to an index.");
    return NULL;
}

static int tensor_bool(PyObject *self)
{
    if (PY_HANDLE(self)->numel != 1) {
        PyErr_Format(PyExc_ValueError,
                     "The truth value of an array with more than one element is ambiguous. "
                     "The tensor should have only one element, but got %lld.",
                     (long long)PY_HANDLE(self)->numel);
        return -1;
    }
    PyObject *value = item(self, NULL);
    int r = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return r;
}

static PyObject *to_array(PyObject *self, PyObject *args, PyObject *kw)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|OO:__array__", names, &dtype, &copy)) return NULL;
    PyObject *array = py_asnumpy(self, NULL);
    if (array && dtype != Py_None) {
        PyObject *cast = PyObject_CallMethod(array, "astype", "O", dtype);
        Py_DECREF(array);
        return cast;
    }
    if (array && copy == Py_True) {
        PyObject *c = PyObject_CallMethod(array, "copy", NULL);
        Py_DECREF(array);
        return c;
    }
    return array;
}

/* ---- buffer protocol ---- */

typedef struct Export {
    MsStorage *storage; /* kept: a write inside a transformation may give the tensor other memory */
    Py_ssize_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
} Export;

/* The concrete tensor behind self, or NULL without an exception. */
static MsTensor *readable(PyObject *self)
{
    MsTensor *t = PY_HANDLE(self);
    if (t->trace || ms__trace_top()) t = ms__concrete(t);
    if (t && ms__settle(t) != MS_OK) t = NULL;
    ms_error_clear();
    return t;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static const char *const formats[MS_DTYPE_COUNT] = {
        [MS_BOOL] = "?",       [MS_INT8] = "b",        [MS_INT16] = "h",   [MS_INT32] = "i",
        [MS_INT64] = "l",      [MS_UINT8] = "B",       [MS_UINT16] = "H",  [MS_UINT32] = "I",
        [MS_UINT64] = "L",     [MS_FLOAT16] = "e",     [MS_FLOAT32] = "f", [MS_FLOAT64] = "d",
        [MS_COMPLEX64] = "Zf", [MS_COMPLEX128] = "Zd", [MS_INT4] = NULL,
    };
    view->obj = NULL;
    int mark = ms_scope_begin();
    MsTensor *t = readable(self);
    if (!t || !formats[t->dtype]) {
        PyErr_Format(PyExc_BufferError, "a tensor %s has no buffer",
                     t ? "of this dtype" : "that is being traced");
        goto failed;
    }
    if (!t->contiguous &&
        ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        goto failed;
    }
    Export *e = PyMem_Malloc(sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        goto failed;
    }
    Py_ssize_t size = (Py_ssize_t)ms_dtype_size((MsDtype)t->dtype);
    e->storage = t->storage;
    atomic_fetch_add(&t->storage->ref, 1);
    t->storage->exposed++;
    for (int d = 0; d < t->ndim; d++) e->shape[d] = t->shape[d], e->strides[d] = t->strides[d] * size;
    *view = (Py_buffer){.buf = t->data,
                        .obj = Py_NewRef(self),
                        .len = t->numel * size,
                        .itemsize = size,
                        .ndim = t->ndim,
                        .format = flags & PyBUF_FORMAT ? (char *)formats[t->dtype] : NULL,
                        .shape = flags & PyBUF_ND ? e->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL,
                        .internal = e};
    ms_scope_end(mark, NULL, 0);
    return 0;
failed:
    ms_scope_end(mark, NULL, 0);
    return -1;
}

static void release_buffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    Export *e = view->internal;
    e->storage->version++; /* it may have been written through the buffer */
    e->storage->exposed--;
    ms__storage_unref(e->storage);
    PyMem_Free(e);
}

/* ---- text, pickle, copy ---- */

static PyObject *helper(const char *name, PyObject *self)
{
    return py_import_call("mindspore.common.printing", name, self, NULL);
}

static PyObject *tensor_repr(PyObject *self)
{
    return helper("tensor_repr", self);
}
static PyObject *tensor_str(PyObject *self)
{
    return helper("tensor_str", self);
}

static PyObject *get_state(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *array = py_asnumpy(self, NULL);
    if (!array) return NULL;
    if (PY_HANDLE(self)->dtype != MS_BFLOAT16) return Py_BuildValue("{s(N)}", "value", array);
    return Py_BuildValue("{s(N)ss}", "value", array, "dtype", "bfloat16");
}

static PyObject *set_state(PyObject *self, PyObject *state)
{
    PyObject *value = PyDict_Check(state) ? PyDict_GetItemString(state, "value") : NULL;
    if (!value || !PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 1)
        return PyErr_Format(PyExc_TypeError,
                            "The state of a Tensor must be {'value': (ndarray,)}, but got %R.", state);
    PyObject *name = PyDict_GetItemString(state, "dtype");
    bool bf16 = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    int mark = ms_scope_begin();
    MsTensor *t = py_from_data(PyTuple_GET_ITEM(value, 0), bf16 ? MS_BFLOAT16 : MS_DTYPE_NONE);
    if (t) {
        MsTensor *old = PY_HANDLE(self);
        PY_HANDLE(self) = ms_tensor_ref(t);
        ms_tensor_unref(old);
    }
    ms_scope_end(mark, NULL, 0);
    if (!t) return NULL;
    Py_RETURN_NONE;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    PyObject *state = get_state(self, unused), *make = state ? py_import("mindspore._c", "_unpickle") : NULL;
    if (!make) {
        Py_XDECREF(state);
        return NULL;
    }
    return Py_BuildValue("N(O)N", make, (PyObject *)Py_TYPE(self), state);
}

PyObject *py_unpickle(PyObject *self, PyObject *type)
{
    (void)self;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py_tensor_type))
        return PyErr_Format(PyExc_TypeError, "expected a subclass of Tensor, but got %R", type);
    int64_t n = 0;
    int mark = ms_scope_begin();
    MsTensor *t = ms_tensor_ref(ms_tensor_empty(MS_FLOAT32, 1, &n));
    ms_scope_end(mark, NULL, 0);
    return t ? wrap_as((PyTypeObject *)type, t) : py_raise();
}

static PyObject *deep_copy(PyObject *self, PyObject *memo)
{
    PyObject *init = ((PyMsTensor *)self)->init; /* a promise stays one */
    ((PyMsTensor *)self)->init = NULL;
    int mark = ms_scope_begin();
    MsTensor *t = py_from_data(self, MS_DTYPE_NONE);
    PyObject *copy = py_leave(mark, t);
    PyObject *id = copy ? PyLong_FromVoidPtr(self) : NULL;
    ((PyMsTensor *)self)->init = init;
    if (copy && init) ((PyMsTensor *)copy)->init = Py_NewRef(init);
    if (id && PyDict_Check(memo) && PyDict_SetItem(memo, id, copy) < 0) Py_CLEAR(copy);
    Py_XDECREF(id);
    return copy;
}

static PyObject *data_ptr(PyObject *self, PyObject *unused)
{
    (void)unused;
    int mark = ms_scope_begin();
    MsTensor *t = py_concrete(self);
    PyObject *r = t ? PyLong_FromVoidPtr(ms_tensor_data(t)) : NULL;
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *is_contiguous(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(PY_HANDLE(self)->contiguous);
}

static PyObject *dim(PyObject *self, PyObject *unused)
{
    return get_ndim(self, unused);
}
static PyObject *numel(PyObject *self, PyObject *unused)
{
    return get_size(self, unused);
}

static PyObject *size_of(PyObject *self, PyObject *unused)
{
    (void)unused;
    return get_itself(self, NULL);
}

static PyObject *is_floating(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(ms_dtype_is_float((MsDtype)PY_HANDLE(self)->dtype));
}

static PyObject *is_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(ms_dtype_is_complex((MsDtype)PY_HANDLE(self)->dtype));
}

static PyObject *is_signed(PyObject *self, PyObject *unused)
{
    (void)unused;
    MsDtype d = (MsDtype)PY_HANDLE(self)->dtype;
    return PyBool_FromLong(d != MS_BOOL && !(ms_dtype_is_int(d) && !ms_dtype_is_signed_int(d)));
}

/* Makes self another name of value's handle content: assign_value of the original. */
static PyObject *share(PyObject *self, PyObject *value)
{
    if (py_recorder) return py_record_method(py_tensor_type, "assign_value", self, value);
    if (!PY_IS_TENSOR(value))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(value)->tp_name);
    MsTensor *old = PY_HANDLE(self);
    PY_HANDLE(self) = ms_tensor_ref(PY_HANDLE(value));
    ms_tensor_unref(old);
    return Py_NewRef(self);
}

static PyObject *init_data(PyObject *self, PyObject *args, PyObject *kw)
{
    (void)args, (void)kw;
    return ((PyMsTensor *)self)->init && py_fulfil(self) < 0 ? NULL : Py_NewRef(self);
}

static PyObject *set_hook(PyObject *unused, PyObject *hook)
{
    (void)unused;
    PyObject *old = concrete_hook;
    concrete_hook = hook == Py_None ? NULL : Py_NewRef(hook);
    return old ? old : Py_NewRef(Py_None);
}

static PyObject *register_hook(PyObject *self, PyObject *fn)
{
    return py_import_call("mindspore.common.hooks", "register_hook", self, fn);
}

static PyObject *remove_hook(PyObject *unused, PyObject *id)
{
    (void)unused;
    return py_import_call("mindspore.common.hooks", "remove_hook", id, NULL);
}

static PyObject *from_bytes(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *f = py_import("mindspore.common.tensor", "convert_bytes_to_tensor");
    PyObject *r = f ? PyObject_CallObject(f, args) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *returns_false(PyObject *self, PyObject *unused)
{
    return get_false(self, unused);
}

static PyObject *returns_none(PyObject *self, PyObject *unused)
{
    return get_none(self, unused);
}

static PyObject *get_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    int mark = ms_scope_begin();
    MsTensor *t = ms_contiguous(py_concrete(self));
    PyObject *bytes =
        t ? PyBytes_FromStringAndSize(ms_tensor_data(t),
                                      (Py_ssize_t)(t->numel * (int64_t)ms_dtype_size((MsDtype)t->dtype)))
          : NULL;
    ms_scope_end(mark, NULL, 0);
    return bytes;
}

/* Methods that Python code computes: mindspore.common.tensor has a function of each name. */
#define IN_PYTHON(name)                                                                                      \
    static PyObject *name(PyObject *self, PyObject *args, PyObject *kw)                                      \
    {                                                                                                        \
        return in_python(#name, self, args, kw);                                                             \
    }
static PyObject *in_python(const char *name, PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *f = py_import("mindspore.common.tensor", name), *first = PyTuple_Pack(1, self);
    PyObject *all = NULL, *r = NULL;
    if (f && first) all = PySequence_Concat(first, args);
    if (all) r = PyObject_Call(f, all, kw);
    Py_XDECREF(f);
    Py_XDECREF(first);
    Py_XDECREF(all);
    return r;
}
IN_PYTHON(move_to)
IN_PYTHON(set_)
IN_PYTHON(set_const_arg)
IN_PYTHON(set_dtype)
IN_PYTHON(to_)
IN_PYTHON(to_dlpack)
IN_PYTHON(__dlpack__)
IN_PYTHON(__dlpack_device__)
IN_PYTHON(to_coo)
IN_PYTHON(to_csr)
IN_PYTHON(storage)
IN_PYTHON(stride)
IN_PYTHON(__round__)
IN_PYTHON(hooks)
IN_PYTHON(pin_memory)
IN_PYTHON(requires_grad_)
#define PYTHON_METHOD(name, doc)                                                                             \
    {                                                                                                        \
#name, (PyCFunction)(void (*)(void))name, METH_VARARGS | METH_KEYWORDS, doc                          \
    }

static PyMethodDef methods[] = {
    PYTHON_METHOD(move_to, "The tensor on a device; 'CPU' is the only one."),
    PYTHON_METHOD(to_, "The tensor on a device; 'CPU' is the only one."),
    PYTHON_METHOD(set_, "Makes the tensor a view of another one's data."),
    PYTHON_METHOD(set_const_arg, "The tensor itself: whether an argument is constant is decided by its use."),
    PYTHON_METHOD(set_dtype, "Changes the dtype of the tensor."),
    PYTHON_METHOD(to_dlpack, "A DLPack capsule that shares the tensor's memory."),
    PYTHON_METHOD(__dlpack__, NULL),
    PYTHON_METHOD(__dlpack_device__, NULL),
    {"from_dlpack", py_from_dlpack, METH_O | METH_STATIC, "A tensor over the memory of a DLPack capsule."},
    PYTHON_METHOD(to_coo, "The nonzero elements of a matrix as a COOTensor."),
    PYTHON_METHOD(to_csr, "The nonzero elements of a matrix as a CSRTensor."),
    PYTHON_METHOD(__round__, NULL),
    PYTHON_METHOD(hooks, "The functions that are called with the gradient of this tensor."),
    PYTHON_METHOD(pin_memory, "Page-locked memory, which only other devices have a use for."),
    PYTHON_METHOD(requires_grad_, "Whether a Parameter is trained; of other tensors nothing changes."),
    {"remove_hook", remove_hook, METH_O | METH_STATIC, "Ends the hook whose handle has this number."},
    {"convert_bytes_to_tensor", from_bytes, METH_VARARGS | METH_STATIC,
     "A tensor of bytes that get_bytes gave, a shape and a dtype."},
    PYTHON_METHOD(stride, "Elements from one to the next along an axis, or of all axes as a list."),
    PYTHON_METHOD(storage, "The bytes behind the tensor."),
    {"untyped_storage", (PyCFunction)(void (*)(void))storage, METH_VARARGS | METH_KEYWORDS,
     "The bytes behind the tensor."},
    {"get_bytes", get_bytes, METH_NOARGS, "The elements as bytes, in row-major order."},
    {"is_pinned", returns_false, METH_NOARGS, NULL},
    {"is_shared", returns_false, METH_NOARGS, NULL},
    {"flush_from_cache", returns_none, METH_NOARGS, "Nothing to do: data is in host memory."},
    {"data_sync", (PyCFunction)(void (*)(void))returns_none, METH_VARARGS,
     "Nothing to do: values are there when a call returns."},
    {"wait_pipeline", returns_none, METH_NOARGS, "Nothing to do: values are there when a call returns."},
    {"register_hook", register_hook, METH_O,
     "Calls a function with the gradient of this tensor; gives a handle."},
    {"from_numpy", py_from_numpy, METH_O | METH_STATIC, "A tensor that shares the memory of an ndarray."},
    {"item", item, METH_NOARGS, "The value of a tensor with one element as a Python number."},
    {"asnumpy", py_asnumpy, METH_NOARGS, "An ndarray that shares memory with the tensor."},
    {"numpy", py_asnumpy, METH_NOARGS, "An ndarray that shares memory with the tensor."},
    {"tolist", py_tolist, METH_NOARGS, "The elements as nested lists."},
    {"__array__", (PyCFunction)(void (*)(void))to_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__complex__", tensor_complex, METH_NOARGS, NULL},
    {"__getstate__", get_state, METH_NOARGS, NULL},
    {"__setstate__", set_state, METH_O, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"__deepcopy__", deep_copy, METH_O, NULL},
    {"data_ptr", data_ptr, METH_NOARGS, "Address of the first element."},
    {"is_contiguous", is_contiguous, METH_NOARGS,
     "Whether the elements lie in row-major order without gaps."},
    {"dim", dim, METH_NOARGS, "Number of axes."},
    {"ndimension", dim, METH_NOARGS, "Number of axes."},
    {"numel", numel, METH_NOARGS, "Number of elements."},
    {"nelement", numel, METH_NOARGS, "Number of elements."},
    {"value", size_of, METH_NOARGS, "The tensor itself."},
    {"is_floating_point", is_floating, METH_NOARGS, NULL},
    {"is_complex", is_complex, METH_NOARGS, NULL},
    {"is_signed", is_signed, METH_NOARGS, NULL},
    {"assign_value", share, METH_O, "Makes the tensor stand for the data of another one."},
    {"assign_value_cpp", share, METH_O, "Makes the tensor stand for the data of another one."},
    {"init_data", (PyCFunction)(void (*)(void))init_data, METH_VARARGS | METH_KEYWORDS,
     "Makes promised data."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyMsTensor, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, tensor_new},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_doc,
     "Tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False, device=None)\n--\n\n"
     "An n-dimensional array."},
    {Py_tp_getset, getset},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_repr, tensor_repr},
    {Py_tp_str, tensor_str},
    {Py_bf_getbuffer, get_buffer},
    {Py_bf_releasebuffer, release_buffer},
    {Py_nb_bool, tensor_bool},
    {Py_nb_int, tensor_int},
    {Py_nb_float, tensor_float},
    {Py_nb_index, tensor_index},
    {0, NULL},
};

static PyType_Slot all_slots[64]; /* these and py_operator_slots */

static PyType_Spec spec = {"mindspore.Tensor", sizeof(PyMsTensor), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, all_slots};

static PyMethodDef functions[] = {
    {"_unpickle", py_unpickle, METH_O, NULL},
    {"set_concrete_hook", set_hook, METH_O,
     "The function that is asked for the concrete tensor behind one that is being staged; returns the "
     "former."},
    {NULL, NULL, 0, NULL},
};

int py_tensor_init(PyObject *m)
{
    int n = 0;
    for (const PyType_Slot *s = py_operator_slots; s->slot; s++) all_slots[n++] = *s;
    for (const PyType_Slot *s = slots; s->slot; s++) all_slots[n++] = *s;
    py_tensor_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!py_tensor_type) return -1;
    py_tensor_type->tp_name = "Tensor"; /* as messages call it; the module stays mindspore */
    if (PyModule_AddFunctions(m, functions) < 0 || PyModule_AddFunctions(m, py_create_methods) < 0) return -1;
    return PyModule_AddObject(m, "Tensor", Py_NewRef((PyObject *)py_tensor_type));
}
