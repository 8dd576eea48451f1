/* dataset.c - the data pipeline for Python. Datasets, samplers, transforms and iterators are capsules; the
 * classes are in mindspore/dataset. User functions run as callbacks in the pipeline's threads: they take the
 * GIL, their arguments are arrays of their own, their results are copied. An exception becomes an error
 * record whose line number finds it again when the consumer gets the error, so that it can be raised as the
 * cause. Worker processes are the business of Python (_workers.py): to the pipeline they are functions. */
#include "dataset.h"

#include "core/error.h"
#include "data/watch.h"
#include "mindspore_data.h"

#include <stdlib.h>
#include <string.h>

#define DATASET "mindspore.Dataset"
#define SAMPLER "mindspore.Sampler"
#define TRANSFORM "mindspore.Transform"
#define ITERATOR "mindspore.DataIter"

/* ---- exceptions of callbacks ---- */

static const char callback_mark[] = "callback";
static PyObject *causes; /* serial -> exception; those of rows that nobody takes go with the last iterator */
static int next_serial, open_iterators;

/* The current Python exception as an error record. The text says which operation failed and at which `item`, unless `what` is
 * NULL because the caller adds that. */
static MsStatus callback_failed(const char *what, const char *item, long long number)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    int serial = ++next_serial;
    PyObject *key = PyLong_FromLong(serial);
    if (PyDict_Size(causes) == 64) PyDict_Clear(causes); /* of rows that were left out */
    if (value && key) PyDict_SetItem(causes, key, value);
    PyErr_Clear();
    char place[64] = "";
    if (item) snprintf(place, sizeof place, " %s %lld.", item, number);
    MsStatus st = ms__raise(MS_ERROR_RUNTIME, callback_mark, serial,
                            "%s%sException thrown from user defined Python function in dataset. %s: %s%s",
                            what ? what : "", what ? " failed. " : "",
                            type ? ((PyTypeObject *)type)->tp_name : "error", utf8 ? utf8 : "", place);
    Py_XDECREF(key);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return st;
}

/* Raises the library's error, with the exception of the callback that it came from as its cause. */
static PyObject *raise_error(void)
{
    PyObject *cause = NULL;
    const MsError *e = ms_error();
    if (e->code == MS_ERROR_INTERRUPT && PyErr_Occurred()) {
        ms_error_clear();
        return NULL;
    }
    if (e->file == callback_mark) {
        PyObject *key = PyLong_FromLong(e->line);
        cause = key ? PyDict_GetItem(causes, key) : NULL;
        Py_XINCREF(cause);
        if (cause) PyDict_DelItem(causes, key);
        Py_XDECREF(key);
    }
    py_raise();
    if (!cause) return NULL;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyException_SetCause(value, cause);
    PyErr_Restore(type, value, trace);
    return NULL;
}

/* ---- values ---- */

static PyObject *asarray, *row_major; /* numpy.asarray and {'order': 'C'} */

static PyObject *to_numpy(MsTensor *t)
{
    if (py_is_text(t)) return py_text_array(t);
    PyObject *wrapped = py_wrap(ms_tensor_ref(t));
    PyObject *array = wrapped ? py_asnumpy(wrapped, NULL) : NULL;
    Py_XDECREF(wrapped);
    return array;
}

/* A value of user code as a tensor in the open scope, with numpy's idea of its dtype. */
MsTensor *py_to_tensor(PyObject *o)
{
    if (PY_IS_TENSOR(o)) {
        MsTensor *t = py_concrete(o);
        return t ? ms_contiguous(t) : NULL;
    }
    if (!row_major) {
        asarray = py_import("numpy", "asarray");
        row_major = asarray ? Py_BuildValue("{ss}", "order", "C") : NULL;
        if (!row_major) return NULL;
    }
    PyObject *args = PyTuple_Pack(1, o), *array = args ? PyObject_Call(asarray, args, row_major) : NULL;
    Py_XDECREF(args);
    MsTensor *t = array ? py_text(array) : NULL;
    if (array && !t && !PyErr_Occurred()) t = py_from_data(array, MS_DTYPE_NONE);
    Py_XDECREF(array);
    return t;
}

/* What a user function returned into out[0..cap): a tuple gives one column per item. */
static int take_results(PyObject *result, int cap, MsTensor **out)
{
    bool many = PyTuple_Check(result);
    int n = many ? (int)PyTuple_GET_SIZE(result) : 1;
    if (n > cap) {
        PyErr_Format(PyExc_RuntimeError, "a row has at most %d columns, but got %d", cap, n);
        return -1;
    }
    for (int k = 0; k < n; k++)
        if (!(out[k] = py_to_tensor(many ? PyTuple_GET_ITEM(result, k) : result)) ||
            ms__ready(out[k]) != MS_OK) {
            if (!PyErr_Occurred()) py_raise();
            return -1;
        }
    return n;
}

static void release_object(void *ctx)
{
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)ctx);
    PyGILState_Release(gil);
}

/* ---- capsules ---- */

static void free_dataset(PyObject *c)
{
    ms_dataset_unref(PyCapsule_GetPointer(c, DATASET));
}
static void free_sampler(PyObject *c)
{
    ms_sampler_unref(PyCapsule_GetPointer(c, SAMPLER));
}
static void free_transform(PyObject *c)
{
    ms_transform_unref(PyCapsule_GetPointer(c, TRANSFORM));
}

static void end_iterator(MsDataIter *it)
{
    PyThreadState *gil = PyEval_SaveThread();
    ms_data_iter_free(it);
    PyEval_RestoreThread(gil);
    if (--open_iterators == 0) PyDict_Clear(causes);
}

