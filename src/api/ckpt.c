/* ckpt.c - rows that read and write files: checkpoints, safetensors, event logs (`_format.*`). */
#include "format/ckpt.h"
#include "api/api.h"
#include "core/mem.h"
#include "format/record.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* The cipher that arguments k, k + 1 name: a mode, None for no encryption (then NULL), and a key in hexadecimal digits. */
static MsStatus cipher_of(MsApiCall *c, int k, MsCipher *space, const MsCipher **cipher)
{
    uint8_t key[32] = {0};
    *cipher = NULL;
    if (!GIVEN(k)) return MS_OK;
    const char *digits = ARG(k + 1)->s;
    size_t n = strlen(digits) / 2;
    for (size_t i = 0; i < n && i < sizeof key; i++)
        key[i] = (uint8_t)strtoul((char[]){digits[2 * i], digits[2 * i + 1], 0}, NULL, 16);
    *cipher = space;
    return ms__cipher_begin(space, ARG(k)->s, key, n);
}

/* Splits an argument that is a list of str (names) or of Tensor and str (values). */
static MsStatus lists_of(MsApiCall *c, const char ***name, MsTensor ***tensor, const char ***text)
{
    const MsArg *names = ARG(1), *values = ARG(2);
    if (names->kind != MS_ARG_LIST || values->kind != MS_ARG_LIST || names->n != values->n)
        return MS_FAIL(MS_ERROR_TYPE, "A checkpoint needs a list of names and a list of as many values.");
    size_t n = (size_t)names->n + 1;
    *name = ms__malloc(n * sizeof **name);
    *tensor = ms__calloc(n, sizeof **tensor);
    *text = ms__calloc(n, sizeof **text);
    if (!*name || !*tensor || !*text) return MS_ERROR_MEMORY;
    for (int k = 0; k < names->n; k++) {
        const MsArg *v = &values->list[k];
        if (names->list[k].kind != MS_ARG_STR || (v->kind != MS_ARG_TENSOR && v->kind != MS_ARG_STR))
            return MS_FAIL(MS_ERROR_TYPE, "Entry %d of a checkpoint must be a str with a Tensor or a str.",
                           k);
        (*name)[k] = names->list[k].s;
        if (v->kind == MS_ARG_TENSOR)
            (*tensor)[k] = v->t;
        else
            (*text)[k] = v->s;
    }
    return MS_OK;
}

static MsStatus save(MsApiCall *c, bool safetensors)
{
    const char **name = NULL, **text = NULL;
    MsTensor **tensor = NULL;
    MsCipher space;
    const MsCipher *cipher = NULL;
    if (!safetensors) MS_TRY(cipher_of(c, 3, &space, &cipher));
    MsStatus st = lists_of(c, &name, &tensor, &text);
    int n = ARG(1)->n;
    for (int k = 0; st == MS_OK && safetensors && k < n; k++)
        if (text[k])
            st = MS_FAIL(MS_ERROR_TYPE, "The entry '%s' is a str, which the safetensors format cannot hold.",
                         name[k]);
    if (st == MS_OK)
        st = safetensors ? ms_safetensors_save(ARG(0)->s, n, name, tensor)
                         : ms__checkpoint_save(ARG(0)->s, n, name, tensor, text, cipher);
    free(name);
    free(tensor);
    free(text);
    return st;
}

static MsStatus list_new(MsArg *out, int n)
{
    MsArg *list = ms__calloc((size_t)n + 1, sizeof *list);
    if (!list) return MS_ERROR_MEMORY;
    *out = (MsArg){.kind = MS_ARG_LIST, .n = n, .list = list};
    return MS_OK;
}

