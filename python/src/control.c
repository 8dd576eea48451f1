/* control.c - what staging from Python needs beside trace.c: conditionals and loops over staged parts, and
 * questions about graphs. An output of a part is given as the index of its graph's result or as a tensor of
 * outside. */
#include "py.h"

#include "trace/flow.h"

#include <string.h>

static MsPick *picks(PyObject *seq, int *n)
{
    PyObject *fast = PySequence_Fast(seq, "expected a sequence of outputs");
    if (!fast) return NULL;
    *n = (int)PySequence_Fast_GET_SIZE(fast);
    MsPick *p = PyMem_Malloc((size_t)(*n + 1) * sizeof *p);
    if (!p) PyErr_NoMemory();
    for (int j = 0; p && j < *n; j++) {
        PyObject *o = PySequence_Fast_GET_ITEM(fast, j);
        p[j] = (MsPick){-1, NULL};
        if (PY_IS_TENSOR(o))
            p[j].t = PY_HANDLE(o);
        else
            p[j].index = (int)PyLong_AsLong(o);
        if (PyErr_Occurred()) {
            PyMem_Free(p);
            p = NULL;
        }
    }
    Py_DECREF(fast);
    return p;
}

static PyObject *cond(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("cond", args);
    PyObject *pred, *yes, *no, *yes_out, *no_out;
    if (!PyArg_ParseTuple(args, "O!OOOO", py_tensor_type, &pred, &yes, &no, &yes_out, &no_out)) return NULL;
    MsGraph *a = py_graph(yes), *b = a ? py_graph(no) : NULL;
    if (!b) return NULL;
    int n = 0, m = 0, mark = ms_scope_begin();
    MsPick *p = picks(yes_out, &n), *q = p ? picks(no_out, &m) : NULL;
    MsTensor **out = q ? PyMem_Calloc((size_t)n + 1, sizeof *out) : NULL;
    PyObject *r = NULL;
    if (q && !out)
        PyErr_NoMemory();
    else if (out && n != m)
        PyErr_Format(PyExc_ValueError, "the branches give %d and %d outputs", n, m);
    else if (out)
        r = ms__flow_cond(PY_HANDLE(pred), a, b, n, p, q, out) == MS_OK ? py_wrap_all(n, out) : py_raise();
    PyMem_Free(p);
    PyMem_Free(q);
    PyMem_Free(out);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *while_(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("while_", args);
    PyObject *test, *body, *init, *outs;
    if (!PyArg_ParseTuple(args, "OOO!O", &test, &body, &PyList_Type, &init, &outs)) return NULL;
    MsGraph *a = py_graph(test), *b = a ? py_graph(body) : NULL;
    if (!b) return NULL;
    int n = (int)PyList_GET_SIZE(init), m = 0, mark = ms_scope_begin();
    MsPick *p = picks(outs, &m);
    MsTensor **x = p ? PyMem_Calloc(2 * (size_t)n + 1, sizeof *x) : NULL;
    PyObject *r = NULL;
    if (p && !x) PyErr_NoMemory();
    if (x && n != m) PyErr_Format(PyExc_ValueError, "%d values are carried, but the body gives %d", n, m);
    for (int j = 0; x && j < n && !PyErr_Occurred(); j++) {
        PyObject *o = PyList_GET_ITEM(init, j);
        if (PY_IS_TENSOR(o))
            x[j] = PY_HANDLE(o);
        else
            PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(o)->tp_name);
    }
    if (x && !PyErr_Occurred())
        r = ms__flow_while(a, b, n, x, p, x + n) == MS_OK ? py_wrap_all(n, x + n) : py_raise();
    PyMem_Free(p);
    PyMem_Free(x);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *graph_output(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("graph_output", args);
    PyObject *graph;
    int j;
    if (!PyArg_ParseTuple(args, "Oi", &graph, &j)) return NULL;
    MsGraph *g = py_graph(graph);
    if (!g) return NULL;
    if (j < 0 || j >= g->n_result) return PyErr_Format(PyExc_IndexError, "output %d does not exist", j);
    const MsAval *a = &g->val[g->out[j]];
    PyObject *shape = PyTuple_New(a->ndim);
    for (int d = 0; shape && d < a->ndim; d++) PyTuple_SET_ITEM(shape, d, PyLong_FromLongLong(a->shape[d]));
    return shape ? Py_BuildValue("ON", py_dtype(a->dtype), shape) : NULL;
}

static PyObject *graph_closed(PyObject *self, PyObject *graph)
{
    (void)self;
    MsGraph *g = py_graph(graph);
    if (!g) return NULL;
    for (int k = 0; k < g->n_in - g->n_arg; k++)
        if (g->captured[k]->trace) Py_RETURN_FALSE;
    Py_RETURN_TRUE;
}

static PyObject *stage_id(PyObject *self, PyObject *x)
{
    (void)self;
    if (!PyObject_TypeCheck(x, py_tensor_type)) {
        PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(x)->tp_name);
        return NULL;
    }
    return PyLong_FromLong(PY_HANDLE(x)->tv.id);
}

