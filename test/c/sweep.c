/* sweep.c - walks the registry and checks every operator on every one of its samples; no line per operator.
 *
 *   infer    the outputs have the shapes and dtypes that the shape rule promised
 *   kernels  every kernel that accepts agrees with the reference (the last of the list)
 *   special  NaN, infinities, -0, subnormals and extreme integers: the same
 *   dtypes   every dtype that the signature admits gives what the widest of its kind gives, rounded or wrapped
 *   strided  non-contiguous inputs give the same result, bit for bit
 *   preset   writing into a given output gives the same result
 *   grad     the vjp rule against central differences in float64
 *   grad2    the derivative of the vjp rule the same way
 *   jvp      forward mode agrees with reverse mode: <ct, J v> = <J' ct, v>
 *   vmap     batching equals a loop over examples
 *   stage    a staged graph gives the eager result, bit for bit
 *   threads  one thread and two give the same bits
 *   alloc    a refused allocation at any point, of the value and of the gradient, is an error, leaks nothing and
 *            leaves the library usable
 *
 * Each operator prints how often each check compared something; one that has a derivative and no comparison of it
 * with differences fails, as does one without a sample.
 *
 * Sample grammar: cases separated by `;`. A case: a token per input, then attributes. `f32[3,4]`, `i64[3]<5`
 * (values in [0,5)), `f32[2]>0` (above 0), `f32[3]{0.5,2}` (values in the range), `none` (absent). Attributes
 * `axis=1`, `axis=0,2`, `axis=` (an empty list), `keepdims` (true), `dtype=float32`.
 *
 * usage: test_sweep [--op NAME] [--check NAME] [--list] [--table]
 * --table prints docs/operators.md, from the same registry.
 */
#include "core/mem.h"
#include "core/tensor.h"
#include "graph/ir.h"
#include "trace/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MsStatus ms__copy(MsTensor *dst, MsTensor *src);

#define MAX_IN 16
#define MAX_OUT 16

typedef struct Case {
    const MsOp *op;
    const MsSig *sig;
    int index, n_in;
    MsAval in[MAX_IN]; /* dtype NONE: absent */
    double lo[MAX_IN], hi[MAX_IN];
    int64_t index_hi[MAX_IN]; /* index inputs without a range: values below the smallest size of the first
                                 input */
    MsAttr attr[MS_MAX_ATTR];
    bool special;
} Case;

static int n_passed, n_failed;
static const char *only_check;

static const char *const checks[] = {"infer", "kernels", "special", "dtypes", "strided", "preset", "grad",
                                     "grad2", "jvp",     "vmap",    "stage",  "threads", "alloc"};
enum {
    N_CHECKS = sizeof checks / sizeof *checks
};
static int n_done[N_CHECKS]; /* verdicts on the operator at hand */

static int done(const char *check)
{
    int k = 0;
    while (strcmp(checks[k], check) != 0) k++;
    return k;
}

static void verdict(const Case *c, const char *check, bool ok, const char *fmt, double value)
{
    n_done[done(check)]++;
    if (ok) {
        n_passed++;
        return;
    }
    n_failed++;
    printf("FAILED %s sample %d, %s: ", c->op->name, c->index, check);
    printf(fmt, value);
    if (ms__failed()) printf(" (%s)", ms_error()->message);
    printf("\n    again: test_sweep --op %s --check %s\n", c->op->name, check);
    ms_error_clear();
}

static bool wanted(const char *check)
{
    return !only_check || strcmp(only_check, check) == 0;
}

static int n_refuse; /* operators, and second derivatives of samples, that refuse to be differentiated */

/* Whether the sizes of the results are known before it runs. */
static bool sized(const MsOp *op)
{
    return strcmp(op->name, "nonzero") != 0 && strcmp(op->name, "unique") != 0;
}

/* ---- samples ---- */

static MsDtype dtype_of(const char **p)
{
    static const struct {
        const char *text;
        MsDtype dtype;
    } names[] = {{"bool", MS_BOOL},   {"bf16", MS_BFLOAT16}, {"i16", MS_INT16},      {"i32", MS_INT32},
                 {"i64", MS_INT64},   {"u16", MS_UINT16},    {"u32", MS_UINT32},     {"u64", MS_UINT64},
                 {"i8", MS_INT8},     {"u8", MS_UINT8},      {"f16", MS_FLOAT16},    {"f32", MS_FLOAT32},
                 {"f64", MS_FLOAT64}, {"c64", MS_COMPLEX64}, {"c128", MS_COMPLEX128}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n = strlen(names[k].text);
        if (strncmp(*p, names[k].text, n) == 0 && (*p)[n] == '[') {
            *p += n;
            return names[k].dtype;
        }
    }
    return MS_DTYPE_NONE;
}

static bool parse_input(Case *c, const char *p)
{
    MsAval *a = &c->in[c->n_in];
    c->lo[c->n_in] = c->hi[c->n_in] = 0;
    if (strcmp(p, "none") == 0 || strcmp(p, "-") == 0) {
        *a = (MsAval){.dtype = MS_DTYPE_NONE};
        c->n_in++;
        return true;
    }
    MsDtype d = dtype_of(&p);
    if (d == MS_DTYPE_NONE) return false;
    *a = (MsAval){.dtype = d};
    p++;
    while (*p && *p != ']') {
        char *end;
        a->shape[a->ndim++] = strtoll(p, &end, 10);
        p = *end == ',' ? end + 1 : end;
    }
    double *lo = &c->lo[c->n_in], *hi = &c->hi[c->n_in];
    bool is_index = c->n_in > 0 && (d == MS_INT32 || d == MS_INT64) && *p && p[1] == 0;
    *lo = ms_dtype_is_int(d) || d == MS_BOOL ? 0 : -2;
    *hi = is_index ? 0 : ms_dtype_is_int(d) ? 5 : 2;
    p++;
    if (*p == '<') *lo = 0, *hi = atof(p + 1);
    if (*p == '>') *lo = atof(p + 1) + 0.1, *hi = *lo + 2;
    if (*p == '{') sscanf(p, "{%lf,%lf}", lo, hi);
    c->n_in++;
    return true;
}

