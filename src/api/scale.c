/* scale.c - rows that keep gradients in range: norms clipped, half precision scaled, overflow noticed.
 *
 * Nothing here looks at a value: what depends on one is a `where`, so that a whole step can be compiled. */
#include "api/api.h"
#include "api/args.h"
#include "core/mem.h"

#include <math.h>
#include <stdlib.h>

/* ---- trees of tensors ---- */

static int count(const MsArg *a)
{
    if (a->kind == MS_ARG_TENSOR) return 1;
    int n = 0;
    for (int k = 0; a->kind == MS_ARG_LIST && k < a->n; k++) n += count(&a->list[k]);
    return n;
}

static int collect(const MsArg *a, MsTensor **out)
{
    if (a->kind == MS_ARG_TENSOR) {
        *out = a->t;
        return 1;
    }
    int n = 0;
    for (int k = 0; a->kind == MS_ARG_LIST && k < a->n; k++) n += collect(&a->list[k], out + n);
    return n;
}

/* The tensors of a tree in memory the caller frees; at least one. */
static MsTensor **leaves(const char *who, const MsArg *a, int *n)
{
    *n = count(a);
    if (*n < 1) {
        MS_FAIL(MS_ERROR_TYPE, "For '%s', the inputs must be a Tensor or a tuple or list of Tensors.", who);
        return NULL;
    }
    MsTensor **t = ms__malloc((size_t)*n * sizeof *t);
    if (t) collect(a, t);
    return t;
}

/* ---- overflow ---- */

MS_API(amp_all_finite, "_nn.all_finite", "(inputs: any) -> Tensor")
{
    int n;
    MsTensor **x = leaves("all_finite", ARG(0), &n), *all = NULL;
    if (!x) return ms_error()->code;
    for (int k = 0; k < n; k++) {
        MsTensor *finite = ms_dtype_is_float(ms_tensor_dtype(x[k]))
                               ? ms_reduce_all(ms_is_finite(x[k]), MS_INTS_NONE, false)
                               : ms_full((MsInts){0, NULL}, 1, MS_BOOL);
        all = k ? ms_logical_and(all, finite) : finite;
    }
    free(x);
    return R(all);
}

static MsTensor *of(MsTensor *like, double v)
{
    return ms_tensor_scalar(ms_tensor_dtype(like), v);
}

static MsStatus write(MsTensor *to, MsTensor *value)
{
    if (!value) return ms_error()->code;
    if (ms_tensor_ndim(value) != ms_tensor_ndim(to))
        value = ms_reshape(value, (MsInts){ms_tensor_ndim(to), ms_tensor_shape(to)});
    return value ? ms_tensor_write(to, value) : ms_error()->code;
}

static MsTensor *flag(MsTensor *t)
{
    t = ms_reshape(t, (MsInts){0, NULL});
    return t && ms_tensor_dtype(t) != MS_BOOL ? ms_ne(t, of(t, 0)) : t;
}

/* Divides the scale after an overflow, not below 1; multiplies it when `window` steps went well. */
MS_API(update_loss_scale, "_nn.update_loss_scale",
       "(scale: Tensor, current: Tensor, last: Tensor, overflow: Tensor, factor: float, window: int) -> None")
{
    MsTensor *scale = ms_reshape(T(0), (MsInts){0, NULL}), *bad = flag(T(3));
    MsTensor *now = ms_reshape(T(1), (MsInts){0, NULL}), *last = ms_reshape(T(2), (MsInts){0, NULL});
    if (!scale || !bad || !now || !last) return ms_error()->code;
    MsTensor *less = ms_maximum(ms_mul(scale, of(scale, 1 / F(4))), of(scale, 1));
    MsTensor *kept = ms_where(bad, less, scale);
    MsTensor *grow = ms_ge(ms_sub(now, last), ms_tensor_scalar_int(ms_tensor_dtype(now), I(5)));
    MsTensor *value =
        ms_where(ms_logical_and(grow, ms_logical_not(bad)), ms_mul(kept, of(scale, F(4))), kept);
    MsTensor *mark = ms_where(ms_logical_or(bad, grow), ms_cast(now, ms_tensor_dtype(last)), last);
    MsTensor *next = ms_add(now, ms_tensor_scalar_int(ms_tensor_dtype(now), 1));
    if (!value || !mark || !next) return ms_error()->code;
    MS_TRY(write(T(0), value));
    MS_TRY(write(T(2), mark));
    return write(T(1), next);
}

