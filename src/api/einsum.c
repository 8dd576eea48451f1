/* einsum.c - Einstein's summation convention. The operands are taken one after the other: axes with one letter twice become their
 * diagonal, a letter that nothing after needs is summed at once, and two operands meet in one batched matrix product: letters of
 * both that are still needed are its batch, those of both that are not are contracted. Refused: a search for the cheapest order,
 * which would change the rounding with the sizes. */
#include "api/args.h"

#include <ctype.h>
#include <string.h>

#define N_LETTERS                                                                                            \
    128 /* characters, and from ELLIPSIS on the axes that `...` stands for, the last one first */
#define ELLIPSIS 0
#define FIRST 1 /* ELLIPSIS + axis, counted from the last; below '\n' no character is a letter */

typedef struct Operand {
    MsTensor *t;
    int n;
    unsigned char letter[MS_MAX_DIM];
} Operand;

typedef struct Letters {
    int n;
    unsigned char v[N_LETTERS];
} Letters;

static int place(const unsigned char *letters, int n, int letter)
{
    for (int k = 0; k < n; k++)
        if (letters[k] == letter) return k;
    return -1;
}

/* The letters of one term: from *at up to ',', '-' or the end. `extra` axes are what `...` stands for. */
static MsStatus read_term(const char **at, Letters *out, int extra, bool *has_ellipsis)
{
    out->n = 0, *has_ellipsis = false;
    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        if (**at == ' ') continue;
        if (strncmp(*at, "...", 3) == 0 && !*has_ellipsis) {
            *has_ellipsis = true, *at += 2;
            for (int k = extra; k > 0; k--) out->v[out->n++] = (unsigned char)(FIRST + k - 1);
        } else if (isalpha((unsigned char)**at) && out->n < N_LETTERS - MS_MAX_DIM) {
            out->v[out->n++] = (unsigned char)**at;
        } else {
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'einsum', the equation has letters, ',', '...' and one '->', but got '%c'.",
                           **at);
        }
    }
    return MS_OK;
}

/* Axes a and b of one size, made one: the diagonal, which is a sum over b of what lies on it. */
static MsTensor *on_diagonal(MsTensor *t, int a, int b)
{
    int64_t axis = b, n = t->shape[a], sa[MS_MAX_DIM], sb[MS_MAX_DIM];
    for (int d = 0; d < t->ndim; d++) sa[d] = d == a ? n : 1, sb[d] = d == b ? n : 1;
    MsTensor *i = ms__arange(0, 1, n, MS_INT64);
    MsTensor *same = ms_eq(ms_reshape(i, (MsInts){t->ndim, sa}), ms_reshape(i, (MsInts){t->ndim, sb}));
    return ms_sum(ms_where(same, t, ms_tensor_scalar(dtype_of(t), 0)), (MsInts){1, &axis}, false);
}

static void drop_letter(Operand *o, int k)
{
    memmove(o->letter + k, o->letter + k + 1, (size_t)(o->n - k - 1));
    o->n--;
}

/* One axis per letter; axes of size 1 that other operands stretch are dropped. */
static MsStatus simplify(Operand *o, const int64_t *size)
{
    for (int a = 0; a < o->n; a++) {
        for (int b = place(o->letter + a + 1, o->n - a - 1, o->letter[a]); b >= 0;
             b = place(o->letter + a + 1, o->n - a - 1, o->letter[a])) {
            b += a + 1;
            if (o->t->shape[a] != o->t->shape[b])
                return MS_FAIL(MS_ERROR_VALUE,
                               "For 'einsum', a letter names axes of sizes %lld and %lld of one operand.",
                               (long long)o->t->shape[a], (long long)o->t->shape[b]);
            o->t = on_diagonal(o->t, a, b);
            if (!o->t) return ms_error()->code;
            drop_letter(o, b);
        }
        if (o->t->shape[a] == 1 && size[o->letter[a]] != 1) {
            o->t = ms__dropped(o->t, a);
            if (!o->t) return ms_error()->code;
            drop_letter(o, a--);
        }
    }
    return MS_OK;
}

