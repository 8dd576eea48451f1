/* rows.h - before unary.def and binary.def: maps the row macros to MS_UNARY, MS_PART, MS_TEST, MS_BINARY,
 * MS_COMPARE (class, id, signature, expression, gradients.., samples) and MS_CHECKED (class, id, signature,
 * refusal, expression, ...), which the includer defines. The class is the set of dtypes that have a loop. */
#ifndef MS_OP_ROWS_H
#define MS_OP_ROWS_H
#define MS_UNARY_RING(...) MS_UNARY(RING, __VA_ARGS__)
#define MS_UNARY_NUM(...) MS_UNARY(NUM, __VA_ARGS__)
#define MS_UNARY_ANY(...) MS_UNARY(ANY, __VA_ARGS__)
#define MS_UNARY_FLOATC(...) MS_UNARY(FLOATC, __VA_ARGS__)
#define MS_UNARY_FLOAT(...) MS_UNARY(FLOAT, __VA_ARGS__)
#define MS_UNARY_REAL(...) MS_UNARY(REAL, __VA_ARGS__)
#define MS_UNARY_BOOL(...) MS_UNARY(BOOL, __VA_ARGS__)
#define MS_UNARY_BITS(...) MS_UNARY(BITS, __VA_ARGS__)
#define MS_PART_NUM(...) MS_PART(NUM, __VA_ARGS__)
#define MS_PART_ANY(...) MS_PART(ANY, __VA_ARGS__)
#define MS_TEST_ANY(...) MS_TEST(ANY, __VA_ARGS__)
#define MS_BINARY_RING(...) MS_BINARY(RING, __VA_ARGS__)
#define MS_BINARY_FLOATC(...) MS_BINARY(FLOATC, __VA_ARGS__)
#define MS_BINARY_FLOAT(...) MS_BINARY(FLOAT, __VA_ARGS__)
#define MS_BINARY_REAL(...) MS_BINARY(REAL, __VA_ARGS__)
#define MS_BINARY_ORDERED(...) MS_BINARY(ORDERED, __VA_ARGS__)
#define MS_BINARY_INT(...) MS_BINARY(INT, __VA_ARGS__)
#define MS_BINARY_BOOL(...) MS_BINARY(BOOL, __VA_ARGS__)
#define MS_BINARY_BITS(...) MS_BINARY(BITS, __VA_ARGS__)
#define MS_BINARY_CHECKED(...) MS_CHECKED(ORDERED, __VA_ARGS__)
#define MS_BINARY_POW(...) MS_CHECKED(NUM, __VA_ARGS__)
#define MS_COMPARE_ANY(...) MS_COMPARE(ANY, __VA_ARGS__)
#define MS_COMPARE_ORDERED(...) MS_COMPARE(ORDERED, __VA_ARGS__)
#endif
