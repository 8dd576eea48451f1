/* row.c - one callable type for every row of the API registry. A row's signature text is parsed on its first
 * call; arguments are bound as Python does, converted to MsArg on the stack, and the overloads of a name are
 * tried in order. Refused: a generated wrapper per function, which costs a megabyte and says nothing new. */
#include "py.h"

#include <structmember.h>

#include <ctype.h>
#include <string.h>

#define MAX_PARAM 32

typedef enum Type {
    OF_NONE = 1,
    OF_INT = 2,
    OF_FLOAT = 4,
    OF_BOOL = 8,
    OF_INTS = 16,
    OF_DTYPE = 32,
    OF_STR = 64,
    OF_TENSOR = 128,
    OF_TENSORS = 256,
    OF_ANY = 512,
    OF_FLOATS = 1024,
} Type;
#define OF_NUMBER (OF_INT | OF_FLOAT | OF_BOOL)

static const struct {
    const char *name, *shown;
    int type;
} types[] = {
    {"Tensor[]", "tuple of Tensor, list of Tensor", OF_TENSORS},
    {"Tensor", "Tensor", OF_TENSOR},
    {"int", "int", OF_INT},
    {"floats", "tuple of float, list of float, float", OF_FLOATS},
    {"float", "float", OF_FLOAT},
    {"bool", "bool", OF_BOOL},
    {"number", "Number", OF_NUMBER},
    {"ints", "tuple of int, list of int, int", OF_INTS},
    {"dtype", "mstype", OF_DTYPE},
    {"str", "string", OF_STR},
    {"any", "Any", OF_ANY},
    {"None", "None", OF_NONE},
};

typedef struct Param {
    PyObject *name;  /* interned */
    PyObject *value; /* default, or NULL */
    MsArg fallback;  /* the default converted */
    int types;
    bool keyword_only, var;
    const char *type_text;
    int type_len;
} Param;

typedef struct Sig {
    const MsApi *api;
    int n, n_pos, var; /* var: index of *args or -1 */
    Param param[];
} Sig;

typedef struct Row {
    PyObject_HEAD vectorcallfunc call;
    PyObject *name, *prefix; /* "add", "Tensor" */
    Sig **sig;               /* per overload, parsed on first use */
    const MsApi **api;
    int n;
    bool in_place; /* returns its first argument: add_ */
} Row;

PyTypeObject *py_row_type;
static PyObject *registry; /* {"ops": {"add": row}} */

/* ---- memory of a conversion ---- */

struct PyBlock {
    struct PyBlock *next;
    MsArg item[];
};

static MsArg *arena_take(PyArena *a, int n)
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

void py_arena_free(PyArena *a)
{
    while (a->more) {
        struct PyBlock *b = a->more;
        a->more = b->next;
        PyMem_Free(b);
    }
}

/* ---- Python to MsArg ---- */

static bool is_list(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o);
}

static int arg_int(PyObject *o, MsArg *arg)
{
    *arg = (MsArg){.kind = MS_ARG_INT, .i = PyLong_AsLongLong(o)};
    return arg->i == -1 && PyErr_Occurred() ? -1 : 0;
}

static int arg_list(PyObject *o, MsArg *arg, PyArena *arena)
{
    PyObject **items = PySequence_Fast_ITEMS(o);
    int n = (int)PySequence_Fast_GET_SIZE(o);
    MsArg *list = arena_take(arena, n);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_LIST, .tuple = PyTuple_Check(o), .n = n, .list = list};
    for (int i = 0; i < n; i++)
        if (py_arg_any(items[i], &list[i], arena) < 0) return -1;
    return 0;
}