static void free_iterator(PyObject *c)
{
    if (!PyCapsule_GetContext(c)) end_iterator(PyCapsule_GetPointer(c, ITERATOR)); /* not closed already */
}

static PyObject *capsule(void *p, const char *name, PyCapsule_Destructor destroy)
{
    return p ? PyCapsule_New(p, name, destroy) : raise_error();
}

PyObject *py_dataset(MsDataset *d)
{
    return capsule(d, DATASET, free_dataset);
}

static MsDataset *get_dataset(PyObject *o)
{
    return ms_dataset_ref(PyCapsule_GetPointer(o, DATASET));
}

/* A sampler in a capsule or None. -1 and an exception for anything else. */
int py_sampler(PyObject *o, MsSampler **s)
{
    *s = NULL;
    if (o == Py_None) return 0;
    PyObject *item = o;
    *s = PyCapsule_GetPointer(item, SAMPLER);
    if (!*s) return -1;
    PyCapsule_SetDestructor(item, NULL); /* given away */
    PyCapsule_SetName(item, "used");
    return 0;
}

/* ---- samplers ---- */

/* fn(n_rows, epoch, again) gives a list of int; again = the same as just before, there was not enough room. */
static MsStatus sampler_fill(void *ctx, int64_t n_rows, int64_t epoch, int64_t cap, int64_t *index,
                             int64_t *n)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    MsStatus st = MS_OK;
    PyObject *list = PyObject_CallFunction(ctx, "LLO", (long long)n_rows, (long long)epoch,
                                           cap > 1 && cap > n_rows ? Py_True : Py_False);
    if (list && !PyList_Check(list)) {
        Py_CLEAR(list);
        PyErr_SetString(PyExc_TypeError, "a sampler must give a list of int");
    }
    if (list) {
        *n = PyList_GET_SIZE(list);
        for (int64_t k = 0; k < *n && k < cap; k++) {
            index[k] = PyLong_AsLongLong(PyList_GET_ITEM(list, k));
            if (index[k] == -1 && PyErr_Occurred()) break;
        }
    }
    if (PyErr_Occurred()) st = callback_failed("The sampler", "Epoch", (long long)epoch);
    Py_XDECREF(list);
    PyGILState_Release(gil);
    return st;
}

/* fn.size(n_rows): what it will give, -1 = unknown. */
static int64_t sampler_size(void *ctx, int64_t n_rows)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *size = PyObject_CallMethod(ctx, "size", "L", (long long)n_rows);
    int64_t n = size ? PyLong_AsLongLong(size) : -1;
    Py_XDECREF(size);
    PyErr_Clear();
    PyGILState_Release(gil);
    return n;
}

static PyObject *ds_sampler_host(PyObject *m, PyObject *fn)
{
    (void)m;
    MsHostSampler h = {
        .fill = sampler_fill, .size = sampler_size, .release = release_object, .ctx = Py_NewRef(fn)};
    return capsule(ms_sampler_host(&h), SAMPLER, free_sampler);
}

static PyObject *ds_sampler_chain(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *a, *b;
    MsSampler *parent, *child;
    if (!PyArg_ParseTuple(args, "OO", &a, &b) || py_sampler(a, &parent) || py_sampler(b, &child)) return NULL;
    return capsule(ms_sampler_chain(parent, child), SAMPLER, free_sampler);
}

static PyObject *sampler_list(const char *kind, PyObject *args)
{
    PyObject *list;
    int flag;
    long long num;
    if (!PyArg_ParseTuple(args, "sO!pL", &kind, &PyList_Type, &list, &flag, &num)) return NULL;
    Py_ssize_t n = PyList_GET_SIZE(list);
    double *weight = malloc((size_t)(n + 1) * sizeof *weight);
    int64_t *index = malloc((size_t)(n + 1) * sizeof *index);
    MsSampler *s = NULL;
    if (!weight || !index) PyErr_NoMemory();
    bool weighted = strcmp(kind, "weighted") == 0;
    for (Py_ssize_t k = 0; k < n && !PyErr_Occurred(); k++) {
        if (weighted)
            weight[k] = PyFloat_AsDouble(PyList_GET_ITEM(list, k));
        else
            index[k] = PyLong_AsLongLong(PyList_GET_ITEM(list, k));
    }
    if (!PyErr_Occurred())
        s = weighted                      ? ms_sampler_weighted(n, weight, num, flag)
            : strcmp(kind, "blocks") == 0 ? ms_sampler_blocks(n, index, flag, num)
                                          : ms_sampler_subset(n, index, flag, num);
    free(weight);
    free(index);
    return s || !PyErr_Occurred() ? capsule(s, SAMPLER, free_sampler) : NULL;
}

/* sampler(kind, ...) */
static PyObject *ds_sampler(PyObject *m, PyObject *args)
{
    (void)m;
    const char *kind = PyTuple_GET_SIZE(args) ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : "";
    long long a = 0, b = 0, num = 0, offset = -1;
    int flag = 0;
    MsSampler *s = NULL;
    if (!kind) return NULL;
    if (strcmp(kind, "sequential") == 0) {
        if (!PyArg_ParseTuple(args, "sLL", &kind, &a, &num)) return NULL;
        s = ms_sampler_sequential(a, num);
    } else if (strcmp(kind, "random") == 0) {
        if (!PyArg_ParseTuple(args, "spL", &kind, &flag, &num)) return NULL;
        s = ms_sampler_random(flag, num);
    } else if (strcmp(kind, "distributed") == 0) {
        if (!PyArg_ParseTuple(args, "sLLpLL", &kind, &a, &b, &flag, &num, &offset)) return NULL;
        s = ms_sampler_distributed(a, b, flag, num, offset);
    } else if (strcmp(kind, "pk") == 0) {
        if (!PyArg_ParseTuple(args, "sLLpL", &kind, &a, &b, &flag, &num)) return NULL;
        s = ms_sampler_pk(a, b, flag, num);
    } else {
        return sampler_list(kind, args);
    }
    return capsule(s, SAMPLER, free_sampler);
}

