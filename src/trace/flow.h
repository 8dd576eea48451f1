/* flow.h - tensor-dependent control flow over staged parts. The parts are graphs as ms_stage_end gives them,
 * with what they captured and what they write; here they are brought to the common operands that cond and
 * while take. */
#ifndef MS_TRACE_FLOW_H
#define MS_TRACE_FLOW_H
#include "graph/ir.h"

/* Where an output of a part comes from: result `index` of its graph, or, when index < 0, a tensor of outside.
 */
typedef struct MsPick {
    int index;
    MsTensor *t;
} MsPick;

/* out[0..n) = yes's picks where pred (bool, 0-d) holds, else no's. Neither graph takes arguments. Writes of
 * the taken part happen. References are in the open scope. Errors: TYPE (outputs differ in dtype or shape).
 */
MS_API_EXPORT MsStatus ms__flow_cond(MsTensor *pred, MsGraph *yes, MsGraph *no, int n, const MsPick *yes_pick,
                                     const MsPick *no_pick, MsTensor **out);
/* Carries x[0..n): while test(x): x = body(x). test and body take n arguments; out[0..n) are the last values.
 * Errors: TYPE (a carried value changes dtype or shape), NOT_IMPLEMENTED (a loop that writes one of two
 * overlapping views). */
MS_API_EXPORT MsStatus ms__flow_while(MsGraph *test, MsGraph *body, int n, MsTensor *const *x,
                                      const MsPick *pick, MsTensor **out);

#endif