static int arg_slice(PyObject *o, MsArg *arg, PyArena *arena)
{
    PySliceObject *s = (PySliceObject *)o;
    MsArg *list = arena_take(arena, 3);
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

int py_arg_any(PyObject *o, MsArg *arg, PyArena *arena)
{
    if (PY_IS_TENSOR(o)) {
        *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = PY_HANDLE(o)};
    } else if (o == Py_None) {
        *arg = (MsArg){.kind = MS_ARG_NONE};
    } else if (PyBool_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_BOOL, .i = o == Py_True};
    } else if (PyLong_Check(o)) {
        return arg_int(o, arg);
    } else if (PyFloat_Check(o)) {
        *arg = (MsArg){.kind = MS_ARG_FLOAT, .f = PyFloat_AS_DOUBLE(o)};
    } else if (is_list(o)) {
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
        *arg = (MsArg){.kind = MS_ARG_OBJECT, .p = o};
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
    if (PyLong_Check(o)) return arg_int(o, arg);
    PyObject *i = PyNumber_Index(o);
    int rc = i ? arg_int(i, arg) : -1;
    Py_XDECREF(i);
    return rc;
}

static bool float_like(PyObject *o)
{
    return PyFloat_Check(o) || (PyLong_Check(o) && !PyBool_Check(o)) ||
           (py_is_numpy_scalar(o) && !PyComplex_Check(o));
}

