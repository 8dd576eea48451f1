/* model.c - models in files for Python: a decoded message becomes a dict by field names (repeated fields a list, tensors a
 * Tensor), and a graph becomes a file. */
#include "py.h"

#include "format/export.h"
#include "format/mindir.h"

#include <stdlib.h>

static PyObject *message(const MsProtoMessage *m, const char *folder);

static PyObject *tensor(const MsProtoMessage *m, const char *folder)
{
    PyObject *dict = PyDict_New(), *shape = PyList_New(0), *value = NULL;
    bool has_content = false;
    for (int k = 0; dict && shape && k < m->n; k++) {
        const MsProtoItem *item = &m->item[k];
        PyObject *v = NULL;
        const char *name = item->field->name;
        switch (item->field->number) {
        case 1:
            v = PyLong_FromLongLong(item->i);
            if (!v || PyList_Append(shape, v) < 0) goto fail;
            Py_CLEAR(v);
            continue;
        case 2:
            v = Py_NewRef(ms__mindir_dtype_of(item->i) < 0 ? Py_None
                                                           : py_dtype(ms__mindir_dtype_of(item->i)));
            break;
        case 7:
        case 13: v = PyUnicode_FromStringAndSize((const char *)item->p, (Py_ssize_t)item->n); break;
        case 9:
        case 3:
        case 4:
        case 6:
        case 10:
        case 11:
        case 12: has_content = true; continue;
        default: continue;
        }
        int st = v ? PyDict_SetItemString(dict, name, v) : -1;
        Py_XDECREF(v);
        if (st < 0) goto fail;
    }
    if (!dict || !shape || PyDict_SetItemString(dict, "dims", shape) < 0) goto fail;
    if (has_content) {
        int mark = ms_scope_begin();
        value = py_leave(mark, ms__mindir_tensor_of(m, folder));
        if (!value || PyDict_SetItemString(dict, "value", value) < 0) goto fail;
    }
    Py_XDECREF(value);
    Py_DECREF(shape);
    return dict;
fail:
    Py_XDECREF(value);
    Py_XDECREF(shape);
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *item_value(const MsProtoItem *item, const char *folder)
{
    switch (item->field->kind) {
    case MS_PROTO_INT: return PyLong_FromLongLong(item->i);
    case MS_PROTO_FLOAT:
    case MS_PROTO_DOUBLE: return PyFloat_FromDouble(item->f);
    case MS_PROTO_TEXT: return PyUnicode_FromStringAndSize((const char *)item->p, (Py_ssize_t)item->n);
    case MS_PROTO_BYTES: return PyBytes_FromStringAndSize((const char *)item->p, (Py_ssize_t)item->n);
    default: return item->field->of == ms__mindir_tensor ? tensor(item->m, folder) : message(item->m, folder);
    }
}

static PyObject *message(const MsProtoMessage *m, const char *folder)
{
    PyObject *dict = PyDict_New();
    for (int k = 0; dict && k < m->n; k++) {
        const MsProtoField *field = m->item[k].field;
        PyObject *v = item_value(&m->item[k], folder);
        int st = -1;
        if (v && field->many) {
            PyObject *list = PyDict_GetItemString(dict, field->name);
            if (!list && (list = PyList_New(0))) {
                st = PyDict_SetItemString(dict, field->name, list);
                Py_DECREF(list);
                if (st < 0) list = NULL;
            }
            st = list ? PyList_Append(list, v) : -1;
        } else if (v) {
            st = PyDict_SetItemString(dict, field->name, v);
        }
        Py_XDECREF(v);
        if (st < 0) Py_CLEAR(dict);
    }
    return dict;
}

/* mindir_decode(name, bytes, folder) -> dict */
static PyObject *mindir_decode(PyObject *self, PyObject *args)
{
    (void)self;
    const char *what, *folder;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(args, "sy*s", &what, &bytes, &folder)) return NULL;
    MsProtoMessage *m = ms__proto_decode(what, ms__mindir_model, bytes.buf, (size_t)bytes.len);
    PyObject *r = m ? message(m, folder) : py_raise();
    ms__proto_free(m);
    PyBuffer_Release(&bytes);
    return r;
}

