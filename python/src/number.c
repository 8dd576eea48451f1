/* number.c - operators, comparison, indexing and iteration of Tensor. Each is a row of the registry
 * (`Tensor.__add__` and so on) that its slot resolves once and then calls with MsArg on the stack, so that `x
 * + y` costs two type checks more than the C call. */
#include "py.h"

#include <string.h>

/* An operand of a Tensor operator. 0: taken, 1: NotImplemented, -1: exception. */
static int operand(PyObject *o, MsArg *arg)
{
    if (PY_IS_TENSOR(o)) return py_tensor_arg(o, arg);
    if (PyFloat_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_FLOAT, .f = PyFloat_AS_DOUBLE(o)};
        return 0;
    }
    if (PyBool_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_BOOL, .i = o == Py_True};
        return 0;
    }
    if (PyLong_Check(o)) {
        return py_arg_int(o, arg);
    }
    if (PyList_Check(o) || PyTuple_Check(o)) {
        MsTensor *t = py_from_data(o, MS_DTYPE_NONE);
        *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = t};
        return t ? 0 : -1;
    }
    if (py_is_ndarray(o)) {
        PyErr_SetString(PyExc_TypeError,
                        "unsupported operand type(s): 'Tensor' and 'numpy.ndarray'; convert the array with "
                        "Tensor() first");
        return -1;
    }
    if (!py_is_numpy_scalar(o)) return 1;
    PyObject *number = py_numpy_number(o);
    if (!number) return -1;
    int rc = operand(number, arg);
    Py_DECREF(number);
    return rc;
}

/* `name` of the slot is Tensor.__x__. */
static PyObject *recorded(const PySlot *slot, PyObject *self, PyObject *other)
{
    PyObject *rest = other ? PyTuple_Pack(1, other) : PyTuple_New(0);
    PyObject *r =
        rest ? py_record_method(py_tensor_type, slot->name + sizeof "Tensor." - 1, self, rest) : NULL;
    Py_XDECREF(rest);
    return r;
}

static PyObject *binary(PyObject *a, PyObject *b, PySlot *forward, PySlot *reverse)
{
    bool swapped = !PY_IS_TENSOR(a);
    PyObject *self = swapped ? b : a, *other = swapped ? a : b, *out = NULL;
    if (__builtin_expect(py_recorder != NULL, 0)) return recorded(swapped ? reverse : forward, self, other);
    MsArg arg[2];
    int mark = ms_scope_begin();
    int rc = operand(other, &arg[1]);
    if (rc == 0) rc = py_tensor_arg(self, &arg[0]);
    if (rc == 0) {
        rc = py_slot_call(swapped ? reverse : forward, 2, arg, NULL, &out) < 0;
    }
    ms_scope_end(mark, NULL, 0);
    if (rc > 0) Py_RETURN_NOTIMPLEMENTED;
    return out;
}

static PyObject *unary(PyObject *a, PySlot *slot)
{
    if (__builtin_expect(py_recorder != NULL, 0)) return recorded(slot, a, NULL);
    PyObject *out = NULL;
    MsArg arg;
    int mark = ms_scope_begin();
    int rc = py_tensor_arg(a, &arg) < 0 ? 0 : py_slot_call(slot, 1, &arg, NULL, &out);
    ms_scope_end(mark, NULL, 0);
    if (rc == 0) return out;
    PyErr_Format(PyExc_TypeError, "there is no operator %s", slot->name);
    return NULL;
}

#define BINARY(name)                                                                                         \
    static PyObject *op_##name(PyObject *a, PyObject *b)                                                     \
    {                                                                                                        \
        static PySlot forward = {"Tensor.__" #name "__", NULL, false};                                       \
        static PySlot reverse = {"Tensor.__r" #name "__", NULL, false};                                      \
        return binary(a, b, &forward, &reverse);                                                             \
    }
#define UNARY(name)                                                                                          \
    static PyObject *op_##name(PyObject *a)                                                                  \
    {                                                                                                        \
        static PySlot slot = {"Tensor.__" #name "__", NULL, false};                                          \
        return unary(a, &slot);                                                                              \
    }
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(truediv)
BINARY(floordiv)
BINARY(mod)
BINARY(matmul)
BINARY(and)
BINARY(or)
BINARY(xor)
BINARY(lshift)
BINARY(rshift)
UNARY(neg)
UNARY(abs)
UNARY(invert)

static PyObject *op_pow(PyObject *a, PyObject *b, PyObject *modulus)
{
    static PySlot forward = {"Tensor.__pow__", NULL, false}, reverse = {"Tensor.__rpow__", NULL, false};
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary(a, b, &forward, &reverse);
}

static PyObject *op_pos(PyObject *a)
{
    return Py_NewRef(a);
}

static PyObject *compare(PyObject *a, PyObject *b, int op)
{
    static PySlot slots[] = {
        [Py_LT] = {"Tensor.__lt__", NULL, false}, [Py_LE] = {"Tensor.__le__", NULL, false},
        [Py_EQ] = {"Tensor.__eq__", NULL, false}, [Py_NE] = {"Tensor.__ne__", NULL, false},
        [Py_GT] = {"Tensor.__gt__", NULL, false}, [Py_GE] = {"Tensor.__ge__", NULL, false},
    };
    if ((op == Py_EQ || op == Py_NE) && (PyList_Check(b) || PyTuple_Check(b))) Py_RETURN_NOTIMPLEMENTED;
    return binary(a, b, &slots[op], &slots[op]);
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    static PySlot slot = {"Tensor.__getitem__", NULL, false};
    if (__builtin_expect(py_recorder != NULL, 0)) return recorded(&slot, self, key);
    PyObject *out = NULL;
    PyMsArena arena;
    arena.used = 0, arena.more = NULL;
    MsArg arg[2];
    int mark = ms_scope_begin();
    if (py_tensor_arg(self, &arg[0]) == 0 && py_arg_any(key, &arg[1], &arena) == 0 &&
        py_slot_call(&slot, 2, arg, NULL, &out) < 0)
        PyErr_SetString(PyExc_TypeError, "'Tensor' object is not subscriptable");
    py_arena_free(&arena);
    ms_scope_end(mark, NULL, 0);
    return out;
}

static int assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    static PySlot slot = {"Tensor.__setitem__", NULL, false};
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "'Tensor' object does not support item deletion");
        return -1;
    }
    PyObject *out = NULL;
    if (__builtin_expect(py_recorder != NULL, 0)) {
        PyObject *rest = PyTuple_Pack(2, key, value);
        out = rest ? py_record_method(py_tensor_type, "__setitem__", self, rest) : NULL;
        Py_XDECREF(rest);
        Py_XDECREF(out);
        return out ? 0 : -1;
    }
    PyMsArena arena;
    arena.used = 0, arena.more = NULL;
    MsArg arg[3];
    int mark = ms_scope_begin();
    if (py_tensor_arg(self, &arg[0]) == 0 && py_arg_any(key, &arg[1], &arena) == 0 &&
        py_arg_any(value, &arg[2], &arena) == 0 && py_slot_call(&slot, 3, arg, self, &out) < 0)
        PyErr_SetString(PyExc_TypeError, "'Tensor' object does not support item assignment");
    py_arena_free(&arena);
    ms_scope_end(mark, NULL, 0);
    Py_XDECREF(out);
    return out ? 0 : -1;
}

