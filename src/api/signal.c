/* signal.c - the short-time Fourier transform, convolution over time-batch-channel, and batch normalisation in the parts that
 * several processes share: statistics of one, their combination, and the normalisation by given ones. */
#include "api/args.h"

#include <math.h>
#include <string.h>

/* ---- stft ---- */

/* The window in the middle of n_fft zeros; NULL: ones. */
static MsTensor *window_of(MsTensor *w, MsTensor *x, int64_t win, int64_t n_fft)
{
    MsDtype real = dtype_of(x) == MS_COMPLEX64    ? MS_FLOAT32
                   : dtype_of(x) == MS_COMPLEX128 ? MS_FLOAT64
                                                  : dtype_of(x);
    if (w && (w->ndim != 1 || w->shape[0] != win))
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'stft', the 'window' must have shape (%lld,), but got %s.",
                            (long long)win, ms__shape_text(w->ndim, w->shape));
    if (!w) w = ms_full(MS_INTS(win), 1, real);
    int64_t before = (n_fft - win) / 2;
    return ms_pad(w, MS_INTS(before), MS_INTS(n_fft - win - before), 0);
}

static MsStatus check_rank(const MsTensor *x)
{
    return x->ndim == 1 || x->ndim == 2
               ? MS_OK
               : MS_FAIL(MS_ERROR_VALUE, "For 'stft', 'x' must have 1 or 2 axes, but got %d.", x->ndim);
}

static MsStatus stft_of(MsApiCall *c, MsTensor *x, int64_t n_fft, int64_t hop, int64_t win, MsTensor *window,
                        bool normalized, bool one_sided, bool return_complex)
{
    int last = x->ndim - 1;
    MS_TRY(check_rank(x));
    int64_t n = x->shape[last];
    if (n_fft < 1 || n_fft > n)
        return MS_FAIL(MS_ERROR_VALUE, "For 'stft', 'n_fft' must be in (0, %lld], but got %lld.",
                       (long long)n, (long long)n_fft);
    if (hop < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'stft', 'hop_length' must be positive, but got %lld.",
                       (long long)hop);
    if (win < 1 || win > n_fft)
        return MS_FAIL(MS_ERROR_VALUE, "For 'stft', 'win_length' must be in (0, %lld], but got %lld.",
                       (long long)n_fft, (long long)win);
    if (is_complex(x) && one_sided)
        return MS_FAIL(MS_ERROR_VALUE, "For 'stft', 'onesided' must be False for complex input.");
    int64_t frames = 1 + (n - n_fft) / hop;
    MsTensor *start = ms_reshape(ms__arange(0, hop, frames, MS_INT64), MS_INTS(frames, 1));
    MsTensor *y = ms_gather(x, ms_add(start, ms__arange(0, 1, n_fft, MS_INT64)), last);
    window = window_of(window, x, win, n_fft);
    if (!y || !window) return ms_error()->code;
    MsTensor *both[2] = {y, window};
    MS_TRY(ms__common_dtype("stft", 2, both, both));
    y = ms_mul(both[0], both[1]);
    if (y && !is_complex(y)) y = ms_cast(y, dtype_of(y) == MS_FLOAT64 ? MS_COMPLEX128 : MS_COMPLEX64);
    if (!y) return ms_error()->code;
    y = ms_fft(y, y->ndim - 1, false);
    if (y && one_sided) y = ms__narrowed(y, y->ndim - 1, 0, n_fft / 2 + 1);
    if (y && normalized) y = ms_mul(y, ms_tensor_scalar(dtype_of(y), 1 / sqrt((double)n_fft)));
    if (!y) return ms_error()->code;
    y = ms_transpose(y, y->ndim == 2 ? MS_INTS(1, 0) : MS_INTS(0, 2, 1));
    if (!y || return_complex) return R(y);
    MsTensor *parts[2] = {ms_real(y), ms_imag(y)};
    return R(ms__stacked(2, parts, y->ndim));
}

