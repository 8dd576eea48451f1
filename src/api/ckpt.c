/* ckpt.c - rows that read and write files: checkpoints, safetensors, event logs (`_format.*`). */
#include "api/api.h"
#include "core/mem.h"
#include "format/record.h"

#include <stdlib.h>

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
    MsStatus st = lists_of(c, &name, &tensor, &text);
    int n = ARG(1)->n;
    for (int k = 0; st == MS_OK && safetensors && k < n; k++)
        if (text[k])
            st = MS_FAIL(MS_ERROR_TYPE, "The entry '%s' is a str, which the safetensors format cannot hold.",
                         name[k]);
    if (st == MS_OK)
        st = safetensors ? ms_safetensors_save(ARG(0)->s, n, name, tensor)
                         : ms_checkpoint_save(ARG(0)->s, n, name, tensor, text);
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

MS_API(ckpt_save, "_format.ckpt_save", "(path: str, names: any, values: any) -> None")
{
    return save(c, false);
}
MS_API(safetensors_save, "_format.safetensors_save", "(path: str, names: any, values: any) -> None")
{
    return save(c, true);
}
MS_API(ckpt_load, "_format.ckpt_load", "(path: str) -> any")
{
    return load(c, ms_checkpoint_load(ARG(0)->s));
}
MS_API(safetensors_load, "_format.safetensors_load", "(path: str) -> any")
{
    return load(c, ms_safetensors_load(ARG(0)->s));
}
MS_API(record_append, "_format.record_append", "(path: str, record: Tensor) -> None")
{
    MsTensor *bytes = ms_contiguous(T(1));
    return bytes ? ms__record_append(ARG(0)->s, ms_tensor_data(bytes),
                                     (size_t)ms_tensor_numel(bytes) * ms_dtype_size(ms_tensor_dtype(bytes)))
                 : ms_error()->code;
}