/* Sums the axes whose letters `keep` has not and, where given, `other` has not. */
static MsStatus sum_unused(Operand *o, const bool *keep, const Operand *other)
{
    int64_t axes[MS_MAX_DIM];
    int n = 0, left = 0;
    for (int k = 0; k < o->n; k++) {
        if (keep[o->letter[k]] || (other && place(other->letter, other->n, o->letter[k]) >= 0))
            o->letter[left++] = o->letter[k];
        else
            axes[n++] = k;
    }
    o->n = left;
    if (n > 0) o->t = ms_sum(o->t, (MsInts){n, axes}, false);
    return o->t ? MS_OK : ms_error()->code;
}

/* o with its axes in the order of n letters, in three groups of which the sizes are in `size`. */
static MsTensor *grouped(const Operand *o, const unsigned char *letters, int n, const int *group_end,
                         int64_t *size)
{
    int64_t perm[MS_MAX_DIM];
    size[0] = size[1] = size[2] = 1;
    for (int k = 0, g = 0; k < n; k++) {
        while (k >= group_end[g]) g++;
        perm[k] = place(o->letter, o->n, letters[k]);
        size[g] *= o->t->shape[perm[k]];
    }
    return ms_reshape(ms_transpose(o->t, (MsInts){n, perm}), (MsInts){3, size});
}

/* a := the product of a and b. */
static MsStatus contract(Operand *a, Operand *b, const bool *keep)
{
    unsigned char batch[MS_MAX_DIM], inner[MS_MAX_DIM], left[MS_MAX_DIM], right[MS_MAX_DIM],
        order[3 * MS_MAX_DIM];
    int nb = 0, ni = 0, nl = 0, nr = 0;
    int64_t shape[2 * MS_MAX_DIM], size[3];
    MS_TRY(sum_unused(a, keep, b));
    MS_TRY(sum_unused(b, keep, a));
    for (int k = 0; k < a->n; k++) {
        unsigned char l = a->letter[k];
        if (place(b->letter, b->n, l) < 0)
            left[nl++] = l;
        else if (keep[l])
            batch[nb++] = l;
        else
            inner[ni++] = l;
    }
    for (int k = 0; k < b->n; k++)
        if (place(a->letter, a->n, b->letter[k]) < 0) right[nr++] = b->letter[k];
    if (nb + nl + nr > MS_MAX_DIM)
        return MS_FAIL(MS_ERROR_VALUE,
                       "For 'einsum', a product of two operands may have %d axes, but has %d.", MS_MAX_DIM,
                       nb + nl + nr);
    for (int k = 0; k < nb; k++) shape[k] = a->t->shape[place(a->letter, a->n, batch[k])];
    for (int k = 0; k < nl; k++) shape[nb + k] = a->t->shape[place(a->letter, a->n, left[k])];
    for (int k = 0; k < nr; k++) shape[nb + nl + k] = b->t->shape[place(b->letter, b->n, right[k])];
    memcpy(order, batch, (size_t)nb), memcpy(order + nb, left, (size_t)nl),
        memcpy(order + nb + nl, inner, (size_t)ni);
    MsTensor *x = grouped(a, order, nb + nl + ni, (int[]){nb, nb + nl, nb + nl + ni}, size);
    memcpy(order + nb, inner, (size_t)ni), memcpy(order + nb + ni, right, (size_t)nr);
    MsTensor *y = grouped(b, order, nb + ni + nr, (int[]){nb, nb + ni, nb + ni + nr}, size);
    memcpy(a->letter, batch, (size_t)nb), memcpy(a->letter + nb, left, (size_t)nl),
        memcpy(a->letter + nb + nl, right, (size_t)nr);
    a->n = nb + nl + nr;
    a->t = ms_reshape(ms_matmul(x, y, false, false), (MsInts){a->n, shape});
    return a->t ? MS_OK : ms_error()->code;
}