static bool parse_attr(Case *c, char *token)
{
    char *value = strchr(token, '=');
    if (value) *value++ = 0;
    for (int k = 0; k < c->sig->n_attr; k++) {
        if (strcmp(c->sig->attr[k].name, token) != 0) continue;
        MsAttr *a = &c->attr[k];
        a->kind = c->sig->attr[k].kind;
        switch (a->kind) {
        case MS_ATTR_INT: a->i = strtoll(value ? value : "0", NULL, 10); break;
        case MS_ATTR_FLOAT: a->f = strtod(value ? value : "0", NULL); break;
        case MS_ATTR_BOOL: a->i = !value || strcmp(value, "1") == 0 || strcmp(value, "true") == 0; break;
        case MS_ATTR_STR:
            for (char *p = value; p && *p; p++) *p = *p == '~' ? ' ' : *p == '|' ? ';' : *p;
            a->s = ms__intern(value ? value : "");
            break;
        case MS_ATTR_DTYPE:
            for (int d = 0; d < MS_DTYPE_COUNT; d++)
                if (value && strcmp(ms_dtype_name((MsDtype)d), value) == 0) a->i = d;
            break;
        case MS_ATTR_INTS:
            for (char *p = value; p && *p;) {
                char *end;
                a->v[a->n++] = strtoll(p, &end, 10);
                p = *end == ',' ? end + 1 : end;
                if (end == p) break;
            }
            break;
        default: return false;
        }
        return true;
    }
    return false;
}

static bool parse_case(Case *c, const MsOp *op, int index, const char *text)
{
    *c = (Case){.op = op, .sig = ms__sig(op), .index = index};
    if (!c->sig) return false;
    for (int k = 0; k < c->sig->n_attr; k++) { /* what a sample does not name */
        MsAttr *a = &c->attr[k];
        a->kind = c->sig->attr[k].kind;
        if (a->kind == MS_ATTR_INTS || a->kind == MS_ATTR_DTYPE || a->kind == MS_ATTR_STR)
            a->kind = MS_ATTR_NONE;
    }
    char buf[512];
    if (strlen(text) >= sizeof buf) return false;
    strcpy(buf, text);
    char *save = NULL;
    for (char *t = strtok_r(buf, " ", &save); t; t = strtok_r(NULL, " ", &save))
        if ((c->n_in == MAX_IN || !parse_input(c, t)) && !parse_attr(c, t)) return false;
    for (int i = 1; i < c->n_in; i++) /* an index reaches every axis of the first input */
        for (int d = 0; c->hi[i] == 0 && c->in[i].dtype != MS_DTYPE_NONE && d < c->in[0].ndim; d++)
            if (c->index_hi[i] == 0 || (c->in[0].shape[d] > 0 && c->in[0].shape[d] < c->index_hi[i]))
                c->index_hi[i] = c->in[0].shape[d] > 0 ? c->in[0].shape[d] : 1;
    return true;
}

/* ---- values ---- */

static uint64_t rng = 1;
static double uniform(void)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (double)(rng >> 11) / 9007199254740992.0;
}

/* v: a number per element, of complex dtypes a pair */
static MsTensor *tensor(MsDtype dtype, int ndim, const int64_t *shape, const double *v)
{
    MsDtype d = ms_dtype_is_complex(dtype) ? MS_COMPLEX128 : MS_FLOAT64;
    MsTensor *wide = ms_tensor_empty(d, ndim, shape);
    if (!wide) return NULL;
    memcpy(wide->data, v, (size_t)wide->numel * ms_dtype_size(d));
    MsTensor *t = ms_tensor_empty(dtype, ndim, shape);
    return t && ms__copy(t, wide) == MS_OK ? t : NULL;
}

/* The input of the signature that says which dtypes input i may have. */
static const MsSigInput *declared(const Case *c, int i)
{
    const MsSigInput *in = &c->sig->in[i < c->sig->n_in ? i : c->sig->n_in - 1]; /* the last may be a list */
    while (in->same_as >= 0) in = &c->sig->in[in->same_as];
    return in;
}

static bool is_index_input(const Case *c, int i)
{
    uint32_t dtypes = declared(c, i)->dtypes;
    return dtypes & 1u << MS_INT64 && !(dtypes & 1u << MS_UINT8);
}

/* The smallest and the largest integers of the dtype, and those about zero. */
static void make_extreme(MsTensor *t)
{
    size_t size = ms_dtype_size((MsDtype)t->dtype);
    uint64_t low = ms_dtype_is_signed_int((MsDtype)t->dtype) ? (uint64_t)1 << (8 * size - 1) : 0;
    const uint64_t edge[] = {low, low - 1, low + 1, UINT64_MAX, 0, 1};
    for (int64_t k = 0; k < t->numel; k++)
        memcpy((char *)t->data + (size_t)k * size, &edge[(size_t)(uniform() * 6) % 6], size);
}

