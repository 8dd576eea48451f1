/* index.c - Python indexing, for reading and writing.
 *
 * An index is split in two. Its basic part (ints, slices, None, Ellipsis) is a view: one slice and one
 * reshape. What is left are advanced indices (integer arrays, and boolean arrays as the positions of their
 * Trues) on axes of that view; the operators `index` and `index_put` broadcast them and place the result as
 * numpy does. Ints beside advanced indices are advanced indices of rank 0, as in numpy. */
#include "api/api.h"
#include "core/mem.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS (3 * MS_MAX_DIM)

typedef struct Index {
    MsTensor *view;                /* the basic part */
    int n_adv;                     /* advanced indices, */
    MsTensor *adv[MS_MAX_DIM + 1]; /* int64 or int32 */
    int64_t axes[MS_MAX_DIM + 1];  /* and their axes of view */
} Index;

static MsTensor *list_tensor(const MsArg *list);

/* The shape of nested lists and the widest kind of number in them; false when ragged. */
static bool list_shape(const MsArg *a, int depth, int *ndim, int64_t *shape, int *kind)
{
    if (a->kind != MS_ARG_LIST) {
        if (a->kind != MS_ARG_INT && a->kind != MS_ARG_FLOAT && a->kind != MS_ARG_BOOL) return false;
        int k = a->kind == MS_ARG_FLOAT ? 2 : a->kind == MS_ARG_INT;
        if (k > *kind) *kind = k;
        if (*ndim < 0) *ndim = depth;
        return *ndim == depth;
    }
    if (depth == MS_MAX_DIM || (*ndim >= 0 && depth >= *ndim)) return false;
    if (shape[depth] < 0) shape[depth] = a->n;
    if (shape[depth] != a->n) return false;
    for (int k = 0; k < a->n; k++)
        if (!list_shape(&a->list[k], depth + 1, ndim, shape, kind)) return false;
    if (a->n == 0 && *ndim < 0) *ndim = depth + 1;
    return true;
}

static void list_fill(const MsArg *a, double **f, int64_t **i)
{
    if (a->kind != MS_ARG_LIST) {
        *(*f)++ = ms__arg_float(a);
        *(*i)++ = a->kind == MS_ARG_FLOAT ? 0 : a->i;
    }
    for (int k = 0; a->kind == MS_ARG_LIST && k < a->n; k++) list_fill(&a->list[k], f, i);
}

static MsTensor *stack_of(const MsArg *list)
{
    MsTensor **part = ms__malloc((size_t)list->n * sizeof(MsTensor *)), *stacked = NULL;
    if (!part) return NULL;
    int k = 0;
    for (; k < list->n; k++) {
        part[k] = list->list[k].kind == MS_ARG_TENSOR ? list->list[k].t : list_tensor(&list->list[k]);
        if (!part[k]) break;
        int64_t shape[MS_MAX_DIM + 1] = {1};
        memcpy(shape + 1, ms_tensor_shape(part[k]), (size_t)ms_tensor_ndim(part[k]) * sizeof *shape);
        if (!(part[k] = ms_reshape(part[k], (MsInts){ms_tensor_ndim(part[k]) + 1, shape}))) break;
    }
    if (k == list->n) stacked = ms_concat(k, part, 0);
    free(part);
    return stacked;
}

/* Nested lists of numbers, or a list of tensors, as a tensor: bool, int64 or float64. */
static MsTensor *list_tensor(const MsArg *list)
{
    if (list->kind != MS_ARG_LIST) return ms__arg_tensor(list, NULL);
    for (int k = 0; k < list->n; k++)
        if (list->list[k].kind == MS_ARG_TENSOR) return stack_of(list);
    int ndim = -1, kind = 0;
    int64_t shape[MS_MAX_DIM] = {-1, -1, -1, -1, -1, -1, -1, -1}, n = 1;
    if (!list_shape(list, 0, &ndim, shape, &kind))
        return MS_FAIL_NULL(MS_ERROR_TYPE, "A list must hold numbers, or lists of one length.");
    for (int d = 0; d < ndim; d++) n *= shape[d];
    double *f = ms__malloc((size_t)(n + 1) * sizeof *f), *fp = f;
    int64_t *i = ms__malloc((size_t)(n + 1) * sizeof *i), *ip = i;
    MsTensor *t = NULL;
    if (f && i) {
        list_fill(list, &fp, &ip);
        t = kind == 2 ? ms_tensor_from(MS_FLOAT64, ndim, shape, f) : ms_tensor_from(MS_INT64, ndim, shape, i);
        if (t && kind == 0) t = ms_cast(t, MS_BOOL);
    }
    free(f);
    free(i);
    return t;
}