static PyObject *content_version(PyObject *self, PyObject *x)
{
    (void)self;
    if (!PY_IS_TENSOR(x))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(x)->tp_name);
    return PyLong_FromUnsignedLong(ms__content_version(PY_HANDLE(x)));
}

static PyObject *write_(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("write", args);
    PyObject *t, *value;
    if (!PyArg_ParseTuple(args, "O!O!", py_tensor_type, &t, py_tensor_type, &value)) return NULL;
    if (ms_tensor_write(PY_HANDLE(t), PY_HANDLE(value)) != MS_OK) return py_raise();
    Py_RETURN_NONE;
}

/* Do two of n tensors share memory? */
static bool share(PyObject *const *t, Py_ssize_t n)
{
    for (Py_ssize_t i = 1; i < n; i++)
        for (Py_ssize_t k = 0; k < i; k++)
            if (t[i] == t[k] ||
                (PY_HANDLE(t[i])->storage && PY_HANDLE(t[i])->storage == PY_HANDLE(t[k])->storage))
                return true;
    return false;
}

static PyObject *share_memory(PyObject *self, PyObject *tensors)
{
    (void)self;
    PyObject *fast = PySequence_Fast(tensors, "expected a sequence of tensors");
    if (!fast) return NULL;
    bool all = true;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); i++)
        all = all && PY_IS_TENSOR(PySequence_Fast_GET_ITEM(fast, i));
    PyObject *r = PyBool_FromLong(all && share(PySequence_Fast_ITEMS(fast), PySequence_Fast_GET_SIZE(fast)));
    Py_DECREF(fast);
    return r;
}

/* Dtypes and shapes of a tuple of plain Tensors as bytes, or None when there is anything else in it or two share
 * memory: the common key of a call, without an object per size. */
static PyObject *avals_key(PyObject *self, PyObject *args)
{
    (void)self;
    char buf[4096], *p = buf;
    Py_ssize_t n = PyTuple_Check(args) ? PyTuple_GET_SIZE(args) : 1000;
    if (n * (Py_ssize_t)(2 + MS_MAX_DIM * sizeof(int64_t)) > (Py_ssize_t)sizeof buf) Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GET_ITEM(args, i);
        if (Py_TYPE(o) != py_tensor_type) Py_RETURN_NONE;
        const MsTensor *t = PY_HANDLE(o);
        *p++ = (char)t->dtype;
        *p++ = (char)t->ndim;
        for (int d = 0; d < t->ndim; d++, p += sizeof t->shape[d])
            memcpy(p, &t->shape[d], sizeof t->shape[d]);
    }
    if (n > 1 && share(&PyTuple_GET_ITEM(args, 0), n)) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(buf, p - buf);
}

/* A number that tells whether a Tensor still stands for the same data: assign_value and init_data replace it.
 */
