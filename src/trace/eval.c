/* eval.c - the interpreter at the bottom: concrete tensors in, a kernel from the operator's ordered list,
 * concrete tensors out. Allocates nothing but the outputs. */
#include "core/mem.h"
#include "op/profile.h"
#include "trace/trace.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

const MsKernel *ms__select(const MsCall *c)
{
    static _Atomic int known = -1;
    int verbose = atomic_load_explicit(&known, memory_order_relaxed);
    if (verbose < 0) known = verbose = getenv("MS_VERBOSE") != NULL;
    for (const MsKernel *const *k = c->op->kernels; *k; k++) {
        const char *why = (*k)->ok ? (*k)->ok(c) : NULL;
        if (verbose) fprintf(stderr, "ms: %s: %s: %s\n", c->op->name, (*k)->name, why ? why : "chosen");
        if (!why) return *k;
    }
    return MS_FAIL_NULL(MS_ERROR_NOT_IMPLEMENTED, "For '%s', no kernel takes these inputs.", c->op->name);
}

MsTensor *ms__out_strided(MsCall *c, int j, const int64_t *strides)
{
    if (!c->out[j])
        c->out[j] = ms__tensor_dense(c->aval[j].dtype, c->aval[j].ndim, c->aval[j].shape, strides);
    return c->out[j];
}

MsTensor *ms__out(MsCall *c, int j)
{
    return ms__out_strided(c, j, NULL);
}

MsStatus ms__run_now(const MsKernel *k, MsCall *c)
{
    int was = ms__lazy_state;
    ms__lazy_state = -1;
    MsStatus st = ms__run(k->run, c);
    ms__lazy_state = was;
    return st;
}

static MsStatus eval(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap,
                     MsTensor **out, int *n_out, MsAval *in_aval, MsAval *out_aval)
{
    for (int i = 0; i < n_in; i++) {
        if (in[i])
            in_aval[i] = ms__aval(in[i]);
        else
            in_aval[i].dtype = MS_DTYPE_NONE;
    }
    MS_TRY(ms__infer(op, attr, n_in, in_aval, cap, out_aval, n_out));
    MsCall c = {op, attr, n_in, *n_out, in, out, out_aval};
    for (int j = 0; j < *n_out; j++) out[j] = NULL;
    if (ms__lazy_state > 0) {
        bool taken = false;
        MS_TRY(ms__lazy_take(&c, &taken));
        if (taken) return MS_OK;
    }
    for (int i = 0; i < n_in; i++)
        if (in[i]) MS_TRY(ms__ready(in[i]));
    const MsKernel *k = ms__select(&c);
    if (!k) return ms_error()->code;
    return ms__run_now(k, &c);
}

MsStatus ms__eval(const MsOp *op, const MsAttr *attr, int n_in, MsTensor *const *in, int cap, MsTensor **out,
                  int *n_out)
{
    MsAval few[8];
    if (n_in + cap <= 8) return eval(op, attr, n_in, in, cap, out, n_out, few, few + n_in);
    MsAval *many = ms__malloc((size_t)(n_in + cap) * sizeof *many);
    if (!many) return MS_ERROR_MEMORY;
    MsStatus st = eval(op, attr, n_in, in, cap, out, n_out, many, many + n_in);
    free(many);
    return st;
}
