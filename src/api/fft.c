/* fft.c - public names of the Fourier transform. The forms for real input, for Hermitian input and for several
 * axes are made of the complex transform of one axis, crops and pads; norms are factors of 1, n or root n. */
#include "api/args.h"

#include <math.h>
#include <string.h>

static MsTensor *to_complex(MsTensor *x)
{
    if (!x || is_complex(x)) return x;
    return ms_cast(x, dtype_of(x) == MS_FLOAT64 ? MS_COMPLEX128 : MS_COMPLEX64);
}

/* Axis d with n elements: cut off or filled with zeros behind. */
static MsTensor *resized(MsTensor *x, int d, int64_t n)
{
    if (!x || x->shape[d] == n) return x;
    int64_t low[MS_MAX_DIM] = {0}, high[MS_MAX_DIM] = {0};
    high[d] = n - x->shape[d];
    return ms_pad(x, (MsInts){x->ndim, low}, (MsInts){x->ndim, high}, 0);
}

typedef struct Norm {
    double forward, backward; /* exponents of n in the factors */
} Norm;

static MsStatus norm_of(const MsArg *a, Norm *n)
{
    *n = (Norm){0, -1};
    if (a->kind == MS_ARG_NONE || strcmp(a->s, "backward") == 0) return MS_OK;
    if (strcmp(a->s, "forward") == 0)
        *n = (Norm){-1, 0};
    else if (strcmp(a->s, "ortho") == 0)
        *n = (Norm){-0.5, -0.5};
    else
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'fft', 'norm' must be 'backward', 'forward' or 'ortho', but got '%s'.", a->s);
    return MS_OK;
}

static MsTensor *scaled(MsTensor *x, int64_t n, double power)
{
    return x && power != 0 ? ms_mul(x, ms_tensor_scalar(dtype_of(x), pow((double)n, power))) : x;
}
static MsTensor *one_axis(MsTensor *x, int d, int64_t n, bool inverse, Norm f)
{
    if (n < 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'fft', the length must be at least 1, but got %lld.",
                            (long long)n);
    x = ms_fft(resized(to_complex(x), d, n), d, inverse);
    return scaled(x, n, inverse ? f.backward : f.forward);
}

/* The half of the spectrum of real numbers that is not redundant. */
static MsTensor *real_axis(MsTensor *x, int d, int64_t n, Norm f)
{
    if (x && is_complex(x))
        return MS_FAIL_NULL(MS_ERROR_TYPE, "For 'rfft', the input must be real, but got %s.",
                            ms_dtype_name(dtype_of(x)));
    x = one_axis(x, d, n, false, f);
    return x ? ms__narrowed(x, d, 0, n / 2 + 1) : NULL;
}

/* The n real numbers whose spectrum begins with x: the other half is its mirror, conjugated. */
static MsTensor *half_axis(MsTensor *x, int d, int64_t n, Norm f)
{
    if (n < 1)
        return MS_FAIL_NULL(MS_ERROR_VALUE, "For 'irfft', the length must be at least 1, but got %lld.",
                            (long long)n);
    x = resized(to_complex(x), d, n / 2 + 1);
    int64_t rest = n - (n / 2 + 1), axis = d;
    if (!x) return NULL;
    if (rest > 0) {
        MsTensor *part[2] = {x, ms_conj(ms_flip(ms__narrowed(x, d, 1, rest), (MsInts){1, &axis}))};
        x = part[1] ? ms_concat(2, part, d) : NULL;
    }
    /* the imaginary parts of the first and, of an even length, the middle entry do not count: real drops them */
    return ms_real(one_axis(x, d, n, true, f));
}

typedef enum Kind {
    C2C,
    C2C_INVERSE,
    R2C,
    C2R,
    HERMITIAN,
    HERMITIAN_INVERSE
} Kind;

