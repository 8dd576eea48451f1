/* optim.c - the update formulas of src/op/optim.c on runs of elements, compiled per instruction set.
 * Constants are rounded to the dtype computed in once, before the loop. An output may be the input of the same index
 * and overlaps nothing else, which the pragma says: the checks for it would be more than the compiler makes. */
#include "cpu/optim.h"

#include <math.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

#define UPDATES(T, SQRT)                                                                                     \
    static void momentum_##T(const MsUpdate *u, int64_t n, void *const *in, void *const *out)                \
    {                                                                                                        \
        const T *p = in[0], *m = in[1], *g = in[2];                                                          \
        T *po = out[0], *mo = out[1];                                                                        \
        T lr = (T)u->lr, mu = (T)u->momentum, wd = (T)u->weight_decay, s = (T)u->grad_scale;                 \
        if (u->nesterov) _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                \
            {                                                                                                \
                T x = p[i], d = g[i] * s + wd * x, v = m[i] * mu + d;                                        \
                mo[i] = v;                                                                                   \
                po[i] = x - lr * (d + mu * v);                                                               \
            }                                                                                                \
        else                                                                                                 \
            _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                             \
            {                                                                                                \
                T x = p[i], v = m[i] * mu + (g[i] * s + wd * x);                                             \
                mo[i] = v;                                                                                   \
                po[i] = x - lr * v;                                                                          \
            }                                                                                                \
    }                                                                                                        \
    static void sgd_##T(const MsUpdate *u, int64_t n, void *const *in, void *const *out)                     \
    {                                                                                                        \
        const T *p = in[0], *m = in[1], *stat = in[2], *g = in[3];                                           \
        T *po = out[0], *mo = out[1], *so = out[2];                                                          \
        T lr = (T)u->lr, mu = (T)u->momentum, wd = (T)u->weight_decay, s = (T)u->grad_scale,                 \
          keep = (T)u->keep;                                                                                 \
        T nesterov = u->nesterov ? 1 : 0;                                                                    \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            T x = p[i], d = g[i] * s + wd * x, v = m[i] * mu + keep * d;                                     \
            v = stat[i] > 0 ? d : v;                                                                         \
            mo[i] = v;                                                                                       \
            so[i] = 0;                                                                                       \
            po[i] = x - lr * (nesterov ? d + mu * v : v);                                                    \
        }                                                                                                    \
    }                                                                                                        \
    static void adam_##T(const MsUpdate *u, int64_t n, void *const *in, void *const *out)                    \
    {                                                                                                        \
        const T *p = in[0], *m = in[1], *v = in[2], *g = in[u->n_state + 1];                                 \
        T *po = out[0], *mo = out[1], *vo = out[2];                                                          \
        T lr = (T)u->lr, wd = (T)u->weight_decay, s = (T)u->grad_scale, eps = (T)u->eps;                     \
        T b1 = (T)u->beta1, b2 = (T)u->beta2, c1 = (T)(1 - u->beta1), c2 = (T)(1 - u->beta2);                \
        if (u->amsgrad) {                                                                                    \
            const T *h = in[3];                                                                              \
            T *ho = out[3];                                                                                  \
            _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                             \
            {                                                                                                \
                T x = p[i], d = g[i] * s + wd * x, mi = b1 * m[i] + c1 * d, vi = b2 * v[i] + c2 * (d * d);   \
                T hi = vi > h[i] || vi != vi ? vi : h[i], step = u->nesterov ? b1 * mi + c1 * d : mi;        \
                mo[i] = mi;                                                                                  \
                vo[i] = vi;                                                                                  \
                ho[i] = hi;                                                                                  \
                po[i] = x - lr * step / (SQRT(hi) + eps);                                                    \
            }                                                                                                \
        } else if (u->nesterov)                                                                              \
            _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                             \
            {                                                                                                \
                T x = p[i], d = g[i] * s + wd * x, mi = b1 * m[i] + c1 * d, vi = b2 * v[i] + c2 * (d * d);   \
                mo[i] = mi;                                                                                  \
                vo[i] = vi;                                                                                  \
                po[i] = x - lr * (b1 * mi + c1 * d) / (SQRT(vi) + eps);                                      \
            }                                                                                                \
        else                                                                                                 \
            _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                             \
            {                                                                                                \
                T x = p[i], d = g[i] * s + wd * x, mi = b1 * m[i] + c1 * d, vi = b2 * v[i] + c2 * (d * d);   \
                mo[i] = mi;                                                                                  \
                vo[i] = vi;                                                                                  \
                po[i] = x - lr * mi / (SQRT(vi) + eps);                                                      \
            }                                                                                                \
    }                                                                                                        \
    static void adamw_##T(const MsUpdate *u, int64_t n, void *const *in, void *const *out)                   \
    {                                                                                                        \
        const T *p = in[0], *m = in[1], *v = in[2], *g = in[3];                                              \
        T *po = out[0], *mo = out[1], *vo = out[2];                                                          \
        T lr = (T)u->lr, wd = (T)u->weight_decay, s = (T)u->grad_scale, eps = (T)u->eps;                     \
        T b1 = (T)u->beta1, b2 = (T)u->beta2, c1 = (T)(1 - u->beta1), c2 = (T)(1 - u->beta2);                \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)                                                 \
        {                                                                                                    \
            T x = p[i], d = g[i] * s, mi = b1 * m[i] + c1 * d, vi = b2 * v[i] + c2 * (d * d);                \
            mo[i] = mi;                                                                                      \
            vo[i] = vi;                                                                                      \
            po[i] = x - lr * (mi / (SQRT(vi) + eps) + wd * x);                                               \
        }                                                                                                    \
    }
UPDATES(float, sqrtf)
UPDATES(double, sqrt)

const MsUpdateFns PASTE(ms__update_, MS_ISA) = {
    {momentum_float, sgd_float, adam_float, adamw_float},
    {momentum_double, sgd_double, adam_double, adamw_double},
};
