/* module.c - the module mindspore._c: errors, memory, threads, random numbers, and the initialisation of the
 * rest. */
#include "py.h"

#include <stdlib.h>
#include <string.h>

PyObject *py_raise(void)
{
    const MsError *e = ms_error();
    PyObject *const kinds[] = {
        [MS_ERROR_VALUE] = PyExc_ValueError,
        [MS_ERROR_TYPE] = PyExc_TypeError,
        [MS_ERROR_INDEX] = PyExc_IndexError,
        [MS_ERROR_KEY] = PyExc_KeyError,
        [MS_ERROR_ATTRIBUTE] = PyExc_AttributeError,
        [MS_ERROR_RUNTIME] = PyExc_RuntimeError,
        [MS_ERROR_MEMORY] = PyExc_MemoryError,
        [MS_ERROR_ZERO_DIVISION] = PyExc_ZeroDivisionError,
        [MS_ERROR_OVERFLOW] = PyExc_OverflowError,
        [MS_ERROR_NOT_IMPLEMENTED] = PyExc_NotImplementedError,
        [MS_ERROR_IO] = PyExc_OSError,
        [MS_ERROR_STOP] = PyExc_StopIteration,
        [MS_ERROR_INTERRUPT] = PyExc_KeyboardInterrupt,
    };
    if (PyErr_Occurred()) { /* a callback's exception, or one that says more than the record */
        ms_error_clear();
        return NULL;
    }
    if (e->code == MS_OK || e->code >= MS_ERROR_FOREIGN)
        PyErr_SetString(PyExc_SystemError, "an error was reported without a record");
    else
        PyErr_SetString(kinds[e->code], e->message);
    ms_error_clear();
    return NULL;
}

PyObject *py_import(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *r = m ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return r;
}

PyObject *py_import_call(const char *module, const char *name, PyObject *a, PyObject *b)
{
    PyObject *f = py_import(module, name);
    PyObject *r = f ? PyObject_CallFunctionObjArgs(f, a, b, NULL) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *memory_stats(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    MsMemoryStats s = ms_memory_stats();
    return Py_BuildValue("{sLsLsLsLsLsL}", "allocated", s.allocated, "peak", s.peak, "reserved", s.reserved,
                         "peak_reserved", s.peak_reserved, "n_alloc", s.n_alloc, "n_live", s.n_live);
}

static PyObject *memory_reset_peak(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    ms_memory_reset_peak();
    Py_RETURN_NONE;
}

static PyObject *memory_empty_cache(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    ms_memory_empty_cache();
    Py_RETURN_NONE;
}

static PyObject *memory_fail_after(PyObject *self, PyObject *args)
{
    (void)self;
    long long n;
    int forever = 0;
    if (!PyArg_ParseTuple(args, "L|p", &n, &forever)) return NULL;
    ms_memory_fail_after(n, forever);
    Py_RETURN_NONE;
}

static PyObject *thread_count(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(ms_thread_count());
}

static PyObject *set_thread_count(PyObject *self, PyObject *n)
{
    (void)self;
    long count = PyLong_AsLong(n);
    if (count == -1 && PyErr_Occurred()) return NULL;
    if (ms_thread_set_count((int)count) != MS_OK) return py_raise();
    Py_RETURN_NONE;
}

static PyObject *lazy(PyObject *self, PyObject *n)
{
    (void)self;
    long long least = PyLong_AsLongLong(n);
    if (least == -1 && PyErr_Occurred()) return NULL;
    int64_t was = ms__lazy_get();
    ms__lazy_set(least < 0 ? 0 : least);
    return PyLong_FromLongLong(was);
}

static PyObject *random_seed(PyObject *self, PyObject *seed)
{
    (void)self;
    unsigned long long s = PyLong_AsUnsignedLongLongMask(seed);
    if (PyErr_Occurred()) return NULL;
    if (ms_random_seed(s) != MS_OK) return py_raise();
    Py_RETURN_NONE;
}

static PyObject *random_state(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return py_leave(ms_scope_begin(), ms_random_state());
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(ms_version());
}

static PyObject *promote(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) return NULL;
    return Py_NewRef(py_dtype(ms_dtype_promote(py_dtype_of(a), py_dtype_of(b))));
}

static PyObject *dtype_of(PyObject *self, PyObject *o)
{
    (void)self;
    return Py_NewRef(py_dtype(py_dtype_of(o)));
}

static PyMethodDef functions[] = {
    {"memory_stats", memory_stats, METH_NOARGS, "Counters of the allocator, as a dict."},
    {"memory_reset_peak", memory_reset_peak, METH_NOARGS, NULL},
    {"memory_empty_cache", memory_empty_cache, METH_NOARGS, NULL},
    {"memory_fail_after", memory_fail_after, METH_VARARGS,
     "Testing: refuses the n-th allocation from now on."},
    {"thread_count", thread_count, METH_NOARGS, NULL},
    {"set_thread_count", set_thread_count, METH_O, NULL},
    {"lazy", lazy, METH_O,
     "Sets the least number of elements of results that stay pending, 0 = none; gives the one before."},
    {"random_seed", random_seed, METH_O, "Seeds the default generator."},
    {"random_state", random_state, METH_NOARGS, "State of the default generator, int64[2]."},
    {"version", version, METH_NOARGS, NULL},
    {"promote", promote, METH_VARARGS, "The smallest dtype that holds both, or None."},
    {"dtype_of", dtype_of, METH_O, "The dtype that a dtype, a Python type or a numpy dtype names, or None."},
    {NULL, NULL, 0, NULL},
};

/* What the handlers of pending signals raise stays set: it is the exception of the call. */
static bool interrupted(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    PyGILState_Release(gil);
    return stop;
}

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "mindspore._c", "libmindspore for Python.", -1, functions, NULL, NULL, NULL, NULL,
};

static int (*hooks[16])(PyObject *);
static int n_hooks;

void py_register(int (*hook)(PyObject *m))
{
    if (n_hooks < (int)(sizeof hooks / sizeof *hooks)) hooks[n_hooks++] = hook;
}

PyMODINIT_FUNC PyInit__c(void);
PyMODINIT_FUNC PyInit__c(void)
{
    PyObject *m = PyModule_Create(&module);
    if (!m) return NULL;
    /* Rows and pickles import the module by name while it is still being made. */
    PyObject *modules = PyImport_GetModuleDict();
    if (PyDict_SetItemString(modules, "mindspore._c", m) < 0 || py_dtype_init(m) < 0 ||
        py_tensor_init(m) < 0 || py_row_init(m) < 0 || py_trace_init(m) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    for (int k = 0; k < n_hooks; k++)
        if (hooks[k](m) < 0) {
            Py_DECREF(m);
            return NULL;
        }
    ms_set_interrupt(interrupted);
    return m;
}
