/* py.h - what the files of the extension share. The extension knows no operator: it turns Python objects into
 * MsArg, calls a row of the registry and wraps what comes back. Functions named `py_*` follow CPython's
 * convention (new reference, NULL with an exception set); those that call the library turn its error record
 * into an exception. Refused: a binding generator; the whole surface is one row type and one tensor type. */
#ifndef MS_PY_H
#define MS_PY_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "api/api.h"
#include "core/tensor.h"
#include "trace/trace.h"

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *py_newref(PyObject *o)
{
    Py_INCREF(o);
    return o;
}
#define Py_NewRef(o) py_newref((PyObject *)(o))
#define Py_XNewRef(o) ((o) ? Py_NewRef(o) : NULL)
#endif

/* The Python tensor: a handle and what a subclass may add. Always holds a handle (t != NULL). */
typedef struct PyMsTensor {
    PyObject_HEAD MsTensor *t;
    PyObject *weakrefs;
    PyObject *init; /* initializer of a tensor that was promised but not filled yet, or NULL */
} PyMsTensor;

extern PyTypeObject *py_tensor_type;
#define PY_IS_TENSOR(o) (Py_TYPE(o) == py_tensor_type || PyObject_TypeCheck(o, py_tensor_type))
#define PY_HANDLE(o) (((PyMsTensor *)(o))->t)

/* Turns the library's error record into a Python exception; always returns NULL. */
PyObject *py_raise(void);
/* An attribute of a Python module; NULL and an exception. */
PyObject *py_import(const char *module, const char *name);
/* A call of a Python function with one or two (b not NULL) arguments. */
PyObject *py_import_call(const char *module, const char *name, PyObject *a, PyObject *b);
/* Wraps a handle, taking over the caller's reference; NULL raises the library's error. */
PyObject *py_wrap(MsTensor *t);
/* A tuple of new Tensors for handles of the open scope; NULL entries become None. */
PyObject *py_wrap_all(int n, MsTensor *const *t);
/* Ends the scope of `mark` and wraps t, a reference in it; NULL raises the library's error unless an
 * exception is set. */
PyObject *py_leave(int mark, MsTensor *t);
/* Gives a promised tensor (its init is not NULL) its data; one that only describes an input stays as it is. -1 and an exception. */
int py_fulfil(PyObject *x);
/* The concrete tensor that x stands for (borrowed from x or the scope); NULL and an exception when it has no
 * value. */
MsTensor *py_concrete(PyObject *x);

/* dtype objects: one per MsDtype, borrowed. */
PyObject *py_dtype(MsDtype dtype);
bool py_dtype_check(PyObject *o);
/* The dtype that `o` names: a dtype object, a Python type or a numpy dtype; MS_DTYPE_NONE without exception
 * otherwise. */
MsDtype py_dtype_of(PyObject *o);

/* Data to a new tensor in the open scope, by the rules of `Tensor(data, dtype)`; always copies. */
MsTensor *py_from_data(PyObject *data, MsDtype dtype);
/* An object with the buffer protocol as a tensor that shares its memory and keeps it alive. */
MsTensor *py_from_buffer(PyObject *o, bool need_writable);
/* str, bytes or an array of them as texts of the data pipeline (text.c), in the open scope; NULL without an exception for
 * anything else. And back: an array, also for one text. */
MsTensor *py_text(PyObject *o);
PyObject *py_text_array(MsTensor *t);
static inline bool py_is_text(MsTensor *t)
{
    return t->dtype == MS_STRING || t->dtype == MS_BYTES;
}
/* True for numpy scalars; decided by type name of the bases, so that numpy need not be imported. */
bool py_is_numpy_scalar(PyObject *o);
bool py_is_ndarray(PyObject *o);
/* A numpy scalar as Python number. */
PyObject *py_numpy_number(PyObject *o);

/* Memory of one conversion: MsArg lists, freed together. */
typedef struct PyMsArena {
    MsArg few[32];
    int used;
    struct PyBlock *more;
} PyMsArena;
void py_arena_free(PyMsArena *a);
/* Any Python value as an MsArg tree (MS_ARG_OBJECT for what has no other kind). -1 and an exception on
 * failure. */
int py_arg_any(PyObject *o, MsArg *arg, PyMsArena *arena);
/* A Tensor; one that was promised gets its data now. */
int py_tensor_arg(PyObject *o, MsArg *arg);
/* A Python int (bool too); OverflowError beyond int64. */
int py_arg_int(PyObject *o, MsArg *arg);
/* What a row returned as a Python object; the lists in it are freed. `self`: returned as it is for its own
 * handle. */
PyObject *py_result(MsArg *out, PyObject *self);

/* Recording (record.c). While a recorder of this thread is set, it is asked in place of what follows: a call; a
 * function of this module; a method (more: the other arguments, a tuple or one, or NULL); "shape", "size", "len" or
 * "pin" (nothing may change in it) of a tensor. */
extern _Thread_local PyObject *py_recorder;
PyObject *py_record(PyObject *fn, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *py_record_function(const char *name, PyObject *args);
PyObject *py_record_method(PyTypeObject *type, const char *name, PyObject *self, PyObject *more);
PyObject *py_record_question(const char *what, PyObject *t);

/* Rows. */
extern PyTypeObject *py_row_type;
/* The row with this full name, borrowed, or NULL without an exception. */
PyObject *py_row_find(const char *name);
PyObject *py_rows(PyObject *module, PyObject *prefix); /* rows(prefix) -> dict */
/* A row resolved once by a slot of Tensor: direct calls with converted arguments. */
typedef struct PySlot {
    const char *name;
    PyObject *row;
    bool looked;
} PySlot;
/* -1: there is no such row; otherwise *out is the result or NULL with an exception. */
int py_slot_call(PySlot *slot, int n, const MsArg *arg, PyObject *self, PyObject **out);

PyObject *py_unpickle(PyObject *self, PyObject *type);
/* Files of the extension register what they add to the module. */
int py_dtype_init(PyObject *m);
int py_tensor_init(PyObject *m);
int py_row_init(PyObject *m);
int py_trace_init(PyObject *m);
/* For further files (python/src/NAME.c): a constructor function calls this with a hook that fills the module.
 */
void py_register(int (*hook)(PyObject *m));

/* The graph inside a Graph object, borrowed; NULL and an exception for anything else. */
MsGraph *py_graph(PyObject *o);

extern const PyType_Slot py_operator_slots[]; /* number.c */
extern PyMethodDef py_create_methods[];       /* from_numpy and friends, create.c */
PyObject *py_from_numpy(PyObject *self, PyObject *array);
PyObject *py_from_dlpack(PyObject *self, PyObject *x); /* dlpack.c */
PyObject *py_asnumpy(PyObject *self, PyObject *unused);
PyObject *py_item(MsTensor *t); /* of a tensor with one element */
PyObject *py_tolist(PyObject *self, PyObject *unused);

#endif
