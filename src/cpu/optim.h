/* optim.h - optimizer updates of one run of elements (isa/optim.c). */
#ifndef MS_CPU_OPTIM_H
#define MS_CPU_OPTIM_H
#include "core/error.h"

#define MS_UPDATE_BUFFERS 5 /* parameter, up to three states, gradient */

/* The constants of a call; which of them count depends on the kind. */
typedef struct MsUpdate {
    int kind, n_state;
    bool nesterov, amsgrad;
    double lr, weight_decay, grad_scale;
    double momentum, keep; /* keep: 1 - dampening */
    double beta1, beta2, eps;
} MsUpdate;

enum {
    MS_UPDATE_MOMENTUM,
    MS_UPDATE_SGD,
    MS_UPDATE_ADAM,
    MS_UPDATE_ADAMW
};

/* in[0] parameter, then states, then the gradient; out[0..n_state] parameter and states. out[k] may be in[k].
 */
typedef void (*MsUpdateFn)(const MsUpdate *u, int64_t n, void *const *in, void *const *out);
typedef struct MsUpdateFns {
    MsUpdateFn f32[4], f64[4];
} MsUpdateFns;
extern const MsUpdateFns ms__update_base, ms__update_avx2, ms__update_avx512;

#endif
