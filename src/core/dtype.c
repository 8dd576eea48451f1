/* dtype.c - names, sizes and the promotion rule. Promotion: complex > float > int > bool, the smallest type
 * that holds both; uint16/32/64 mix only with themselves and with bool, as the original's rule says. */
#include "core/error.h"

#include <string.h>

typedef enum Kind {
    BOOL,
    SINT,
    UINT,
    FLOAT,
    COMPLEX,
    PACKED,
    TEXT
} Kind;

static const struct {
    const char *name;
    uint8_t size, kind;
} table[MS_DTYPE_COUNT] = {
    [MS_BOOL] = {"bool", 1, BOOL},
    [MS_INT8] = {"int8", 1, SINT},
    [MS_INT16] = {"int16", 2, SINT},
    [MS_INT32] = {"int32", 4, SINT},
    [MS_INT64] = {"int64", 8, SINT},
    [MS_UINT8] = {"uint8", 1, UINT},
    [MS_UINT16] = {"uint16", 2, UINT},
    [MS_UINT32] = {"uint32", 4, UINT},
    [MS_UINT64] = {"uint64", 8, UINT},
    [MS_FLOAT16] = {"float16", 2, FLOAT},
    [MS_BFLOAT16] = {"bfloat16", 2, FLOAT},
    [MS_FLOAT32] = {"float32", 4, FLOAT},
    [MS_FLOAT64] = {"float64", 8, FLOAT},
    [MS_COMPLEX64] = {"complex64", 8, COMPLEX},
    [MS_COMPLEX128] = {"complex128", 16, COMPLEX},
    [MS_INT4] = {"int4", 1, PACKED},
    [MS_STRING] = {"string", 1, TEXT},
    [MS_BYTES] = {"bytes", 1, TEXT},
};

const char *ms_dtype_name(MsDtype dtype)
{
    return dtype >= 0 && dtype < MS_DTYPE_COUNT ? table[dtype].name : "none";
}

MsDtype ms_dtype_named(const char *name)
{
    for (int d = 0; d < MS_DTYPE_COUNT; d++)
        if (strcmp(table[d].name, name) == 0) return (MsDtype)d;
    return MS_DTYPE_NONE;
}

size_t ms_dtype_size(MsDtype dtype)
{
    return dtype >= 0 && dtype < MS_DTYPE_COUNT ? table[dtype].size : 0;
}

bool ms_dtype_is_float(MsDtype dtype)
{
    return dtype >= MS_FLOAT16 && dtype <= MS_FLOAT64;
}
bool ms_dtype_is_complex(MsDtype dtype)
{
    return dtype == MS_COMPLEX64 || dtype == MS_COMPLEX128;
}
bool ms_dtype_is_int(MsDtype dtype)
{
    return dtype >= MS_INT8 && dtype <= MS_UINT64;
}
bool ms_dtype_is_signed_int(MsDtype dtype)
{
    return dtype >= MS_INT8 && dtype <= MS_INT64;
}

MsDtype ms_dtype_promote(MsDtype a, MsDtype b)
{
    if (a == b) return a;
    if (a < 0 || b < 0 || a >= MS_INT4 || b >= MS_INT4) return MS_DTYPE_NONE;
    Kind ka = table[a].kind, kb = table[b].kind;
    if (ka > kb || (ka == kb && a > b)) {
        MsDtype t = a;
        a = b, b = t;
        Kind k = ka;
        ka = kb, kb = k;
    } /* now b is the wider kind, or the later dtype of one kind */
    if (ka == BOOL) return b;
    bool wide_uint = (ka == UINT && a != MS_UINT8) || (kb == UINT && b != MS_UINT8);
    if (wide_uint) return MS_DTYPE_NONE;
    if (kb == UINT) return a == MS_INT8 ? MS_INT16 : a; /* signed with uint8 */
    if (kb == SINT) return b;
    if (kb == FLOAT) {
        if (a == MS_FLOAT16 && b == MS_BFLOAT16) return MS_FLOAT32;
        return b;
    }
    return a == MS_FLOAT64 ? MS_COMPLEX128 : b;
}
