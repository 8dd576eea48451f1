/* fold.c - the accumulating loops of reductions. Sums and products of floats are kept in float64 and of
 * integers in 64 bits: that costs a conversion, which memory hides, and is more accurate than pairwise
 * float32. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FN(id) JOIN(id##_, SUF)

#define T uint8_t
#define A uint64_t
#define SUF b
#define ORDERED 1
#define TABLE JOIN(ms__folds_b_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T int8_t
#define A uint64_t
#define SUF i8
#define ORDERED 1
#define TABLE JOIN(ms__folds_i8_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T int16_t
#define A uint64_t
#define SUF i16
#define ORDERED 1
#define TABLE JOIN(ms__folds_i16_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T int32_t
#define A uint64_t
#define SUF i32
#define ORDERED 1
#define TABLE JOIN(ms__folds_i32_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T int64_t
#define A uint64_t
#define SUF i64
#define ORDERED 1
#define TABLE JOIN(ms__folds_i64_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T uint8_t
#define A uint64_t
#define SUF u8
#define ORDERED 1
#define TABLE JOIN(ms__folds_u8_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T uint16_t
#define A uint64_t
#define SUF u16
#define ORDERED 1
#define TABLE JOIN(ms__folds_u16_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T uint32_t
#define A uint64_t
#define SUF u32
#define ORDERED 1
#define TABLE JOIN(ms__folds_u32_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T uint64_t
#define A uint64_t
#define SUF u64
#define ORDERED 1
#define TABLE JOIN(ms__folds_u64_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T float
#define A double
#define SUF f32
#define ORDERED 1
#define TABLE JOIN(ms__folds_f32_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T double
#define A double
#define SUF f64
#define ORDERED 1
#define TABLE JOIN(ms__folds_f64_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T float _Complex
#define A double _Complex
#define SUF c64
#define ORDERED 0
#define TABLE JOIN(ms__folds_c64_, MS_ISA)
#include "cpu/isa/fold_of.h"

#define T double _Complex
#define A double _Complex
#define SUF c128
#define ORDERED 0
#define TABLE JOIN(ms__folds_c128_, MS_ISA)
#include "cpu/isa/fold_of.h"

extern void JOIN(ms__sum_lanes_, MS_ISA)(double *acc);
void JOIN(ms__sum_lanes_, MS_ISA)(double *acc)
{
    for (int i = 0; i < 32; i++) acc[i] += acc[i + 32];
    for (int i = 0; i < 16; i++) acc[i] += acc[i + 16];
    for (int i = 0; i < 8; i++) acc[i] += acc[i + 8];
    for (int i = 0; i < 4; i++) acc[i] += acc[i + 4];
    acc[0] = (acc[0] + acc[2]) + (acc[1] + acc[3]);
}

#define TABLE_OF(suf) JOIN(JOIN(ms__folds_, suf), JOIN(_, MS_ISA))
extern const MsFolds *const JOIN(ms__folds_, MS_ISA)[MS_N_PLAIN];
const MsFolds *const JOIN(ms__folds_, MS_ISA)[MS_N_PLAIN] = {
    [MS_BOOL] = &TABLE_OF(b),          [MS_INT8] = &TABLE_OF(i8),     [MS_INT16] = &TABLE_OF(i16),
    [MS_INT32] = &TABLE_OF(i32),       [MS_INT64] = &TABLE_OF(i64),   [MS_UINT8] = &TABLE_OF(u8),
    [MS_UINT16] = &TABLE_OF(u16),      [MS_UINT32] = &TABLE_OF(u32),  [MS_UINT64] = &TABLE_OF(u64),
    [MS_FLOAT32] = &TABLE_OF(f32),     [MS_FLOAT64] = &TABLE_OF(f64), [MS_COMPLEX64] = &TABLE_OF(c64),
    [MS_COMPLEX128] = &TABLE_OF(c128),
};
