/* row.c - one callable type for every row of the API registry, and the registry itself. Arguments are bound
 * as Python does, converted to MsArg on the stack, and the overloads of a name are tried in order. Refused: a
 * generated wrapper per function, which costs a megabyte and says nothing new. */
#include "row.h"

#include <structmember.h>

#include <string.h>

PyTypeObject *py_row_type;
static PyObject *registry; /* {"ops": {"add": row}} */

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
    int was = ms__lazy_enter();
    if (runs_long(n, arg)) {
        PyThreadState *save = PyEval_SaveThread();
        st = api->run(&call);
        PyEval_RestoreThread(save);
        ms__lazy_leave(was);
        if (st == MS_OK && PyErr_CheckSignals() < 0) {
            ms__api_release(&call.out);
            return NULL;
        }
    } else {
        st = api->run(&call);
        ms__lazy_leave(was);
    }
    if (__builtin_expect(st != MS_OK, 0)) return py_raise();
    return py_result(&call.out, self);
}
static Sig *sig_of(Row *r, int k)
{
    if (!r->sig[k]) r->sig[k] = py_sig_parse(r->api[k]);
    return r->sig[k];
}
/* ---- binding ---- */

static int find_param(const Sig *sig, PyObject *name)
{
    for (int i = 0; i < sig->n; i++)
        if (sig->param[i].name == name) return i;
    for (int i = 0; i < sig->n; i++)
        if (PyUnicode_Compare(sig->param[i].name, name) == 0) return i;
    return -1;
}

/* Surplus positional arguments for *args: (2, 3) and ((2, 3),) are the same. */
static int bind_var(const Param *p, PyObject *const *args, Py_ssize_t n, MsArg *arg, PyMsArena *arena)
{
    if (n == 1 && (py_is_list(args[0]) || (p->types & OF_ANY))) {
        int rc = py_convert(p, args[0], arg, arena);
        if (rc <= 0 && arg->kind == MS_ARG_LIST) return rc;
    }
    MsArg *list = py_arena_take(arena, (int)n);
    if (!list) return -1;
    *arg = (MsArg){.kind = MS_ARG_LIST, .n = (int)n, .list = list};
    Param one = *p;
    if (one.types & OF_INTS) one.types |= OF_INT;
    if (one.types & OF_TENSORS) one.types |= OF_TENSOR;
    for (Py_ssize_t i = 0; i < n; i++) {
        int rc = py_convert(&one, args[i], &list[i], arena);
        if (rc != 0) return rc;
    }
    return 0;
}

static int bind(const Sig *sig, PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames, MsArg *arg,
                PyMsArena *arena, Refusal *refusal)
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
            rc = py_convert(p, given[i], &arg[i], arena);
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
/* ---- the type ---- */

static PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Row *r = (Row *)self;
    Py_ssize_t n_args = PyVectorcall_NARGS(nargsf);
    if (__builtin_expect(py_recorder != NULL, 0)) return py_record(self, args, n_args, kwnames);
    MsArg arg[MAX_PARAM];
    PyMsArena arena;
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
    return rc > 0 ? py_refuse(r, args, n_args, kwnames, refusal) : out;
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
        py_append(&text, PyUnicode_FromFormat("%s%U%s", k ? "\n" : "", r->name, r->api[k]->sig));
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
    return py_import_call("mindspore.common.printing", "row_signature", self, NULL);
}

static PyObject *row_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *find = py_import("mindspore._c", "row");
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