/* The same for a scaler whose counter counts finite steps. */
MS_API(adjust_scale, "_nn.adjust_scale",
       "(scale: Tensor, counter: Tensor, finite: Tensor|bool, factor: float, window: int) -> None")
{
    MsTensor *scale = T(0), *counter = T(1);
    MsTensor *good =
        ARG(2)->kind == MS_ARG_TENSOR ? flag(T(2)) : ms_full((MsInts){0, NULL}, (double)I(2), MS_BOOL);
    MsTensor *more = ms_mul(scale, of(scale, F(3)));
    MsTensor *full = ms_eq(counter, ms_tensor_scalar_int(ms_tensor_dtype(counter), I(4) - 1));
    MsTensor *grown = ms_where(ms_logical_and(full, ms_is_finite(more)), more, scale);
    MsTensor *less = ms_maximum(ms_mul(scale, of(scale, 1 / F(3))), of(scale, 1));
    MsTensor *value = ms_where(good, grown, less);
    MsTensor *step = ms_mod(ms_add(counter, ms_tensor_scalar_int(ms_tensor_dtype(counter), 1)),
                            ms_tensor_scalar_int(ms_tensor_dtype(counter), I(4)));
    MsTensor *next = ms_where(good, step, ms_tensor_scalar_int(ms_tensor_dtype(counter), 0));
    if (!value || !next) return ms_error()->code;
    MS_TRY(write(scale, value));
    return write(counter, next);
}

/* ---- clipping ---- */

/* Pascanu et al. 2013: all tensors times clip_norm / max(global norm, clip_norm). */
MS_API(clip_by_global_norm, "ops.clip_by_global_norm",
       "(x: any, clip_norm: number = 1.0, use_norm: any = None) -> any")
{
    int n;
    double limit = F(1);
    if (GIVEN(2)) return MS_FAIL(MS_ERROR_VALUE, "For 'clip_by_global_norm', the 'use_norm' must be None.");
    if (!(limit > 0))
        return MS_FAIL(MS_ERROR_VALUE, "For 'clip_by_global_norm', the 'clip_norm' must be > 0, but got %g.",
                       limit);
    MsTensor **x = leaves("clip_by_global_norm", ARG(0), &n), *total = NULL;
    if (!x) return ms_error()->code;
    MsStatus st = MS_OK;
    MsDtype wide = MS_FLOAT32;
    for (int k = 0; k < n; k++)
        if (ms_tensor_dtype(x[k]) == MS_FLOAT64) wide = MS_FLOAT64;
    for (int k = 0; k < n && st == MS_OK; k++) {
        if (!ms_dtype_is_float(ms_tensor_dtype(x[k]))) {
            st = MS_FAIL(MS_ERROR_TYPE, "For 'clip_by_global_norm', the inputs must be floats, but got %s.",
                         ms_dtype_name(ms_tensor_dtype(x[k])));
            break;
        }
        MsTensor *sum = ms_sum(ms_square(ms_cast(x[k], wide)), MS_INTS_NONE, false);
        total = k ? ms_add(total, sum) : sum;
        if (!total) st = ms_error()->code;
    }
    if (st == MS_OK) {
        MsTensor *norm = ms_sqrt(total);
        MsTensor *ratio = norm ? ms_div(of(norm, limit), ms_maximum(norm, of(norm, limit))) : NULL;
        for (int k = 0; k < n && ratio; k++) x[k] = ms_mul(x[k], ms_cast(ratio, ms_tensor_dtype(x[k])));
        st = !ratio                          ? ms_error()->code
             : ARG(0)->kind == MS_ARG_TENSOR ? R(x[0])
                                             : ms__api_return_list(c, n, x);
    }
    free(x);
    return st;
}

/* x times clip_norm over its norm along `axis` where that is larger than clip_norm. */
MS_API(clip_by_l2, "_nn.clip_by_norm", "(x: Tensor, clip_norm: Tensor|number, axis: ints = None) -> Tensor")
{
    int64_t buf[MS_MAX_DIM];
    MsTensor *x = T(0), *limit = ms__arg_tensor(ARG(1), x);
    MsDtype dt = ms_tensor_dtype(x);
    if (!ms_dtype_is_float(dt))
        return MS_FAIL(MS_ERROR_TYPE, "For 'ClipByNorm', the 'x' must be a Tensor of floats, but got %s.",
                       ms_dtype_name(dt));
    MsInts axis = GIVEN(2) ? INTS(2, buf) : MS_INTS_NONE;
    if (axis.n == -2) return ms_error()->code;
    MsDtype in = dt == MS_FLOAT64 ? MS_FLOAT64 : MS_FLOAT32;
    MsTensor *wide = ms_cast(x, in), *square = ms_sum(ms_square(wide), axis, true);
    if (!square || !limit) return ms_error()->code;
    limit = ms_cast(limit, in);
    MsTensor *some = ms_gt(square, of(square, 0));
    MsTensor *norm = ms_where(some, ms_sqrt(ms_where(some, square, of(square, 1))), square);
    return R(ms_cast(ms_div(ms_mul(wide, limit), ms_maximum(norm, limit)), dt));
}