/* ---- transforms ---- */

static PyObject *ds_transform(PyObject *m, PyObject *args)
{
    (void)m;
    Py_ssize_t n = PyTuple_GET_SIZE(args) - 1;
    const char *name = n >= 0 ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : NULL;
    if (!name) return NULL;
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    if (!v) return PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < n && !PyErr_Occurred(); k++)
        v[k] = PyFloat_AsDouble(PyTuple_GET_ITEM(args, k + 1));
    MsTransform *t = PyErr_Occurred() ? NULL : ms_transform_new(name, (int)n, v);
    free(v);
    return t || !PyErr_Occurred() ? capsule(t, TRANSFORM, free_transform) : NULL;
}

/* The transforms of a list of capsules, referenced; NULL and an exception on failure. */
static MsTransform **get_transforms(PyObject *list, int *n)
{
    *n = (int)PyList_GET_SIZE(list);
    MsTransform **op = malloc((size_t)(*n + 1) * sizeof *op);
    if (!op) return (MsTransform **)PyErr_NoMemory();
    for (int k = 0; k < *n; k++) {
        MsTransform *t = PyCapsule_GetPointer(PyList_GET_ITEM(list, k), TRANSFORM);
        if (!t) {
            while (k > 0) ms_transform_unref(op[--k]);
            free(op);
            return NULL;
        }
        op[k] = ms_transform_ref(t);
    }
    return op;
}

static PyObject *ds_group(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *list;
    int mode, n;
    double prob;
    if (!PyArg_ParseTuple(args, "O!id", &PyList_Type, &list, &mode, &prob)) return NULL;
    MsTransform **op = get_transforms(list, &n);
    if (!op) return NULL;
    MsTransform *t = ms_transform_group(n, op, mode, prob);
    free(op);
    return capsule(t, TRANSFORM, free_transform);
}

typedef struct Callable {
    PyObject *fn;
    bool seeded; /* its first argument is the seed of the row */
    char name[64];
} Callable;

static void release_callable(void *ctx)
{
    Callable *c = ctx;
    release_object(c->fn);
    free(c);
}

/* The arrays behind `first`, which is taken over; NULL = none. */
static PyObject *arrays_after(PyObject *first, int n, MsTensor *const *in)
{
    int at = first != NULL;
    PyObject *args = PyTuple_New(at + n);
    if (args && first)
        PyTuple_SET_ITEM(args, 0, first);
    else
        Py_XDECREF(first);
    for (int k = 0; args && k < n; k++) {
        PyObject *a = to_numpy(in[k]);
        if (!a) {
            Py_CLEAR(args);
            break;
        }
        PyTuple_SET_ITEM(args, at + k, a);
    }
    return args;
}

static PyObject *arrays_of(int n, MsTensor *const *in)
{
    return arrays_after(NULL, n, in);
}

static MsStatus run_callable(void *ctx, uint64_t seed, int n_in, MsTensor *const *in, int *n_out,
                             MsTensor **out)
{
    Callable *c = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    MsStatus st = MS_OK;
    PyObject *first = c->seeded ? PyLong_FromUnsignedLongLong(seed) : NULL;
    PyObject *args = arrays_after(first, n_in, in), *result = args ? PyObject_CallObject(c->fn, args) : NULL;
    *n_out = result ? take_results(result, MS_DATA_MAX_COLUMN, out) : -1;
    if (*n_out < 0) st = callback_failed(NULL, NULL, 0);
    Py_XDECREF(args);
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return st;
}

/* callable(name, fn, ordered, seeded=False) */
static PyObject *ds_callable(PyObject *m, PyObject *args)
{
    (void)m;
    const char *name;
    PyObject *fn;
    int ordered, seeded = 0;
    if (!PyArg_ParseTuple(args, "sOp|p", &name, &fn, &ordered, &seeded)) return NULL;
    Callable *c = calloc(1, sizeof *c);
    if (!c) return PyErr_NoMemory();
    c->fn = Py_NewRef(fn);
    c->seeded = seeded;
    strncpy(c->name, name, sizeof c->name - 1);
    MsHostTransform h = {c->name, run_callable, release_callable, c, ordered};
    return capsule(ms_transform_host(&h), TRANSFORM, free_transform);
}

/* apply(transform, *arrays) -> array or tuple of arrays */
static PyObject *ds_apply(PyObject *m, PyObject *args)
{
    (void)m;
    int n = (int)PyTuple_GET_SIZE(args) - 1, n_out = 0;
    MsTransform *t = n >= 0 ? PyCapsule_GetPointer(PyTuple_GET_ITEM(args, 0), TRANSFORM) : NULL;
    MsTensor *in[MS_DATA_MAX_COLUMN], *out[MS_DATA_MAX_COLUMN];
    if (!t) return NULL;
    if (n > MS_DATA_MAX_COLUMN) return PyErr_Format(PyExc_ValueError, "too many inputs");
    PyObject *result = NULL;
    int mark = ms_scope_begin();
    for (int k = 0; k < n; k++)
        if (!(in[k] = py_to_tensor(PyTuple_GET_ITEM(args, k + 1)))) {
            if (!PyErr_Occurred()) raise_error();
            goto done;
        }
    MsStatus st;
    PyThreadState *gil = PyEval_SaveThread();
    st = ms_transform_apply(t, n, in, &n_out, out);
    PyEval_RestoreThread(gil);
    if (st != MS_OK)
        raise_error();
    else if (n_out == 1)
        result = to_numpy(out[0]);
    else
        result = arrays_of(n_out, out);
done:
    ms_scope_end(mark, NULL, 0);
    return result;
}