/* A tuple or list whose items all satisfy `like`, converted by `convert`. 1: it is not one. */
static int numbers(PyObject *o, MsArg *arg, PyArena *arena, bool (*like)(PyObject *),
                   int (*convert)(PyObject *, MsArg *))
{
    PyObject **items = PySequence_Fast_ITEMS(o);
    int n = (int)PySequence_Fast_GET_SIZE(o);
    for (int i = 0; i < n; i++)
        if (!like(items[i])) return 1;
    MsArg *list = arena_take(arena, n);
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

static int tensor_of(PyObject *o, MsArg *arg)
{
    *arg = (MsArg){.kind = MS_ARG_TENSOR, .t = PY_HANDLE(o)};
    return 0;
}

/* One argument by the parameter's types. 0: converted, 1: the type does not fit, -1: exception. */
static int convert(const Param *p, PyObject *o, MsArg *arg, PyArena *arena)
{
    int want = p->types;
    if (PY_IS_TENSOR(o)) {
        if (want & (OF_TENSOR | OF_ANY)) return tensor_of(o, arg);
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
    if (is_list(o)) {
        if ((want & OF_TENSORS) && PySequence_Fast_GET_SIZE(o) > 0) {
            int rc = numbers(o, arg, arena, tensor_like, tensor_of);
            if (rc <= 0) return rc;
        }
        if (want & OF_INTS) {
            int rc = numbers(o, arg, arena, int_like, int_of);
            if (rc <= 0) return rc;
        }
        if (want & OF_FLOATS) return numbers(o, arg, arena, float_like, float_of);
        return want & OF_TENSORS ? numbers(o, arg, arena, tensor_like, tensor_of) : 1;
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

/* ---- running ---- */

/* Work that may take long runs without the GIL: many elements, or no tensor to judge by. */
static bool runs_long(int n, const MsArg *arg)
{
    int64_t numel = 0;
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (arg[i].kind == MS_ARG_TENSOR) any = true, numel += arg[i].t->numel;
        if (arg[i].kind == MS_ARG_LIST && arg[i].n > 0 && arg[i].list[0].kind == MS_ARG_TENSOR)
            any = true, numel += arg[i].n * arg[i].list[0].t->numel;
    }
    return !any || numel >= 8192;
}

static PyObject *run(const MsApi *api, int n, const MsArg *arg, PyObject *self)
{
    MsApiCall call = {.row = api, .arg = arg, .out = {.kind = MS_ARG_NONE}};
    MsStatus st;
    if (runs_long(n, arg)) {
        PyThreadState *save = PyEval_SaveThread();
        st = api->run(&call);
        PyEval_RestoreThread(save);
        if (st == MS_OK && PyErr_CheckSignals() < 0) {
            ms__api_release(&call.out);
            return NULL;
        }
    } else {
        st = api->run(&call);
    }
    if (__builtin_expect(st != MS_OK, 0)) return py_raise();
    return py_result(&call.out, self);
}

/* ---- signature text ---- */

static const char *skip(const char *s)
{
    while (isspace((unsigned char)*s)) s++;
    return s;
}

/* The end of an expression: the first of `stops` outside brackets and quotes. */
static const char *span(const char *s, const char *stops)
{
    int depth = 0;
    char quote = 0;
    for (; *s; s++) {
        if (quote) {
            if (*s == quote) quote = 0;
        } else if (*s == '\'' || *s == '"') {
            quote = *s;
        } else if (depth == 0 && strchr(stops, *s)) {
            break;
        } else if (strchr("([{", *s)) {
            depth++;
        } else if (strchr(")]}", *s)) {
            depth--;
        }
    }
    return s;
}

static PyObject *literal(const char *s, const char *end)
{
    static PyObject *names;
    if (!names) {
        PyObject *m = PyImport_ImportModule("mindspore._c");
        PyObject *all = m ? PyObject_GetAttrString(m, "dtypes") : NULL;
        Py_XDECREF(m);
        names = all ? PyDict_Copy(all) : NULL;
        Py_XDECREF(all);
        PyObject *inf = PyFloat_FromDouble(Py_HUGE_VAL);
        if (!names || !inf || PyDict_SetItemString(names, "inf", inf) < 0) return NULL;
        Py_DECREF(inf);
    }
    PyObject *text = PyUnicode_FromStringAndSize(s, end - s);
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    PyObject *value = utf8 ? PyRun_String(skip(utf8), Py_eval_input, names, names) : NULL;
    Py_XDECREF(text);
    return value;
}

static int parse_types(Param *p, const char *s, const char *end)
{
    while (s < end) {
        s = skip(s);
        size_t k = 0;
        for (; k < sizeof types / sizeof *types; k++) {
            size_t n = strlen(types[k].name);
            if (strncmp(s, types[k].name, n) == 0 && !isalnum((unsigned char)s[n]) && s[n] != '[') {
                p->types |= types[k].type;
                s += n;
                break;
            }
        }
        if (k == sizeof types / sizeof *types) return -1;
        s = skip(s);
        if (*s == '?') p->types |= OF_NONE, s = skip(s + 1);
        if (s < end && *s++ != '|') return -1;
    }
    return 0;
}

static int parse_param(Sig *sig, const char *s, const char *end, bool keyword_only, PyArena *keep)
{
    Param *p = &sig->param[sig->n];
    *p = (Param){.keyword_only = keyword_only};
    if (*s == '*') {
        p->var = true;
        sig->var = sig->n;
        s++;
    }
    const char *name = s;
    while (isalnum((unsigned char)*s) || *s == '_') s++;
    p->name = PyUnicode_FromStringAndSize(name, s - name);
    if (!p->name) return -1;
    PyUnicode_InternInPlace(&p->name);
    s = skip(s);
    p->types = OF_ANY;
    if (*s == ':') {
        const char *to = span(s + 1, ",)=");
        p->types = 0;
        p->type_text = skip(s + 1);
        p->type_len = (int)(to - p->type_text);
        while (p->type_len > 0 && isspace((unsigned char)p->type_text[p->type_len - 1])) p->type_len--;
        if (parse_types(p, p->type_text, p->type_text + p->type_len) < 0) goto malformed;
        s = to;
    }
    if (*s == '=') {
        p->value = literal(s + 1, end);
        if (!p->value) return -1;
        if (p->value == Py_None) p->types |= OF_NONE;
        int rc = convert(p, p->value, &p->fallback, keep);
        if (rc > 0)
            rc = py_arg_any(p->value, &p->fallback,
                            keep); /* a default may have a type that callers may not give */
        if (rc < 0) return -1;
        s = end;
    }
    sig->n++;
    if (!keyword_only && !p->var) sig->n_pos++;
    if (skip(s) >= end) return 0;
malformed:
    PyErr_Format(PyExc_SystemError, "the signature of '%s' is malformed: %s", sig->api->names, sig->api->sig);
    return -1;
}

static Sig *parse(const MsApi *api)
{
    Sig *sig = PyMem_Calloc(1, sizeof *sig + MAX_PARAM * sizeof *sig->param);
    PyArena *keep = PyMem_Calloc(1, sizeof *keep); /* lives as long as the row: for ever */
    if (!sig || !keep) return (Sig *)PyErr_NoMemory();
    sig->api = api;
    sig->var = -1;
    const char *s = skip(api->sig);
    bool keyword_only = false;
    if (*s++ != '(') goto malformed;
    for (s = skip(s); *s && *s != ')'; s = skip(s)) {
        const char *end = span(s, ",)");
        if (*s == '*' && skip(s + 1) == end) {
            keyword_only = true;
        } else {
            if (sig->n == MAX_PARAM) goto malformed;
            if (parse_param(sig, s, end, keyword_only, keep) < 0) goto failed;
            if (sig->param[sig->n - 1].var) keyword_only = true;
        }
        s = *end == ',' ? end + 1 : end;
    }
    if (*s == ')') return sig;
malformed:
    PyErr_Format(PyExc_SystemError, "the signature of '%s' is malformed: %s", api->names, api->sig);
failed:
    for (int i = 0; i < sig->n; i++) {
        Py_XDECREF(sig->param[i].name);
        Py_XDECREF(sig->param[i].value);
    }
    py_arena_free(keep);
    PyMem_Free(keep);
    PyMem_Free(sig);
    return NULL;
}

static Sig *sig_of(Row *r, int k)
{
    if (!r->sig[k]) r->sig[k] = parse(r->api[k]);
    return r->sig[k];
}

/* ---- binding ---- */

/* Why an overload did not take the arguments. */
typedef struct Refusal {
    enum {
        R_NONE,
        R_COUNT,
        R_KEYWORD,
        R_MISSING,
        R_TYPE,
        R_TWICE
    } why;
    PyObject *name; /* borrowed */
} Refusal;

static int find_param(const Sig *sig, PyObject *name)
{
    for (int i = 0; i < sig->n; i++)
        if (sig->param[i].name == name) return i;
    for (int i = 0; i < sig->n; i++)
        if (PyUnicode_Compare(sig->param[i].name, name) == 0) return i;
    return -1;
}

/* Surplus positional arguments for *args: (2, 3) and ((2, 3),) are the same. */
static int bind_var(const Param *p, PyObject *const *args, Py_ssize_t n, MsArg *arg, PyArena *arena)
{
    if (n == 1 && (is_list(args[0]) || (p->types & OF_ANY))) {
        int rc = convert(p, args[0], arg, arena);
        if (rc <= 0 && arg->kind == MS_ARG_LIST) return rc;
    }
    MsArg *list = arena_take(arena, (int)n);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_LIST, .n = (int)n, .list = list};
    Param one = *p;
    if (one.types & OF_INTS) one.types |= OF_INT;
    if (one.types & OF_TENSORS) one.types |= OF_TENSOR;
    for (Py_ssize_t i = 0; i < n; i++) {
        int rc = convert(&one, args[i], &list[i], arena);
        if (rc != 0) return rc;
    }
    return 0;
}

static int bind(const Sig *sig, PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames, MsArg *arg,
                PyArena *arena, Refusal *refusal)
{
    Py_ssize_t n_pos = n_args < sig->n_pos ? n_args : sig->n_pos;
    *refusal = (Refusal){R_NONE, NULL};
    if (n_args > sig->n_pos && sig->var < 0) {
        refusal->why = R_COUNT;
        return 1;
    }
    PyObject *given[MAX_PARAM] = {NULL};
    for (Py_ssize_t i = 0; i < n_pos; i++) given[i] = args[i];
    Py_ssize_t n_kw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t k = 0; k < n_kw; k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        int i = find_param(sig, name);
        if (i < 0 || given[i]) {
            *refusal = (Refusal){i < 0 ? R_KEYWORD : R_TWICE, name};
            return 1;
        }
        given[i] = args[n_args + k];
    }
    for (int i = 0; i < sig->n; i++) {
        const Param *p = &sig->param[i];
        int rc = 0;
        if (i == sig->var && !given[i]) {
            rc = bind_var(p, args + n_pos, n_args - n_pos, &arg[i], arena);
        } else if (given[i]) {
            rc = convert(p, given[i], &arg[i], arena);
        } else if (p->value) {
            arg[i] = p->fallback;
        } else {
            *refusal = (Refusal){R_MISSING, p->name};
            return 1;
        }
        if (rc < 0) return -1;
        if (rc > 0) {
            *refusal = (Refusal){R_TYPE, p->name};
            return 1;
        }
    }
    return 0;
}

/* ---- the error that lists the candidates ---- */

static PyObject *type_text(PyObject *o)
{
    if (PY_IS_TENSOR(o))
        return PyUnicode_FromString(Py_TYPE(o) == py_tensor_type ? "Tensor" : Py_TYPE(o)->tp_name);
    if (o == Py_None) return PyUnicode_FromString("None");
    if (PyUnicode_Check(o)) return PyUnicode_FromString("string");
    if (py_dtype_check(o)) return PyUnicode_FromString("mstype");
    if (is_list(o)) {
        PyObject *parts = PyList_New(0), *comma = PyUnicode_FromString(", "), *text = NULL;
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        for (Py_ssize_t i = 0; parts && i < n && i < 16; i++) {
            PyObject *t = type_text(PySequence_Fast_ITEMS(o)[i]);
            if (!t || PyList_Append(parts, t) < 0) Py_CLEAR(parts);
            Py_XDECREF(t);
        }
        PyObject *inner = parts && comma ? PyUnicode_Join(comma, parts) : NULL;
        if (inner) text = PyUnicode_FromFormat("%s<%U>", PyList_Check(o) ? "list" : "tuple", inner);
        Py_XDECREF(inner);
        Py_XDECREF(parts);
        Py_XDECREF(comma);
        return text;
    }
    return PyUnicode_FromString(Py_TYPE(o)->tp_name);
}

/* Appends and consumes `more`. */
static void append(PyObject **text, PyObject *more)
{
    if (*text && more) {
        PyObject *joined = PyUnicode_Concat(*text, more);
        Py_DECREF(*text);
        *text = joined;
    } else {
        Py_CLEAR(*text);
    }
    Py_XDECREF(more);
}

static PyObject *types_text(const Param *p)
{
    PyObject *text = PyUnicode_FromString("");
    int left = p->types;
    bool first = true;
    static const int order[] = {11, 1, 0, 10, 6, 2, 4, 5, 7, 3, 8, 9};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        int type = types[order[k]].type;
        if ((left & type) != type) continue;
        left &= ~type;
        append(&text, PyUnicode_FromFormat(first ? "%s" : ", %s", types[order[k]].shown));
        first = false;
    }
    return text;
}

