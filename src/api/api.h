/* api.h - a public function of the Python skin as a row: names, Python signature, C body.
 *
 *   MS_API(logaddexp, "ops.logaddexp mint.logaddexp Tensor.logaddexp",
 *          "(input: Tensor, other: Tensor) -> Tensor")
 *   {
 *       MsTensor *a = T(0), *b = T(1);
 *       ...
 *       return R(ms_add(m, ms_log1p(...)));
 *   }
 *
 * Signature: Python's, with types int float bool number ints floats dtype str Tensor Tensor[] any, `T|U`
 * alternatives, `T?` or `=None` for optional, defaults as Python literals (dtype names too), `*` before keyword-only
 * parameters, `*shape: ints` for surplus positional arguments (one LIST; `f(2, 3)` and `f((2, 3))` are the same).
 * A name may have several rows (overloads): they are tried in order of definition (identifier order of the same
 * file). `ints` takes an int or a list of int, `floats` likewise; `Tensor` takes numbers only with `Tensor|number`;
 * `any` gives trees: arrays become tensors, what has no kind of its own an MS_ARG_OBJECT.
 * A row knows nothing of Python; any skin can call it.
 */
#ifndef MS_API_API_H
#define MS_API_API_H
#include "core/attr.h"
#include "core/tensor.h"
#include "mindspore_ops.h"
#include "op/op.h"

typedef enum MsArgKind {
    MS_ARG_NONE, /* None, or not given with default None */
    MS_ARG_TENSOR,
    MS_ARG_INT,
    MS_ARG_FLOAT,
    MS_ARG_BOOL,
    MS_ARG_DTYPE, /* in i */
    MS_ARG_STR,
    MS_ARG_LIST,  /* tuple or list; in list[0..n) */
    MS_ARG_SLICE, /* list[0..3) = start, stop, step */
    MS_ARG_ELLIPSIS,
    MS_ARG_OBJECT /* opaque host object, in p */
} MsArgKind;

typedef struct MsArg {
    uint8_t kind;
    bool tuple; /* LIST: it came as a tuple; t[1, 2] and t[[1, 2]] differ by this alone */
    int32_t n;
    union {
        MsTensor *t;
        int64_t i;
        double f;
        const char *s;
        struct MsArg *list;
        void *p;
    };
} MsArg;

typedef struct MsApiCall {
    const struct MsApi *row;
    const MsArg *arg; /* one per parameter of the signature */
    MsArg out;        /* what the function returns; lists via ms__api_list */
} MsApiCall;

typedef struct MsApi {
    const char *names, *sig;
    MsStatus (*run)(MsApiCall *c);
} MsApi;

#define MS_API(id, names_, sig_)                                                                             \
    static MsStatus api_##id(MsApiCall *c);                                                                  \
    extern const MsApi ms_api_##id;                                                                          \
    const MsApi ms_api_##id = {names_, sig_, api_##id};                                                      \
    static MsStatus api_##id(MsApiCall *c)

/* A further overload with the body of row `of`: the same parameters under other names. */
#define MS_API_ALSO(id, of, names_, sig_)                                                                    \
    extern const MsApi ms_api_##id;                                                                          \
    const MsApi ms_api_##id = {names_, sig_, api_##of};

MS_API_EXPORT extern const MsApi *const ms__apis[];
MS_API_EXPORT extern const int ms__n_apis;

/* Shorthands inside a row's body. */
#define ARG(k) (&c->arg[k])
#define T(k) (c->arg[k].t)             /* tensor, NULL for None */
#define I(k) (c->arg[k].i)             /* int, bool, dtype */
#define F(k) ms__arg_float(&c->arg[k]) /* number as double */
#define GIVEN(k) (c->arg[k].kind != MS_ARG_NONE)
#define DTYPE(k) (GIVEN(k) ? (MsDtype)c->arg[k].i : MS_DTYPE_NONE)
#define INTS(k, buf)                                                                                         \
    ms__arg_ints(&c->arg[k], buf)           /* int or list of int -> MsInts over int64_t buf[MS_MAX_DIM] */
#define R(tensor) ms__api_return(c, tensor) /* return one tensor (NULL = the error that was raised) */

double ms__arg_float(const MsArg *a);
/* n = -1 for None; a failed conversion (more than MS_MAX_DIM) raises and gives n = -2. */
MsInts ms__arg_ints(const MsArg *a, int64_t *buf);
MsStatus ms__api_return(MsApiCall *c, MsTensor *t);
MsStatus ms__api_return_list(MsApiCall *c, int n, MsTensor *const *t); /* a tuple of tensors */
/* Frees the lists of a result; skins call it when they have wrapped c->out. A row that builds MS_ARG_LIST by hand
 * takes the memory from ms__malloc. */
MS_API_EXPORT void ms__api_release(MsArg *out);
/* -1, 0, 1: i lies below, in, above the range of an integer dtype; 0 for all others (int4 too). */
MS_API_EXPORT int ms__int_side(MsDtype dtype, int64_t i);
/* OVERFLOW when number a is an integer that `dtype` cannot hold. */
MsStatus ms__int_check(const MsArg *a, MsDtype dtype);
/* Tensor or number argument k as a tensor: a number takes `like`'s dtype within its category:
 * Python scalars never widen within a category. */
MsTensor *ms__arg_tensor(const MsArg *a, MsTensor *like);
/* Both sides of a binary operator brought to one dtype (numbers weak, tensors promoted); raises TYPE. */
MsStatus ms__arg_promote(MsApiCall *c, int a, int b, MsTensor **x, MsTensor **y);

#endif
