/* exec.h - running graphs on concrete tensors. */
#ifndef MS_EXEC_EXEC_H
#define MS_EXEC_EXEC_H
#include "graph/ir.h"

/* The first run of a graph computes node by node and learns what the memory plan needs; later runs are direct
 * kernel calls. Inputs are concrete tensors of the graph's types. Outputs are new tensors in the open scope,
 * which share storage with nothing. Errors: TYPE, VALUE (an input of another type), RUNTIME (traced input),
 * MEMORY, and what nodes raise; the graph stays usable. Threads may run one graph at the same time, unless it
 * writes captured tensors. */

/* g as a function: all n_in inputs (captured tensors are not looked at) to all n_out outputs; nothing is
 * written. */
MsStatus ms__graph_run(MsGraph *g, MsTensor *const *in, MsTensor **out);
/* The same; out[j] not NULL is a tensor to write into, which may overlap inputs. */
MsStatus ms__graph_run_into(MsGraph *g, MsTensor *const *in, MsTensor **out);
/* A call from outside: the n_arg arguments to the n_result results; captured tensors are read and written. */
MsStatus ms__graph_run_call(MsGraph *g, MsTensor *const *arg, MsTensor **result);

#endif