static PyObject *candidate_text(Row *r, const Sig *sig, bool method)
{
    PyObject *text =
        method ? PyUnicode_FromFormat("\"Tensor.%U(", r->name) : PyUnicode_FromFormat("\"%U(", r->name);
    bool star = false;
    for (int i = method ? 1 : 0; i < sig->n; i++) {
        const Param *p = &sig->param[i];
        const char *comma = i > (method ? 1 : 0) ? ", " : "";
        if (p->keyword_only && !star && sig->var < 0)
            append(&text, PyUnicode_FromFormat("%s*", comma)), comma = ", ", star = true;
        PyObject *shown = types_text(p);
        append(&text,
               shown ? PyUnicode_FromFormat("%s%s%U=<%U>", comma, p->var ? "*" : "", p->name, shown) : NULL);
        Py_XDECREF(shown);
    }
    append(&text, PyUnicode_FromString(")\""));
    return text;
}

static PyObject *call_text(PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames, Py_ssize_t from)
{
    PyObject *text = PyUnicode_FromString("(");
    Py_ssize_t n = n_args + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    for (Py_ssize_t i = from; i < n; i++) {
        PyObject *t = type_text(args[i]);
        const char *comma = i > from ? ", " : "";
        if (t && i >= n_args)
            append(&text, PyUnicode_FromFormat("%s%U=%U", comma, PyTuple_GET_ITEM(kwnames, i - n_args), t));
        else
            append(&text, t ? PyUnicode_FromFormat("%s%U", comma, t) : NULL);
        Py_XDECREF(t);
    }
    append(&text, PyUnicode_FromString(")"));
    return text;
}