/* The transform of the last axis of a kind; n < 0: its own length. */
static MsTensor *of_kind(Kind kind, MsTensor *x, int d, int64_t n, Norm f)
{
    if (!x) return NULL;
    Norm swapped = {f.backward, f.forward};
    bool half = kind == C2R || kind == HERMITIAN;
    if (n < 0) n = half ? 2 * (x->shape[d] - 1) : x->shape[d];
    switch (kind) {
    case C2C: return one_axis(x, d, n, false, f);
    case C2C_INVERSE: return one_axis(x, d, n, true, f);
    case R2C: return real_axis(x, d, n, f);
    case C2R: return half_axis(x, d, n, f);
    case HERMITIAN: return half_axis(ms_conj(to_complex(x)), d, n, swapped);
    default: return ms_conj(real_axis(x, d, n, swapped));
    }
}

static MsStatus single(MsApiCall *c, Kind kind)
{
    int d;
    Norm f;
    MsTensor *x = T(0);
    MS_TRY(ms__api_axis("fft", I(2), x->ndim, &d));
    MS_TRY(norm_of(ARG(3), &f));
    if (GIVEN(1) && I(1) < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fft', 'n' must be at least 1, but got %lld.", (long long)I(1));
    if (x->ndim == 0) return MS_FAIL(MS_ERROR_VALUE, "For 'fft', the input must have at least one axis.");
    return R(of_kind(kind, x, d, GIVEN(1) ? I(1) : -1, f));
}

/* Several axes: the kind acts on the last one, the complex transform on the others. The real kinds go first or last,
 * so that their side of the data is real. */
static MsStatus several(MsApiCall *c, Kind kind)
{
    int64_t sbuf[MS_MAX_DIM], abuf[MS_MAX_DIM];
    MsTensor *x = T(0);
    MsInts s = INTS(1, sbuf), axes = INTS(2, abuf);
    int d[MS_MAX_DIM];
    Norm f;
    if (s.n == -2 || axes.n == -2) return ms_error()->code;
    MS_TRY(norm_of(ARG(3), &f));
    if (axes.n < 0) {
        axes = (MsInts){s.n >= 0 ? s.n : x->ndim, abuf};
        for (int k = 0; k < axes.n; k++) abuf[k] = x->ndim - axes.n + k;
    }
    if ((s.n >= 0 && s.n != axes.n) || axes.n > x->ndim)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fftn', 's' and 'dim' must have one length within the %d axes.",
                       x->ndim);
    for (int k = 0; k < axes.n; k++) {
        MS_TRY(ms__api_axis("fftn", axes.v[k], x->ndim, &d[k]));
        for (int j = 0; j < k; j++)
            if (d[j] == d[k]) return MS_FAIL(MS_ERROR_VALUE, "For 'fftn', an axis occurs twice in 'dim'.");
    }
    int n = axes.n;
    if (n == 0) return R(to_complex(x));
#define LENGTH(k) (s.n >= 0 && s.v[k] != -1 ? s.v[k] : -1)
    bool last_first = kind == R2C || kind == HERMITIAN_INVERSE;
    Kind other = kind == C2C_INVERSE || kind == C2R ? C2C_INVERSE
                 : kind == HERMITIAN_INVERSE        ? C2C_INVERSE
                                                    : C2C;
    if (last_first) x = of_kind(kind, x, d[n - 1], LENGTH(n - 1), f);
    Norm g = f;
    if (kind == C2C || kind == C2C_INVERSE) {
        for (int k = 0; k < n; k++) x = of_kind(kind, x, d[k], LENGTH(k), f);
        return R(x);
    }
    for (int k = 0; k < n - 1; k++) x = of_kind(other, x, d[k], LENGTH(k), g);
    if (!last_first) x = of_kind(kind, x, d[n - 1], LENGTH(n - 1), f);
    return R(x);
}

