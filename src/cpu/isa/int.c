/* int.c - the elementwise loops of integers and bool. int8 to int32 compute in 32 bits, int64 in 64. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define T bool
#define W uint32_t
#define S uint32_t
#define R bool
#define SUF b
#define KIND BOOL
#define TABLE JOIN(ms__loops_b_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T int8_t
#define W uint32_t
#define S int32_t
#define R int8_t
#define SUF i8
#define KIND SINT
#define TABLE JOIN(ms__loops_i8_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T int16_t
#define W uint32_t
#define S int32_t
#define R int16_t
#define SUF i16
#define KIND SINT
#define TABLE JOIN(ms__loops_i16_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T int32_t
#define W uint32_t
#define S int32_t
#define R int32_t
#define SUF i32
#define KIND SINT
#define TABLE JOIN(ms__loops_i32_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T int64_t
#define W uint64_t
#define S int64_t
#define R int64_t
#define SUF i64
#define KIND SINT
#define TABLE JOIN(ms__loops_i64_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T uint8_t
#define W uint32_t
#define S uint32_t
#define R uint8_t
#define SUF u8
#define KIND UINT
#define TABLE JOIN(ms__loops_u8_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T uint16_t
#define W uint32_t
#define S uint32_t
#define R uint16_t
#define SUF u16
#define KIND UINT
#define TABLE JOIN(ms__loops_u16_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T uint32_t
#define W uint32_t
#define S uint32_t
#define R uint32_t
#define SUF u32
#define KIND UINT
#define TABLE JOIN(ms__loops_u32_, MS_ISA)
#include "cpu/isa/loops_of.h"

#define T uint64_t
#define W uint64_t
#define S uint64_t
#define R uint64_t
#define SUF u64
#define KIND UINT
#define TABLE JOIN(ms__loops_u64_, MS_ISA)
#include "cpu/isa/loops_of.h"