/* ---- sources ---- */

static PyObject *ds_mnist(PyObject *m, PyObject *args)
{
    (void)m;
    int fashion;
    const char *dir, *usage;
    PyObject *sampler;
    MsSampler *s;
    if (!PyArg_ParseTuple(args, "pszO", &fashion, &dir, &usage, &sampler) || py_sampler(sampler, &s))
        return NULL;
    return py_dataset((fashion ? ms_dataset_fashion_mnist : ms_dataset_mnist)(dir, usage, s));
}

/* A list of str as an array over their own memory. */
static bool get_names(PyObject *list, const char **name, int *n)
{
    *n = (int)PyList_GET_SIZE(list);
    if (*n > MS_DATA_MAX_COLUMN) {
        PyErr_Format(PyExc_ValueError, "A row has at most %d columns.", MS_DATA_MAX_COLUMN);
        return false;
    }
    for (int k = 0; k < *n; k++)
        if (!(name[k] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, k)))) return false;
    return true;
}

/* slices(names, arrays, sampler); the arrays are copied */
static PyObject *ds_slices(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *names, *arrays, *sampler, *result = NULL;
    MsSampler *s;
    const char *name[MS_DATA_MAX_COLUMN];
    MsTensor *column[MS_DATA_MAX_COLUMN];
    int n;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &names, &PyList_Type, &arrays, &sampler)) return NULL;
    if (!get_names(names, name, &n) || PyList_GET_SIZE(arrays) != n || py_sampler(sampler, &s)) return NULL;
    int mark = ms_scope_begin();
    int k = 0;
    while (k < n && (column[k] = py_to_tensor(PyList_GET_ITEM(arrays, k)))) k++;
    if (k == n)
        result = py_dataset(ms_dataset_slices(n, column, name, s));
    else if (!PyErr_Occurred())
        raise_error();
    if (k < n) ms_sampler_unref(s);
    ms_scope_end(mark, NULL, 0);
    return result;
}

/* origin(source, text): the source again */
static PyObject *ds_origin(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d;
    const char *text;
    if (!PyArg_ParseTuple(args, "Os", &d, &text)) return NULL;
    MsDataset *set = PyCapsule_GetPointer(d, DATASET);
    if (!set) return NULL;
    return ms_dataset_origin(set, text) == MS_OK ? Py_NewRef(d) : raise_error();
}

/* files(paths, names, arrays, sampler): rows of a file's bytes and of the arrays, which are copied */
static PyObject *ds_files(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *paths, *names, *arrays, *sampler, *result = NULL;
    MsSampler *s;
    const char *name[MS_DATA_MAX_COLUMN];
    MsTensor *column[MS_DATA_MAX_COLUMN];
    int n;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyList_Type, &paths, &PyList_Type, &names, &PyList_Type, &arrays,
                          &sampler))
        return NULL;
    if (!get_names(names, name, &n) || PyList_GET_SIZE(arrays) != n - 1 || py_sampler(sampler, &s))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(paths);
    const char **path = malloc((size_t)(count + 1) * sizeof *path);
    if (!path) return PyErr_NoMemory();
    int mark = ms_scope_begin();
    Py_ssize_t i = 0;
    int k = 0;
    while (i < count && (path[i] = PyBytes_AsString(PyList_GET_ITEM(paths, i)))) i++;
    while (i == count && k < n - 1 && (column[k] = py_to_tensor(PyList_GET_ITEM(arrays, k)))) k++;
    if (i == count && k == n - 1) {
        result = py_dataset(ms_dataset_files(count, path, n - 1, column, name, s));
    } else {
        if (!PyErr_Occurred()) raise_error();
        ms_sampler_unref(s);
    }
    ms_scope_end(mark, NULL, 0);
    free(path);
    return result;
}

/* write_image(path, format, array, quality) */
static PyObject *ds_write_image(PyObject *m, PyObject *args)
{
    (void)m;
    const char *path, *format;
    PyObject *array;
    int quality;
    if (!PyArg_ParseTuple(args, "ysOi", &path, &format, &array, &quality)) return NULL;
    int mark = ms_scope_begin();
    MsTensor *t = py_to_tensor(array);
    bool good = t && ms_image_write(path, format, t, quality) == MS_OK;
    ms_scope_end(mark, NULL, 0);
    if (good) Py_RETURN_NONE;
    return PyErr_Occurred() ? NULL : raise_error();
}

/* A source of rows: open() gives (begin, get) for one iterator; get(i) gives a tuple, None at the end. */
typedef struct Source {
    PyObject *open;
    char name[64];
} Source;

typedef struct SourceState {
    const char *name;
    PyObject *begin, *get;
} SourceState;

static void source_release(void *ctx)
{
    Source *s = ctx;
    release_object(s->open);
    free(s);
}

static MsStatus source_open(void *ctx, void **state)
{
    Source *s = ctx;
    SourceState *k = calloc(1, sizeof *k);
    if (!k) return MS_FAIL(MS_ERROR_MEMORY, "Out of memory.");
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *pair = PyObject_CallObject(s->open, NULL);
    MsStatus st = MS_OK;
    if (!pair || !PyArg_ParseTuple(pair, "OO", &k->begin, &k->get)) {
        st = callback_failed(s->name, NULL, 0);
        free(k);
    } else {
        k->name = s->name;
        Py_INCREF(k->begin);
        Py_INCREF(k->get);
        *state = k;
    }
    Py_XDECREF(pair);
    PyGILState_Release(gil);
    return st;
}

