/* where.c - the line of the user's program that a node of a graph comes from. While a function is staged, each new node
 * asks for the innermost frame outside of this package. A line gets one number; the table grows with the program, not with
 * the graphs. Refused: text per node. */
#include "py.h"

#include <frameobject.h> /* PyFrame_GetBack, before 3.11 */
#include <string.h>

static PyObject *numbers; /* {(code, line): number} */
static PyObject *lines;   /* [(code, line)] from number 1 on */
static char home[1024];   /* frames of files under it are ours */
static _Thread_local int32_t fixed = -1;

static bool ours(PyCodeObject *code)
{
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
    return file && strncmp(file, home, strlen(home)) == 0;
}

static int32_t number_of(PyCodeObject *code, int line)
{
    PyObject *key = Py_BuildValue("(Oi)", code, line), *known = key ? PyDict_GetItem(numbers, key) : NULL;
    int32_t n = known ? (int32_t)PyLong_AsLong(known) : 0;
    if (key && !known && PyList_Append(lines, key) == 0) {
        PyObject *next = PyLong_FromSsize_t(PyList_GET_SIZE(lines));
        if (next && PyDict_SetItem(numbers, key, next) == 0) n = (int32_t)PyList_GET_SIZE(lines);
        Py_XDECREF(next);
    }
    Py_XDECREF(key);
    PyErr_Clear();
    return n;
}

static int32_t here(void)
{
    if (fixed >= 0) return fixed;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyFrameObject *f = PyEval_GetFrame();
    Py_XINCREF(f);
    int32_t n = 0;
    while (f && !n) {
        PyCodeObject *code = PyFrame_GetCode(f);
        if (!ours(code)) n = number_of(code, PyFrame_GetLineNumber(f));
        Py_DECREF(code);
        PyFrameObject *back = n ? NULL : PyFrame_GetBack(f);
        Py_DECREF(f);
        f = back;
    }
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    return n;
}

static void describe(int32_t n, char *text, size_t size)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *line = PyList_GetItem(lines, n - 1);
    if (line) {
        PyCodeObject *code = (PyCodeObject *)PyTuple_GET_ITEM(line, 0);
        const char *file = PyUnicode_AsUTF8(code->co_filename),
                   *name = file ? PyUnicode_AsUTF8(code->co_name) : NULL;
        if (name)
            snprintf(text, size, "  File \"%s\", line %ld, in %s", file,
                     PyLong_AsLong(PyTuple_GET_ITEM(line, 1)), name);
    }
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

/* watch_places(directory): nodes that are staged from now on know their line; files in directory are this package's. */
static PyObject *watch_places(PyObject *self, PyObject *directory)
{
    (void)self;
    const char *s = PyUnicode_AsUTF8(directory);
    if (!s) return NULL;
    if (!lines && (!(lines = PyList_New(0)) || !(numbers = PyDict_New()))) return NULL;
    snprintf(home, sizeof home, "%s", s);
    ms__where_hook = here;
    ms__where_text = describe;
    Py_RETURN_NONE;
}

static PyObject *place(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(lines ? here() : 0);
}

static PyObject *set_place(PyObject *self, PyObject *n)
{
    (void)self;
    fixed = (int32_t)PyLong_AsLong(n);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"watch_places", watch_places, METH_O, "Nodes that are staged know the line outside of this directory."},
    {"place", place, METH_NOARGS, "The number of the user's line that is running."},
    {"set_place", set_place, METH_O,
     "Nodes get this number from now on; -1: that of the line that is running."},
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