/* ---- writing ---- */

/* Borrowed UTF-8 texts of a list (None = NULL); freed with PyMem_Free. */
static const char **texts(PyObject *list, Py_ssize_t want)
{
    if (!PyList_Check(list) || PyList_GET_SIZE(list) != want)
        return (const char **)PyErr_Format(PyExc_ValueError, "expected a list of %zd names", want);
    const char **s = PyMem_Calloc((size_t)want + 1, sizeof *s);
    if (!s) return (const char **)PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < want; k++) {
        PyObject *o = PyList_GET_ITEM(list, k);
        if (o != Py_None && !(s[k] = PyUnicode_AsUTF8(o))) {
            PyMem_Free(s);
            return NULL;
        }
    }
    return s;
}

/* graph_captured(graph) -> the tensors of outside that it reads. */
static PyObject *graph_captured(PyObject *self, PyObject *graph)
{
    (void)self;
    MsGraph *g = py_graph(graph);
    return g ? py_wrap_all(g->n_in - g->n_arg, g->captured) : NULL;
}

/* model_write(format, graph, other, name, inputs, captured, places, offsets, result or outputs) -> bytes */
static PyObject *model_write(PyObject *self, PyObject *args)
{
    (void)self;
    const char *format;
    PyObject *graph, *other, *input, *captured, *place, *offset, *result;
    MsModel m = {0};
    if (!PyArg_ParseTuple(args, "sOOsOOOOO", &format, &graph, &other, &m.name, &input, &captured, &place,
                          &offset, &result))
        return NULL;
    if (!(m.g = py_graph(graph)) || (other != Py_None && !(m.other = py_graph(other)))) return NULL;
    Py_ssize_t n = m.g->n_in - m.g->n_arg;
    bool onnx = format[0] == 'O';
    const char **output = NULL;
    m.input = texts(input, m.g->n_arg);
    m.captured = m.input ? texts(captured, n) : NULL;
    m.place = m.captured ? texts(place, n) : NULL;
    int64_t *at = m.place ? PyMem_Calloc((size_t)n + 1, sizeof *at) : NULL;
    m.offset = at;
    for (Py_ssize_t k = 0; at && k < n; k++) at[k] = PyLong_AsLongLong(PyList_GET_ITEM(offset, k));
    if (onnx && at && result != Py_None) output = texts(result, m.g->n_result);
    if (!onnx && at) m.result = PyUnicode_AsUTF8(result);
    PyObject *r = NULL;
    if (at && !PyErr_Occurred()) {
        MsProtoBuffer out = {0};
        MsStatus st = onnx ? ms__onnx_write(&m, output, &out) : ms__mindir_write(&m, &out);
        r = st == MS_OK ? PyBytes_FromStringAndSize((const char *)out.p, (Py_ssize_t)out.n) : py_raise();
        free(out.p);
    }
    PyMem_Free((void *)m.input);
    PyMem_Free((void *)m.captured);
    PyMem_Free((void *)m.place);
    PyMem_Free((void *)output);
    PyMem_Free(at);
    return r;
}

static PyMethodDef methods[] = {
    {"graph_captured", graph_captured, METH_O,
     "graph_captured(graph) -> the tensors of outside that it reads."},
    {"model_write", model_write, METH_VARARGS, "The bytes of a model in the format MINDIR or ONNX."},
    {"mindir_decode", mindir_decode, METH_VARARGS,
     "mindir_decode(name, bytes, folder) -> the model as a dict."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *m)
{
    return PyModule_AddFunctions(m, methods);
}

__attribute__((constructor)) static void hook(void)
{
    py_register(fill);
}
