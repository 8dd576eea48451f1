/* row.h - the parsed signature of a row and the row object, shared by row.c (calls, registry), sig.c
 * (signature text, messages) and convert.c (Python objects to and from MsArg). */
#ifndef MS_PY_ROW_H
#define MS_PY_ROW_H
#include "py.h"

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

/* One argument by the parameter's types. 0: converted, 1: the type does not fit, -1: exception. */
int py_convert(const Param *p, PyObject *o, MsArg *arg, PyMsArena *arena);
/* n MsArg of a conversion, NULL and an exception. */
MsArg *py_arena_take(PyMsArena *a, int n);
bool py_is_list(PyObject *o);
/* Parses api's signature; kept for the life of the process. NULL and an exception. */
Sig *py_sig_parse(const MsApi *api);
/* Raises the TypeError that lists the overloads and why each did not take the call. */
PyObject *py_refuse(Row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *kwnames,
                    const Refusal *refusal);
/* Appends and consumes `more`; *text becomes NULL when anything failed. */
void py_append(PyObject **text, PyObject *more);

#endif