static MsTensor *make_input(const Case *c, int i, MsDtype dtype)
{
    static const double odd[] = {NAN,  INFINITY, -INFINITY, -0.0, 0.0,  1e-310, 1e-40,
                                 1e18, -1.0,     0.5,       1.0,  88.9, -104.0};
    const MsAval *a = &c->in[i];
    int64_t n = ms__numel(a->ndim, a->shape) * (ms_dtype_is_complex(dtype) ? 2 : 1);
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    bool is_float = ms_dtype_is_float(a->dtype) || ms_dtype_is_complex(a->dtype);
    int64_t start = (int64_t)(uniform() * 100); /* indices run on from here: distinct as far as they can be */
    for (int64_t k = 0; k < n; k++) {
        v[k] = c->lo[i] + (c->hi[i] - c->lo[i]) * uniform();
        if (c->index_hi[i] > 0) v[k] = (double)((start + k) % c->index_hi[i]);
        if (!is_float) v[k] = floor(a->dtype == MS_BOOL ? 2 * uniform() : v[k]);
        if (c->special && is_float && c->lo[i] == -2) v[k] = odd[(size_t)(uniform() * 13) % 13];
    }
    MsTensor *t = tensor(dtype, a->ndim, a->shape, v);
    free(v);
    if (t && c->special && ms_dtype_is_int(dtype) && c->index_hi[i] == 0 && c->lo[i] == 0 && c->hi[i] == 5 &&
        !is_index_input(c, i))
        make_extreme(t);
    return t;
}

static bool make_inputs(const Case *c, MsTensor **in, bool wide)
{
    rng = (uint64_t)c->index * 977 + 11;
    for (int i = 0; i < c->n_in; i++) {
        in[i] = NULL;
        if (c->in[i].dtype == MS_DTYPE_NONE) continue;
        MsDtype d = c->in[i].dtype;
        if (wide && ms_dtype_is_float(d)) d = MS_FLOAT64;
        if (wide && ms_dtype_is_complex(d)) d = MS_COMPLEX128;
        in[i] = make_input(c, i, d);
        if (!in[i]) return false;
    }
    return true;
}

/* The elements as float64 or complex128 (pairs), or as int64, which keeps equal what is equal. */
static void *values(MsTensor *t, MsDtype dtype)
{
    MsTensor *wide = ms_tensor_empty(dtype, t->ndim, t->shape);
    size_t size = ms_dtype_size(dtype);
    void *v = calloc((size_t)t->numel + 1, size);
    if (wide && ms__copy(wide, t) == MS_OK) memcpy(v, wide->data, (size_t)t->numel * size);
    return v;
}

static double tolerance(MsDtype d)
{
    return d == MS_FLOAT16                         ? 4e-3
           : d == MS_BFLOAT16                      ? 3e-2
           : d == MS_FLOAT64 || d == MS_COMPLEX128 ? 1e-11
                                                   : 3e-5;
}

/* Largest relative difference; NaN equals NaN. Integers are equal or infinitely far apart. */
static double difference(MsTensor *a, MsTensor *b)
{
    if (a->ndim != b->ndim || a->numel != b->numel || a->dtype != b->dtype) return INFINITY;
    bool exact = !ms_dtype_is_float((MsDtype)a->dtype) && !ms_dtype_is_complex((MsDtype)a->dtype);
    MsDtype wide = exact ? MS_INT64 : MS_COMPLEX128;
    double *x = values(a, wide), *y = values(b, wide), worst = 0;
    if (exact && memcmp(x, y, (size_t)a->numel * sizeof(int64_t)) != 0) worst = INFINITY;
    for (int64_t k = 0; k < 2 * a->numel && !exact; k++) {
        if (x[k] == y[k] || (isnan(x[k]) && isnan(y[k]))) continue;
        double d = fabs(x[k] - y[k]) / fmax(1, fmax(fabs(x[k]), fabs(y[k])));
        if (!(d <= worst)) worst = isnan(d) ? INFINITY : d;
    }
    free(x);
    free(y);
    return worst;
}

static MsStatus apply(const Case *c, MsTensor *const *in, MsTensor **out, int *n_out)
{
    return ms_bind(c->op, c->attr, c->n_in, in, MAX_OUT, out, n_out);
}

/* ---- value checks ---- */

static void check_infer(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    MsAval a[MAX_IN], o[MAX_OUT];
    for (int i = 0; i < c->n_in; i++) {
        a[i].dtype = MS_DTYPE_NONE;
        if (in[i]) a[i] = ms__aval(in[i]);
    }
    int n = 0;
    bool ok = ms__infer(c->op, c->attr, c->n_in, a, MAX_OUT, o, &n) == MS_OK && n == n_out;
    if (!sized(c->op)) n = 0;
    for (int j = 0; j < n && ok; j++)
        ok = out[j]->dtype == (int)o[j].dtype && out[j]->ndim == o[j].ndim &&
             memcmp(out[j]->shape, o[j].shape, (size_t)o[j].ndim * sizeof(int64_t)) == 0;
    verdict(c, "infer", ok, "outputs differ from the shape rule%.0f", 0);
}

static void check_kernels(const Case *c, MsTensor *const *in, const char *name)
{
    MsAval a[MAX_IN], o[MAX_OUT];
    for (int i = 0; i < c->n_in; i++) {
        a[i].dtype = MS_DTYPE_NONE;
        if (in[i]) a[i] = ms__aval(in[i]);
    }
    int n = 0;
    if (ms__infer(c->op, c->attr, c->n_in, a, MAX_OUT, o, &n) != MS_OK) {
        ms_error_clear();
        return;
    }
    const MsKernel *const *k = c->op->kernels;
    int n_kernels = 0;
    while (k[n_kernels]) n_kernels++;
    MsTensor *ref[MAX_OUT] = {NULL};
    MsCall call = {c->op, c->attr, c->n_in, n, in, ref, o};
    MsStatus ref_st = k[n_kernels - 1]->run(&call);
    ms_error_clear();
    for (int q = 0; q < n_kernels - 1; q++) {
        MsTensor *out[MAX_OUT] = {NULL};
        call.out = out;
        if (k[q]->ok && k[q]->ok(&call)) continue;
        MsStatus st = k[q]->run(&call);
        if (st != ref_st) {
            verdict(c, name, false, "a kernel gives another status than the reference: %.0f", (double)st);
            continue;
        }
        double worst = 0;
        for (int j = 0; j < n && st == MS_OK; j++) worst = fmax(worst, difference(out[j], ref[j]));
        double limit = tolerance((MsDtype)o[0].dtype) * 4;
        if (worst > limit) printf("    kernel %s\n", k[q]->name);
        verdict(c, name, worst <= limit, "differs from the reference by %g", worst);
        ms_error_clear();
    }
}

