/* record.c - a recorder that sees every call of this thread that takes or gives tensors: rows, operators of Tensor,
 * transformations and graphs. jit/tape.py writes down with it what a function did, so that a graph for other sizes is
 * made from the calls, without Python code of the user. Invariant: the recorder itself runs with none set, and so does
 * what it calls. Refused: recording inside the library, below the rows, where sizes are numbers already. */
#include "py.h"

_Thread_local PyObject *py_recorder;

static PyObject *tell(PyObject *fn, PyObject *args, PyObject *kwargs)
{
    PyObject *recorder = py_recorder;
    py_recorder = NULL;
    PyObject *r =
        fn && args ? PyObject_CallFunctionObjArgs(recorder, fn, args, kwargs ? kwargs : Py_None, NULL) : NULL;
    py_recorder = recorder;
    return r;
}

PyObject *py_record(PyObject *fn, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    PyObject *tuple = PyTuple_New(n), *kwargs = kwnames ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; tuple && i < n; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t k = 0; kwargs && k < PyTuple_GET_SIZE(kwnames); k++)
        if (PyDict_SetItem(kwargs, PyTuple_GET_ITEM(kwnames, k), args[n + k]) < 0) Py_CLEAR(kwargs);
    PyObject *r = tuple && (kwargs || !kwnames) ? tell(fn, tuple, kwargs) : NULL;
    Py_XDECREF(tuple);
    Py_XDECREF(kwargs);
    return r;
}

PyObject *py_record_function(const char *name, PyObject *args)
{
    PyObject *fn = py_import("mindspore._c", name);
    PyObject *tuple = PyTuple_Check(args) ? Py_NewRef(args) : PyTuple_Pack(1, args);
    PyObject *r = tell(fn, tuple, NULL);
    Py_XDECREF(fn);
    Py_XDECREF(tuple);
    return r;
}

PyObject *py_record_method(PyTypeObject *type, const char *name, PyObject *self, PyObject *more)
{
    PyObject *fn = PyObject_GetAttrString((PyObject *)type, name);
    PyObject *first = PyTuple_Pack(1, self);
    PyObject *rest = more && !PyTuple_Check(more) ? PyTuple_Pack(1, more) : Py_XNewRef(more);
    PyObject *all = first && rest ? PySequence_Concat(first, rest) : Py_XNewRef(first);
    PyObject *r = tell(fn, all, NULL);
    Py_XDECREF(fn);
    Py_XDECREF(first);
    Py_XDECREF(rest);
    Py_XDECREF(all);
    return r;
}

PyObject *py_record_question(const char *what, PyObject *t)
{
    PyObject *name = PyUnicode_InternFromString(what), *args = PyTuple_Pack(1, t);
    PyObject *r = tell(name, args, NULL);
    Py_XDECREF(name);
    Py_XDECREF(args);
    return r;
}

static PyObject *set_recorder(PyObject *self, PyObject *fn)
{
    (void)self;
    PyObject *old = py_recorder;
    py_recorder = fn == Py_None ? NULL : Py_NewRef(fn);
    return old ? old : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"set_recorder", set_recorder, METH_O,
     "recorder(fn, args, kwargs) stands for the calls of this thread that concern tensors; gives the former "
     "one."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *m)
{
    return PyModule_AddFunctions(m, functions);
}

__attribute__((constructor)) static void setup(void)
{
    py_register(fill);
}