static PyObject *refuse(Row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames,
                        const Refusal *refusal)
{
    bool method = PyUnicode_CompareWithASCIIString(r->prefix, "Tensor") == 0;
    PyObject *given = call_text(args, n_args, kwnames, method && n_args > 0 ? 1 : 0);
    PyObject *text =
        given ? PyUnicode_FromFormat(
                    "Failed calling %U with \"%U%U\".\nThe valid calling should be:", r->name, r->name, given)
              : NULL;
    for (int k = 0; k < r->n && text; k++) {
        PyObject *candidate = candidate_text(r, r->sig[k], method);
        append(&text, candidate ? PyUnicode_FromFormat("\n%U", candidate) : NULL);
        Py_XDECREF(candidate);
        const Refusal *f = &refusal[k];
        if (f->why == R_COUNT)
            append(&text,
                   PyUnicode_FromFormat("\n    match failed because of too many arguments: %U", given));
        else if (f->why == R_KEYWORD)
            append(&text,
                   PyUnicode_FromFormat("\n    match failed because incorrect keyword name: %U", f->name));
        else if (f->why == R_TWICE)
            append(&text, PyUnicode_FromFormat(
                              "\n    match failed because of multiple values for argument: %U", f->name));
        else if (f->why == R_MISSING)
            append(&text, PyUnicode_FromFormat("\n    missing required argument: %U", f->name));
        else
            append(&text, PyUnicode_FromFormat("\n    match failed because invalid types: %U, argument '%U'",
                                               given, f->name));
    }
    Py_XDECREF(given);
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(text);
    return NULL;
}