/* The letters of the result: those behind "->", or each that occurs once, in order, after the axes of `...`. */
static MsStatus result(const char *at, const int *times, int extra, Letters *out)
{
    bool dots;
    if (strncmp(at, "->", 2) != 0) {
        if (*at)
            return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', the equation ends in '%s', which is not '->'.", at);
        out->n = 0;
        for (int k = extra; k > 0; k--) out->v[out->n++] = (unsigned char)(FIRST + k - 1);
        for (int l = 'A'; l <= 'z'; l++)
            if (times[l] == 1) out->v[out->n++] = (unsigned char)l;
        return MS_OK;
    }
    at += 2;
    MS_TRY(read_term(&at, out, extra, &dots));
    if (*at) return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', nothing may follow the result, but got '%s'.", at);
    for (int k = 0; k < out->n; k++) {
        if (!times[out->v[k]] || place(out->v + k + 1, out->n - k - 1, out->v[k]) >= 0)
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'einsum', '%c' of the result must occur once there, and in an operand.",
                           out->v[k]);
    }
    return MS_OK;
}

/* Reads the terms of `n` operands; size[letter] is its size (1: stretched), times[letter] how often it occurs. */
static MsStatus read_operands(const char **at, int n, Operand *o, int64_t *size, int *times, int *extra)
{
    Letters term;
    bool dots;
    for (int k = 0; k < n; k++) {
        const char *again = *at;
        MS_TRY(read_term(at, &term, 0, &dots));
        int more = o[k].t->ndim - term.n;
        if (more < 0 || (more > 0 && !dots))
            return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', operand %d has %d axes, but its letters name %d.",
                           k, o[k].t->ndim, term.n);
        MS_TRY(read_term(&again, &term, more, &dots));
        if (more > *extra) *extra = more;
        o[k].n = term.n;
        memcpy(o[k].letter, term.v, (size_t)term.n);
        for (int d = 0; d < term.n; d++) {
            int64_t *s = &size[term.v[d]], m = o[k].t->shape[d];
            if (times[term.v[d]]++ && *s != m && *s != 1 && m != 1)
                return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', a letter has sizes %lld and %lld.",
                               (long long)*s, (long long)m);
            if (times[term.v[d]] == 1 || *s == 1) *s = m;
        }
        if (k + 1 < n && *(*at)++ != ',')
            return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', the equation has fewer terms than the %d operands.",
                           n);
    }
    if (**at == ',')
        return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', the equation has more terms than the %d operands.", n);
    return MS_OK;
}

#define MAX_OPERANDS 32
#define MAX_ITEMS (MS_MAX_DIM + 1) /* of a list: axes and `...` */

static MsStatus einsum(MsApiCall *c, const char *equation, int n, MsTensor *const *t)
{
    Operand o[MAX_OPERANDS];
    MsTensor *same[MAX_OPERANDS];
    int64_t size[N_LETTERS] = {0}, perm[MS_MAX_DIM];
    int times[N_LETTERS] = {0}, extra = 0;
    Letters out;
    MS_TRY(ms__common_dtype("einsum", n, t, same));
    for (int k = 0; k < n; k++) o[k].t = same[k];
    MS_TRY(read_operands(&equation, n, o, size, times, &extra));
    MS_TRY(result(equation, times, extra, &out));
    for (int k = 0; k < n; k++) MS_TRY(simplify(&o[k], size));
    for (int k = 1; k <= n; k++) {
        bool keep[N_LETTERS] = {false};
        for (int j = 0; j < out.n; j++) keep[out.v[j]] = true;
        for (int j = k + 1; j < n; j++)
            for (int d = 0; d < o[j].n; d++) keep[o[j].letter[d]] = true;
        MS_TRY(k < n ? contract(&o[0], &o[k], keep) : sum_unused(&o[0], keep, NULL));
    }
    for (int k = 0; k < out.n; k++) perm[k] = place(o[0].letter, o[0].n, out.v[k]);
    return R(ms_transpose(o[0].t, (MsInts){out.n, perm}));
}

