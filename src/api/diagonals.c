/* diagonals.c - matrices from diagonals, diagonals of matrices, and matrices with diagonals replaced, a band of
 * them at a time: diagonal d lies above the main one where d > 0, shorter ones are padded at the side that `align`
 * says (upper ones, then lower ones). Where an element comes from is known from the sizes alone, so each function
 * is one gather from its inputs in a row, and its gradient the scatter that belongs to that. */
#include "api/args.h"
#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct Band {
    int64_t low, high, rows, cols, longest;
    bool upper_right, lower_right; /* shorter diagonals end at the right */
} Band;

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static MsStatus read_band(Band *b, const char *op, const MsArg *k, const char *align)
{
    static const char *const names[] = {"LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"};
    int64_t buf[MS_MAX_DIM];
    int at = 0;
    while (at < 4 && strcmp(align, names[at]) != 0) at++;
    if (at == 4)
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the 'align' must be in ['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'], but "
            "got '%s'.",
            op, align);
    b->upper_right = at >= 2, b->lower_right = at % 2;
    MsInts v = ms__arg_var(op, k, buf);
    if (v.n == -2) return ms_error()->code;
    if (v.n < 1 || v.n > 2 || v.v[0] > v.v[v.n - 1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'k' must be one number, or a lower and an upper one, but got %s.", op,
                       ms__shape_text(v.n, v.v));
    b->low = v.v[0], b->high = v.v[v.n - 1];
    return MS_OK;
}

/* With the matrix's sizes known: checks that the diagonals are in it. */
static MsStatus fit(Band *b, const char *op)
{
    bool inside = b->low > -b->rows && b->low < b->cols && b->high > -b->rows && b->high < b->cols;
    if (!inside && !(b->low == 0 && b->high == 0))
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the diagonals %lld to %lld are not in a matrix of %lld x %lld.", op,
                       (long long)b->low, (long long)b->high, (long long)b->rows, (long long)b->cols);
    b->longest = least(b->rows + least(b->high, 0), b->cols - most(b->low, 0));
    return MS_OK;
}

/* The place in the row of all diagonals where element (i, j) lies. */
static int64_t place(const Band *b, int64_t i, int64_t j)
{
    int64_t d = j - i, size = least(b->rows + least(d, 0), b->cols - most(d, 0));
    bool right = d > 0 ? b->upper_right : d < 0 ? b->lower_right : b->upper_right && b->lower_right;
    return (b->high - d) * b->longest + least(i, j) + (right ? b->longest - size : 0);
}

/* x [..., last n axes as one], then `more` of the same leading axes. */
static MsTensor *in_a_row(MsTensor *x, int n)
{
    int64_t shape[MS_MAX_DIM], size = 1;
    if (!x) return NULL;
    memcpy(shape, x->shape, sizeof shape);
    for (int d = x->ndim - n; d < x->ndim; d++) size *= shape[d];
    shape[x->ndim - n] = size;
    return ms_reshape(x, (MsInts){x->ndim - n + 1, shape});
}

/* One element as wide as x's leading axes. */
static MsTensor *filler(const char *op, const MsArg *value, MsTensor *row)
{
    int64_t shape[MS_MAX_DIM];
    if (!row) return NULL;
    MsTensor *v = value->kind == MS_ARG_TENSOR ? ms__cast_to(value->t, ms_tensor_dtype(row))
                                               : ms__number(op, value, ms_tensor_dtype(row));
    if (!v) return NULL;
    if (v->numel != 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', the 'padding_value' must be one number, but got shape %s.", op,
                            ms__shape_text(v->ndim, v->shape));
    memcpy(shape, row->shape, sizeof shape);
    shape[row->ndim - 1] = 1;
    return ms_broadcast_to(ms_reshape(v, (MsInts){0, shape}), (MsInts){row->ndim, shape});
}

/* The elements `at` (which is freed) of a and b side by side, shaped as a's leading axes and then tail. */
static MsTensor *picked(MsTensor *a, MsTensor *b, int64_t *at, int64_t n, int n_tail, const int64_t *tail)
{
    MsTensor *index = at ? ms_tensor_from(MS_INT64, 1, &n, at) : NULL;
    free(at);
    if (!a || !b || !index) return NULL;
    int lead = a->ndim - 1;
    int64_t shape[MS_MAX_DIM];
    if (lead + n_tail > MS_MAX_DIM)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "The result would have more than %d dimensions.", MS_MAX_DIM);
    memcpy(shape, a->shape, (size_t)lead * sizeof *shape);
    memcpy(shape + lead, tail, (size_t)n_tail * sizeof *shape);
    MsTensor *y = ms_gather(ms_concat(2, (MsTensor *[]){a, b}, lead), index, lead);
    return ms_reshape(y, (MsInts){lead + n_tail, shape});
}

static int64_t *numbers(int64_t n)
{
    return ms__malloc((size_t)most(n, 1) * sizeof(int64_t));
}