/* ---- the type ---- */

static PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Row *r = (Row *)self;
    Py_ssize_t n_args = PyVectorcall_NARGS(nargsf);
    MsArg arg[MAX_PARAM];
    PyArena arena;
    Refusal refusal[8];
    PyObject *out = NULL;
    int mark = ms_scope_begin(), k = 0, rc = 1;
    arena.more = NULL;
    for (; k < r->n && rc > 0; k++) {
        Sig *sig = sig_of(r, k);
        arena.used = 0;
        rc = sig ? bind(sig, args, n_args, kwnames, arg, &arena, &refusal[k]) : -1;
        if (rc == 0) {
            PyObject *first =
                n_args > 0 && PY_IS_TENSOR(args[0]) && (r->in_place || Py_TYPE(args[0]) == py_tensor_type)
                    ? args[0]
                    : NULL;
            out = run(sig->api, sig->n, arg, first);
        }
    }
    py_arena_free(&arena);
    ms_scope_end(mark, NULL, 0);
    return rc > 0 ? refuse(r, args, n_args, kwnames, refusal) : out;
}

int py_slot_call(PySlot *slot, int n, const MsArg *arg, PyObject *self, PyObject **out)
{
    if (__builtin_expect(!slot->row, 0)) {
        if (slot->looked) return -1;
        slot->row = py_row_find(slot->name);
        slot->looked = true;
        if (!slot->row) return -1;
    }
    Row *r = (Row *)slot->row;
    *out = NULL;
    for (int k = 0; k < r->n; k++) {
        Sig *sig = sig_of(r, k);
        if (!sig) return 0;
        if (sig->n != n) continue;
        static const int bit[] = {
            [MS_ARG_NONE] = OF_NONE,   [MS_ARG_TENSOR] = OF_TENSOR, [MS_ARG_INT] = OF_INT,
            [MS_ARG_FLOAT] = OF_FLOAT, [MS_ARG_BOOL] = OF_BOOL,     [MS_ARG_OBJECT] = 0};
        bool fits = true;
        for (int i = 0; i < n && fits; i++) {
            int want = sig->param[i].types;
            fits = (want & OF_ANY) || (arg[i].kind < sizeof bit / sizeof *bit && (want & bit[arg[i].kind]));
        }
        if (!fits) continue;
        *out = run(sig->api, n, arg, self);
        return 0;
    }
    return -1;
}

static PyObject *row_get(PyObject *self, PyObject *obj, PyObject *type)
{
    (void)type;
    return obj && obj != Py_None ? PyMethod_New(self, obj) : Py_NewRef(self);
}

static PyObject *row_repr(PyObject *self)
{
    Row *r = (Row *)self;
    return PyUnicode_FromFormat("<function %U.%U>", r->prefix, r->name);
}

