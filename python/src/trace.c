/* trace.c - transformations and graphs for Python. A Trace object holds an open transformation between its
 * `begin` and `end`; Python's autodiff.py and jit close it in a `finally`, and a forgotten one is cancelled
 * when it dies. Invariant: no scope of the library stays open between two calls; values live in the Python
 * objects. */
#include "py.h"

#include <stdlib.h>

typedef enum TraceKind {
    VJP,
    JVP,
    VMAP,
    STAGE
} TraceKind;

typedef struct Trace {
    PyObject_HEAD MsTrace *trace; /* NULL when ended */
    int kind, n_in, n_w;
} Trace;

typedef struct Graph {
    PyObject_HEAD MsGraph *g;
} Graph;

static PyTypeObject *trace_type, *graph_type;

/* ---- lists of tensors ---- */

/* Borrowed handles of a sequence of tensors (None = NULL); freed with PyMem_Free. NULL and an exception. */
static MsTensor **handles(PyObject *seq, int *n)
{
    PyObject *fast = PySequence_Fast(seq, "expected a sequence of tensors");
    if (!fast) return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    MsTensor **t = PyMem_Malloc((size_t)(count + 1) * sizeof *t);
    if (!t) PyErr_NoMemory();
    for (Py_ssize_t i = 0; t && i < count; i++) {
        PyObject *o = PySequence_Fast_GET_ITEM(fast, i);
        if (o != Py_None && !PY_IS_TENSOR(o)) {
            PyErr_Format(PyExc_TypeError, "expected a Tensor, but got '%s'", Py_TYPE(o)->tp_name);
            PyMem_Free(t);
            t = NULL;
        } else if (o != Py_None && ((PyMsTensor *)o)->init && py_fulfil(o) < 0) {
            PyMem_Free(t);
            t = NULL;
        } else {
            t[i] = o == Py_None ? NULL : PY_HANDLE(o);
        }
    }
    *n = (int)count;
    Py_DECREF(fast);
    return t;
}

PyObject *py_wrap_all(int n, MsTensor *const *t)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *o = t[i] ? py_wrap(ms_tensor_ref(t[i])) : Py_NewRef(Py_None);
        if (!o)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, o);
    }
    return tuple;
}

static MsTensor **room(int n)
{
    MsTensor **t = PyMem_Calloc((size_t)n + 1, sizeof *t);
    if (!t) PyErr_NoMemory();
    return t;
}

/* ---- traces ---- */

/* (Trace, (x, ...)) of a transformation that was opened, or the exception. */
static PyObject *opened(MsTrace *trace, TraceKind kind, int n, int n_w, MsTensor *const *x)
{
    if (!trace) return py_raise();
    Trace *o = PyObject_New(Trace, trace_type);
    if (!o) return NULL;
    o->trace = trace, o->kind = kind, o->n_in = n, o->n_w = n_w;
    PyObject *xs = py_wrap_all(n, x);
    return xs ? Py_BuildValue("NN", o, xs) : (Py_DECREF(o), NULL);
}