/* Each dtype of the first input (and of those that share it) beside the widest of its kind on the same values. */
static void check_dtypes(const Case *given)
{
    for (int d = 0; d < MS_DTYPE_COUNT && given->n_in > 0; d++) {
        Case c = *given;
        bool is_float = ms_dtype_is_float((MsDtype)d), is_complex = ms_dtype_is_complex((MsDtype)d);
        MsDtype own = c.in[0].dtype, wide = is_float ? MS_FLOAT64 : is_complex ? MS_COMPLEX128 : MS_INT64;
        if (d == MS_BOOL || own == MS_BOOL || is_index_input(&c, 0) || !(c.sig->in[0].dtypes & 1u << d))
            continue;
        for (int i = 0; i < c.n_in; i++) {
            if (c.in[i].dtype == MS_DTYPE_NONE || declared(&c, i) != c.sig->in) continue;
            c.in[i].dtype = (MsDtype)d;
            if (is_float || is_complex || ms_dtype_is_int(own)) {
                if (c.lo[i] < 0 && !is_float && !is_complex && !ms_dtype_is_signed_int((MsDtype)d))
                    c.lo[i] = 0;
            } else { /* whole numbers in place of fractions, none of them zero where the sample avoids it */
                c.hi[i] = 5;
                c.lo[i] = c.lo[i] > 0 ? 1 : 0;
            }
        }
        MsTensor *in[MAX_IN], *in_wide[MAX_IN], *y[MAX_OUT], *want[MAX_OUT];
        int n = 0, n_wide = 0;
        if (!make_inputs(&c, in, false)) continue;
        for (int i = 0; i < c.n_in; i++) {
            in_wide[i] = in[i];
            if (in[i] && declared(&c, i) == c.sig->in) in_wide[i] = ms_cast(in[i], wide);
        }
        MsStatus st = apply(&c, in, y, &n);
        ms_error_clear();
        MsStatus st_wide = apply(&c, in_wide, want, &n_wide);
        if (st == MS_OK &&
            st_wide == MS_ERROR_VALUE) { /* the other inputs have the dtype that goes with this one */
            ms_error_clear();
            continue;
        }
        double worst = st == st_wide ? 0 : INFINITY;
        for (int j = 0; j < n && st == MS_OK && st_wide == MS_OK; j++) {
            MsTensor *w = ms_cast(want[j], (MsDtype)y[j]->dtype);
            worst = fmax(worst, w ? difference(y[j], w) : INFINITY);
        }
        double limit = 4 * tolerance((MsDtype)d);
        if (worst > limit) printf("    %s\n", ms_dtype_name((MsDtype)d));
        verdict(given, "dtypes", worst <= limit, "differs from the widest dtype by %g", worst);
        ms_error_clear();
    }
}

/* The same values with strides that are not row-major: a transposed copy, or every second element. */
static MsTensor *restride(MsTensor *x)
{
    if (!x || x->ndim == 0) return x;
    int64_t shape[MS_MAX_DIM], strides[MS_MAX_DIM];
    for (int d = 0; d < x->ndim; d++) shape[d] = x->shape[x->ndim - 1 - d];
    if (x->ndim == 1) shape[0] *= 2;
    MsTensor *t = ms_tensor_empty((MsDtype)x->dtype, x->ndim, shape);
    if (!t) return NULL;
    memset(t->data, 0, (size_t)t->numel * ms_dtype_size((MsDtype)t->dtype));
    for (int d = 0; d < x->ndim; d++) strides[d] = x->ndim == 1 ? 2 : t->strides[x->ndim - 1 - d];
    MsTensor *v = ms__tensor_view(t, x->ndim, x->shape, strides, 0);
    return v && ms__copy(v, x) == MS_OK ? v : NULL;
}

static void check_strided(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    MsTensor *s[MAX_IN], *y[MAX_OUT] = {NULL};
    for (int i = 0; i < c->n_in; i++) s[i] = restride(in[i]);
    int n;
    MsStatus st = apply(c, s, y, &n);
    double worst = 0;
    for (int j = 0; j < n_out && st == MS_OK; j++) worst = fmax(worst, difference(y[j], out[j]));
    verdict(c, "strided", st == MS_OK && worst <= tolerance((MsDtype)out[0]->dtype), "differs by %g", worst);
}

static void check_preset(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    if (c->op->flags & (MS_OP_VIEW | MS_OP_CONTROL)) return;
    if (!sized(c->op)) return;
    MsTensor *y[MAX_OUT];
    MsAval o[MAX_OUT];
    for (int j = 0; j < n_out; j++) {
        o[j] = ms__aval(out[j]);
        y[j] = restride(out[j]);
        if (out[j]->ndim == 1) y[j] = ms_tensor_empty((MsDtype)out[j]->dtype, 1, out[j]->shape);
        if (out[j]->ndim == 0) y[j] = ms_tensor_empty((MsDtype)out[j]->dtype, 0, NULL);
        if (y[j]) memset(y[j]->storage->data, 0x5a, y[j]->storage->nbytes);
    }
    MsTensor *given[MAX_OUT];
    memcpy(given, y, sizeof given);
    MsCall call = {c->op, c->attr, c->n_in, n_out, in, y, o};
    const MsKernel *k = ms__select(&call);
    MsStatus st = k ? k->run(&call) : ms_error()->code;
    double worst = 0;
    for (int j = 0; j < n_out && st == MS_OK; j++)
        worst = y[j] != given[j] ? INFINITY : fmax(worst, difference(y[j], out[j]));
    verdict(c, "preset", st == MS_OK && worst <= tolerance((MsDtype)out[0]->dtype), "differs by %g", worst);
}

