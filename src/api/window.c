/* window.c - see window.h. */
#include "api/window.h"

#include <string.h>

MsStatus ms__per_axis(const MsArg *a, int n, int64_t least, const char *op, const char *name,
                      const int64_t *otherwise, int64_t *out)
{
    int64_t buf[MS_MAX_DIM];
    MsInts v = ms__arg_ints(a, buf);
    if (v.n == -2) return ms_error()->code;
    if (v.n < 0 || (v.n == 0 && otherwise)) {
        if (!otherwise) return MS_FAIL(MS_ERROR_TYPE, "For '%s', the '%s' must be given.", op, name);
        memcpy(out, otherwise, (size_t)n * sizeof *out);
        return MS_OK;
    }
    if (v.n != 1 && v.n != n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the '%s' must be an int or have 1 or %d elements, but got %d.", op, name, n,
                       v.n);
    for (int d = 0; d < n; d++) {
        out[d] = v.v[v.n == 1 ? 0 : d];
        if (out[d] < least)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must be at least %lld, but got %lld.", op,
                           name, (long long)least, (long long)out[d]);
        if (out[d] > INT32_MAX)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the '%s' must be below 2^31, but got %lld.", op, name,
                           (long long)out[d]);
    }
    return MS_OK;
}

MsStatus ms__window_pad(MsWindow *w, const MsArg *padding, const char *op)
{
    int64_t buf[MS_MAX_DIM];
    MsInts v = ms__arg_ints(padding, buf);
    if (v.n == -2) return ms_error()->code;
    if (v.n != 1 && v.n != w->n && v.n != 2 * w->n)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'padding' must be an int or have %d or %d elements, but got %d.", op,
                       w->n, 2 * w->n, v.n);
    for (int d = 0; d < w->n; d++) {
        w->low[d] = v.v[v.n == 1 ? 0 : v.n == w->n ? d : 2 * d];
        w->high[d] = v.v[v.n == 1 ? 0 : v.n == w->n ? d : 2 * d + 1];
        if (w->low[d] < 0 || w->high[d] < 0)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'padding' must not be negative, but got %lld.", op,
                           (long long)(w->low[d] < 0 ? w->low[d] : w->high[d]));
        if (w->low[d] > INT32_MAX || w->high[d] > INT32_MAX)
            return MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'padding' must be below 2^31, but got %lld.", op,
                           (long long)(w->low[d] > w->high[d] ? w->low[d] : w->high[d]));
    }
    return MS_OK;
}

void ms__window_same(MsWindow *w, const int64_t *in)
{
    for (int d = 0; d < w->n; d++) {
        int64_t out = (in[d] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (out - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - in[d];
        if (total < 0) total = 0;
        w->low[d] = total / 2;
        w->high[d] = total - total / 2;
    }
}

static bool all_zero(const MsArg *a)
{
    if (a->kind == MS_ARG_NONE) return true;
    if (a->kind != MS_ARG_LIST) return a->i == 0;
    for (int k = 0; k < a->n; k++)
        if (a->list[k].i != 0) return false;
    return true;
}

MsStatus ms__window_mode(MsWindow *w, const char *mode, const MsArg *padding, const int64_t *in,
                         const char *op)
{
    memset(w->low, 0, sizeof w->low);
    memset(w->high, 0, sizeof w->high);
    if (strcasecmp(mode, "pad") == 0) return ms__window_pad(w, padding, op);
    bool same = strcasecmp(mode, "same") == 0;
    if (!same && strcasecmp(mode, "valid") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For '%s', the 'pad_mode' must be 'same', 'valid' or 'pad', but got '%s'.", op, mode);
    if (!all_zero(padding))
        return MS_FAIL(
            MS_ERROR_VALUE,
            "For '%s', the 'padding' must be zero when 'pad_mode' is not 'pad', but 'pad_mode' is '%s'.", op,
            mode);
    if (same) ms__window_same(w, in);
    return MS_OK;
}

void ms__window_ceil(MsWindow *w, const int64_t *in)
{
    for (int d = 0; d < w->n; d++) {
        int64_t window = (w->kernel[d] - 1) * w->dilation[d] + 1, span = in[d] + w->low[d] + w->high[d];
        if (span < window) continue;
        int64_t out = (span - window + w->stride[d] - 1) / w->stride[d] + 1;
        if ((out - 1) * w->stride[d] >= in[d] + w->low[d]) out--;
        int64_t need = (out - 1) * w->stride[d] + window - in[d] - w->low[d];
        w->high[d] = need > 0 ? need : 0;
    }
}

MsTensor *ms__with_batch(MsTensor *x, int n, const char *op, bool *added)
{
    *added = false;
    if (!x) return NULL;
    if (n < 1 || n > 3)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For '%s', windows have 1 to 3 axes, but got %d.", op, n);
    int nd = ms_tensor_ndim(x);
    if (nd == n + 2) return x;
    if (nd != n + 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For '%s', the input must have %d or %d dimensions, but got shape %s.", op, n + 1,
                            n + 2, ms__shape_text(nd, ms_tensor_shape(x)));
    *added = true;
    int64_t shape[MS_MAX_DIM] = {1};
    memcpy(shape + 1, ms_tensor_shape(x), (size_t)nd * sizeof *shape);
    return ms_reshape(x, (MsInts){nd + 1, shape});
}

MsTensor *ms__without_batch(MsTensor *y, bool added)
{
    if (!y || !added) return y;
    return ms_reshape(y, (MsInts){ms_tensor_ndim(y) - 1, ms_tensor_shape(y) + 1});
}