/* By identity, although == compares elements. */
static Py_hash_t hash(PyObject *self)
{
    uintptr_t p = (uintptr_t)self;
    return (Py_hash_t)(p >> 4 | p << (8 * sizeof p - 4));
}

/* Tells the recorder that the number of rows matters. */
static bool pinned(PyObject *self)
{
    PyObject *r = py_recorder ? py_record_question("len", self) : Py_NewRef(Py_None);
    Py_XDECREF(r);
    return r != NULL;
}

static Py_ssize_t length(PyObject *self)
{
    if (!pinned(self)) return -1;
    if (PY_HANDLE(self)->ndim > 0) return (Py_ssize_t)PY_HANDLE(self)->shape[0];
    PyErr_SetString(PyExc_TypeError, "Not support len of a 0-D tensor.");
    return -1;
}

/* Iteration: t[0], t[1], ... */
static PyObject *at(PyObject *self, Py_ssize_t i)
{
    if (PY_HANDLE(self)->ndim == 0)
        return PyErr_Format(PyExc_TypeError,
                            "Cannot iterate over a scalar tensor: iteration over a 0-d tensor");
    if (!pinned(self)) return NULL;
    if (i < 0 || i >= PY_HANDLE(self)->shape[0])
        return PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for dimension with size %lld", i,
                            (long long)PY_HANDLE(self)->shape[0]);
    PyObject *key = PyLong_FromSsize_t(i);
    PyObject *row = key ? subscript(self, key) : NULL;
    Py_XDECREF(key);
    return row;
}

static PyObject *iterate(PyObject *self)
{
    if (PY_HANDLE(self)->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "Cannot iterate over a scalar tensor: iteration over a 0-d tensor");
        return NULL;
    }
    return PySeqIter_New(self);
}

static int contains(PyObject *self, PyObject *element)
{
    PyObject *equal = PyObject_RichCompare(self, element, Py_EQ);
    if (!equal && PyErr_ExceptionMatches(PyExc_TypeError)) { /* what cannot be compared is not in it */
        PyErr_Clear();
        return 0;
    }
    if (!equal || !PY_IS_TENSOR(equal)) {
        Py_XDECREF(equal);
        return equal ? 0 : -1;
    }
    int mark = ms_scope_begin(), found = 0;
    MsTensor *t = py_concrete(equal);
    if (!t) {
        found = -1;
    } else if (t->contiguous) {
        found = memchr(t->data, 1, (size_t)t->numel) != NULL;
    }
    ms_scope_end(mark, NULL, 0);
    Py_DECREF(equal);
    return found;
}

const PyType_Slot py_operator_slots[] = {
    {Py_tp_richcompare, compare},
    {Py_tp_hash, hash},
    {Py_tp_iter, iterate},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, assign_subscript},
    {Py_mp_length, length},
    {Py_sq_length, length},
    {Py_sq_item, at},
    {Py_sq_contains, contains},
    {Py_nb_add, op_add},
    {Py_nb_subtract, op_sub},
    {Py_nb_multiply, op_mul},
    {Py_nb_true_divide, op_truediv},
    {Py_nb_floor_divide, op_floordiv},
    {Py_nb_remainder, op_mod},
    {Py_nb_power, op_pow},
    {Py_nb_matrix_multiply, op_matmul},
    {Py_nb_inplace_add, op_add}, /* a new tensor: what else has this name keeps its values */
    {Py_nb_inplace_subtract, op_sub},
    {Py_nb_inplace_multiply, op_mul},
    {Py_nb_inplace_true_divide, op_truediv},
    {Py_nb_inplace_floor_divide, op_floordiv},
    {Py_nb_inplace_remainder, op_mod},
    {Py_nb_and, op_and},
    {Py_nb_or, op_or},
    {Py_nb_xor, op_xor},
    {Py_nb_lshift, op_lshift},
    {Py_nb_rshift, op_rshift},
    {Py_nb_negative, op_neg},
    {Py_nb_positive, op_pos},
    {Py_nb_absolute, op_abs},
    {Py_nb_invert, op_invert},
    {0, NULL},
};