static void check_threads(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    int before = ms_thread_count();
    ms_thread_set_count(before == 1 ? 2 : 1);
    MsTensor *y[MAX_OUT];
    int n;
    MsStatus st = apply(c, in, y, &n);
    ms_thread_set_count(before);
    double worst = 0;
    for (int j = 0; j < n_out && st == MS_OK; j++) worst = fmax(worst, difference(y[j], out[j]));
    /* oneDNN splits long sums by threads; our own kernels never do */
    MsAval o[MAX_OUT];
    for (int j = 0; j < n_out; j++) o[j] = ms__aval(out[j]);
    MsTensor *none[MAX_OUT] = {NULL};
    MsCall call = {c->op, c->attr, c->n_in, n_out, in, none, o};
    const MsKernel *k = ms__select(&call);
    double limit = k && strncmp(k->name, "onednn", 6) == 0 ? tolerance((MsDtype)out[0]->dtype) : 0;
    verdict(c, "threads", st == MS_OK && worst <= limit, "differs by %g", worst);
}

static void check_stage(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    if (!sized(c->op)) return;
    MsTensor *given[MAX_IN], *x[MAX_IN], *arg[MAX_IN], *y[MAX_OUT];
    int n_arg = 0, n = 0, at = 0;
    for (int i = 0; i < c->n_in; i++)
        if (in[i]) given[n_arg++] = in[i];
    MsTrace *t = ms_stage_begin(n_arg, given, arg);
    for (int i = 0; i < c->n_in; i++) x[i] = in[i] ? arg[at++] : NULL;
    MsStatus st = t ? apply(c, x, y, &n) : ms_error()->code;
    MsGraph *g = NULL;
    if (st == MS_OK)
        g = ms_stage_end(t, n, y);
    else if (t)
        ms_stage_cancel(t);
    if (g) st = ms_graph_optimize(g, MS_JIT_O1);
    if (g && st == MS_OK) st = ms_graph_call(g, n_arg, given, y);
    double worst = 0;
    for (int j = 0; j < n_out && g && st == MS_OK; j++) worst = fmax(worst, difference(y[j], out[j]));
    ms_graph_unref(g);
    verdict(c, "stage", g && st == MS_OK && worst == 0, "differs by %g", worst);
}

/* pass 0: inputs 0, 2, .. are batched, 1: inputs 1, 3, .., 2: all of them. A batched call may be another kernel's. */
static void check_vmap(const Case *c, int pass)
{
    if (c->n_in < (pass ? 2 : 1) || !sized(c->op)) return;
    enum {
        B = 3
    };
    MsTensor *one[B][MAX_IN], *want[B][MAX_OUT], *in[MAX_IN], *x[MAX_IN], *y[MAX_OUT];
    int axis[MAX_IN], n = 0;
    uint64_t state = rng;
    for (int b = 0; b < B; b++)
        for (int i = 0; i < c->n_in; i++) {
            bool shared = pass < 2 && i % 2 != pass && b > 0;
            one[b][i] = c->in[i].dtype == MS_DTYPE_NONE ? NULL
                        : shared                        ? one[0][i]
                                                        : make_input(c, i, c->in[i].dtype);
        }
    rng = state;
    for (int b = 0; b < B; b++)
        if (apply(c, one[b], want[b], &n) != MS_OK) {
            verdict(c, "vmap", false, "an example fails%.0f", 0);
            return;
        }
    MsTensor *batched[MAX_IN];
    int n_arg = 0, arg_axis[MAX_IN];
    for (int i = 0; i < c->n_in; i++) {
        in[i] = one[0][i];
        axis[i] = -1;
        if (!in[i] || (pass < 2 && i % 2 != pass) || in[i]->ndim == MS_MAX_DIM) continue;
        int64_t shape[MS_MAX_DIM] = {B};
        memcpy(shape + 1, in[i]->shape, (size_t)in[i]->ndim * sizeof *shape);
        MsTensor *all = ms_tensor_empty((MsDtype)in[i]->dtype, in[i]->ndim + 1, shape);
        for (int b = 0; b < B; b++)
            ms__copy(ms__tensor_view(all, in[i]->ndim, in[i]->shape, all->strides + 1, b * all->strides[0]),
                     one[b][i]);
        in[i] = all;
        axis[i] = 0;
    }
    for (int i = 0; i < c->n_in; i++)
        if (in[i]) {
            batched[n_arg] = in[i];
            arg_axis[n_arg++] = axis[i];
        }
    bool any = false;
    for (int k = 0; k < n_arg; k++) any |= arg_axis[k] >= 0;
    if (!any) return;
    MsTensor *arg[MAX_IN];
    MsTrace *t = ms_vmap_begin(n_arg, batched, arg_axis, arg);
    int at = 0;
    for (int i = 0; i < c->n_in; i++) x[i] = in[i] ? arg[at++] : NULL;
    MsStatus st = t ? apply(c, x, y, &n) : ms_error()->code;
    double worst = 0;
    for (int j = 0; j < n && st == MS_OK; j++) {
        MsTensor *full = ms_vmap_value(t, y[j], 0);
        if (!full) {
            st = ms_error()->code;
            break;
        }
        for (int b = 0; b < B; b++) {
            MsTensor *part = ms__tensor_view(full, full->ndim - 1, full->shape + 1, full->strides + 1,
                                             b * full->strides[0]);
            worst = fmax(worst, difference(part, want[b][j]));
        }
    }
    if (t) ms_vmap_end(t);
    verdict(c, "vmap", st == MS_OK && worst <= 4 * tolerance((MsDtype)want[0][0]->dtype), "differs by %g",
            worst);
}