static PyObject *begin(TraceKind kind, PyObject *inputs, PyObject *second)
{
    int n = 0, m = 0, mark = ms_scope_begin();
    MsTensor **in = handles(inputs, &n), **x = in ? room(n) : NULL;
    MsTensor **more = x && second ? handles(second, &m) : NULL;
    PyObject *r = NULL;
    if (x && (more || !second)) {
        MsTrace *t = NULL;
        if (kind == VJP)
            t = ms_vjp_begin(n, in, x, m, more);
        else if (kind == JVP && m != n)
            PyErr_Format(PyExc_ValueError, "For 'jvp', expected %d tangents, but got %d.", n, m);
        else if (kind == JVP)
            t = ms_jvp_begin(n, in, more, x);
        else
            t = ms_stage_begin(n, in, x);
        if (!PyErr_Occurred()) r = opened(t, kind, n, m, x);
    }
    PyMem_Free(in);
    PyMem_Free(x);
    PyMem_Free(more);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *vjp_begin(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("vjp_begin", args);
    PyObject *in, *weights;
    return PyArg_ParseTuple(args, "OO", &in, &weights) ? begin(VJP, in, weights) : NULL;
}

static PyObject *jvp_begin(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("jvp_begin", args);
    PyObject *in, *v;
    return PyArg_ParseTuple(args, "OO", &in, &v) ? begin(JVP, in, v) : NULL;
}

static PyObject *stage_begin(PyObject *self, PyObject *in)
{
    (void)self;
    if (py_recorder) {
        PyObject *one = PyTuple_Pack(1, in), *r = one ? py_record_function("stage_begin", one) : NULL;
        Py_XDECREF(one);
        return r;
    }
    return begin(STAGE, in, NULL);
}

/* stage_begin for inputs of which only (dtype, shape) are known. */
static PyObject *stage_begin_avals(PyObject *self, PyObject *avals)
{
    (void)self;
    PyObject *fast = PySequence_Fast(avals, "expected a sequence of (dtype, shape)");
    if (!fast) return NULL;
    int n = (int)PySequence_Fast_GET_SIZE(fast), mark = ms_scope_begin();
    MsAval *aval = PyMem_Calloc((size_t)n + 1, sizeof *aval);
    MsTensor **x = aval ? room(n) : NULL;
    PyObject *r = NULL;
    for (int i = 0; x && i < n && !PyErr_Occurred(); i++) {
        PyObject *dtype, *shape;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(fast, i), "OO!", &dtype, &PyTuple_Type, &shape)) break;
        aval[i] = (MsAval){py_dtype_of(dtype), (int)PyTuple_GET_SIZE(shape), {0}};
        for (int d = 0; d < aval[i].ndim && d < MS_MAX_DIM; d++)
            aval[i].shape[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d));
    }
    if (x && !PyErr_Occurred()) r = opened(ms__stage_begin(n, aval, x), STAGE, n, 0, x);
    PyMem_Free(aval);
    PyMem_Free(x);
    Py_DECREF(fast);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *vmap_begin(PyObject *self, PyObject *args)
{
    (void)self;
    if (py_recorder) return py_record_function("vmap_begin", args);
    PyObject *inputs, *axes;
    if (!PyArg_ParseTuple(args, "OO", &inputs, &axes)) return NULL;
    int n = 0, mark = ms_scope_begin();
    MsTensor **in = handles(inputs, &n), **x = in ? room(n) : NULL;
    int *axis = x ? PyMem_Malloc(((size_t)n + 1) * sizeof *axis) : NULL;
    PyObject *r = NULL, *list = axis ? PySequence_Fast(axes, "expected a sequence of axes") : NULL;
    if (list && PySequence_Fast_GET_SIZE(list) != n) {
        PyErr_Format(PyExc_ValueError, "For 'vmap', expected %d axes, but got %zd.", n,
                     PySequence_Fast_GET_SIZE(list));
    } else if (list) {
        for (int i = 0; i < n && !PyErr_Occurred(); i++) {
            PyObject *a = PySequence_Fast_GET_ITEM(list, i);
            axis[i] = a == Py_None ? -1 : (int)PyLong_AsLong(a);
        }
        if (!PyErr_Occurred()) r = opened(ms_vmap_begin(n, in, axis, x), VMAP, n, 0, x);
    }
    Py_XDECREF(list);
    PyMem_Free(in);
    PyMem_Free(x);
    PyMem_Free(axis);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static bool closed(Trace *o)
{
    if (!o->trace) PyErr_SetString(PyExc_RuntimeError, "The transformation was ended already.");
    return !o->trace;
}

/* grad(ys, cts) -> cotangents of the inputs, then of the weights. cts: a sequence, entries None = ones. */
static PyObject *trace_grad(PyObject *self, PyObject *args)
{
    if (py_recorder) return py_record_method(trace_type, "grad", self, args);
    Trace *o = (Trace *)self;
    PyObject *ys, *cts;
    if (!PyArg_ParseTuple(args, "OO", &ys, &cts) || closed(o)) return NULL;
    int n = 0, m = 0, mark = ms_scope_begin();
    MsTensor **y = handles(ys, &n), **ct = y ? handles(cts, &m) : NULL,
             **grad = ct ? room(o->n_in + o->n_w) : NULL;
    PyObject *r = NULL;
    if (grad && m != n) {
        PyErr_Format(PyExc_ValueError, "expected %d cotangents, but got %d", n, m);
    } else if (grad) {
        MsStatus st;
        int was = ms__lazy_enter();
        Py_BEGIN_ALLOW_THREADS st = ms_vjp_grad(o->trace, n, y, ct, grad);
        Py_END_ALLOW_THREADS ms__lazy_leave(was);
        r = st == MS_OK ? py_wrap_all(o->n_in + o->n_w, grad) : py_raise();
        if (r && PyErr_CheckSignals() < 0) Py_CLEAR(r);
    }
    PyMem_Free(y);
    PyMem_Free(ct);
    PyMem_Free(grad);
    ms_scope_end(mark, NULL, 0);
    return r;
}

/* value(y[, axis]): y below the transformation; jvp gives (value, tangent). */
static PyObject *trace_value(PyObject *self, PyObject *args)
{
    if (py_recorder) return py_record_method(trace_type, "value", self, args);
    Trace *o = (Trace *)self;
    PyObject *y;
    int axis = 0;
    if (!PyArg_ParseTuple(args, "O!|i", py_tensor_type, &y, &axis) || closed(o)) return NULL;
    int mark = ms_scope_begin();
    if (o->kind == JVP) {
        MsTensor *v[2] = {NULL, NULL};
        MsStatus st = ms_jvp_value(o->trace, PY_HANDLE(y), &v[0], &v[1]);
        PyObject *r = st == MS_OK ? py_wrap_all(2, v) : py_raise();
        ms_scope_end(mark, NULL, 0);
        return r;
    }
    if (o->kind == STAGE) {
        ms_scope_end(mark, NULL, 0);
        return PyErr_Format(PyExc_RuntimeError, "A staged tensor has no value.");
    }
    return py_leave(mark, o->kind == VJP ? ms_vjp_value(o->trace, PY_HANDLE(y))
                                         : ms_vmap_value(o->trace, PY_HANDLE(y), axis));
}

static PyObject *graph_object(MsGraph *g)
{
    if (!g) return py_raise();
    Graph *o = PyObject_New(Graph, graph_type);
    if (!o) {
        ms_graph_unref(g);
        return NULL;
    }
    o->g = g;
    return (PyObject *)o;
}

static MsStatus cancel(Trace *o)
{
    MsTrace *t = o->trace;
    o->trace = NULL;
    if (!t) return MS_OK;
    if (o->kind == VJP) return ms_vjp_end(t);
    if (o->kind == JVP) return ms_jvp_end(t);
    if (o->kind == VMAP) return ms_vmap_end(t);
    ms_stage_cancel(t);
    return MS_OK;
}

/* end(): closes it; a staging takes end(ys) and gives the Graph. */
static PyObject *trace_end(PyObject *self, PyObject *args)
{
    if (py_recorder) return py_record_method(trace_type, "end", self, args);
    Trace *o = (Trace *)self;
    PyObject *ys = NULL;
    if (!PyArg_ParseTuple(args, "|O", &ys)) return NULL;
    int mark = ms_scope_begin();
    PyObject *r = NULL;
    if (o->kind == STAGE && ys && !closed(o)) {
        int n = 0;
        MsTensor **y = handles(ys, &n);
        if (y) {
            MsTrace *t = o->trace;
            o->trace = NULL;
            r = graph_object(ms_stage_end(t, n, y));
        }
        PyMem_Free(y);
    } else if (!PyErr_Occurred()) {
        r = cancel(o) == MS_OK ? Py_NewRef(Py_None) : py_raise();
    }
    ms_scope_end(mark, NULL, 0);
    return r;
}

/* leave(): the function has run; grad() still works until the object dies. */
static PyObject *trace_leave(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (py_recorder) return py_record_method(trace_type, "leave", self, NULL);
    Trace *o = (Trace *)self;
    if (closed(o)) return NULL;
    if (o->kind != VJP) return PyErr_Format(PyExc_RuntimeError, "Only reverse mode can be left.");
    if (ms_vjp_leave(o->trace) != MS_OK) return py_raise();
    Py_RETURN_NONE;
}

/* peek(x, inputs) -> (value, x as it is now): of a staging whose inputs are these. */
static PyObject *trace_peek(PyObject *self, PyObject *args)
{
    if (py_recorder) return py_record_method(trace_type, "peek", self, args);
    Trace *o = (Trace *)self;
    PyObject *x, *inputs;
    if (!PyArg_ParseTuple(args, "O!O", py_tensor_type, &x, &inputs) || closed(o)) return NULL;
    int n = 0, mark = ms_scope_begin();
    MsTensor **in = handles(inputs, &n), *out[2] = {NULL, NULL};
    PyObject *r = NULL;
    if (in && n != o->n_in)
        PyErr_Format(PyExc_ValueError, "expected %d inputs, but got %d", o->n_in, n);
    else if (in)
        r = ms__stage_peek(o->trace, PY_HANDLE(x), in, &out[0], &out[1]) == MS_OK ? py_wrap_all(2, out)
                                                                                  : py_raise();
    PyMem_Free(in);
    ms_scope_end(mark, NULL, 0);
    return r;
}

/* drop(): closes it; what was written inside is forgotten. */
static PyObject *trace_drop(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (py_recorder) return py_record_method(trace_type, "drop", self, NULL);
    Trace *o = (Trace *)self;
    MsTrace *t = o->trace;
    o->trace = NULL;
    if (t) ms_stage_cancel(t);
    Py_RETURN_NONE;
}

static void trace_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (cancel((Trace *)self) != MS_OK) ms_error_clear();
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef trace_methods[] = {
    {"grad", trace_grad, METH_VARARGS,
     "grad(ys, cts): pulls cotangents back to the inputs, then the weights."},
    {"value", trace_value, METH_VARARGS,
     "value(y, axis=0): y below the transformation; jvp: (value, tangent)."},
    {"peek", trace_peek, METH_VARARGS, "peek(x, inputs) -> (its value for these inputs, x as it is now)."},
    {"drop", trace_drop, METH_NOARGS, "Closes it; what was written inside is forgotten."},
    {"leave", trace_leave, METH_NOARGS, "Ends the recording; grad() works on what was recorded until end()."},
    {"end", trace_end, METH_VARARGS, "Closes the transformation; a staging gives its Graph for end(ys)."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot trace_slots[] = {
    {Py_tp_dealloc, trace_dealloc}, {Py_tp_methods, trace_methods}, {0, NULL}};
static PyType_Spec trace_spec = {"mindspore._c.Trace", sizeof(Trace), 0, Py_TPFLAGS_DEFAULT, trace_slots};

/* ---- graphs ---- */

MsGraph *py_graph(PyObject *o)
{
    if (Py_TYPE(o) == graph_type) return ((Graph *)o)->g;
    PyErr_Format(PyExc_TypeError, "expected a Graph, but got '%s'", Py_TYPE(o)->tp_name);
    return NULL;
}

static PyObject *graph_call(PyObject *self, PyObject *inputs)
{
    if (py_recorder) {
        PyObject *one = PyTuple_Pack(1, inputs),
                 *r = one ? py_record_method(graph_type, "call", self, one) : NULL;
        Py_XDECREF(one);
        return r;
    }
    MsGraph *g = ((Graph *)self)->g;
    int n = 0, n_out = ms_graph_n_out(g), mark = ms_scope_begin();
    MsTensor **in = handles(inputs, &n), **out = in ? room(n_out) : NULL;
    PyObject *r = NULL;
    if (out) {
        MsStatus st;
        Py_BEGIN_ALLOW_THREADS st = ms_graph_call(g, n, in, out);
        Py_END_ALLOW_THREADS r = st == MS_OK ? py_wrap_all(n_out, out) : py_raise();
        if (r && PyErr_CheckSignals() < 0) Py_CLEAR(r);
    }
    PyMem_Free(in);
    PyMem_Free(out);
    ms_scope_end(mark, NULL, 0);
    return r;
}

static PyObject *graph_optimize(PyObject *self, PyObject *args)
{
    int level = MS_JIT_O1;
    if (!PyArg_ParseTuple(args, "|i", &level)) return NULL;
    if (ms_graph_optimize(((Graph *)self)->g, (MsJitLevel)level) != MS_OK) return py_raise();
    Py_RETURN_NONE;
}

static PyObject *graph_text(PyObject *self)
{
    char *text = ms_graph_print(((Graph *)self)->g);
    PyObject *r = text ? PyUnicode_FromString(text) : py_raise();
    free(text);
    return r;
}

static PyObject *graph_n_in(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ms_graph_n_in(((Graph *)self)->g));
}

static PyObject *graph_n_out(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ms_graph_n_out(((Graph *)self)->g));
}

static PyObject *graph_arena(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(ms_graph_arena(((Graph *)self)->g));
}

static PyObject *graph_parse(PyObject *self, PyObject *text)
{
    (void)self;
    const char *s = PyUnicode_AsUTF8(text);
    return s ? graph_object(ms_graph_parse(s)) : NULL;
}

static void graph_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ms_graph_unref(((Graph *)self)->g);
    type->tp_free(self);
    Py_DECREF(type);
}