static PyObject *row_module(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("mindspore.%U", ((Row *)self)->prefix);
}

static PyObject *row_qualname(PyObject *self, void *unused)
{
    (void)unused;
    Row *r = (Row *)self;
    if (PyUnicode_CompareWithASCIIString(r->prefix, "Tensor") != 0) return Py_NewRef(r->name);
    return PyUnicode_FromFormat("Tensor.%U", r->name);
}

static PyObject *row_doc(PyObject *self, void *unused)
{
    (void)unused;
    Row *r = (Row *)self;
    PyObject *text = PyUnicode_FromString("");
    for (int k = 0; k < r->n; k++)
        append(&text, PyUnicode_FromFormat("%s%U%s", k ? "\n" : "", r->name, r->api[k]->sig));
    return text;
}

/* [(name, kind, default or Ellipsis, type text)] of the first overload. */
static PyObject *row_parameters(PyObject *self, void *unused)
{
    (void)unused;
    Sig *sig = sig_of((Row *)self, 0);
    PyObject *list = sig ? PyList_New(0) : NULL;
    for (int i = 0; list && i < sig->n; i++) {
        const Param *p = &sig->param[i];
        PyObject *o = Py_BuildValue("(OiOs#)", p->name,
                                    p->var            ? 2
                                    : p->keyword_only ? 3
                                                      : 1,
                                    p->value ? p->value : Py_Ellipsis, p->type_text, (Py_ssize_t)p->type_len);
        if (!o || PyList_Append(list, o) < 0) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *row_signature(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *m = PyImport_ImportModule("mindspore.common.printing");
    PyObject *r = m ? PyObject_CallMethod(m, "row_signature", "O", self) : NULL;
    Py_XDECREF(m);
    return r;
}

static PyObject *row_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *m = PyImport_ImportModule("mindspore._c");
    PyObject *find = m ? PyObject_GetAttrString(m, "row") : NULL;
    Py_XDECREF(m);
    Row *r = (Row *)self;
    return find ? Py_BuildValue("N(N)", find, PyUnicode_FromFormat("%U.%U", r->prefix, r->name)) : NULL;
}

static PyMethodDef row_methods[] = {{"__reduce__", row_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyGetSetDef row_getset[] = {
    {"__module__", row_module, NULL, NULL, NULL},
    {"__qualname__", row_qualname, NULL, NULL, NULL},
    {"__doc__", row_doc, NULL, NULL, NULL},
    {"__signature__", row_signature, NULL, NULL, NULL},
    {"_parameters", row_parameters, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef row_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Row, call), READONLY, NULL},
    {"__name__", T_OBJECT, offsetof(Row, name), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot row_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, row_get},
    {Py_tp_repr, row_repr},
    {Py_tp_members, row_members},
    {Py_tp_getset, row_getset},
    {Py_tp_methods, row_methods},
    {0, NULL},
};

static PyType_Spec row_spec = {"mindspore._c.row", sizeof(Row), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                               row_slots};

/* ---- registry ---- */

static int add_row(const char *full, size_t len, const MsApi *api)
{
    const char *dot = NULL;
    for (size_t i = 0; i < len; i++)
        if (full[i] == '.') dot = full + i;
    if (!dot) return 0;
    PyObject *prefix = PyUnicode_FromStringAndSize(full, dot - full);
    PyObject *name = PyUnicode_FromStringAndSize(dot + 1, (Py_ssize_t)len - (dot + 1 - full));
    int rc = -1;
    if (!prefix || !name) goto done;
    PyUnicode_InternInPlace(&name);
    PyObject *group = PyDict_GetItemWithError(registry, prefix);
    if (!group) {
        group = PyDict_New();
        if (!group || PyDict_SetItem(registry, prefix, group) < 0) goto done;
        Py_DECREF(group);
    }
    Row *r = (Row *)PyDict_GetItemWithError(group, name);
    if (!r) {
        r = PyObject_New(Row, py_row_type);
        if (!r) goto done;
        *r = (Row){.ob_base = r->ob_base, .call = call, .name = Py_NewRef(name), .prefix = Py_NewRef(prefix)};
        const char *last = full + len - 1;
        r->in_place = *last == '_' && (len < 2 || last[-1] != '_');
        int failed = PyDict_SetItem(group, name, (PyObject *)r);
        Py_DECREF(r);
        if (failed) goto done;
    }
    if (r->n == 8) {
        PyErr_Format(PyExc_SystemError, "'%s' has more than 8 overloads", api->names);
        goto done;
    }
    const MsApi **more = PyMem_Realloc(r->api, (size_t)(r->n + 1) * sizeof *more);
    Sig **sigs = more ? PyMem_Realloc(r->sig, (size_t)(r->n + 1) * sizeof *sigs) : NULL;
    if (more) r->api = more;
    if (!sigs) {
        PyErr_NoMemory();
        goto done;
    }
    r->sig = sigs;
    r->api[r->n] = api;
    r->sig[r->n++] = NULL;
    rc = 0;
done:
    Py_XDECREF(prefix);
    Py_XDECREF(name);
    return rc;
}

static int read_registry(void)
{
    registry = PyDict_New();
    if (!registry) return -1;
    for (int k = 0; k < ms__n_apis; k++)
        for (const char *s = ms__apis[k]->names; *(s += strspn(s, " \n")); s += strcspn(s, " \n"))
            if (add_row(s, strcspn(s, " \n"), ms__apis[k]) < 0) return -1;
    return 0;
}

PyObject *py_row_find(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot) return NULL;
    PyObject *prefix = PyUnicode_FromStringAndSize(name, dot - name);
    PyObject *group = prefix ? PyDict_GetItemWithError(registry, prefix) : NULL;
    Py_XDECREF(prefix);
    return group ? PyDict_GetItemString(group, dot + 1) : NULL;
}

static PyObject *row_by_name(PyObject *module, PyObject *name)
{
    (void)module;
    const char *s = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyObject *r = s ? py_row_find(s) : NULL;
    if (!r && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, name);
    return r ? Py_NewRef(r) : NULL;
}

/* rows("ops") -> {name: row}; rows(None) -> the names of the groups. */
PyObject *py_rows(PyObject *module, PyObject *prefix)
{
    (void)module;
    if (prefix == Py_None) return PyDict_Keys(registry);
    PyObject *group = PyDict_GetItemWithError(registry, prefix);
    if (!group && PyErr_Occurred()) return NULL;
    return group ? PyDict_Copy(group) : PyDict_New();
}

static PyMethodDef functions[] = {
    {"rows", py_rows, METH_O, "rows(prefix) -> {name: function} of the registry; rows(None) -> prefixes."},
    {"row", row_by_name, METH_O, "row('ops.add') -> function; KeyError."},
    {NULL, NULL, 0, NULL},
};

/* Rows called Tensor.x become methods, unless the type itself defines x. */
static int add_methods(void)
{
    PyObject *group = PyDict_GetItemString(registry, "Tensor"), *name, *row;
    Py_ssize_t pos = 0;
    while (group && PyDict_Next(group, &pos, &name, &row)) {
        const char *s = PyUnicode_AsUTF8(name);
        if (!s) return -1;
        if (strncmp(s, "__", 2) == 0 || PyDict_GetItem(py_tensor_type->tp_dict, name)) continue;
        bool attribute =
            strcmp(s, "T") == 0 || strcmp(s, "H") == 0 || strcmp(s, "mT") == 0 || strcmp(s, "mH") == 0;
        PyObject *o = attribute ? PyObject_CallFunctionObjArgs((PyObject *)&PyProperty_Type, row, NULL)
                                : Py_NewRef(row);
        int failed = !o || PyObject_SetAttr((PyObject *)py_tensor_type, name, o) < 0;
        Py_XDECREF(o);
        if (failed) return -1;
    }
    return 0;
}

int py_row_init(PyObject *m)
{
    py_row_type = (PyTypeObject *)PyType_FromSpec(&row_spec);
    if (!py_row_type || read_registry() < 0 || add_methods() < 0) return -1;
    return PyModule_AddFunctions(m, functions);
}
