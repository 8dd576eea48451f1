/* convert.c - Python objects to MsArg and back. Invariant: an MsArg borrows; what it points to is kept by the
 * call's arguments, its arena or the open scope, which all outlive the call. */
#include "row.h"

#include <string.h>

/* ---- memory of a conversion ---- */

struct PyBlock {
    struct PyBlock *next;
    MsArg item[];
};

MsArg *py_arena_take(PyMsArena *a, int n)
{
    if (a->used + n <= (int)(sizeof a->few / sizeof *a->few)) {
        MsArg *p = a->few + a->used;
        a->used += n;
        return p;
    }
    struct PyBlock *b = PyMem_Malloc(sizeof *b + (size_t)n * sizeof *b->item);
    if (!b) return (MsArg *)PyErr_NoMemory();
    b->next = a->more;
    a->more = b;
    return b->item;
}

void py_arena_free(PyMsArena *a)
{
    while (a->more) {
        struct PyBlock *b = a->more;
        a->more = b->next;
        PyMem_Free(b);
    }
}

/* ---- Python to MsArg ---- */

bool py_is_list(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o);
}

int py_arg_int(PyObject *o, MsArg *arg)
{
    int over;
    *arg = (MsArg){.kind = MS_ARG_INT, .i = PyLong_AsLongLongAndOverflow(o, &over)};
    if (over) PyErr_Format(PyExc_OverflowError, "The integer %R is out of bounds for int64.", o);
    return over ? -1 : 0;
}

static int arg_list(PyObject *o, MsArg *arg, PyMsArena *arena)
{
    PyObject **items = PySequence_Fast_ITEMS(o);
    int n = (int)PySequence_Fast_GET_SIZE(o);
    MsArg *list = py_arena_take(arena, n);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_LIST, .tuple = PyTuple_Check(o), .n = n, .list = list};
    for (int i = 0; i < n; i++)
        if (py_arg_any(items[i], &list[i], arena) < 0) return -1;
    return 0;
}

static int arg_slice(PyObject *o, MsArg *arg, PyMsArena *arena)
{
    PySliceObject *s = (PySliceObject *)o;
    MsArg *list = py_arena_take(arena, 3);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_SLICE, .n = 3, .list = list};
    PyObject *part[] = {s->start, s->stop, s->step};
    for (int k = 0; k < 3; k++) {
        if (part[k] == Py_None) {
            list[k] = (MsArg){.kind = MS_ARG_NONE};
        } else if (PY_IS_TENSOR(part[k]) && PY_HANDLE(part[k])->trace) {
            list[k] = (MsArg){.kind = MS_ARG_TENSOR, .t = PY_HANDLE(part[k])};
        } else {
            Py_ssize_t i; /* clips like Python's slices */
            PyObject *index = PyNumber_Index(part[k]);
            if (!index) return -1;
            i = PyNumber_AsSsize_t(index, NULL);
            Py_DECREF(index);
            list[k] = (MsArg){.kind = MS_ARG_INT, .i = i};
        }
    }
    return 0;
}

int py_arg_any(PyObject *o, MsArg *arg, PyMsArena *arena)
{
    if (PY_IS_TENSOR(o)) {
        return py_tensor_arg(o, arg);
    } else if (o == Py_None) {
        *arg = (MsArg){.kind = MS_ARG_NONE};
    } else if (PyBool_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_BOOL, .i = o == Py_True};
    } else if (PyLong_Check(o)) {
        return py_arg_int(o, arg);
    } else if (PyFloat_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_FLOAT, .f = PyFloat_AS_DOUBLE(o)};
    } else if (py_is_list(o)) {
        return arg_list(o, arg, arena);
    } else if (PySlice_Check(o)) {
        return arg_slice(o, arg, arena);
    } else if (o == Py_Ellipsis) {
        *arg = (MsArg){.kind = MS_ARG_ELLIPSIS};
    } else if (PyUnicode_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_STR, .s = PyUnicode_AsUTF8(o)};
        return arg->s ? 0 : -1;
    } else if (py_dtype_check(o)) {
        *arg = (MsArg){.kind = MS_ARG_DTYPE, .i = py_dtype_of(o)};
    } else if (py_is_ndarray(o)) {
        *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = py_from_data(o, MS_DTYPE_NONE)};
        return arg->t ? 0 : -1;
    } else if (py_is_numpy_scalar(o)) {
        PyObject *number = py_numpy_number(o);
        int rc = number ? py_arg_any(number, arg, arena) : -1;
        Py_XDECREF(number);
        return rc;
    } else if (PyRange_Check(o)) {
        PyObject *list = PySequence_List(o);
        int rc = list ? arg_list(list, arg, arena) : -1;
        Py_XDECREF(list);
        return rc;
    } else {
        PyObject *t = PyObject_GetAttrString(o, "_tensor"); /* an object that stands for a tensor it holds */
        if (t && PY_IS_TENSOR(t) && Py_REFCNT(t) > 1)
            *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = PY_HANDLE(t)};
        else
            *arg = (MsArg){.kind = MS_ARG_OBJECT, .p = o};
        Py_XDECREF(t);
        PyErr_Clear();
    }
    return 0;
}

static bool int_like(PyObject *o)
{
    return (PyLong_Check(o) && !PyBool_Check(o)) || (py_is_numpy_scalar(o) && PyIndex_Check(o)) ||
           (PY_IS_TENSOR(o) && PY_HANDLE(o)->numel == 1 && ms_dtype_is_int((MsDtype)PY_HANDLE(o)->dtype));
}

