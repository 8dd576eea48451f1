/* exec.h - running graphs on concrete tensors. */
#ifndef MS_EXEC_EXEC_H
#define MS_EXEC_EXEC_H
#include "graph/ir.h"

/* Runs g: in[0..n_arg) when g captured tensors of its own, else all n_in inputs; out[0..n_result) in the open
 * scope. out[j] is NULL, or a tensor to write into (it may overlap an input). Written captures are written.
 * The first run computes node by node and learns what the memory plan needs; later runs are direct kernel
 * calls. Errors: TYPE, VALUE (an input of another type than the graph's), RUNTIME (traced input), MEMORY, and
 * what nodes raise; the graph stays usable. Threads may run one graph at the same time as long as it writes
 * nothing. */
MsStatus ms__graph_run(MsGraph *g, MsTensor *const *in, MsTensor **out);

#endif
