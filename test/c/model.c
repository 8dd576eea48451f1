/* model.c - the reader of models on damaged files: whatever the bytes say, the answer is a message or an error, and nothing
 * stays behind. test_model [FILE [COUNT]]: without a file a model of every kind of field is written first. */
#include "format/export.h"
#include "format/mindir.h"
#include "mindspore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_passed, n_failed;

static void expect(bool good, const char *what)
{
    good ? n_passed++ : n_failed++;
    if (!good) fprintf(stderr, "model: %s: %s\n", what, ms_error()->message);
}

static uint64_t state = 88172645463325252ULL;
static uint64_t draw(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

/* Every tensor of a message, at any depth. How many could be made. */
static int tensors(const MsProtoMessage *m)
{
    int n = 0;
    if (m->fields == ms__mindir_tensor) {
        int mark = ms_scope_begin();
        n += ms__mindir_tensor_of(m, "/nowhere") != NULL;
        if (!n) ms_error_clear();
        ms_scope_end(mark, NULL, 0);
    }
    for (int k = 0; k < m->n; k++)
        if (m->item[k].field->kind == MS_PROTO_MESSAGE) n += tensors(m->item[k].m);
    return n;
}

static int decode(const uint8_t *p, size_t n)
{
    MsProtoMessage *m = ms__proto_decode("The file", ms__mindir_model, p, n);
    int count = m ? tensors(m) : -1;
    expect(m || ms_error()->code == MS_ERROR_VALUE, "a damaged file gives an error of kind VALUE");
    ms_error_clear();
    ms__proto_free(m);
    return count;
}

/* y = gelu(x w + b): a model with inputs, parameters, constants and nodes, one of which is lowered. */
static MsGraph *graph(void)
{
    int mark = ms_scope_begin();
    MsTensor *w = ms_full(MS_INTS(3, 4), 0.5, MS_FLOAT32), *b = ms_full(MS_INTS(4), 1, MS_FLOAT32);
    MsTensor *in = ms_full(MS_INTS(2, 3), 0, MS_FLOAT32), *x;
    MsTrace *t = ms_stage_begin(1, &in, &x);
    MsTensor *y = ms_gelu(ms_add(ms_matmul(x, w, false, false), b));
    MsGraph *g = ms_stage_end(t, 1, &y);
    ms_scope_end(mark, NULL, 0);
    return g;
}

static MsStatus write_model(const MsGraph *g, bool onnx, MsProtoBuffer *out)
{
    MsModel m = {.g = g,
                 .name = "1_net",
                 .input = (const char *[]){"x"},
                 .captured = (const char *[]){"w", "b"},
                 .result = "(0,(N,i3))"};
    return onnx ? ms__onnx_write(&m, NULL, out) : ms__mindir_write(&m, out);
}

/* Every allocation of writing and of reading is refused once. */
static void refuse(const MsGraph *g, bool onnx)
{
    MsStatus st = MS_ERROR_MEMORY;
    int64_t live = ms_memory_stats().n_live;
    int k = 0;
    for (; st != MS_OK && k < 20000; k++) {
        MsProtoBuffer out = {0};
        ms_memory_fail_after(k + 1, false);
        st = write_model(g, onnx, &out);
        bool told = st == MS_OK || st == MS_ERROR_MEMORY;
        if (st == MS_OK && !onnx) {
            MsProtoMessage *m = ms__proto_decode("The file", ms__mindir_model, out.p, out.n);
            if (!m) st = MS_ERROR_MEMORY;
            told &= m || ms_error()->code == MS_ERROR_MEMORY;
            ms__proto_free(m);
        }
        ms_memory_fail_after(0, false);
        expect(told, "a refused allocation is told");
        ms_error_clear();
        free(out.p);
    }
    expect(st == MS_OK && k > 100 && ms_memory_stats().n_live == live,
           "writing works in the end and leaves nothing behind");
}

static uint8_t *sample(size_t *n)
{
    MsProtoBuffer out = {0};
    MsGraph *g = graph();
    expect(g && write_model(g, false, &out) == MS_OK, "a graph is written");
    for (int onnx = 0; g && onnx < 2; onnx++) refuse(g, onnx);
    ms_graph_unref(g);
    *n = out.n;
    return out.p;
}

static uint8_t *file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    uint8_t *p = f ? malloc(1 << 20) : NULL;
    *n = p ? fread(p, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return p;
}

static void damage(const uint8_t *whole, size_t n, int count)
{
    for (int k = 0; k < count; k++) {
        size_t len = draw(4) ? n : draw(n + 1);
        uint8_t *p =
            malloc(len + 1); /* of exactly this size, so that a sanitizer sees the first byte too many */
        p = realloc(p, len ? len : 1);
        memcpy(p, whole, len);
        for (uint64_t j = 1 + draw(8); len && j > 0; j--) {
            size_t at = draw(len);
            switch (draw(3)) {
            case 0: p[at] = (uint8_t)draw(256); break;
            case 1: p[at] ^= (uint8_t)(1u << draw(8)); break;
            default: p[at] |= 0x80; /* a length that goes on */
            }
        }
        decode(p, len);
        free(p);
    }
}

/* A model with a constant that is a tuple in a tuple in a ...: what decode says of it. */
static int nested(int depth)
{
    MsProtoBuffer b = {0};
    for (int k = 0; k < depth; k++) {
        MsProtoBuffer inner = b;
        b = (MsProtoBuffer){0};
        ms__proto_message(&b, 17, &inner);
    }
    static const int path[] = {5, 1, 7}; /* attribute, node, graph */
    for (int k = 0; k < 3; k++) {
        MsProtoBuffer inner = b;
        b = (MsProtoBuffer){0};
        ms__proto_message(&b, path[k], &inner);
    }
    int r = decode(b.p, b.n);
    free(b.p);
    return r;
}

int main(int argc, char **argv)
{
    size_t n;
    uint8_t *whole = argc > 1 ? file(argv[1], &n) : sample(&n);
    int64_t live = ms_memory_stats().n_live, bytes = ms_memory_stats().allocated;
    int count = whole ? decode(whole, n) : -1;
    expect(count >= 2, "the whole file and its tensors are read");
    damage(whole, n, argc > 2 ? atoi(argv[2]) : 2000);
    expect(ms_memory_stats().n_live == live && ms_memory_stats().allocated == bytes, "nothing stays behind");
    expect(nested(10) == 0 && nested(400) == -1, "messages are nested to a limit");
    free(whole);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}