static int int_of(PyObject *o, MsArg *arg)
{
    if (PyLong_Check(o)) return py_arg_int(o, arg);
    PyObject *i = PyNumber_Index(o);
    int rc = i ? py_arg_int(i, arg) : -1;
    Py_XDECREF(i);
    return rc;
}

static bool float_like(PyObject *o)
{
    return PyFloat_Check(o) || (PyLong_Check(o) && !PyBool_Check(o)) ||
           (py_is_numpy_scalar(o) && !PyComplex_Check(o));
}

/* A tuple or list whose items all satisfy `like`, converted by `convert`. 1: it is not one. */
static int numbers(PyObject *o, MsArg *arg, PyMsArena *arena, bool (*like)(PyObject *),
                   int (*convert)(PyObject *, MsArg *))
{
    PyObject **items = PySequence_Fast_ITEMS(o);
    int n = (int)PySequence_Fast_GET_SIZE(o);
    for (int i = 0; i < n; i++)
        if (!like(items[i])) return 1;
    MsArg *list = py_arena_take(arena, n);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_LIST, .n = n, .list = list};
    for (int i = 0; i < n; i++)
        if (convert(items[i], &list[i]) < 0) return -1;
    return 0;
}

static int float_of(PyObject *o, MsArg *arg)
{
    *arg = (MsArg){.kind = MS_ARG_FLOAT, .f = PyFloat_AsDouble(o)};
    return arg->f == -1 && PyErr_Occurred() ? -1 : 0;
}

static bool tensor_like(PyObject *o)
{
    return PY_IS_TENSOR(o);
}

int py_tensor_arg(PyObject *o, MsArg *arg)
{
    if (((PyMsTensor *)o)->init && py_fulfil(o) < 0) return -1;
    *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = PY_HANDLE(o)};
    return 0;
}

int py_convert(const Param *p, PyObject *o, MsArg *arg, PyMsArena *arena)
{
    int want = p->types;
    if (PY_IS_TENSOR(o)) {
        if (want & (OF_TENSOR | OF_ANY)) return py_tensor_arg(o, arg);
        if ((want & (OF_INT | OF_INTS)) && int_like(o)) return int_of(o, arg);
        return 1;
    }
    if (o == Py_None) {
        *arg = (MsArg){.kind = MS_ARG_NONE};
        return want & (OF_NONE | OF_ANY) ? 0 : 1;
    }
    if (want & OF_ANY) return py_arg_any(o, arg, arena);
    if (PyBool_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_BOOL, .i = o == Py_True};
        return want & OF_BOOL ? 0 : 1;
    }
    if ((want & (OF_INT | OF_INTS)) && int_like(o)) return int_of(o, arg);
    if ((want & (OF_FLOAT | OF_FLOATS)) && float_like(o)) return float_of(o, arg);
    if (py_is_list(o)) {
        if ((want & OF_TENSORS) && PySequence_Fast_GET_SIZE(o) > 0) {
            int rc = numbers(o, arg, arena, tensor_like, py_tensor_arg);
            if (rc <= 0) return rc;
        }
        if (want & OF_INTS) {
            int rc = numbers(o, arg, arena, int_like, int_of);
            if (rc <= 0) return rc;
        }
        if (want & OF_FLOATS) return numbers(o, arg, arena, float_like, float_of);
        return want & OF_TENSORS ? numbers(o, arg, arena, tensor_like, py_tensor_arg) : 1;
    }
    if (PyUnicode_Check(o) && (want & OF_STR)) return py_arg_any(o, arg, arena);
    if (want & OF_DTYPE) {
        MsDtype dtype = py_dtype_of(o);
        *arg = (MsArg){.kind = MS_ARG_DTYPE, .i = dtype};
        return dtype == MS_DTYPE_NONE;
    }
    if ((want & OF_BOOL) && py_is_numpy_scalar(o) && strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0)
        return py_arg_any(o, arg, arena);
    return 1;
}

/* ---- MsArg to Python ---- */

static PyObject *result_of(const MsArg *out)
{
    switch (out->kind) {
    case MS_ARG_TENSOR: return py_wrap(ms_tensor_ref(out->t));
    case MS_ARG_INT: return PyLong_FromLongLong(out->i);
    case MS_ARG_FLOAT: return PyFloat_FromDouble(out->f);
    case MS_ARG_BOOL: return PyBool_FromLong(out->i != 0);
    case MS_ARG_DTYPE: return Py_NewRef(py_dtype((MsDtype)out->i));
    case MS_ARG_STR: return PyUnicode_FromString(out->s);
    case MS_ARG_OBJECT: return Py_NewRef((PyObject *)out->p);
    case MS_ARG_LIST: {
        PyObject *tuple = PyTuple_New(out->n);
        for (int i = 0; tuple && i < out->n; i++) {
            PyObject *o = result_of(&out->list[i]);
            if (!o)
                Py_CLEAR(tuple);
            else
                PyTuple_SET_ITEM(tuple, i, o);
        }
        return tuple;
    }
    default: Py_RETURN_NONE;
    }
}

PyObject *py_result(MsArg *out, PyObject *self)
{
    PyObject *r =
        self && out->kind == MS_ARG_TENSOR && out->t == PY_HANDLE(self) ? Py_NewRef(self) : result_of(out);
    ms__api_release(out);
    return r;
}
