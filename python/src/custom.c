/* custom.c - gradients written in Python: `custom(fn, inputs, outputs)` gives the outputs again; backwards
 * fn(inputs, outputs, cotangents) returns the cotangents of the inputs, None for zero. */
#include "py.h"

#include "mindspore_ops.h"

#include <stdlib.h>

typedef struct Host {
    MsHost host;
    PyObject *fn;
} Host;

static void drop(MsHost *h)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((Host *)h)->fn);
    PyGILState_Release(gil);
    free(h);
}

static MsStatus take(PyObject *result, int n, MsTensor **grad)
{
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != n) {
        PyErr_Format(PyExc_TypeError, "A gradient function must return a tuple of %d cotangents.", n);
        return MS_ERROR_FOREIGN;
    }
    for (int i = 0; i < n; i++) {
        PyObject *o = PyTuple_GET_ITEM(result, i);
        if (o == Py_None) continue;
        if (!PY_IS_TENSOR(o)) {
            PyErr_Format(PyExc_TypeError, "A gradient function must return Tensors or None, but got '%s'.",
                         Py_TYPE(o)->tp_name);
            return MS_ERROR_FOREIGN;
        }
        if (!(grad[i] = ms__scope_own(ms_tensor_ref(PY_HANDLE(o))))) return ms_error()->code;
    }
    return MS_OK;
}

static MsStatus call(MsHost *h, int n_in, MsTensor *const *in, int n_out, MsTensor *const *out,
                     MsTensor *const *ct, MsTensor **grad)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *xs = py_wrap_all(n_in, in), *ys = xs ? py_wrap_all(n_out, out) : NULL,
             *cts = ys ? py_wrap_all(n_out, ct) : NULL;
    PyObject *r = cts ? PyObject_CallFunctionObjArgs(((Host *)h)->fn, xs, ys, cts, NULL) : NULL;
    MsStatus st = r ? take(r, n_in, grad) : MS_ERROR_FOREIGN;
    if (PyErr_Occurred()) st = MS_FAIL(MS_ERROR_FOREIGN, "A gradient function failed.");
    Py_XDECREF(xs);
    Py_XDECREF(ys);
    Py_XDECREF(cts);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

static MsStatus run(MsHost *h, int n, MsTensor *const *in)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *xs = py_wrap_all(n, in), *r = xs ? PyObject_CallObject(((Host *)h)->fn, xs) : NULL;
    MsStatus st = r ? MS_OK : MS_FAIL(MS_ERROR_FOREIGN, "A function of the host failed.");
    Py_XDECREF(xs);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

/* Whether a transformation follows one of them: a value of it, or a weight, which its environment holds. */
static bool any_traced(int n, MsTensor *const *t)
{
    for (int i = 0; i < n; i++) {
        if (t[i]->trace) return true;
        for (MsTrace *s = ms__trace_top(); s; s = s->below)
            if (s->n_env && ms__env_find(s, t[i])) return true;
    }
    return false;
}

static int collect(PyObject *seq, MsTensor **x)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(seq); i++) {
        PyObject *o = PyTuple_GET_ITEM(seq, i);
        if (!PY_IS_TENSOR(o)) {
            PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(o)->tp_name);
            return -1;
        }
        x[i] = PY_HANDLE(o);
    }
    return 0;
}

static PyObject *custom(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("custom", args);
    PyObject *fn, *inputs, *outputs, *r = NULL;
    if (!PyArg_ParseTuple(args, "OO!O!", &fn, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs)) return NULL;
    int n_in = (int)PyTuple_GET_SIZE(inputs), n_out = (int)PyTuple_GET_SIZE(outputs), n = 0;
    MsTensor **x = PyMem_Malloc(((size_t)n_in + 2 * (size_t)n_out + 1) * sizeof *x);
    if (!x) return PyErr_NoMemory();
    Host *h = NULL;
    int mark = ms_scope_begin();
    if (collect(inputs, x) < 0 || collect(outputs, x + n_in) < 0) goto done;
    if (n_out == 0 || !any_traced(n_in + n_out, x)) {
        r = Py_NewRef(outputs);
        goto done;
    }
    if (!(h = malloc(sizeof *h))) {
        PyErr_NoMemory();
        goto done;
    }
    *h = (Host){{1, call, drop, run}, Py_NewRef(fn)};
    MsTensor **out = x + n_in + n_out;
    if (ms_custom(n_in + n_out, x, n_in, &h->host, n_out, out, &n) == MS_OK)
        r = py_wrap_all(n, out);
    else
        py_raise();
done:
    ms_scope_end(mark, NULL, 0);
    if (h) ms_host_unref(&h->host);
    PyMem_Free(x);
    return r;
}

static PyObject *host(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("host", args);
    PyObject *fn, *inputs, *r = NULL;
    if (!PyArg_ParseTuple(args, "OO!", &fn, &PyTuple_Type, &inputs)) return NULL;
    int n = (int)PyTuple_GET_SIZE(inputs);
    MsTensor **x = PyMem_Malloc(((size_t)n + 1) * sizeof *x);
    Host *h = x ? malloc(sizeof *h) : NULL;
    if (!h) {
        PyMem_Free(x);
        return PyErr_NoMemory();
    }
    *h = (Host){{1, call, drop, run}, Py_NewRef(fn)};
    int mark = ms_scope_begin();
    int n_out;
    MsTensor *none[1];
    if (collect(inputs, x) == 0)
        r = ms_host(n, x, &h->host, 0, none, &n_out) == MS_OK ? Py_NewRef(Py_None) : py_raise();
    ms_scope_end(mark, NULL, 0);
    ms_host_unref(&h->host);
    PyMem_Free(x);
    return r;
}

static PyObject *pause_(PyObject *self, PyObject *delta)
{
    (void)self;
    if (py_recorder) return py_record_function("pause", delta);
    long d = PyLong_AsLong(delta);
    if (PyErr_Occurred()) return NULL;
    ms__trace_pause((int)d);
    Py_RETURN_NONE;
}

static PyObject *follows(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(ms__trace_follows());
}

static PyObject *is_traced(PyObject *self, PyObject *x)
{
    (void)self;
    if (!PY_IS_TENSOR(x))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(x)->tp_name);
    return PyBool_FromLong(PY_HANDLE(x)->trace != NULL);
}

/* The object x stands for the value of y from now on. */
static PyObject *rebind(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("rebind", args);
    PyObject *x, *y;
    if (!PyArg_ParseTuple(args, "O!O!", py_tensor_type, &x, py_tensor_type, &y)) return NULL;
    MsTensor *old = PY_HANDLE(x);
    PY_HANDLE(x) = ms_tensor_ref(PY_HANDLE(y));
    ms_tensor_unref(old);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"custom", custom, METH_VARARGS,
     "custom(fn, inputs, outputs) -> outputs, whose gradient fn(inputs, outputs, cotangents) computes."},
    {"host", host, METH_VARARGS, "host(fn, inputs): fn(*inputs) when the program runs."},
    {"pause", pause_, METH_O, "pause(+1) or pause(-1): open derivatives follow nothing while it is > 0."},
    {"follows", follows, METH_NOARGS, "Whether derivatives may be taken of what runs now."},
    {"is_traced", is_traced, METH_O, "Whether a transformation is following this tensor."},
    {"rebind", rebind, METH_VARARGS, "rebind(x, y): the object x stands for the value of y."},
    {NULL, NULL, 0, NULL},
};

static int init(PyObject *m)
{
    return PyModule_AddFunctions(m, functions);
}

__attribute__((constructor)) static void register_custom(void)
{
    py_register(init);
}
