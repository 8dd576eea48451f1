/* isa.c - names the instruction set that this copy was compiled for. */
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)
extern const char *const PASTE(ms__isa_name_, MS_ISA);
const char *const PASTE(ms__isa_name_, MS_ISA) = TEXT(MS_ISA);