MS_API(fft, "ops.fft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, C2C);
}
MS_API(ifft, "ops.ifft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, C2C_INVERSE);
}
MS_API(rfft, "ops.rfft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, R2C);
}
MS_API(irfft, "ops.irfft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, C2R);
}
MS_API(hfft, "ops.hfft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, HERMITIAN);
}
MS_API(ihfft, "ops.ihfft", "(input: Tensor, n: int = None, dim: int = -1, norm: str = None) -> Tensor")
{
    return single(c, HERMITIAN_INVERSE);
}
MS_API(fft2, "ops.fft2", "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, C2C);
}
MS_API(ifft2, "ops.ifft2",
       "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, C2C_INVERSE);
}
MS_API(rfft2, "ops.rfft2",
       "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, R2C);
}
MS_API(irfft2, "ops.irfft2",
       "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, C2R);
}
MS_API(hfft2, "ops.hfft2",
       "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, HERMITIAN);
}
MS_API(ihfft2, "ops.ihfft2",
       "(input: Tensor, s: ints = None, dim: ints = (-2, -1), norm: str = None) -> Tensor")
{
    return several(c, HERMITIAN_INVERSE);
}
MS_API(fftn, "ops.fftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, C2C);
}
MS_API(ifftn, "ops.ifftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, C2C_INVERSE);
}
MS_API(rfftn, "ops.rfftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, R2C);
}
MS_API(irfftn, "ops.irfftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, C2R);
}
MS_API(hfftn, "ops.hfftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, HERMITIAN);
}
MS_API(ihfftn, "ops.ihfftn", "(input: Tensor, s: ints = None, dim: ints = None, norm: str = None) -> Tensor")
{
    return several(c, HERMITIAN_INVERSE);
}

/* ---- order and frequencies ---- */

/* Each axis rotated by half its length; the inverse by the other half. */
static MsStatus shifted(MsApiCall *c, bool back)
{
    int64_t buf[MS_MAX_DIM];
    MsTensor *x = T(0);
    MsInts axes = INTS(1, buf);
    if (axes.n == -2) return ms_error()->code;
    for (int k = 0; k < (axes.n < 0 ? T(0)->ndim : axes.n) && x; k++) {
        int d = k;
        if (axes.n >= 0) MS_TRY(ms__api_axis("fftshift", axes.v[k], x->ndim, &d));
        int64_t n = x->shape[d], cut = back ? n / 2 : n - n / 2;
        if (n < 2) continue;
        MsTensor *part[2] = {ms__narrowed(x, d, cut, n - cut), ms__narrowed(x, d, 0, cut)};
        x = part[0] && part[1] ? ms_concat(2, part, d) : NULL;
    }
    return R(x);
}
MS_API(fftshift, "ops.fftshift", "(input: Tensor, dim: ints = None) -> Tensor")
{
    return shifted(c, false);
}
MS_API(ifftshift, "ops.ifftshift", "(input: Tensor, dim: ints = None) -> Tensor")
{
    return shifted(c, true);
}

static MsStatus frequencies(MsApiCall *c, bool half)
{
    int64_t n = I(0);
    if (n < 1)
        return MS_FAIL(MS_ERROR_VALUE, "For 'fftfreq', 'n' must be at least 1, but got %lld.", (long long)n);
    if (F(1) == 0) return MS_FAIL(MS_ERROR_ZERO_DIVISION, "For 'fftfreq', 'd' must not be 0.");
    MsTensor *k = ms_arange_int(0, 1, half ? n / 2 + 1 : n, MS_INT64);
    MsTensor *last = ms_full_int((MsInts){0, NULL}, (n - 1) / 2, MS_INT64);
    if (!half) k = ms_where(ms_gt(k, last), ms_sub(k, ms_full_int((MsInts){0, NULL}, n, MS_INT64)), k);
    MsDtype dtype = GIVEN(2) ? DTYPE(2) : MS_FLOAT32;
    k = ms_mul(ms_cast(k, MS_FLOAT64), ms_tensor_scalar(MS_FLOAT64, 1 / ((double)n * F(1))));
    return R(ms__cast_to(k, dtype));
}
MS_API(fftfreq, "ops.fftfreq", "(n: int, d: float = 1.0, dtype: dtype = None) -> Tensor")
{
    return frequencies(c, false);
}
MS_API(rfftfreq, "ops.rfftfreq", "(n: int, d: float = 1.0, dtype: dtype = None) -> Tensor")
{
    return frequencies(c, true);
}
