/* row.c - functions of one contiguous row: the exponentials of softmax. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

static void exp_f32(int64_t n, void *yv, const void *xv, double shift)
{
    float *y = yv, s = (float)shift;
    const float *x = xv;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = f32_exp(x[i] - s);
}

static void exp_f64(int64_t n, void *yv, const void *xv, double shift)
{
    double *y = yv;
    const double *x = xv;
    for (int64_t i = 0; i < n; i++) y[i] = exp(x[i] - shift);
}

static void affine_f32(int64_t n, void *yv, const void *xv, double a, double b)
{
    float *y = yv;
    const float *x = xv;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = (float)((double)x[i] * a + b);
}

static void affine_f64(int64_t n, void *yv, const void *xv, double a, double b)
{
    double *y = yv;
    const double *x = xv;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * a + b;
}

extern const MsRowSet JOIN(ms__row_set_, MS_ISA);
const MsRowSet JOIN(ms__row_set_, MS_ISA) = {{exp_f32, exp_f64}, {affine_f32, affine_f64}};
