/* sig.c - the signature text of a row, parsed once, and the message that lists the overloads of a name when
 * none took a call. Defaults are Python literals and evaluated as such, with the names of the dtypes. */
#include "row.h"

#include <ctype.h>
#include <string.h>

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

/* The names a default may use: dtypes (float32, mstype.float32), inf. */
static PyObject *literal_names(void)
{
    static PyObject *names;
    if (names) return names;
    PyObject *all = py_import("mindspore._c", "dtypes");
    PyObject *make = all ? py_import("types", "SimpleNamespace") : NULL;
    PyObject *none = make ? PyTuple_New(0) : NULL;
    PyObject *space = none ? PyObject_Call(make, none, all) : NULL;
    PyObject *inf = PyFloat_FromDouble(Py_HUGE_VAL);
    PyObject *dict = space && inf ? PyDict_Copy(all) : NULL;
    if (dict && PyDict_SetItemString(dict, "inf", inf) == 0 &&
        PyDict_SetItemString(dict, "mstype", space) == 0 &&
        PyDict_SetItemString(dict, "mindspore", space) == 0)
        names = Py_NewRef(dict);
    PyObject *const used[] = {all, make, none, space, inf, dict};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++) Py_XDECREF(used[k]);
    return names;
}

static PyObject *literal(const char *s, const char *end)
{
    PyObject *names = literal_names();
    PyObject *text = names ? PyUnicode_FromStringAndSize(s, end - s) : NULL;
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

static int parse_param(Sig *sig, const char *s, const char *end, bool keyword_only, PyMsArena *keep)
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
        int rc = py_convert(p, p->value, &p->fallback, keep);
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

Sig *py_sig_parse(const MsApi *api)
{
    Sig *sig = PyMem_Calloc(1, sizeof *sig + MAX_PARAM * sizeof *sig->param);
    PyMsArena *keep = PyMem_Calloc(1, sizeof *keep); /* lives as long as the row: for ever */
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

/* ---- the error that lists the candidates ---- */

static PyObject *type_text(PyObject *o)
{
    if (PY_IS_TENSOR(o))
        return PyUnicode_FromString(Py_TYPE(o) == py_tensor_type ? "Tensor" : Py_TYPE(o)->tp_name);
    if (o == Py_None) return PyUnicode_FromString("None");
    if (PyUnicode_Check(o)) return PyUnicode_FromString("string");
    if (py_dtype_check(o)) return PyUnicode_FromString("mstype");
    if (py_is_list(o)) {
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

void py_append(PyObject **text, PyObject *more)
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
        py_append(&text, PyUnicode_FromFormat(first ? "%s" : ", %s", types[order[k]].shown));
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
            py_append(&text, PyUnicode_FromFormat("%s*", comma)), comma = ", ", star = true;
        PyObject *shown = types_text(p);
        py_append(&text, shown ? PyUnicode_FromFormat("%s%s%U=<%U>", comma, p->var ? "*" : "", p->name, shown)
                               : NULL);
        Py_XDECREF(shown);
    }
    py_append(&text, PyUnicode_FromString(")\""));
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
            py_append(&text,
                      PyUnicode_FromFormat("%s%U=%U", comma, PyTuple_GET_ITEM(kwnames, i - n_args), t));
        else
            py_append(&text, t ? PyUnicode_FromFormat("%s%U", comma, t) : NULL);
        Py_XDECREF(t);
    }
    py_append(&text, PyUnicode_FromString(")"));
    return text;
}

/* The sentence for the one overload that the call can have meant. */
static PyObject *reason_text(Row *r, const Sig *sig, bool method, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *kwnames, const Refusal *f)
{
    int self = method ? 1 : 0, n_pos = sig->n_pos - self;
    int given = (int)n_args > self ? (int)n_args - self : 0;
    if (f->why == R_COUNT)
        return PyUnicode_FromFormat("%U() takes %d positional argument%s but %d %s given.\n", r->name, n_pos,
                                    n_pos == 1 ? "" : "s", given, given == 1 ? "was" : "were");
    if (f->why == R_MISSING)
        return PyUnicode_FromFormat("%U() missing 1 required positional argument: '%U'\n", r->name, f->name);
    if (f->why == R_KEYWORD)
        return PyUnicode_FromFormat("%U() got an unexpected keyword argument '%U'\n", r->name, f->name);
    if (f->why != R_TYPE) return PyUnicode_FromString("");
    int i = 0;
    while (sig->param[i].name != f->name) i++;
    Param known = sig->param[i];
    if (known.types != OF_NONE) known.types &= ~OF_NONE;
    PyObject *value = i < (int)n_args ? args[i] : NULL;
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, k), f->name) == 0) value = args[n_args + k];
    if (!value) return PyUnicode_FromString("");
    PyObject *wanted = types_text(&known), *got = type_text(value), *text = NULL;
    if (wanted && got && i < (int)n_args)
        text = PyUnicode_FromFormat("%U(): argument '%U' (position %d) must be %U, not %U.\n", r->name,
                                    f->name, i - self + 1, wanted, got);
    else if (wanted && got)
        text = PyUnicode_FromFormat("%U(): argument '%U' must be %U but got %U.\n", r->name, f->name, wanted,
                                    got);
    Py_XDECREF(wanted);
    Py_XDECREF(got);
    return text;
}

/* The overload that a refused call is closest to, or -1. */
static int closest(const Row *r, const Refusal *refusal)
{
    int found = r->n == 1 ? 0 : -1;
    for (int k = 0; k < r->n && r->n > 1; k++) {
        if (refusal[k].why != R_TYPE) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

PyObject *py_refuse(Row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames,
                    const Refusal *refusal)
{
    bool method = PyUnicode_CompareWithASCIIString(r->prefix, "Tensor") == 0;
    PyObject *given = call_text(args, n_args, kwnames, method && n_args > 0 ? 1 : 0);
    int one = closest(r, refusal);
    PyObject *text = one < 0 ? PyUnicode_FromString("")
                             : reason_text(r, r->sig[one], method, args, n_args, kwnames, &refusal[one]);
    py_append(&text, given ? PyUnicode_FromFormat(
                                 "Failed calling %U with \"%U%U\".\nThe valid calling should be:", r->name,
                                 r->name, given)
                           : NULL);
    for (int k = 0; k < r->n && text; k++) {
        PyObject *candidate = candidate_text(r, r->sig[k], method);
        py_append(&text, candidate ? PyUnicode_FromFormat("\n%U", candidate) : NULL);
        Py_XDECREF(candidate);
        const Refusal *f = &refusal[k];
        if (f->why == R_COUNT)
            py_append(&text,
                      PyUnicode_FromFormat("\n    match failed because of too many arguments: %U", given));
        else if (f->why == R_KEYWORD)
            py_append(&text,
                      PyUnicode_FromFormat("\n    match failed because incorrect keyword name: %U", f->name));
        else if (f->why == R_TWICE)
            py_append(&text, PyUnicode_FromFormat(
                                 "\n    match failed because of multiple values for argument: %U", f->name));
        else if (f->why == R_MISSING)
            py_append(&text, PyUnicode_FromFormat("\n    missing required argument: %U", f->name));
        else
            py_append(&text,
                      PyUnicode_FromFormat("\n    match failed because invalid types: %U, argument '%U'",
                                           given, f->name));
    }
    Py_XDECREF(given);
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(text);
    return NULL;
}
