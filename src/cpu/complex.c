/* complex.c - the elementwise loops of complex numbers. They call libm and gain nothing from wide vectors, so
 * there is one copy for all instruction sets. */
#include "cpu/isa/simd.h"
#include "cpu/loops.h"

#define T float _Complex
#define W float _Complex
#define S float _Complex
#define R float
#define SUF c64
#define KIND COMPLEX
#define TABLE ms__loops_complex64
#include "cpu/isa/loops_of.h"

#define T double _Complex
#define W double _Complex
#define S double _Complex
#define R double
#define SUF c128
#define KIND COMPLEX
#define TABLE ms__loops_complex128
#include "cpu/isa/loops_of.h"