static void source_close(void *state)
{
    SourceState *k = state;
    release_object(k->begin);
    release_object(k->get);
    free(k);
}

static MsStatus source_begin(void *state, int64_t epoch)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    SourceState *k = state;
    PyObject *r = PyObject_CallFunction(k->begin, "L", (long long)epoch);
    MsStatus st = r ? MS_OK : callback_failed(k->name, "Epoch", (long long)epoch);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

static MsStatus source_get(void *state, int64_t i, int n, MsTensor **column)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    MsStatus st = MS_OK;
    SourceState *k = state;
    PyObject *row = PyObject_CallFunction(k->get, "L", (long long)i);
    if (row == Py_None) {
        st = MS_ERROR_STOP;
    } else {
        int got = row ? take_results(row, MS_DATA_MAX_COLUMN, column) : -1;
        if (got >= 0 && got != n)
            PyErr_Format(
                PyExc_RuntimeError,
                "Invalid Python function, the 'source' of 'GeneratorDataset' should return same number of "
                "NumPy arrays as specified in column_names, the size of column_names is:%d and number of "
                "returned NumPy array is:%d",
                n, got);
        if (got != n) st = callback_failed(k->name, "Row", (long long)i);
    }
    Py_XDECREF(row);
    PyGILState_Release(gil);
    return st;
}

/* source(name, names, size, random_access, open, sampler, workers) */
static PyObject *ds_source(PyObject *m, PyObject *args)
{
    (void)m;
    const char *title, *name[MS_DATA_MAX_COLUMN];
    PyObject *names, *open, *sampler;
    MsSampler *s;
    long long size;
    int random_access, workers, n;
    if (!PyArg_ParseTuple(args, "sO!LpOOi", &title, &PyList_Type, &names, &size, &random_access, &open,
                          &sampler, &workers))
        return NULL;
    if (!get_names(names, name, &n) || py_sampler(sampler, &s)) return NULL;
    Source *c = calloc(1, sizeof *c);
    if (!c) return PyErr_NoMemory();
    c->open = Py_NewRef(open);
    strncpy(c->name, title, sizeof c->name - 1);
    MsSource source = {.name = c->name,
                       .size = size,
                       .random_access = random_access,
                       .open = source_open,
                       .begin = source_begin,
                       .get = source_get,
                       .close = source_close,
                       .release = source_release,
                       .ctx = c};
    return py_dataset(ms_dataset_source(&source, n, name, s, workers));
}

/* ---- operations ---- */

/* map(dataset, [transform], in, out, workers) */
static PyObject *ds_map(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d, *list;
    const char *in, *out;
    int workers, n;
    if (!PyArg_ParseTuple(args, "OO!zzi", &d, &PyList_Type, &list, &in, &out, &workers)) return NULL;
    MsTransform **op = get_transforms(list, &n);
    if (!op) return NULL;
    MsDataset *child = get_dataset(d), *r = NULL;
    if (child) r = ms_dataset_map(child, n, op, in, out, workers);
    free(op);
    return child ? py_dataset(r) : NULL;
}

static MsStatus watch_tell(void *ctx, MsWatchEvent event, int64_t epoch, int64_t in_epoch, int64_t total)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *r = PyObject_CallFunction(ctx, "iLLL", (int)event, (long long)epoch, (long long)in_epoch,
                                        (long long)total);
    MsStatus st = r ? MS_OK : callback_failed("callback of map", "Epoch", (long long)epoch);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

/* watch(dataset, fn(event, epoch, rows in the epoch, rows)) */
static PyObject *ds_watch(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d, *fn;
    if (!PyArg_ParseTuple(args, "OO", &d, &fn)) return NULL;
    MsDataset *child = get_dataset(d);
    if (!child) return NULL;
    MsHostWatch h = {watch_tell, release_object, Py_NewRef(fn)};
    return py_dataset(ms__dataset_watch(child, &h));
}

static PyObject *ds_filter(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d, *op;
    const char *in;
    if (!PyArg_ParseTuple(args, "OOz", &d, &op, &in)) return NULL;
    MsTransform *t = PyCapsule_GetPointer(op, TRANSFORM);
    MsDataset *child = t ? get_dataset(d) : NULL;
    return child ? py_dataset(ms_dataset_filter(child, ms_transform_ref(t), in)) : NULL;
}

typedef struct BatchHost {
    PyObject *size, *map; /* or None */
} BatchHost;

static void batch_release(void *ctx)
{
    BatchHost *b = ctx;
    release_object(b->size);
    release_object(b->map);
    free(b);
}

static MsStatus batch_size(void *ctx, MsBatchInfo info, int64_t *size)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *r =
        PyObject_CallFunction(((BatchHost *)ctx)->size, "LL", (long long)info.epoch, (long long)info.batch);
    *size = r ? PyLong_AsLongLong(r) : 0;
    MsStatus st = MS_OK;
    if (PyErr_Occurred())
        st = callback_failed("batch operation: [batch_size]", "Batch", (long long)info.batch);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

