/* match.h - the engine under the passes: rebuilding a graph node by node, and rewriting by rules. */
#ifndef MS_GRAPH_MATCH_H
#define MS_GRAPH_MATCH_H
#include "graph/ir.h"

/* A graph being rebuilt. A pass visits the nodes of `from` in order and gives every output a value of `to`.
 */
typedef struct MsRebuild {
    const MsGraph *from;
    MsGraph *to;
    int32_t *map; /* by old value: the new one, -1 = none yet */
    bool changed; /* the pass did something */
    void *ctx;    /* of the pass */
} MsRebuild;

typedef struct MsPass {
    const char *name;
    MsStatus (*begin)(MsRebuild *r); /* before the first node; may be NULL. Fills ctx */
    MsStatus (*node)(MsRebuild *r, int k);
    void (*end)(MsRebuild *r); /* frees ctx; may be NULL */
} MsPass;

extern const MsPass ms__pass_simplify, ms__pass_fold, ms__pass_cse, ms__pass_dce, ms__pass_fuse,
    ms__pass_attention, ms__pass_join, ms__pass_norm, ms__pass_conv, ms__pass_narrow;

/* Applies a pass to g and to the graphs inside it (these are replaced by new ones, never changed). On failure
 * g is as before. */
MsStatus ms__pass_run(const MsPass *pass, MsGraph *g, bool *changed);

/* Node k as it is, its inputs mapped. */
MsStatus ms__rebuild_keep(MsRebuild *r, int k);
/* The mapped inputs of node k into in[0..n_in). */
void ms__rebuild_inputs(const MsRebuild *r, int k, int32_t *in);
/* Adds a node of one output whose type infer gives; its value or -1 and an error. */
int32_t ms__rebuild_add(MsRebuild *r, const MsOp *op, const MsAttr *attr, int n_in, const int32_t *in);

/* Does n, or a graph inside it, have an effect beyond its outputs? */
bool ms__has_effect(const MsNode *n);
bool ms__aval_equal(const MsAval *a, const MsAval *b);
/* The node of g that defines v, or NULL for an input. */
const MsNode *ms__def(const MsGraph *g, int32_t v);
/* By value of g: uses by nodes and results. The caller frees it; NULL and an error without memory. */
int32_t *ms__use_counts(const MsGraph *g);
/* v is a constant with one value in all elements, possibly seen through views: gives it. */
bool ms__uniform(const MsGraph *g, int32_t v, double *value);

/* ---- rules ---- */

typedef struct MsMatch {
    const MsGraph *g;
    const MsNode *node[4]; /* operators of the pattern in order of their names; node[0] is the root */
    int32_t var[8];        /* values of the variables, by letter: a, b, c ... as index 0, 1, 2 ... */
} MsMatch;

/* pattern: op(arg, ...), where arg is a variable (one letter), a pattern, or a number (a uniform constant of
 * exactly this value: 0 is not -0). A repeated variable is the same value. build: a variable, or op(variable,
 * ...), which takes the attributes of the root when it has the root's operator. A rule applies when `guard`
 * (NULL = always) agrees and the types are equal; guard may change the attributes of what is built. */
typedef struct MsRule {
    const char *pattern, *build;
    bool (*guard)(const MsMatch *m, MsAttr *attr);
} MsRule;

/* Value that stands for the node (op, attr, in) of one output, after all rules: an existing or a new one; -1
 * and an error. */
int32_t ms__rewrite(MsRebuild *r, const MsRule *rules, int n_rules, const MsOp *op, const MsAttr *attr,
                    int n_in, const int32_t *in, const MsAval *out);

#endif