/* Python's slice.indices: first position, step and count for an axis of n. */
static MsStatus slice_range(const MsArg *s, int64_t n, int64_t *begin, int64_t *step, int64_t *size)
{
    for (int k = 0; k < 3; k++)
        if (s->list[k].kind != MS_ARG_NONE && s->list[k].kind != MS_ARG_INT)
            return MS_FAIL(MS_ERROR_TYPE, "The bounds of a slice must be int or None.");
    *step = s->list[2].kind == MS_ARG_NONE ? 1 : s->list[2].i;
    if (*step == 0) return MS_FAIL(MS_ERROR_VALUE, "The step of a slice must not be 0.");
    int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? n : n - 1,
            at[2] = {*step > 0 ? low : high, *step > 0 ? high : low};
    for (int k = 0; k < 2; k++) {
        if (s->list[k].kind == MS_ARG_NONE) continue;
        int64_t v = s->list[k].i;
        if (v < 0) v = v < -n ? low - 1 : v + n;
        at[k] = v < low ? low : v > high ? high : v;
    }
    int64_t span = *step > 0 ? at[1] - at[0] : at[0] - at[1], by = *step > 0 ? *step : -*step;
    *size = span <= 0 ? 0 : (span + by - 1) / by;
    *begin = *size ? at[0] : 0;
    if (*size == 0) *step = 1;
    return MS_OK;
}

static bool is_mask(const MsArg *a)
{
    return a->kind == MS_ARG_TENSOR && ms_tensor_dtype(a->t) == MS_BOOL;
}

/* How many axes of the tensor an item uses. */
static int consumes(const MsArg *a)
{
    if (a->kind == MS_ARG_NONE || a->kind == MS_ARG_ELLIPSIS || a->kind == MS_ARG_BOOL) return 0;
    return is_mask(a) ? ms_tensor_ndim(a->t) : 1;
}

/* The items with lists as tensors and the Ellipsis spelled out as full slices; *split: where an Ellipsis
 * stood for none, or 0. */
static MsStatus normalise(const MsArg *index, int ndim, MsArg *item, int *n_item, bool *advanced, int *split)
{
    static MsArg none[3];
    static const MsArg full = {.kind = MS_ARG_SLICE, .n = 3, .list = none};
    bool tuple = index->kind == MS_ARG_LIST && index->tuple;
    const MsArg *given = tuple ? index->list : index;
    int n = tuple ? index->n : 1, used = 0, ellipsis = -1;
    if (n > MAX_ITEMS - MS_MAX_DIM) return MS_FAIL(MS_ERROR_INDEX, "too many indices: %d.", n);
    MsArg list[MAX_ITEMS];
    *advanced = false;
    for (int k = 0; k < n; k++) {
        list[k] = given[k];
        if (list[k].kind == MS_ARG_LIST) {
            MsTensor *t = list_tensor(&given[k]);
            if (t && given[k].n == 0) t = ms_cast(t, MS_INT64);
            if (!t) return ms_error()->code;
            list[k] = (MsArg){.kind = MS_ARG_TENSOR, .t = t};
        }
        if (list[k].kind == MS_ARG_TENSOR) {
            MsDtype d = ms_tensor_dtype(list[k].t);
            if (d != MS_BOOL && !ms_dtype_is_int(d))
                return MS_FAIL(MS_ERROR_INDEX, "An index tensor must be of integers or bool, but got %s.",
                               ms_dtype_name(d));
        }
        if (list[k].kind == MS_ARG_FLOAT || list[k].kind == MS_ARG_STR || list[k].kind == MS_ARG_DTYPE ||
            list[k].kind == MS_ARG_OBJECT)
            return MS_FAIL(MS_ERROR_INDEX,
                           "An index must be int, slice, None, Ellipsis, bool or a tensor, list or array of "
                           "integers or bool.");
        if (list[k].kind == MS_ARG_ELLIPSIS) {
            if (ellipsis >= 0)
                return MS_FAIL(MS_ERROR_INDEX, "an index can only have a single ellipsis ('...')");
            ellipsis = k;
        }
        *advanced |= list[k].kind == MS_ARG_TENSOR || list[k].kind == MS_ARG_BOOL;
        used += consumes(&list[k]);
    }
    if (used > ndim)
        return MS_FAIL(MS_ERROR_INDEX, "too many indices for tensor of dimension %d: %d were given.", ndim,
                       used);
    int m = 0;
    *split = used == ndim && ellipsis > 0 ? ellipsis : 0;
    for (int k = 0; k <= n; k++) {
        if (k == ellipsis || (k == n && ellipsis < 0))
            for (int r = 0; r < ndim - used; r++) item[m++] = full;
        if (k < n && k != ellipsis) item[m++] = list[k];
    }
    *n_item = m;
    return MS_OK;
}