/* A list of numbers below 52 and Ellipsis as letters behind *text. */
static MsStatus sublist(const MsArg *list, char **text)
{
    if (list->n > MAX_ITEMS)
        return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', a list has at most %d numbers, but got %d.", MS_MAX_DIM,
                       list->n);
    for (int k = 0; k < list->n; k++) {
        const MsArg *a = &list->list[k];
        if (a->kind == MS_ARG_ELLIPSIS) {
            memcpy(*text, "...", 3), *text += 3;
        } else if (a->kind == MS_ARG_INT && a->i >= 0 && a->i < 52) {
            *(*text)++ = (char)(a->i < 26 ? 'A' + a->i : 'a' + a->i - 26);
        } else {
            return MS_FAIL(MS_ERROR_VALUE,
                           "For 'einsum', a list must have integers in [0, 52) and Ellipsis.");
        }
    }
    return MS_OK;
}

/* einsum(op1, [0, 1], op2, [1, 2], [0, 2]): `items` are what follows the first operand. */
static MsStatus by_lists(MsApiCall *c, MsTensor *first, int n, const MsArg *items)
{
    char equation[MAX_OPERANDS * (3 * MAX_ITEMS + 1) + 3 * MAX_ITEMS + 3], *text = equation;
    MsTensor *t[MAX_OPERANDS] = {first};
    int n_t = (n + 1) / 2;
    for (int k = 0; k < n; k++) {
        bool is_out = n % 2 == 0 && k == n - 1, is_list = k % 2 == 0 || is_out;
        if (items[k].kind != (is_list ? MS_ARG_LIST : MS_ARG_TENSOR) || n_t > MAX_OPERANDS)
            return MS_FAIL(
                MS_ERROR_TYPE,
                "For 'einsum', without an equation each of up to %d tensors is followed by a list.",
                MAX_OPERANDS);
        if (!is_list)
            t[(k + 1) / 2] = items[k].t, *text++ = ',';
        else if (is_out)
            *text++ = '-', *text++ = '>';
        if (is_list) MS_TRY(sublist(&items[k], &text));
    }
    *text = 0;
    return n ? einsum(c, equation, n_t, t) : MS_FAIL(MS_ERROR_TYPE, "For 'einsum', the operand has no list.");
}

MS_API(einsum, "ops.einsum mint.einsum ops.einsum_ext", "(equation: any, *operands: any) -> Tensor")
{
    int n;
    const MsArg *items = ms__arg_items(ARG(1), &n);
    if (ARG(0)->kind == MS_ARG_TENSOR) { /* a lone list comes as its items */
        bool lone = n > 0 && items[0].kind != MS_ARG_LIST;
        return by_lists(c, T(0), lone ? 1 : n, lone ? ARG(1) : items);
    }
    if (ARG(0)->kind != MS_ARG_STR) return MS_FAIL(MS_ERROR_TYPE, "For 'einsum', the equation must be str.");
    if (n == 1 && items[0].kind == MS_ARG_LIST) n = items[0].n, items = items[0].list;
    MsTensor *t[MAX_OPERANDS];
    if (n < 1 || n > MAX_OPERANDS)
        return MS_FAIL(MS_ERROR_VALUE, "For 'einsum', there must be 1 to %d operands, but got %d.",
                       MAX_OPERANDS, n);
    for (int k = 0; k < n; k++) {
        if (items[k].kind != MS_ARG_TENSOR)
            return MS_FAIL(MS_ERROR_TYPE, "For 'einsum', operand %d must be a Tensor.", k);
        t[k] = items[k].t;
    }
    return einsum(c, ARG(0)->s, n, t);
}
