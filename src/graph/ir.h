/* ir.h - the graph: SSA nodes over value ids. The same form is the tape of reverse mode, the result of
 * staging and what passes rewrite. Values 0..n_in-1 are the inputs; a node's outputs are consecutive ids.
 * Nodes are in an order in which every use follows its definition. */
#ifndef MS_GRAPH_IR_H
#define MS_GRAPH_IR_H
#include "op/op.h"

typedef struct MsNode {
    const MsOp *op; /* NULL: removed */
    MsAttr *attr;   /* n_attr of the signature; graph attributes are retained */
    int32_t *in;    /* value ids, -1 = absent */
    int32_t n_in, n_out;
    int32_t out; /* first output id */
    int32_t loc; /* where in the program: a number of ms__where_hook, 0 = unknown */
} MsNode;

typedef struct MsPlan MsPlan; /* exec/ */

struct MsGraph {
    _Atomic int ref;
    MsAval *val;  /* by value id */
    int32_t *def; /* by value id: index of the defining node, -1 = input */
    int n_val, cap_val;
    MsNode *node;
    int n_node, cap_node;
    int n_in;  /* all inputs: arguments, then captured */
    int n_arg; /* the first n_arg inputs are arguments of a call */
    int32_t *out;
    int n_out; /* all outputs: results, then the new values of written captures */
    int n_result;
    MsTensor **captured; /* concrete tensors for inputs n_arg.. (retained); in sub-graphs none */
    int *written;        /* output n_result+k is written back to captured[written[k]] */
    char *name;
    MsPlan *plan; /* compiled form, or NULL */
    void (*plan_free)(MsPlan *);
    struct MsGraph *vjp, *bwd; /* cached forward and backward halves, see trace/control.c */
    int8_t has_host; /* a node here or inside calls the host language: 0 = not looked yet, 1 = no, 2 = yes */
    struct MsArena *arena; /* node attrs and input lists live here */
};

/* Set by the host language: the number of the program's line that is running, and the text for a number. */
MS_API_EXPORT extern int32_t (*ms__where_hook)(void);
MS_API_EXPORT extern void (*ms__where_text)(int32_t loc, char *text, size_t n);
/* An error of a node is an error of its place. Gives st. */
MsStatus ms__error_in(int32_t loc, MsStatus st);

MsGraph *ms__graph_new(void);
/* Whether g or a graph inside it holds an operator with a function of the host language. */
bool ms__graph_has_host(MsGraph *g);
/* Adds an input; id or -1 and an error. All inputs come before the first node. */
int32_t ms__graph_input(MsGraph *g, const MsAval *a);
/* Adds a node; the id of its first output or -1 and an error. Everything is copied. */
int32_t ms__graph_add(MsGraph *g, const MsOp *op, const MsAttr *attr, int n_in, const int32_t *in, int n_out,
                      const MsAval *out);
MsStatus ms__graph_set_out(MsGraph *g, int n_out, const int32_t *out);
/* Cuts g in two: `first` has g's inputs and computes the last n results of g, then what `rest` needs of its values;
 * `rest` (may be NULL: then first gives the n results alone) takes g's arguments and those values, and gives the
 * other results and the writes. Effects are all in rest. */
MS_API_EXPORT MsStatus ms__graph_split(const MsGraph *g, int n, MsGraph **first, MsGraph **rest);
/* Checks every invariant above, operand counts, and that infer gives the recorded types. */
MsStatus ms__graph_verify(const MsGraph *g);
/* Applies g's nodes through ms_bind: out[0..n_out). in[] are all n_in inputs. */
MsStatus ms__graph_replay(const MsGraph *g, MsTensor *const *in, MsTensor **out);

#endif