/* map(epoch, batch, [column lists]) -> tuple of batched columns */
static MsStatus batch_map(void *ctx, MsBatchInfo info, int64_t n_rows, int n_in,
                          MsTensor *const *const *column, int n_out, MsTensor **out)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    MsStatus st = MS_OK;
    PyObject *lists = PyList_New(n_in), *result = NULL;
    for (int c = 0; lists && c < n_in; c++) {
        PyObject *rows = PyList_New(n_rows);
        PyList_SET_ITEM(lists, c, rows);
        for (int64_t r = 0; rows && r < n_rows; r++) {
            MsTensor *own = ms_tensor_from(ms_tensor_dtype(column[c][r]), ms_tensor_ndim(column[c][r]),
                                           ms_tensor_shape(column[c][r]), ms_tensor_data(column[c][r]));
            PyObject *array = own ? to_numpy(own) : NULL;
            if (!array) {
                Py_CLEAR(rows);
                Py_CLEAR(lists);
                break;
            }
            PyList_SET_ITEM(rows, r, array);
        }
    }
    if (lists)
        result = PyObject_CallFunction(((BatchHost *)ctx)->map, "LLO", (long long)info.epoch,
                                       (long long)info.batch, lists);
    int got = result ? take_results(result, n_out, out) : -1;
    if (got >= 0 && got != n_out)
        PyErr_Format(PyExc_RuntimeError, "per_batch_map must return %d columns, but got %d", n_out, got);
    if (got != n_out)
        st = ms__failed()
                 ? ms_error()->code
                 : callback_failed("batch operation: [per_batch_map]", "Batch", (long long)info.batch);
    Py_XDECREF(lists);
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return st;
}

/* Per column (shape, value). A shape is a list of sizes, -1 = the largest of the batch, or None: all of them. */
static bool get_pad(PyObject *pads, MsInts *shape, int64_t (*size)[MS_MAX_DIM], double *value)
{
    for (Py_ssize_t c = 0; c < PyList_GET_SIZE(pads) && c < MS_DATA_MAX_COLUMN; c++) {
        PyObject *item = PyList_GET_ITEM(pads, c), *list;
        shape[c] = MS_INTS_NONE;
        if (!PyArg_ParseTuple(item, "Od", &list, &value[c])) return false;
        if (!PyList_Check(list)) continue;
        Py_ssize_t n = PyList_GET_SIZE(list);
        if (n > MS_MAX_DIM) {
            PyErr_SetString(PyExc_ValueError, "A pad shape has too many sizes.");
            return false;
        }
        shape[c] = (MsInts){(int)n, size[c]};
        for (Py_ssize_t k = 0; k < n; k++) size[c][k] = PyLong_AsLongLong(PyList_GET_ITEM(list, k));
        if (PyErr_Occurred()) return false;
    }
    return true;
}

/* A list of int into v[0..n). */
static bool get_ints(PyObject *list, int64_t *v, Py_ssize_t n)
{
    for (Py_ssize_t k = 0; k < n; k++) v[k] = PyLong_AsLongLong(PyList_GET_ITEM(list, k));
    return !PyErr_Occurred();
}

#define MAX_BUCKET 1024

/* bucket(dataset, in, ends, sizes, length or None, padded, pads, pad_to_bucket, drop) */
static PyObject *ds_bucket(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d, *ends, *sizes, *length, *pads;
    MsBatchOptions o = {0};
    int padded, to_bucket, drop;
    if (!PyArg_ParseTuple(args, "OsO!O!OpOpp", &d, &o.in, &PyList_Type, &ends, &PyList_Type, &sizes, &length,
                          &padded, &pads, &to_bucket, &drop))
        return NULL;
    int64_t end[MAX_BUCKET], size[MAX_BUCKET], pad_size[MS_DATA_MAX_COLUMN][MS_MAX_DIM];
    MsInts shape[MS_DATA_MAX_COLUMN];
    double value[MS_DATA_MAX_COLUMN];
    Py_ssize_t n = PyList_GET_SIZE(sizes);
    if (n > MAX_BUCKET || PyList_GET_SIZE(ends) != n - 1)
        return PyErr_Format(PyExc_ValueError, "There must be 1 to %d buckets.", MAX_BUCKET);
    if (!get_ints(ends, end, n - 1) || !get_ints(sizes, size, n)) return NULL;
    if (pads != Py_None && (!PyList_Check(pads) || !get_pad(pads, shape, pad_size, value))) return NULL;
    MsTransform *t = length == Py_None ? NULL : PyCapsule_GetPointer(length, TRANSFORM);
    if (!t && length != Py_None) return NULL;
    o.n_bucket = (int)n, o.bucket_end = end, o.bucket_size = size;
    o.length = t ? ms_transform_ref(t) : NULL;
    o.padded = padded, o.pad_to_bucket = to_bucket, o.drop_remainder = drop;
    if (pads != Py_None) o.pad_shape = shape, o.pad_value = value;
    return py_dataset(ms_dataset_batch_with(get_dataset(d), &o));
}

/* shard(dataset, shards, shard) */
static PyObject *ds_shard(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d;
    long long shards, shard;
    if (!PyArg_ParseTuple(args, "OLL", &d, &shards, &shard)) return NULL;
    return py_dataset(ms_dataset_shard(get_dataset(d), shards, shard));
}

