/* autocast.c - which operators compute in half precision and which in float32 while ms__autocast is on, one table for
 * all. The casts are bound like calls of the program, so every interpreter sees them: they are differentiated,
 * staged and batched. Refused: an interpreter of its own, which those opened inside it would not see. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* Sorted. Products gain speed from half precision; exponentials, sums and norms lose their value. Elsewhere halves go to
 * float32 where they meet it. */
static const char *const halves[] = {"attention", "conv", "conv_input_grad", "gru",
                                     "linear",    "lstm", "matmul"};
/* clang-format off */
static const char *const singles[] = {
    "acos", "acosh", "asin", "batch_norm", "batch_norm_apply", "batch_norm_stats", "cosh", "cumprod",
    "cumsum", "erfinv", "exp", "expm1", "group_norm", "layer_norm", "log", "log1p", "log_sigmoid",
    "log_softmax", "logsumexp", "pow", "prod", "reciprocal", "rsqrt", "sinh", "softmax",
    "softmax_cross_entropy", "softplus", "sum", "tan", "var",
};
/* clang-format on */

static int by_name(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

#define AMONG(table, name) bsearch(name, table, sizeof table / sizeof *table, sizeof *table, by_name)

static bool is_half(const MsTensor *t)
{
    return t && (t->dtype == MS_FLOAT16 || t->dtype == MS_BFLOAT16);
}

/* The float type that the inputs are cast to; NONE: they stay as they are. */
static MsDtype common(const MsOp *op, MsDtype half, int n_in, MsTensor *const *in)
{
    if (AMONG(halves, op->name)) return half;
    if (AMONG(singles, op->name)) return MS_FLOAT32;
    bool mixed = false;
    for (int i = 0; i < n_in; i++) mixed |= in[i] && in[i]->dtype == MS_FLOAT32;
    return mixed && op->flags & MS_OP_ELEMENTWISE ? MS_FLOAT32 : MS_DTYPE_NONE;
}

MsStatus ms__autocast_inputs(const MsOp *op, MsDtype half, int n_in, MsTensor *const *in, MsTensor **out)
{
    MsDtype want = common(op, half, n_in, in);
    for (int i = 0; i < n_in; i++) {
        bool cast = want != MS_DTYPE_NONE && in[i] && in[i]->dtype != want &&
                    (is_half(in[i]) || (in[i]->dtype == MS_FLOAT32 && want == half));
        out[i] = cast ? ms_cast(in[i], want) : in[i];
        if (in[i] && !out[i]) return ms_error()->code;
    }
    return MS_OK;
}
