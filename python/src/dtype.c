/* dtype.c - the dtype objects: exactly one per MsDtype, compared by identity, pickled by name. */
#include "py.h"

#include <string.h>

typedef struct Dtype {
    PyObject_HEAD int dtype;
} Dtype;

static PyTypeObject *dtype_type;
static PyObject *objects[MS_DTYPE_COUNT];

PyObject *py_dtype(MsDtype dtype)
{
    return dtype < 0 ? Py_None : objects[dtype];
}
bool py_dtype_check(PyObject *o)
{
    return Py_TYPE(o) == dtype_type;
}

static PyObject *dtype_repr(PyObject *self)
{
    return PyUnicode_FromFormat("mindspore.%s", ms_dtype_name((MsDtype)((Dtype *)self)->dtype));
}

/* "Float32", "BFloat16", "UInt8", "Bool". */
static PyObject *dtype_str(PyObject *self)
{
    char name[32];
    strcpy(name, ms_dtype_name((MsDtype)((Dtype *)self)->dtype));
    name[0] = (char)(name[0] - 'a' + 'A');
    if (strncmp(name, "Uint", 4) == 0) name[1] = 'I';
    if (strncmp(name, "Bfloat", 6) == 0) name[1] = 'F';
    return PyUnicode_FromString(name);
}

static PyObject *dtype_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *make = py_import("mindspore._c", "dtype");
    return make ? Py_BuildValue("N(s)", make, ms_dtype_name((MsDtype)((Dtype *)self)->dtype)) : NULL;
}

static PyObject *dtype_itself(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *dtype_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(ms_dtype_size((MsDtype)((Dtype *)self)->dtype));
}

static PyObject *dtype_is_float(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(ms_dtype_is_float((MsDtype)((Dtype *)self)->dtype));
}

static PyObject *dtype_is_complex(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(ms_dtype_is_complex((MsDtype)((Dtype *)self)->dtype));
}

static PyObject *dtype_is_signed(PyObject *self, void *unused)
{
    (void)unused;
    MsDtype d = (MsDtype)((Dtype *)self)->dtype;
    return PyBool_FromLong(ms_dtype_is_signed_int(d) || ms_dtype_is_float(d) || ms_dtype_is_complex(d));
}

/* dtype(name) -> the object; a dtype passes through. */
static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    (void)type, (void)kw;
    PyObject *o;
    if (!PyArg_ParseTuple(args, "O", &o)) return NULL;
    if (py_dtype_check(o)) return Py_NewRef(o);
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : NULL;
    for (int d = 0; name && d < MS_DTYPE_COUNT; d++)
        if (strcmp(name, ms_dtype_name((MsDtype)d)) == 0) return Py_NewRef(objects[d]);
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "There is no dtype %R.", o);
    return NULL;
}

MsDtype py_dtype_of(PyObject *o)
{
    if (py_dtype_check(o)) return (MsDtype)((Dtype *)o)->dtype;
    if (o == (PyObject *)&PyBool_Type) return MS_BOOL;
    if (o == (PyObject *)&PyLong_Type) return MS_INT64;
    if (o == (PyObject *)&PyFloat_Type) return MS_FLOAT32;
    if (o == (PyObject *)&PyComplex_Type) return MS_COMPLEX128;
    MsDtype found = MS_DTYPE_NONE;
    bool is_type = PyType_Check(o); /* np.float32 */
    PyObject *module = PyObject_GetAttrString(is_type ? o : (PyObject *)Py_TYPE(o), "__module__");
    const char *from = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    if (from && strncmp(from, "numpy", 5) == 0) {
        PyObject *name = PyObject_GetAttrString(o, is_type ? "__name__" : "name");
        const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        for (int d = 0; s && d < MS_INT4; d++)
            if (strcmp(s, ms_dtype_name((MsDtype)d)) == 0 || (d == MS_BOOL && strcmp(s, "bool_") == 0))
                found = (MsDtype)d;
        Py_XDECREF(name);
    }
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

static PyMethodDef methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {"__copy__", dtype_itself, METH_NOARGS, NULL},
    {"__deepcopy__", dtype_itself, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"itemsize", dtype_itemsize, NULL, "Bytes of an element.", NULL},
    {"is_floating_point", dtype_is_float, NULL, NULL, NULL},
    {"is_complex", dtype_is_complex, NULL, NULL, NULL},
    {"is_signed", dtype_is_signed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_repr, dtype_repr},
    {Py_tp_str, dtype_str},
    {Py_tp_new, dtype_new},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc, "Type of the elements of a tensor."},
    {0, NULL},
};

static PyType_Spec spec = {"mindspore._c.dtype", sizeof(Dtype), 0, Py_TPFLAGS_DEFAULT, slots};

int py_dtype_init(PyObject *m)
{
    dtype_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!dtype_type) return -1;
    PyObject *all = PyDict_New();
    if (!all) return -1;
    for (int d = 0; d < MS_DTYPE_COUNT; d++) {
        Dtype *o = PyObject_New(Dtype, dtype_type);
        if (!o) return -1;
        o->dtype = d;
        objects[d] = (PyObject *)o;
        if (PyDict_SetItemString(all, ms_dtype_name((MsDtype)d), objects[d]) < 0) return -1;
    }
    if (PyModule_AddObject(m, "dtypes", all) < 0) return -1;
    return PyModule_AddObject(m, "dtype", Py_NewRef((PyObject *)dtype_type));
}