/* ---- derivatives: a complex tensor counts as its real and imaginary parts, a cotangent as the gradient by both ---- */

static bool continuous(MsDtype d)
{
    return ms_dtype_is_float(d) || ms_dtype_is_complex(d);
}

static bool differentiable(const Case *c)
{
    if (!c->op->vjp || (c->op->flags & (MS_OP_NO_GRAD | MS_OP_CONTROL))) return false;
    /* complex vectors are unique up to a phase: test/py compares what no phase changes */
    bool is_complex = ms_dtype_is_complex(c->in[0].dtype);
    if (strcmp(c->op->name, "eig") == 0 || (is_complex && strcmp(c->op->name, "svd") == 0)) return false;
    for (int i = 0; i < c->n_in; i++)
        if (continuous(c->in[i].dtype)) return true;
    return false;
}

/* The elements of a float64 or complex128 tensor as numbers. */
static double *parts(MsTensor *x, int64_t *n)
{
    *n = x->numel * (ms_dtype_is_complex((MsDtype)x->dtype) ? 2 : 1);
    return (double *)x->data;
}

static MsTensor *direction(MsTensor *x)
{
    bool is_complex = ms_dtype_is_complex((MsDtype)x->dtype);
    MsTensor *t = ms_tensor_empty(is_complex ? MS_COMPLEX128 : MS_FLOAT64, x->ndim, x->shape);
    int64_t n = 0;
    double *v = t ? parts(t, &n) : NULL;
    for (int64_t k = 0; k < n; k++) v[k] = uniform() * 2 - 1;
    return t;
}

static double inner(MsTensor *a, MsTensor *b)
{
    double *x = values(a, MS_COMPLEX128), *y = values(b, MS_COMPLEX128), s = 0;
    for (int64_t k = 0; k < 2 * a->numel; k++) s += x[k] * y[k];
    free(x);
    free(y);
    return s;
}

typedef MsStatus (*Function)(const Case *c, MsTensor *const *in, MsTensor *const *ct, MsTensor **out,
                             int *n_out);

static MsStatus value_fn(const Case *c, MsTensor *const *in, MsTensor *const *ct, MsTensor **out, int *n_out)
{
    (void)ct;
    return apply(c, in, out, n_out);
}

/* The cotangents of the float inputs. */
static MsStatus grad_fn(const Case *c, MsTensor *const *in, MsTensor *const *ct, MsTensor **out, int *n_out)
{
    MsTensor *arg[MAX_IN], *twin[MAX_IN], *x[MAX_IN], *y[MAX_OUT];
    int n_arg = 0, n_y;
    for (int i = 0; i < c->n_in; i++) {
        x[i] = in[i];
        if (in[i] && continuous((MsDtype)in[i]->dtype)) arg[n_arg++] = in[i];
    }
    MsTrace *t = ms_vjp_begin(n_arg, arg, twin, 0, NULL);
    if (!t) return ms_error()->code;
    int at = 0;
    for (int i = 0; i < c->n_in; i++)
        if (in[i] && continuous((MsDtype)in[i]->dtype)) x[i] = twin[at++];
    MsStatus st = apply(c, x, y, &n_y);
    int n_f = 0;
    MsTensor *fy[MAX_OUT], *fct[MAX_OUT];
    for (int j = 0; j < n_y && st == MS_OK; j++)
        if (continuous((MsDtype)y[j]->dtype)) {
            fy[n_f] = y[j];
            fct[n_f++] = ct[j];
        }
    if (st == MS_OK) st = ms_vjp_grad(t, n_f, fy, fct, out);
    *n_out = n_arg;
    MsStatus end = ms_vjp_end(t);
    return st != MS_OK ? st : end;
}

