/* custom.c - values whose gradient the caller writes: xs = n_in inputs, then outputs that were computed from them in
 * any way; gives the outputs. Backwards the host's function turns cotangents of the outputs into those of the inputs, and
 * nothing flows into how the outputs were computed. The function runs while the gradient is computed or staged, with
 * operators like any rule, so that it is differentiated and compiled in turn. Refused: sub-graphs for both directions,
 * which would stage every eager call.
 *
 * host: the host's function on concrete values when the program runs, for its effect: printing, checking. */
#include "mindspore_ops.h"
#include "op/op.h"
#include "trace/trace.h"

static MsStatus infer(MsInfer *c)
{
    int n_in = (int)c->attr[0].i;
    if (n_in < 0 || n_in >= c->n_in || c->n_in - n_in > c->cap)
        return MS_FAIL(MS_ERROR_RUNTIME, "For 'custom', %d inputs do not hold %d and outputs.", c->n_in,
                       n_in);
    c->n_out = c->n_in - n_in;
    for (int j = 0; j < c->n_out; j++) c->out[j] = c->in[n_in + j];
    return MS_OK;
}

static MsStatus vjp(MsVjp *c)
{
    MsHost *h = c->attr[1].h;
    int n_in = (int)c->attr[0].i;
    return h->grad(h, n_in, c->in, c->n_out, c->in + n_in, c->ct, c->grad);
}

MS_OP(custom, .sig = "custom(xs: any[], *, n_in: int, host: host) -> _[]", .infer = infer, .vjp = vjp,
      .flags = MS_OP_NO_FOLD);

static MsStatus run(MsCall *c)
{
    int n_in = (int)c->attr[0].i;
    for (int j = 0; j < c->n_out; j++) {
        MsTensor *to = ms__out(c, j);
        if (!to) return ms_error()->code;
        MS_TRY(ms_tensor_write(to, c->in[n_in + j]));
    }
    return MS_OK;
}
MS_KERNEL(custom, 0, copy, NULL, run);

static MsStatus infer_host(MsInfer *c)
{
    c->n_out = 0;
    return MS_OK;
}

static MsStatus run_host(MsCall *c)
{
    MsHost *h = c->attr[0].h;
    return h->run ? h->run(h, c->n_in, c->in) : MS_OK;
}

/* Once for the whole batch. */
static MsStatus batch_host(MsBatch *c)
{
    return ms_bind(c->op, c->attr, c->n_in, c->in, 0, c->out, &c->n_out);
}

MS_OP(host, .sig = "host(xs: any[], *, host: host) -> _[]", .infer = infer_host, .batch = batch_host,
      .flags = MS_OP_EFFECT | MS_OP_NO_GRAD | MS_OP_NO_FOLD);
MS_KERNEL(host, 0, call, NULL, run_host);