static PyObject *handle_of(PyObject *self, PyObject *t)
{
    (void)self;
    if (PY_IS_TENSOR(t)) return PyLong_FromVoidPtr(PY_HANDLE(t));
    return PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(t)->tp_name);
}

static PyObject *content(PyObject *self, PyObject *x)
{
    (void)self;
    if (!PY_IS_TENSOR(x))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(x)->tp_name);
    int mark = ms_scope_begin();
    MsTensor *t = ms__concrete_unseen(PY_HANDLE(x));
    PyObject *r = NULL;
    if (t) {
        size_t size = ms_dtype_size((MsDtype)t->dtype);
        r = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)t->numel * size));
        char *to = r ? PyBytes_AS_STRING(r) : NULL;
        int64_t at[MS_MAX_DIM] = {0};
        if (r && t->contiguous) memcpy(to, t->data, (size_t)t->numel * size);
        for (int64_t k = 0; r && !t->contiguous && k < t->numel; k++, to += size) {
            const char *from = t->data;
            for (int d = 0; d < t->ndim; d++) from += at[d] * t->strides[d] * (int64_t)size;
            memcpy(to, from, size);
            for (int d = t->ndim - 1; d >= 0 && ++at[d] == t->shape[d]; d--) at[d] = 0;
        }
    } else if (ms_error()->code != MS_OK) {
        py_raise();
    } else {
        PyErr_SetString(PyExc_RuntimeError, "The tensor has no value yet.");
    }
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *reader; /* called with tensors whose content is looked at while a function is staged */

static void tell_reader(MsTensor *t)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *x = reader ? py_wrap(ms_tensor_ref(t)) : NULL;
    PyObject *r = x ? PyObject_CallFunctionObjArgs(reader, x, NULL) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(r);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

static PyObject *set_read_hook(PyObject *self, PyObject *fn)
{
    (void)self;
    Py_XSETREF(reader, fn == Py_None ? NULL : Py_NewRef(fn));
    ms__read_hook = reader ? tell_reader : NULL;
    Py_RETURN_NONE;
}

static PyObject *autocast(PyObject *self, PyObject *args)
{
    PyObject *dtype = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "|O", &dtype)) return NULL;
    MsDtype now = ms__autocast();
    if (dtype) ms__set_autocast(dtype == Py_None ? MS_DTYPE_NONE : py_dtype_of(dtype));
    return Py_NewRef(now == MS_DTYPE_NONE ? Py_None : py_dtype(now));
}

static PyMethodDef functions[] = {
    {"content", content, METH_O, "The elements of a concrete tensor as bytes."},
    {"set_read_hook", set_read_hook, METH_O,
     "A function that is told the tensors whose content is looked at while staging."},
    {"autocast", autocast, METH_VARARGS,
     "autocast([dtype or None]): sets the half type of this thread; returns what it was."},
    {"avals_key", avals_key, METH_O, "Dtypes and shapes of a tuple of Tensors as bytes, or None."},
    {"share_memory", share_memory, METH_O, "Whether two tensors of a sequence share memory."},
    {"handle_of", handle_of, METH_O, "A number that changes when a Tensor is made to stand for other data."},
    {"cond", cond, METH_VARARGS,
     "cond(pred, yes, no, yes_outputs, no_outputs) -> outputs of the taken Graph."},
    {"while_", while_, METH_VARARGS,
     "while_(test, body, initial list, body outputs) -> the last carried values."},
    {"graph_output", graph_output, METH_VARARGS, "graph_output(graph, j) -> (dtype, shape)."},
    {"graph_closed", graph_closed, METH_O, "Whether a Graph captured no value of an open transformation."},
    {"stage_id", stage_id, METH_O,
     "stage_id(x): the number of a traced tensor's value, another one once it is written; k for input k."},
    {"content_version", content_version, METH_O, "content_version(x): another number once x is written."},
    {"write", write_, METH_VARARGS, "write(tensor, value): into the elements of tensor."},
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