/* The derivative of <w, f(in)> along v: by central differences, by reverse mode and (jvp) by forward mode. */
static void check_derivative(const Case *c, Function f, const char *name, bool forward)
{
    MsTensor *in[MAX_IN], *v[MAX_IN], *y[MAX_OUT], *w[MAX_OUT], *ct[MAX_OUT] = {NULL};
    int n = 0;
    if (!make_inputs(c, in, true)) return;
    MsStatus st = apply(c, in, y, &n);
    for (int j = 0; j < n && st == MS_OK; j++) ct[j] = direction(y[j]);
    for (int j = 0; j < n && st == MS_OK; j++)
        if (continuous((MsDtype)y[j]->dtype) && y[j]->dtype != MS_FLOAT64 && y[j]->dtype != MS_COMPLEX128)
            return; /* differences drown */
    if (st == MS_OK) st = f(c, in, ct, y, &n);
    for (int j = 0; j < n && st == MS_OK; j++)
        w[j] = continuous((MsDtype)y[j]->dtype) ? direction(y[j]) : NULL;
    MsTensor *arg[MAX_IN], *arg_v[MAX_IN], *twin[MAX_IN], *x[MAX_IN], *fy[MAX_OUT], *fw[MAX_OUT],
        *grad[MAX_IN];
    int n_arg = 0, at = 0, n_f = 0;
    for (int i = 0; i < c->n_in && st == MS_OK; i++) {
        v[i] = in[i] && continuous((MsDtype)in[i]->dtype) ? direction(in[i]) : NULL;
        if (!v[i]) continue;
        arg[n_arg] = in[i];
        arg_v[n_arg++] = v[i];
    }
    /* central differences: two steps, so that a kink in between shows as disagreement and is skipped */
    double numeric[2] = {0, 0};
    static const double steps[2] = {1e-5, 1.3e-5};
    for (int s = 0; s < 2 && st == MS_OK; s++)
        for (int sign = -1; sign <= 1; sign += 2) {
            MsTensor *moved[MAX_IN], *z[MAX_OUT];
            for (int i = 0; i < c->n_in; i++) {
                moved[i] = in[i];
                if (!v[i]) continue;
                moved[i] = ms_tensor_empty((MsDtype)in[i]->dtype, in[i]->ndim, in[i]->shape);
                int64_t size;
                double *to = parts(moved[i], &size);
                for (int64_t k = 0; k < size; k++)
                    to[k] = ((double *)in[i]->data)[k] + sign * steps[s] * ((double *)v[i]->data)[k];
            }
            st = f(c, moved, ct, z, &n);
            for (int j = 0; j < n && st == MS_OK; j++)
                if (w[j]) numeric[s] += sign * inner(z[j], w[j]) / (2 * steps[s]);
        }
    if (st != MS_OK) {
        verdict(c, name, false, "cannot be computed%.0f", 0);
        return;
    }
    double scale = fmax(1, fabs(numeric[0]));
    if (!(fabs(numeric[0] - numeric[1]) <= 1e-4 * scale)) return; /* a kink, or NaN by definition */
    double got = 0;
    MsTrace *t = forward ? ms_jvp_begin(n_arg, arg, arg_v, twin) : ms_vjp_begin(n_arg, arg, twin, 0, NULL);
    for (int i = 0; i < c->n_in; i++) x[i] = in[i] && v[i] ? twin[at++] : in[i];
    st = t ? f(c, x, ct, y, &n) : ms_error()->code;
    for (int j = 0; j < n && st == MS_OK; j++) {
        if (!w[j]) continue;
        fy[n_f] = y[j];
        fw[n_f++] = w[j];
    }
    if (st == MS_OK && forward) {
        for (int j = 0; j < n_f && st == MS_OK; j++) {
            MsTensor *value, *tangent;
            st = ms_jvp_value(t, fy[j], &value, &tangent);
            if (st == MS_OK) got += inner(tangent, fw[j]);
        }
    } else if (st == MS_OK) {
        st = ms_vjp_grad(t, n_f, fy, fw, grad);
        for (int i = 0; i < n_arg && st == MS_OK; i++) got += inner(grad[i], arg_v[i]);
    }
    if (t) {
        MsStatus end = forward ? ms_jvp_end(t) : ms_vjp_end(t);
        if (st == MS_OK) st = end;
    }
    if (st == MS_ERROR_NOT_IMPLEMENTED && f == grad_fn) { /* a rule that says so is no wrong value */
        n_refuse++;
        ms_error_clear();
        return;
    }
    double error = fabs(got - numeric[0]) / scale;
    verdict(c, name, st == MS_OK && error <= 2e-4, "differs from central differences by %g", error);
}

/* ---- refused allocations ---- */

static void check_alloc(const Case *c, Function f, MsTensor *const *in, MsTensor *const *ct)
{
    ms_memory_empty_cache();
    bool ok = true;
    int64_t n = 1;
    for (; n < 400 && ok; n++) {
        MsMemoryStats before = ms_memory_stats();
        MsTensor *y[MAX_IN];
        int n_out, mark = ms_scope_begin();
        ms_memory_fail_after(n, false);
        MsStatus st = f(c, in, ct, y, &n_out);
        ms_memory_fail_after(0, false);
        ms_scope_end(mark, NULL, 0);
        bool refused = st == MS_ERROR_MEMORY;
        ms_error_clear();
        MsMemoryStats after = ms_memory_stats();
        ok = after.n_live == before.n_live && after.allocated <= before.allocated + (1 << 20);
        if (st != MS_OK && !refused) ok = false;
        if (st == MS_OK) break;
    }
    verdict(c, "alloc", ok, "a refused allocation (number %.0f) leaks or gives another error", (double)n);
}

static void check_allocations(const Case *c, MsTensor *const *in, MsTensor *const *out, int n_out)
{
    check_alloc(c, value_fn, in, NULL);
    MsTensor *ct[MAX_OUT];
    for (int j = 0; j < n_out; j++) ct[j] = continuous((MsDtype)out[j]->dtype) ? out[j] : NULL;
    if (differentiable(c)) check_alloc(c, grad_fn, in, ct);
}

/* ---- the walk ---- */

static void run_case(Case *c)
{
    int mark = ms_scope_begin();
    MsTensor *in[MAX_IN], *out[MAX_OUT];
    int n_out = 0;
    bool ok = make_inputs(c, in, false) && apply(c, in, out, &n_out) == MS_OK;
    if (!ok) {
        verdict(c, "infer", false, "the sample fails%.0f", 0);
        ms_scope_end(mark, NULL, 0);
        return;
    }
    if (wanted("infer")) check_infer(c, in, out, n_out);
    if (wanted("kernels")) check_kernels(c, in, "kernels");
    if (wanted("dtypes")) check_dtypes(c);
    if (wanted("strided")) check_strided(c, in, out, n_out);
    if (wanted("preset")) check_preset(c, in, out, n_out);
    if (wanted("threads")) check_threads(c, in, out, n_out);
    if (wanted("stage")) check_stage(c, in, out, n_out);
    for (int pass = 0; pass < 3 && wanted("vmap"); pass++) check_vmap(c, pass);
    if (wanted("alloc")) check_allocations(c, in, out, n_out);
    if (differentiable(c)) {
        if (wanted("grad")) check_derivative(c, value_fn, "grad", false);
        if (wanted("jvp")) check_derivative(c, value_fn, "jvp", true);
        if (wanted("grad2")) check_derivative(c, grad_fn, "grad2", false);
    }
    if (wanted("special")) {
        c->special = true;
        if (make_inputs(c, in, false)) check_kernels(c, in, "special");
    }
    ms_scope_end(mark, NULL, 0);
    ms_error_clear();
}