static MsStatus add_mask(Index *x, MsTensor *mask, const int64_t *shape, int64_t axis)
{
    if (!mask) return ms_error()->code;
    int nd = ms_tensor_ndim(mask);
    if (x->n_adv + nd > MS_MAX_DIM) return MS_FAIL(MS_ERROR_INDEX, "too many index tensors.");
    for (int d = 0; d < nd; d++)
        if (ms_tensor_shape(mask)[d] != shape[d])
            return MS_FAIL(
                MS_ERROR_INDEX,
                "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s.",
                ms__shape_text(nd, ms_tensor_shape(mask)), d, ms__shape_text(nd, shape));
    MsTensor *where = ms_nonzero(mask);
    if (!where) return ms_error()->code;
    int64_t n = ms_tensor_shape(where)[0];
    for (int d = 0; d < nd; d++) {
        MsTensor *column = ms_slice(where, MS_INTS(0, d), MS_INTS(n, 1), MS_INTS(1, 1));
        x->adv[x->n_adv] = ms_reshape(column, MS_INTS(n));
        if (!x->adv[x->n_adv]) return ms_error()->code;
        x->axes[x->n_adv++] = axis + d;
    }
    return MS_OK;
}

/* numpy puts the indexed axes in front when anything stands between the index tensors, also an Ellipsis that
 * stands for no axis: the view then has these axes first, where they are adjacent. */
static void indexed_first(Index *x, int ndim)
{
    int64_t perm[MS_MAX_DIM];
    int m = 0;
    uint32_t used = 0;
    for (int k = 0; k < x->n_adv; k++) {
        perm[m++] = x->axes[k];
        used |= 1u << x->axes[k];
        x->axes[k] = k;
    }
    for (int d = 0; d < ndim; d++)
        if (!(used >> d & 1)) perm[m++] = d;
    x->view = ms_transpose(x->view, (MsInts){ndim, perm});
}

static MsStatus resolve(MsTensor *t, const MsArg *index, Index *x)
{
    int nd = ms_tensor_ndim(t), n_item = 0;
    MsArg item[MAX_ITEMS];
    bool advanced = false;
    int split, before = 0; /* index tensors in front of an Ellipsis without axes */
    MS_TRY(normalise(index, nd, item, &n_item, &advanced, &split));
    int64_t begin[MS_MAX_DIM], size[MS_MAX_DIM], step[MS_MAX_DIM], shape[MAX_ITEMS];
    int d = 0, n = 0; /* axis of t, axis of the view */
    *x = (Index){0};
    MsTensor *mask[MS_MAX_DIM + 1] = {NULL};
    int mask_axis[MS_MAX_DIM + 1], mask_from[MS_MAX_DIM + 1], n_mask = 0;
    for (int k = 0; k < n_item; k++) {
        const MsArg *a = &item[k];
        int64_t len = d < nd ? ms_tensor_shape(t)[d] : 0;
        if (k == split) before = x->n_adv + n_mask;
        if (x->n_adv + n_mask > MS_MAX_DIM) return MS_FAIL(MS_ERROR_INDEX, "too many index tensors.");
        if (a->kind == MS_ARG_NONE) {
            shape[n++] = 1;
        } else if (a->kind == MS_ARG_BOOL) { /* a new axis, taken once or not at all */
            int64_t m = a->i != 0;
            x->adv[x->n_adv] = ms_full_int((MsInts){1, &m}, 0, MS_INT64);
            x->axes[x->n_adv++] = n;
            shape[n++] = 1;
        } else if (a->kind == MS_ARG_SLICE) {
            MS_TRY(slice_range(a, len, &begin[d], &step[d], &size[d]));
            shape[n++] = size[d++];
        } else if (a->kind == MS_ARG_INT) {
            int64_t i = a->i < 0 ? a->i + len : a->i;
            if (i < 0 || i >= len)
                return MS_FAIL(MS_ERROR_INDEX, "index %lld is out of bounds for dimension with size %lld",
                               (long long)a->i, (long long)len);
            begin[d] = advanced ? 0 : i;
            size[d] = advanced ? len : 1;
            step[d++] = 1;
            if (advanced) {
                x->adv[x->n_adv] = ms_full_int((MsInts){0, NULL}, i, MS_INT64);
                x->axes[x->n_adv++] = n;
                shape[n++] = len;
            }
        } else {
            int used = consumes(a);
            if (is_mask(a)) {
                mask[n_mask] = a->t;
                mask_from[n_mask] = d;
                mask_axis[n_mask++] = n;
                if (used == 0) shape[n++] = 1; /* a 0-d mask is a Python bool that is a tensor */
            } else {
                x->adv[x->n_adv] = ms_tensor_dtype(a->t) == MS_INT32 ? a->t : ms_cast(a->t, MS_INT64);
                x->axes[x->n_adv++] = n;
            }
            for (int u = 0; u < used; u++, d++) {
                begin[d] = 0;
                size[d] = shape[n++] = ms_tensor_shape(t)[d];
                step[d] = 1;
            }
        }
    }
    if (n > MS_MAX_DIM) return MS_FAIL(MS_ERROR_INDEX, "The result would have %d dimensions.", n);
    x->view = ms_reshape(ms_slice(t, (MsInts){nd, begin}, (MsInts){nd, size}, (MsInts){nd, step}),
                         (MsInts){n, shape});
    bool apart = before > 0 && x->n_adv + n_mask > before;
    for (int k = 0; k < n_mask; k++) {
        if (ms_tensor_ndim(mask[k]) == 0) {
            int64_t one = 1;
            MS_TRY(add_mask(x, ms_reshape(mask[k], MS_INTS(1)), &one, mask_axis[k]));
        } else {
            MS_TRY(add_mask(x, mask[k], ms_tensor_shape(t) + mask_from[k], mask_axis[k]));
        }
    }
    for (int k = 1; k < x->n_adv; k++) /* masks came last: axes in ascending order again */
        for (int j = k; j > 0 && x->axes[j - 1] > x->axes[j]; j--) {
            int64_t axis = x->axes[j];
            MsTensor *adv = x->adv[j];
            x->axes[j] = x->axes[j - 1], x->adv[j] = x->adv[j - 1];
            x->axes[j - 1] = axis, x->adv[j - 1] = adv;
        }
    if (x->n_adv > MS_MAX_DIM) return MS_FAIL(MS_ERROR_INDEX, "too many index tensors.");
    if (apart) indexed_first(x, n);
    return x->view && !ms__failed() ? MS_OK : ms_error()->code;
}