/* batch(dataset, size, size_fn, drop, map_fn, in, out, padded, pads) */
static PyObject *ds_batch(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d, *size_fn, *map_fn, *pads;
    long long size;
    int drop, padded;
    const char *in, *out;
    if (!PyArg_ParseTuple(args, "OLOpOzzpO", &d, &size, &size_fn, &drop, &map_fn, &in, &out, &padded, &pads))
        return NULL;
    MsInts shape[MS_DATA_MAX_COLUMN];
    int64_t sizes[MS_DATA_MAX_COLUMN][MS_MAX_DIM];
    double value[MS_DATA_MAX_COLUMN];
    for (int c = 0; c < MS_DATA_MAX_COLUMN; c++) shape[c] = MS_INTS_NONE;
    if (pads != Py_None && (!PyList_Check(pads) || !get_pad(pads, shape, sizes, value))) return NULL;
    BatchHost *b = calloc(1, sizeof *b);
    if (!b) return PyErr_NoMemory();
    b->size = Py_NewRef(size_fn);
    b->map = Py_NewRef(map_fn);
    MsBatchOptions o = {.size = size,
                        .drop_remainder = drop,
                        .padded = padded,
                        .next_size = size_fn == Py_None ? NULL : batch_size,
                        .map = map_fn == Py_None ? NULL : batch_map,
                        .in = in,
                        .out = out,
                        .pad_shape = pads == Py_None ? NULL : shape,
                        .pad_value = value,
                        .release = batch_release,
                        .ctx = b};
    return py_dataset(ms_dataset_batch_with(get_dataset(d), &o));
}

/* count(kind, dataset, n): shuffle, repeat, take, skip */
static PyObject *ds_count(PyObject *m, PyObject *args)
{
    (void)m;
    const char *kind;
    PyObject *d;
    long long n;
    if (!PyArg_ParseTuple(args, "sOL", &kind, &d, &n)) return NULL;
    MsDataset *child = get_dataset(d);
    if (!child) return NULL;
    return py_dataset((*kind == 'r'                   ? ms_dataset_repeat
                       : *kind == 't'                 ? ms_dataset_take
                       : strcmp(kind, "shuffle") == 0 ? ms_dataset_shuffle
                                                      : ms_dataset_skip)(child, n));
}

/* join(kind, [dataset]): zip, concat */
static PyObject *ds_join(PyObject *m, PyObject *args)
{
    (void)m;
    const char *kind;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sO!", &kind, &PyList_Type, &list)) return NULL;
    int n = (int)PyList_GET_SIZE(list);
    MsDataset **part = malloc((size_t)(n + 1) * sizeof *part);
    if (!part) return PyErr_NoMemory();
    for (int k = 0; k < n; k++) part[k] = get_dataset(PyList_GET_ITEM(list, k));
    MsDataset *d = PyErr_Occurred() ? NULL : (*kind == 'z' ? ms_dataset_zip : ms_dataset_concat)(n, part);
    free(part);
    return d || !PyErr_Occurred() ? py_dataset(d) : NULL;
}

static PyObject *ds_project(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d;
    const char *columns;
    if (!PyArg_ParseTuple(args, "Os", &d, &columns)) return NULL;
    MsDataset *child = get_dataset(d);
    return child ? py_dataset(ms_dataset_project(child, columns)) : NULL;
}

static PyObject *ds_rename(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *d;
    const char *in, *out;
    if (!PyArg_ParseTuple(args, "Oss", &d, &in, &out)) return NULL;
    MsDataset *child = get_dataset(d);
    return child ? py_dataset(ms_dataset_rename(child, in, out)) : NULL;
}

/* info(dataset) -> (columns, size, batch size, repeat count) */
static PyObject *ds_info(PyObject *m, PyObject *o)
{
    (void)m;
    MsDataset *d = PyCapsule_GetPointer(o, DATASET);
    PyObject *names = d ? PyList_New(ms_dataset_n_columns(d)) : NULL;
    if (!names) return NULL;
    for (int k = 0; k < ms_dataset_n_columns(d); k++)
        PyList_SET_ITEM(names, k, PyUnicode_FromString(ms_dataset_column(d, k)));
    return Py_BuildValue("NLLL", names, (long long)ms_dataset_size(d), (long long)ms_dataset_batch_size(d),
                         (long long)ms_dataset_repeat_count(d));
}

/* ---- iteration ---- */

/* iter(dataset, epochs, first epoch=0, first row=0, watched=True) */
static PyObject *ds_iter(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *o;
    long long epochs, first = 0, row = 0;
    int watched = 1;
    if (!PyArg_ParseTuple(args, "OL|LLp", &o, &epochs, &first, &row, &watched)) return NULL;
    MsDataset *d = PyCapsule_GetPointer(o, DATASET);
    if (!d) return NULL;
    MsDataIter *it;
    PyThreadState *gil = PyEval_SaveThread();
    it = ms_data_iter_new(d, epochs);
    if (it && (first || row) && ms_data_iter_start_at(it, first, row) != MS_OK) {
        ms_data_iter_free(it);
        it = NULL;
    }
    if (it && !watched) ms__data_iter_unwatch(it);
    PyEval_RestoreThread(gil);
    open_iterators += it != NULL;
    return capsule(it, ITERATOR, free_iterator);
}

/* start(iterator): rows are made ready from now on */
static PyObject *ds_start(PyObject *m, PyObject *o)
{
    (void)m;
    MsDataIter *it = PyCapsule_GetPointer(o, ITERATOR);
    if (!it) return NULL;
    if (ms__data_iter_start(it) != MS_OK) return raise_error();
    Py_RETURN_NONE;
}