MS_API(matrix_diag, "ops.matrix_diag",
       "(x: Tensor, k: any = 0, num_rows: int|Tensor = -1, num_cols: int|Tensor = -1, padding_value: "
       "Tensor|number = "
       "0, align: str = 'RIGHT_LEFT') -> Tensor")
{
    static const char *const op = "MatrixDiagV3";
    MsTensor *x = T(0);
    Band b;
    MS_TRY(read_band(&b, op, ARG(1), ARG(5)->s));
    int64_t *const size[2] = {&b.rows, &b.cols}, n = b.high - b.low + 1;
    for (int k = 0; k < 2; k++)
        if (ARG(2 + k)->kind == MS_ARG_TENSOR)
            MS_TRY(ms_tensor_item_int(T(2 + k), size[k]));
        else
            *size[k] = I(2 + k);
    if (x->ndim < 1 + (n > 1) || (n > 1 && x->shape[x->ndim - 2] != n))
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' of shape %s does not hold %lld diagonals.", op,
                       ms__shape_text(x->ndim, x->shape), (long long)n);
    int64_t longest = x->shape[x->ndim - 1], rows = longest - least(b.high, 0),
            cols = longest + most(b.low, 0);
    if (b.rows == -1 && b.cols == -1) b.rows = b.cols = most(rows, cols);
    if (b.rows == -1) b.rows = rows;
    if (b.cols == -1) b.cols = cols;
    if (b.rows < rows || b.cols < cols || (b.rows != rows && b.cols != cols))
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', 'num_rows' %lld and 'num_cols' %lld do not fit diagonals %lld to %lld of length %lld.",
            op, (long long)b.rows, (long long)b.cols, (long long)b.low, (long long)b.high,
            (long long)longest);
    MS_TRY(fit(&b, op));
    MsTensor *row = in_a_row(x, n > 1 ? 2 : 1);
    int64_t *at = numbers(b.rows * b.cols);
    if (!at) return MS_ERROR_MEMORY;
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = 0; j < b.cols; j++)
            at[i * b.cols + j] = j - i >= b.low && j - i <= b.high ? place(&b, i, j) : n * longest;
    return R(picked(row, filler(op, ARG(4), row), at, b.rows * b.cols, 2, (int64_t[]){b.rows, b.cols}));
}

static MsStatus band_of(Band *b, const char *op, MsTensor *x)
{
    if (x->ndim < 2)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', 'x' must have at least 2 dimensions, but got shape %s.", op,
                       ms__shape_text(x->ndim, x->shape));
    b->rows = x->shape[x->ndim - 2], b->cols = x->shape[x->ndim - 1];
    return fit(b, op);
}

MS_API(matrix_diag_part, "ops.matrix_diag_part",
       "(x: Tensor, k: any, padding_value: Tensor|number, align: str = 'RIGHT_LEFT') -> Tensor")
{
    static const char *const op = "MatrixDiagPartV3";
    MsTensor *x = T(0);
    Band b;
    MS_TRY(read_band(&b, op, ARG(1), ARG(3)->s));
    MS_TRY(band_of(&b, op, x));
    MsTensor *row = in_a_row(x, 2);
    int64_t n = b.high - b.low + 1, count = n * b.longest, *at = numbers(count);
    if (!at) return MS_ERROR_MEMORY;
    for (int64_t k = 0; k < count; k++) at[k] = b.rows * b.cols;
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = most(0, i + b.low); j <= least(b.cols - 1, i + b.high); j++)
            at[place(&b, i, j)] = i * b.cols + j;
    int64_t tail[2] = {n, b.longest};
    return R(picked(row, filler(op, ARG(2), row), at, count, n > 1 ? 2 : 1, n > 1 ? tail : tail + 1));
}

MS_API(matrix_set_diag, "ops.matrix_set_diag",
       "(x: Tensor, diagonal: Tensor, k: any = 0, align: str = 'RIGHT_LEFT') -> Tensor")
{
    static const char *const op = "MatrixSetDiagV3";
    MsTensor *x = T(0), *d = T(1);
    Band b;
    MS_TRY(read_band(&b, op, ARG(2), ARG(3)->s));
    MS_TRY(band_of(&b, op, x));
    int64_t n = b.high - b.low + 1, want[MS_MAX_DIM], all = b.rows * b.cols;
    int lead = x->ndim - 2, ndim = lead + 1 + (n > 1);
    memcpy(want, x->shape, sizeof want);
    if (n > 1) want[lead] = n;
    want[ndim - 1] = b.longest;
    if (d->ndim != ndim || memcmp(d->shape, want, (size_t)ndim * sizeof *want) != 0)
        return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'diagonal' must have shape %s, but got %s.", op,
                       ms__shape_text(ndim, want), ms__shape_text(d->ndim, d->shape));
    if (ms_tensor_dtype(d) != ms_tensor_dtype(x))
        return MS_FAIL(MS_ERROR_TYPE, "For '%s', 'x' and 'diagonal' must have one dtype, but got %s and %s.",
                       op, ms_dtype_name(ms_tensor_dtype(x)), ms_dtype_name(ms_tensor_dtype(d)));
    MsTensor *row = in_a_row(x, 2), *more = in_a_row(d, ndim - lead);
    int64_t *at = numbers(all);
    if (!at) return MS_ERROR_MEMORY;
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = 0; j < b.cols; j++) at[i * b.cols + j] = i * b.cols + j;
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = most(0, i + b.low); j <= least(b.cols - 1, i + b.high); j++)
            at[i * b.cols + j] = all + place(&b, i, j);
    return R(picked(row, more, at, all, 2, (int64_t[]){b.rows, b.cols}));
}
