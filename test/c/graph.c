/* graph.c - the text form, the passes and the executor. Every test/golden/<pass>.txt holds cases "== title",
 * a graph,
 * "--", the graph after the pass. MS_GOLDEN_UPDATE=1 rewrites the expected halves. */
#include "core/mem.h"
#include "cpu/isa.h"
#include "graph/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_pass, n_fail;

#define CHECK(cond, ...)                                                                                     \
    do {                                                                                                     \
        if (cond) {                                                                                          \
            n_pass++;                                                                                        \
        } else {                                                                                             \
            n_fail++;                                                                                        \
            printf("%s:%d: ", __FILE__, __LINE__);                                                           \
            printf(__VA_ARGS__);                                                                             \
            printf(" [%s]\n", ms__failed() ? ms_error()->message : "no error");                              \
        }                                                                                                    \
        ms_error_clear();                                                                                    \
    } while (0)

static void golden_path(char *buf, size_t cap, const char *name)
{
    snprintf(buf, cap, MS_TESTS_AT "/golden/%s.txt", name);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *s = calloc((size_t)n + 1, 1);
    if (s && fread(s, 1, (size_t)n, f) != (size_t)n) s[0] = 0;
    fclose(f);
    return s;
}

typedef MsStatus (*Pass)(MsGraph *g);

/* One case: what the pass makes of `before`, or the error message. */
static char *apply(Pass pass, const char *before)
{
    MsGraph *g = ms_graph_parse(before);
    char *text = NULL;
    if (g && (!pass || pass(g) == MS_OK) && ms__graph_verify(g) == MS_OK) text = ms_graph_print(g);
    if (!text) {
        size_t n = strlen(ms_error()->message) + 32;
        text = malloc(n);
        if (text) snprintf(text, n, "error: %s\n", ms_error()->message);
    }
    ms_graph_unref(g);
    ms_error_clear();
    return text;
}

static void golden(const char *name, Pass pass)
{
    char path[1024];
    golden_path(path, sizeof path, name);
    char *all = read_file(path);
    CHECK(all, "cannot read %s", path);
    if (!all) return;
    FILE *update = getenv("MS_GOLDEN_UPDATE") ? fopen(path, "wb") : NULL;
    char *title = strncmp(all, "== ", 3) == 0 ? all + 3 : NULL;
    while (title) {
        char *next = strstr(title, "\n== ");
        if (next) next[1] = 0;
        char *before = strchr(title, '\n'), *after = before ? strstr(before, "\n--\n") : NULL;
        if (!after) {
            CHECK(false, "%s: a case without '--': %s", path, title);
            break;
        }
        *before++ = 0;
        *after = 0;
        after += 4;
        char *got = apply(pass, before);
        if (update)
            fprintf(update, "== %s\n%s\n--\n%s", title, before, got);
        else
            CHECK(got && strcmp(after, got) == 0, "%s: %s\n-- expected\n%s\n-- got\n%s", path, title, after,
                  got);
        free(got);
        title = next ? next + 4 : NULL;
    }
    if (update) fclose(update);
    free(all);
}

#define PASS(name)                                                                                           \
    static MsStatus pass_##name(MsGraph *g)                                                                  \
    {                                                                                                        \
        bool changed = false;                                                                                \
        return ms__pass_run(&ms__pass_##name, g, &changed);                                                  \
    }
PASS(dce)
PASS(cse)
PASS(fold)
PASS(simplify)
PASS(narrow)
PASS(norm)
PASS(fuse)
PASS(attention)
PASS(join)
PASS(conv)

/* Whatever is cut off or replaced, the parser gives an error or a valid graph. */
static void broken_text(void)
{
    static const char text[] = "graph @f(%0: float32[2,3], %1: float32[3]) captured(%2: float32[]) {\n"
                               "  %3: float32[2,3] = add(%0, %1)\n  return %3\n  write %2 = %2\n}";
    char buf[sizeof text];
    bool good = true;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        memcpy(buf, text, sizeof text);
        buf[n] = 0;
        MsGraph *g = ms_graph_parse(buf);
        good &= !g && ms__failed();
        ms_graph_unref(g);
        ms_error_clear();
        for (const char *c = "%(){}]=,:@9a\"-"; *c; c++) {
            memcpy(buf, text, sizeof text);
            buf[n] = *c;
            g = ms_graph_parse(buf);
            good &= g ? !ms__failed() && ms__graph_verify(g) == MS_OK : ms__failed();
            ms_graph_unref(g);
            ms_error_clear();
        }
    }
    CHECK(good, "a damaged text was not refused properly");
}

static void refused_memory(void)
{
    static const char text[] = "graph @f(%0: float32[2,3]) captured(%1: float32[3]) {\n"
                               "  %2 = add(%0, %1)\n  return %2\n  write %1 = %1\n}";
    ms_graph_unref(ms_graph_parse(text));
    int64_t live = ms_memory_stats().n_live, bytes = ms_memory_stats().allocated;
    bool done = false;
    for (int64_t n = 1; n < 200 && !done; n++) {
        ms_memory_fail_after(n, false);
        MsGraph *g = ms_graph_parse(text);
        char *s = g ? ms_graph_print(g) : NULL;
        done = s != NULL;
        ms_memory_fail_after(0, false);
        CHECK(done || (ms__failed() && ms_error()->code == MS_ERROR_MEMORY), "allocation %d", (int)n);
        free(s);
        ms_graph_unref(g);
    }
    CHECK(done, "parsing never succeeds");
    CHECK(ms_memory_stats().n_live == live && ms_memory_stats().allocated == bytes, "parsing leaks");
}

int main(void)
{
    golden("parse", NULL);
    golden("dce", pass_dce);
    golden("cse", pass_cse);
    golden("fold", pass_fold);
    golden("simplify", pass_simplify);
    golden("narrow", pass_narrow);
    golden("norm", pass_norm);
    golden("fuse", pass_fuse);
    golden("attention", pass_attention);
    golden("join", pass_join);
    if (ms__isa() != MS_ISA_LEVEL_BASE) golden("conv", pass_conv);
    broken_text();
    refused_memory();
    printf("%d passed, %d failed\n", n_pass, n_fail);
    return n_fail > 0;
}