MS_API(getitem, "Tensor.__getitem__", "(self: Tensor, index: any) -> Tensor")
{
    Index x;
    MS_TRY(resolve(T(0), ARG(1), &x));
    if (x.n_adv == 0) return R(x.view);
    return R(ms_index(x.view, x.n_adv, x.adv, (MsInts){x.n_adv, x.axes}));
}

/* x[mask] = v with the same v for every element: a choice, which needs no places and so can be staged.
 * OK and *done = false when it is something else. */
static MsStatus set_masked(MsTensor *x, const MsArg *index, MsTensor *v, bool *done)
{
    *done = false;
    if (index->kind != MS_ARG_TENSOR || ms_tensor_dtype(index->t) != MS_BOOL) return MS_OK;
    MsTensor *mask = index->t;
    int nd = ms_tensor_ndim(x), n = ms_tensor_ndim(mask);
    const int64_t *xs = ms_tensor_shape(x), *own = ms_tensor_shape(mask);
    if (n < 1 || n > nd || ms_tensor_ndim(v) > nd - n || memcmp(xs, own, (size_t)n * sizeof *xs) != 0)
        return MS_OK;
    for (int d = 1; d <= ms_tensor_ndim(v); d++) {
        int64_t size = ms_tensor_shape(v)[ms_tensor_ndim(v) - d];
        if (size != 1 && size != xs[nd - d]) return MS_OK;
    }
    int64_t shape[MS_MAX_DIM];
    for (int d = 0; d < nd; d++) shape[d] = d < n ? own[d] : 1;
    MsTensor *y = ms_where(ms_reshape(mask, (MsInts){nd, shape}), v, x);
    if (!y) return ms_error()->code;
    *done = true;
    return ms_tensor_write(x, y);
}

MS_API(setitem, "Tensor.__setitem__", "(self: Tensor, index: any, value: any) -> Tensor")
{
    MsTensor *v = ARG(2)->kind == MS_ARG_LIST     ? list_tensor(ARG(2))
                  : ARG(2)->kind == MS_ARG_TENSOR ? T(2)
                                                  : NULL;
    MsDtype d = ms_tensor_dtype(T(0));
    if (ARG(2)->kind == MS_ARG_FLOAT)
        v = ms_tensor_scalar(d, ARG(2)->f);
    else if (!v)
        v = ms__arg_tensor(ARG(2), T(0));
    if (v && ms_tensor_dtype(v) != d) v = ms_cast(v, d);
    if (!v) return ms_error()->code;
    bool done;
    MS_TRY(set_masked(T(0), ARG(1), v, &done));
    if (done) return R(T(0));
    Index x;
    MS_TRY(resolve(T(0), ARG(1), &x));
    if (x.n_adv > 0) {
        MsTensor *now = ms_index(x.view, x.n_adv, x.adv, (MsInts){x.n_adv, x.axes});
        if (!now) return ms_error()->code;
        v = ms__fit_value(now, v);
        v = ms_index_put(x.view, v, x.n_adv, x.adv, (MsInts){x.n_adv, x.axes}, false);
    }
    if (!v) return ms_error()->code;
    MS_TRY(ms_tensor_write(x.view, v));
    return R(T(0));
}