/* n elements more at each end of the last axis. */
static MsTensor *centred(MsTensor *x, int64_t n, const char *mode)
{
    bool symmetric = strcasecmp(mode, "SYMMETRIC") == 0;
    int last = x->ndim - 1;
    int64_t size = x->shape[last], low[2] = {0}, high[2] = {0};
    if (strcasecmp(mode, "CONSTANT") == 0) {
        low[last] = high[last] = n;
        return ms_pad(x, (MsInts){x->ndim, low}, (MsInts){x->ndim, high}, 0);
    }
    if (!symmetric && strcasecmp(mode, "REFLECT") != 0)
        return MS_FAIL_NULL(
            MS_ERROR_VALUE,
            "For 'stft', 'pad_mode' must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', but got '%s'.", mode);
    if (n + !symmetric > size)
        return MS_FAIL_NULL(MS_ERROR_VALUE,
                            "For 'stft', %lld elements at each end cannot mirror the %lld there are.",
                            (long long)n, (long long)size);
    int64_t skip = !symmetric, axis = last;
    MsTensor *parts[3] = {ms_flip(ms__narrowed(x, last, skip, n), (MsInts){1, &axis}), x,
                          ms_flip(ms__narrowed(x, last, size - n - skip, n), (MsInts){1, &axis})};
    return parts[0] && parts[2] ? ms_concat(3, parts, last) : NULL;
}

MS_API(stft, "ops.stft",
       "(x: Tensor, n_fft: int, hop_length: int = None, win_length: int = None, window: Tensor = None, "
       "center: bool = True, "
       "pad_mode: str = 'REFLECT', normalized: bool = False, onesided: bool = None, return_complex: bool = "
       "None) -> Tensor")
{
    MsTensor *x = T(0);
    int64_t n_fft = I(1);
    MS_TRY(check_rank(x));
    if (I(5) && n_fft > 0) x = centred(x, n_fft / 2, ARG(6)->s);
    if (!x) return ms_error()->code;
    return stft_of(c, x, n_fft, GIVEN(2) ? I(2) : n_fft / 4, GIVEN(3) ? I(3) : n_fft, T(4), I(7),
                   GIVEN(8) ? I(8) : !is_complex(x), GIVEN(9) && I(9));
}

MS_API(p_stft, "_p.stft",
       "(x: Tensor, window: Tensor, n_fft: int, hop_length: int, win_length: int, normalized: bool, "
       "onesided: bool, "
       "return_complex: bool) -> Tensor")
{
    return stft_of(c, T(0), I(2), I(3), I(4), T(1), I(5), I(6), I(7));
}

/* ---- time, batch, channel ---- */

MS_API(conv_tbc, "mint.conv_tbc", "(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor")
{
    if (T(0)->ndim != 3 || T(1)->ndim != 3)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'conv_tbc', 'input' and 'weight' must have 3 axes, but got %d and %d.",
                       T(0)->ndim, T(1)->ndim);
    MsTensor *y = ms_conv(ms_transpose(T(0), MS_INTS(1, 2, 0)), ms_transpose(T(1), MS_INTS(2, 1, 0)), T(2),
                          MS_INTS(1), MS_INTS(I(3)), MS_INTS(I(3)), MS_INTS(1), 1);
    return R(ms_transpose(y, MS_INTS(2, 0, 1)));
}

MS_API(npu_gelu, "mint.npu_gelu", "(input: Tensor, approximate: str = 'none') -> Tensor")
{
    bool tanh = strcmp(ARG(1)->s, "tanh") == 0;
    if (!tanh && strcmp(ARG(1)->s, "none") != 0)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'npu_gelu', 'approximate' must be 'none' or 'tanh', but got '%s'.", ARG(1)->s);
    return R(tanh ? ms_gelu_tanh(T(0)) : ms_gelu(T(0)));
}

/* ---- batch normalisation in parts ---- */

static MsTensor *wide(MsTensor *x)
{
    return x && (dtype_of(x) == MS_FLOAT16 || dtype_of(x) == MS_BFLOAT16) ? ms_cast(x, MS_FLOAT32) : x;
}

static MsStatus check_axes(const char *op, const MsTensor *x)
{
    return x->ndim >= 2
               ? MS_OK
               : MS_FAIL(MS_ERROR_VALUE, "For '%s', the 'input' must have at least 2 axes, but got %d.", op,
                         x->ndim);
}

/* Mean and 1 / sqrt(variance + eps) of each channel, axis 1. */
static MsStatus statistics(MsTensor *x, double eps, MsTensor **mean, MsTensor **invstd)
{
    int64_t axes[MS_MAX_DIM] = {0};
    for (int d = 2; d < x->ndim; d++) axes[d - 1] = d;
    MsInts all = {x->ndim - 1, axes};
    x = wide(x);
    *mean = ms_mean(x, all, false);
    MsTensor *var = ms_var(x, all, false, 0);
    *invstd = var ? ms_rsqrt(ms_add(var, ms_tensor_scalar(dtype_of(var), eps))) : NULL;
    return *mean && *invstd ? MS_OK : ms_error()->code;
}

