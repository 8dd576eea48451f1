/* error.h - raising errors inside the library. An error is a value: fill the thread's record, return
 * its status (or NULL) and unwind by hand. A later failure while unwinding does not replace the first. */
#ifndef MS_CORE_ERROR_H
#define MS_CORE_ERROR_H
#include "mindspore.h"

MS_API_EXPORT MsStatus ms__raise(MsStatus code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#define MS_FAIL(code, ...) ms__raise(code, __FILE__, __LINE__, __VA_ARGS__)
#define MS_FAIL_NULL(code, ...) (ms__raise(code, __FILE__, __LINE__, __VA_ARGS__), NULL)
#define MS_TRY(expr)                                                                                         \
    do {                                                                                                     \
        MsStatus ms_try_st = (expr);                                                                         \
        if (__builtin_expect(ms_try_st != MS_OK, 0)) return ms_try_st;                                       \
    } while (0)

/* Raised already? True when this thread's record holds an error. */
MS_API_EXPORT bool ms__failed(void);

/* Adds where in the user's program it was to the error's message, once. */
MS_API_EXPORT void ms__error_at(const char *place);

/* MS_ERROR_INTERRUPT once the user asked to stop. Costs some nanoseconds: between kernels, not inside them. */
MsStatus ms__poll_interrupt(void);

/* "[2, 3]" for messages; writes into a rotating per-thread buffer. */
const char *ms__shape_text(int ndim, const int64_t *shape);

#endif