/* (names, values). The texts must outlive the call, so they are interned. */
static MsStatus load(MsApiCall *c, MsCheckpoint *ckpt)
{
    if (!ckpt) return ms_error()->code;
    int n = ms_checkpoint_count(ckpt);
    MsStatus st = list_new(&c->out, 2);
    for (int half = 0; half < 2 && st == MS_OK; half++) st = list_new(&c->out.list[half], n);
    for (int k = 0; k < n && st == MS_OK; k++) {
        MsArg *name = &c->out.list[0].list[k], *value = &c->out.list[1].list[k];
        const char *text = ms_checkpoint_text(ckpt, k);
        *name = (MsArg){.kind = MS_ARG_STR, .s = ms__intern(ms_checkpoint_name(ckpt, k))};
        *value = text ? (MsArg){.kind = MS_ARG_STR, .s = ms__intern(text)}
                      : (MsArg){.kind = MS_ARG_TENSOR, .t = ms_checkpoint_tensor(ckpt, k)};
        if (!name->s || !value->t) st = MS_ERROR_MEMORY;
    }
    ms_checkpoint_free(ckpt);
    if (st != MS_OK) ms__api_release(&c->out);
    return st;
}

MS_API(ckpt_save, "_format.ckpt_save",
       "(path: str, names: any, values: any, mode: str = None, key: str = '') -> None")
{
    return save(c, false);
}
MS_API(safetensors_save, "_format.safetensors_save", "(path: str, names: any, values: any) -> None")
{
    return save(c, true);
}
MS_API(ckpt_load, "_format.ckpt_load", "(path: str, mode: str = None, key: str = '') -> any")
{
    MsCipher space;
    const MsCipher *cipher;
    MS_TRY(cipher_of(c, 1, &space, &cipher));
    return load(c, ms__checkpoint_load(ARG(0)->s, cipher));
}
MS_API(safetensors_load, "_format.safetensors_load", "(path: str) -> any")
{
    return load(c, ms_safetensors_load(ARG(0)->s));
}
/* ---- encrypted bytes ---- */

static MsStatus bytes_of(MsTensor *t, MsBytes *out)
{
    MsDtype dtype = ms_tensor_dtype(t);
    MsTensor *x = ms_tensor_empty(dtype, ms_tensor_ndim(t), ms_tensor_shape(t));
    if (!x) return ms_error()->code;
    *out = (MsBytes){ms_tensor_data(x), (size_t)ms_tensor_numel(x) * ms_dtype_size(dtype)};
    return ms__tensor_read(t, dtype, ms_tensor_data(x));
}

static MsStatus give_bytes(MsApiCall *c, MsStatus st, MsBytes *b)
{
    int64_t n = (int64_t)b->n;
    MsTensor *t = st == MS_OK ? ms_tensor_empty(MS_UINT8, 1, &n) : NULL;
    if (t) memcpy(ms_tensor_data(t), b->p, b->n);
    free(b->p);
    return st == MS_OK ? R(t) : st;
}

MS_API(seal, "_format.seal", "(content: Tensor, mode: str, key: str) -> Tensor")
{
    MsCipher space;
    const MsCipher *cipher;
    MsBytes in, out = {NULL, 0};
    MS_TRY(cipher_of(c, 1, &space, &cipher));
    MS_TRY(bytes_of(T(0), &in));
    return give_bytes(c, ms__seal(cipher, in.p, in.n, &out), &out);
}
MS_API(unseal, "_format.unseal", "(content: Tensor, mode: str, key: str, what: str) -> Tensor")
{
    MsCipher space;
    const MsCipher *cipher;
    MsBytes in, out = {NULL, 0};
    MS_TRY(cipher_of(c, 1, &space, &cipher));
    MS_TRY(bytes_of(T(0), &in));
    return give_bytes(c, ms__unseal(cipher, ARG(3)->s, in.p, in.n, &out), &out);
}

/* ---- event logs ---- */

MS_API(record_append, "_format.record_append", "(path: str, record: Tensor) -> None")
{
    MsBytes b;
    MS_TRY(bytes_of(T(1), &b));
    return ms__record_append(ARG(0)->s, b.p, b.n);
}