/* split(n) -> two graphs: one for the last n results, one for the others. */
static PyObject *graph_split(PyObject *self, PyObject *n)
{
    long count = PyLong_AsLong(n);
    MsGraph *g = ((Graph *)self)->g, *a = NULL, *b = NULL;
    if (PyErr_Occurred()) return NULL;
    if (count < 0 || count > g->n_result)
        return PyErr_Format(PyExc_ValueError, "the graph has no %ld results", count);
    if (ms__graph_split(g, (int)count, &a, &b) != MS_OK) return py_raise();
    PyObject *first = graph_object(a), *rest = graph_object(b);
    return first && rest ? Py_BuildValue("NN", first, rest) : NULL;
}

static PyMethodDef graph_methods[] = {
    {"split", graph_split, METH_O,
     "split(n) -> (graph of the last n results and what the other needs, graph of the rest)."},
    {"call", graph_call, METH_O, "call(inputs) -> tuple of outputs."},
    {"optimize", graph_optimize, METH_VARARGS, "optimize(level=1): runs the passes in place."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef graph_getset[] = {
    {"n_in", graph_n_in, NULL, NULL, NULL},
    {"n_out", graph_n_out, NULL, NULL, NULL},
    {"arena", graph_arena, NULL, "Bytes that the memory plan needs for one run.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot graph_slots[] = {{Py_tp_dealloc, graph_dealloc},
                                    {Py_tp_methods, graph_methods},
                                    {Py_tp_getset, graph_getset},
                                    {Py_tp_str, graph_text},
                                    {0, NULL}};
static PyType_Spec graph_spec = {"mindspore._c.Graph", sizeof(Graph), 0, Py_TPFLAGS_DEFAULT, graph_slots};

static PyMethodDef functions[] = {
    {"vjp_begin", vjp_begin, METH_VARARGS, "vjp_begin(inputs, weights) -> (Trace, traced inputs)."},
    {"jvp_begin", jvp_begin, METH_VARARGS, "jvp_begin(inputs, tangents) -> (Trace, traced inputs)."},
    {"vmap_begin", vmap_begin, METH_VARARGS,
     "vmap_begin(inputs, axes) -> (Trace, traced inputs); axis None = whole."},
    {"stage_begin", stage_begin, METH_O, "stage_begin(inputs) -> (Trace, traced inputs)."},
    {"stage_begin_avals", stage_begin_avals, METH_O, "stage_begin for a sequence of (dtype, shape)."},
    {"graph_parse", graph_parse, METH_O, "The Graph that a text describes."},
    {NULL, NULL, 0, NULL},
};

int py_trace_init(PyObject *m)
{
    trace_type = (PyTypeObject *)PyType_FromSpec(&trace_spec);
    graph_type = (PyTypeObject *)PyType_FromSpec(&graph_spec);
    if (!trace_type || !graph_type || PyModule_AddFunctions(m, functions) < 0) return -1;
    if (PyModule_AddObject(m, "Trace", Py_NewRef((PyObject *)trace_type)) < 0) return -1;
    return PyModule_AddObject(m, "Graph", Py_NewRef((PyObject *)graph_type));
}
