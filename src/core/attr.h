/* attr.h - attributes of an operator call: plain data in signature order, at most MS_MAX_ATTR. */
#ifndef MS_CORE_ATTR_H
#define MS_CORE_ATTR_H
#include "core/error.h"

#define MS_MAX_ATTR 10

typedef enum MsAttrKind {
    MS_ATTR_NONE, /* not given */
    MS_ATTR_INT,
    MS_ATTR_FLOAT,
    MS_ATTR_BOOL,
    MS_ATTR_INTS, /* up to MS_MAX_DIM values */
    MS_ATTR_DTYPE,
    MS_ATTR_STR,   /* static or interned text, see ms__intern */
    MS_ATTR_GRAPH, /* a sub-graph of a control operator */
    MS_ATTR_HOST   /* a function of the host language */
} MsAttrKind;

typedef struct MsAttr {
    uint8_t kind; /* MsAttrKind */
    uint8_t n;    /* INTS: how many */
    union {
        int64_t i; /* INT, BOOL, DTYPE */
        double f;
        int64_t v[MS_MAX_DIM];
        const char *s;
        MsGraph *g;
        MsHost *h;
    };
} MsAttr;

bool ms__attr_equal(const MsAttr *a, const MsAttr *b);
uint64_t ms__attr_hash(const MsAttr *a, uint64_t seed);
/* One copy per distinct text, kept for the life of the process. */
const char *ms__intern(const char *s);

#endif