/* ---- the table of operators ---- */

/* The dtypes of a set as a word of the signature grammar, or one by one. */
static void print_dtypes(uint32_t set)
{
    uint32_t ints = 0, floats = 0, complexes = 0, bit;
    for (int d = 0; d < MS_DTYPE_COUNT; d++) {
        bit = (uint32_t)1 << d;
        if (ms_dtype_is_int((MsDtype)d)) ints |= bit;
        if (ms_dtype_is_float((MsDtype)d)) floats |= bit;
        if (ms_dtype_is_complex((MsDtype)d)) complexes |= bit;
    }
    const struct {
        const char *word;
        uint32_t set;
    } word[] = {{"int", ints}, {"float", floats}, {"complex", complexes}};
    const char *comma = "";
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (word[k].set && (set & word[k].set) == word[k].set) {
            printf("%s%s", comma, word[k].word);
            set &= ~word[k].set;
            comma = " ";
        }
    for (int d = 0; d < MS_DTYPE_COUNT; d++)
        if (set >> d & 1) {
            printf("%s%s", comma, ms_dtype_name((MsDtype)d));
            comma = " ";
        }
}

static void print_row(const MsOp *op)
{
    const MsSig *sig = ms__sig(op);
    if (!sig) return;
    printf("| `%s` | ", op->name);
    for (int i = 0; i < sig->n_in; i++) {
        printf("%s%s%s: ", i ? "; " : "", sig->in[i].name,
               sig->in[i].optional ? "?"
               : sig->in[i].list   ? "[]"
                                   : "");
        if (sig->in[i].same_as >= 0)
            printf("as %s", sig->in[sig->in[i].same_as].name);
        else
            print_dtypes(sig->in[i].dtypes);
    }
    bool control = op->flags & MS_OP_CONTROL;
    printf(" | %s | %s | ",
           op->vjp                     ? "rule"
           : op->flags & MS_OP_NO_GRAD ? "none flows"
           : control                   ? "of its graphs"
                                       : "refused",
           op->batch                       ? "rule"
           : op->flags & MS_OP_ELEMENTWISE ? "aligned"
           : control                       ? "of its graphs"
                                           : "loop");
    for (const MsKernel *const *k = op->kernels; *k; k++)
        printf("%s%s", k == op->kernels ? "" : " ", (*k)->name);
    printf(" |\n");
}

static int print_table(void)
{
    printf(
        "# Operators\n\n"
        "Printed from the registry by `test_sweep --table`; a test compares. A word stands for a class of "
        "dtypes: int (signed and unsigned, 8 to 64 bits), float (16, 32, 64 bits and bfloat16), complex (64 "
        "and "
        "128 bits). Gradient: `rule` (the sweep checks its first and second derivatives on samples), `none "
        "flows` "
        "(integers, comparisons, draws), `refused` (an error says so), or that of the graphs that a control "
        "operator runs. Batching (`vmap`): `rule`, `aligned` (elementwise), or a `loop` over the examples. "
        "Kernels stand in the order in which they are tried, the reference last.\n\n"
        "| operator | inputs | gradient | batching | kernels |\n|---|---|---|---|---|\n");
    for (int k = 0; k < ms__n_ops; k++) print_row(ms__ops[k]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *only_op = NULL;
    bool list = false;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--op") == 0 && k + 1 < argc)
            only_op = argv[++k];
        else if (strcmp(argv[k], "--check") == 0 && k + 1 < argc)
            only_check = argv[++k];
        else if (strcmp(argv[k], "--list") == 0)
            list = true;
        else if (strcmp(argv[k], "--table") == 0)
            return print_table();
    }
    if (only_op && !ms__op_find(only_op)) {
        printf("there is no operator '%s'\n", only_op);
        return 1;
    }
    int missing = 0, uncompared = 0;
    for (int k = 0; k < ms__n_ops; k++) {
        const MsOp *op = ms__ops[k];
        if (only_op && strcmp(op->name, only_op) != 0) continue;
        if (list) printf("%s\n", op->sig);
        if (!op->vjp && !(op->flags & (MS_OP_NO_GRAD | MS_OP_CONTROL))) {
            printf("%s refuses to be differentiated\n", op->name);
            n_refuse++;
        }
        if (!op->sample || !*op->sample) {
            /* what takes graphs or host functions cannot be sampled from text */
            bool needs = !(op->flags & MS_OP_CONTROL) && !strstr(op->sig, ": host");
            missing += needs;
            if (needs) printf("%s has no sample\n", op->name);
            continue;
        }
        char *text = strdup(op->sample), *save = NULL;
        int index = 0;
        bool real = false;
        memset(n_done, 0, sizeof n_done);
        for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save), index++) {
            Case c;
            if (parse_case(&c, op, index, part)) {
                run_case(&c);
                real |= differentiable(&c);
            } else {
                n_failed++;
                printf("FAILED %s: malformed sample '%s'\n", op->name, part);
            }
        }
        free(text);
        printf("%s:", op->name);
        for (int j = 0; j < N_CHECKS; j++)
            if (n_done[j]) printf(" %s %d", checks[j], n_done[j]);
        printf("\n");
        if (wanted("grad") && real && !n_done[done("grad")]) {
            printf("FAILED %s: no sample compares its derivative\n", op->name);
            uncompared++;
        }
    }
    printf("%d operators, %d without a sample, %d that refuse to be differentiated\n", ms__n_ops, missing,
           n_refuse);
    printf("%d passed, %d failed\n", n_passed, n_failed + missing + uncompared);
    return n_failed + missing + uncompared > 0;
}