MS_API(batch_norm_stats, "mint.batch_norm_stats", "(input: Tensor, eps: float) -> any")
{
    MsTensor *out[2];
    MS_TRY(check_axes("batch_norm_stats", T(0)));
    MS_TRY(statistics(T(0), F(1), &out[0], &out[1]));
    return ms__api_return_list(c, 2, out);
}

/* v, one number per channel, beside x. */
static MsTensor *per_channel(MsTensor *v, const MsTensor *x)
{
    int64_t s[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) s[d] = d == 1 ? x->shape[1] : 1;
    return ms_reshape(v, (MsInts){x->ndim, s});
}

/* Without statistics they are those of the input, to which alone `eps` belongs. */
MS_API(batch_norm_elemt, "mint.batch_norm_elemt",
       "(input: Tensor, weight: Tensor = None, bias: Tensor = None, mean: Tensor = None, invstd: Tensor = "
       "None, eps: float = "
       "1e-5) -> Tensor")
{
    MsTensor *x = T(0), *mean, *invstd;
    MS_TRY(check_axes("batch_norm_elemt", x));
    if (!GIVEN(3) || !GIVEN(4)) MS_TRY(statistics(x, F(5), &mean, &invstd));
    if (GIVEN(3)) mean = wide(T(3));
    if (GIVEN(4)) invstd = wide(T(4));
    MsTensor *y = ms_mul(ms_sub(wide(x), per_channel(mean, x)), per_channel(invstd, x));
    if (GIVEN(1)) y = ms_mul(y, per_channel(wide(T(1)), x));
    if (GIVEN(2)) y = ms_add(y, per_channel(wide(T(2)), x));
    return R(ms_cast(y, dtype_of(x)));
}

/* running := (1 - momentum) running + momentum value. */
static MsStatus follow(MsTensor *running, MsTensor *value, double momentum)
{
    MsDtype d = dtype_of(running);
    MsTensor *next = ms_add(ms_mul(running, ms_tensor_scalar(d, 1 - momentum)),
                            ms_mul(ms_cast(value, d), ms_tensor_scalar(d, momentum)));
    return next ? ms_tensor_write(running, next) : ms_error()->code;
}

/* Rows of mean and invstd are those of one process each, which saw counts[row] elements per channel. */
MS_API(batch_norm_gather, "mint.batch_norm_gather_stats_with_counts",
       "(input: Tensor, mean: Tensor, invstd: Tensor, running_mean: Tensor = None, running_var: Tensor = "
       "None, momentum: float "
       "= 0.1, eps: float = 1e-5, counts: Tensor = None) -> any")
{
    MsTensor *m = wide(T(1)), *inv = wide(T(2));
    if (T(0)->ndim < 2 || !m || !inv || m->ndim != 2 || inv->ndim != 2 || m->shape[1] != T(0)->shape[1])
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'batch_norm_gather_stats_with_counts', 'mean' and 'invstd' must have a row per "
                       "process and a column per channel of 'input'.");
    MsDtype d = dtype_of(m);
    int64_t each = T(0)->shape[1] ? T(0)->numel / T(0)->shape[1] : 0;
    MsTensor *n = GIVEN(7) ? ms_cast(T(7), d) : ms_full(MS_INTS(m->shape[0]), (double)each, d);
    n = n ? ms_reshape(n, MS_INTS(n->numel, 1)) : NULL;
    MsTensor *total = ms_sum(n, MS_INTS_NONE, false), *one = ms_tensor_scalar(d, 1),
             *eps = ms_tensor_scalar(d, F(6));
    MsTensor *mean = ms_div(ms_sum(ms_mul(n, m), MS_INTS(0), false), total);
    MsTensor *var = ms_sub(ms_reciprocal(ms_square(inv)), eps);
    MsTensor *squares = ms_sum(ms_mul(n, ms_add(var, ms_square(ms_sub(m, mean)))), MS_INTS(0), false);
    MsTensor *out[2] = {mean, ms_rsqrt(ms_add(ms_div(squares, total), eps))};
    if (!out[0] || !out[1]) return ms_error()->code;
    if (GIVEN(3)) MS_TRY(follow(T(3), mean, F(5)));
    if (GIVEN(4)) MS_TRY(follow(T(4), ms_div(squares, ms_sub(total, one)), F(5)));
    return ms__api_return_list(c, 2, out);
}