/* next(iterator, columns, as_numpy) -> list of columns, or None at the end of an epoch */
static PyObject *ds_next(PyObject *m, PyObject *args)
{
    (void)m;
    PyObject *o;
    int n, as_numpy;
    if (!PyArg_ParseTuple(args, "Oip", &o, &n, &as_numpy)) return NULL;
    MsDataIter *it = PyCapsule_GetPointer(o, ITERATOR);
    if (!it) return NULL;
    if (PyCapsule_GetContext(o)) return PyErr_Format(PyExc_RuntimeError, "The iterator is closed.");
    MsTensor *column[MS_DATA_MAX_COLUMN];
    MsStatus st;
    int mark = ms_scope_begin();
    PyThreadState *gil = PyEval_SaveThread();
    st = ms_data_iter_next(it, column);
    PyEval_RestoreThread(gil);
    for (int k = 0; st == MS_OK && k < n; k++) ms_tensor_ref(column[k]);
    ms_scope_end(mark, NULL, 0);
    if (st == MS_ERROR_STOP) Py_RETURN_NONE;
    if (st != MS_OK) return raise_error();
    PyObject *row = PyList_New(n);
    for (int k = 0; k < n; k++) {
        bool text = py_is_text(column[k]);
        PyObject *v = row ? text ? py_text_array(column[k]) : py_wrap(column[k]) : NULL;
        if (!row || text) ms_tensor_unref(column[k]);
        if (v && as_numpy && !text) {
            PyObject *array = py_asnumpy(v, NULL);
            Py_DECREF(v);
            v = array;
        }
        if (v)
            PyList_SET_ITEM(row, k, v);
        else
            Py_CLEAR(row);
    }
    return row;
}

/* close(iterator): stops its threads now */
static PyObject *ds_close(PyObject *m, PyObject *o)
{
    (void)m;
    MsDataIter *it = PyCapsule_GetPointer(o, ITERATOR);
    if (!it) return NULL;
    if (!PyCapsule_GetContext(o)) {
        PyCapsule_SetContext(o, (void *)callback_mark);
        end_iterator(it);
    }
    Py_RETURN_NONE;
}

/* config(name, value=None): reads, or sets and reads; "run" = a seed as a new iterator gets it */
static PyObject *ds_config(PyObject *m, PyObject *args)
{
    (void)m;
    const char *name;
    PyObject *value = Py_None;
    if (!PyArg_ParseTuple(args, "s|O", &name, &value)) return NULL;
    long long v = value == Py_None ? 0 : PyLong_AsLongLong(value);
    bool set = value != Py_None;
    if (PyErr_Occurred()) return NULL;
    MsStatus st = MS_OK;
    if (strcmp(name, "seed") == 0) {
        if (set) ms_data_set_seed((uint32_t)v);
        return PyLong_FromUnsignedLong(ms_data_seed());
    }
    if (strcmp(name, "prefetch") == 0) {
        if (set) st = ms_data_set_prefetch((int)v);
        return st ? raise_error() : PyLong_FromLong(ms_data_prefetch());
    }
    if (strcmp(name, "workers") == 0) {
        if (set) st = ms_data_set_workers((int)v);
        return st ? raise_error() : PyLong_FromLong(ms_data_workers());
    }
    if (strcmp(name, "debug") == 0) {
        if (set) ms_data_set_debug(v != 0);
        return PyBool_FromLong(ms_data_debug());
    }
    if (strcmp(name, "on_failure") == 0) {
        if (set) ms__data_set_on_failure((MsFailure)v);
        return PyLong_FromLong(ms__data_on_failure());
    }
    if (strcmp(name, "run") == 0) return PyLong_FromUnsignedLongLong(ms_data_run_seed());
    return PyErr_Format(PyExc_KeyError, "%s", name);
}

/* dtype(object) -> number of the MsDtype that it names, -1 for none */
static PyObject *ds_dtype(PyObject *m, PyObject *o)
{
    (void)m;
    return PyLong_FromLong(py_dtype_of(o));
}

static PyMethodDef methods[] = {
    {"ds_dtype", ds_dtype, METH_O, NULL},
    {"ds_sampler", ds_sampler, METH_VARARGS, NULL},
    {"ds_sampler_host", ds_sampler_host, METH_O, NULL},
    {"ds_sampler_chain", ds_sampler_chain, METH_VARARGS, NULL},
    {"ds_transform", ds_transform, METH_VARARGS, NULL},
    {"ds_group", ds_group, METH_VARARGS, NULL},
    {"ds_callable", ds_callable, METH_VARARGS, NULL},
    {"ds_apply", ds_apply, METH_VARARGS, NULL},
    {"ds_mnist", ds_mnist, METH_VARARGS, NULL},
    {"ds_slices", ds_slices, METH_VARARGS, NULL},
    {"ds_origin", ds_origin, METH_VARARGS, NULL},
    {"ds_files", ds_files, METH_VARARGS, NULL},
    {"ds_write_image", ds_write_image, METH_VARARGS, NULL},
    {"ds_source", ds_source, METH_VARARGS, NULL},
    {"ds_map", ds_map, METH_VARARGS, NULL},
    {"ds_watch", ds_watch, METH_VARARGS, NULL},
    {"ds_filter", ds_filter, METH_VARARGS, NULL},
    {"ds_batch", ds_batch, METH_VARARGS, NULL},
    {"ds_bucket", ds_bucket, METH_VARARGS, NULL},
    {"ds_shard", ds_shard, METH_VARARGS, NULL},
    {"ds_count", ds_count, METH_VARARGS, NULL},
    {"ds_join", ds_join, METH_VARARGS, NULL},
    {"ds_project", ds_project, METH_VARARGS, NULL},
    {"ds_rename", ds_rename, METH_VARARGS, NULL},
    {"ds_info", ds_info, METH_O, NULL},
    {"ds_iter", ds_iter, METH_VARARGS, NULL},
    {"ds_start", ds_start, METH_O, NULL},
    {"ds_next", ds_next, METH_VARARGS, NULL},
    {"ds_close", ds_close, METH_O, NULL},
    {"ds_config", ds_config, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_dataset(PyObject *m)
{
    causes = PyDict_New();
    if (!causes) return -1;
    return PyModule_AddFunctions(m, methods);
}

__attribute__((constructor)) static void hook(void)
{
    py_register(add_dataset);
}
