/* export.h - a graph in another format: each of our operators becomes nodes with the names and arguments of that format.
 *
 * The table of operators (export_rows.c) has for each format a line of text, or a function where a line does not do;
 * operators without either are said with others (export_lower.c). What differs between formats otherwise, how a node and
 * its constants look in the file, is a function per format (mindir_write.c, onnx_write.c). */
#ifndef MS_FORMAT_EXPORT_H
#define MS_FORMAT_EXPORT_H
#include "format/proto.h"
#include "graph/ir.h"

typedef enum MsModelFormat {
    MS_MODEL_MINDIR,
    MS_MODEL_ONNX,
    MS_MODEL_FORMATS
} MsModelFormat;

/* An argument of a node: an input, or with a key an attribute. */
typedef struct MsExArg {
    const char *key;
    enum {
        MS_EX_VALUE, /* number of a value */
        MS_EX_VALUES,
        MS_EX_INT,
        MS_EX_INTS,
        MS_EX_FLOAT,
        MS_EX_BOOL,
        MS_EX_DTYPE,
        MS_EX_NONE,
        MS_EX_TEXT,
        MS_EX_STATE /* MindIR: what orders effects */
    } kind;
    int n;
    union {
        int64_t i;
        double f;
        const char *s;
        int64_t v[2 * MS_MAX_DIM];
        const int32_t *values;
    };
} MsExArg;
#define EX_VALUE(x) ((MsExArg){.kind = MS_EX_VALUE, .i = (x)})
#define EX_INT(x) ((MsExArg){.kind = MS_EX_INT, .i = (x)})
#define EX_BOOL(x) ((MsExArg){.kind = MS_EX_BOOL, .i = (x)})
#define EX_FLOAT(x) ((MsExArg){.kind = MS_EX_FLOAT, .f = (x)})
#define EX_NONE ((MsExArg){.kind = MS_EX_NONE})
#define EX_TEXT(x) ((MsExArg){.kind = MS_EX_TEXT, .s = (x)})
MsExArg ms__ex_ints(int n, const int64_t *v);
MsExArg ms__ex_key(const char *key, MsExArg arg);

typedef struct MsExporter MsExporter;
struct MsExporter {
    MsModelFormat format;
    const MsGraph *g;
    const MsGraph *other; /* the graph for other sizes, NULL = all sizes are fixed */
    int32_t *value;       /* by value id of g: number of the value in the file, -1 = none yet */
    int *uses;            /* by value id of g */
    char **name;          /* by number */
    MsAval *aval;         /* by number */
    int n, cap;
    int node;  /* the node of g that is being written */
    int count; /* nodes written so far */
    MsProtoBuffer nodes, primitives,
        more;         /* MindIR: primitives, more = functions; ONNX: more = initializers */
    char **primitive; /* MindIR: names of primitives without attributes so far */
    int n_primitive;
    const char *graph_name;
};

/* Writes a node; gives the number of its first output (they are consecutive), or -1 and an error. */
int32_t ms__ex_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                    const MsAval *out);
/* A value with this content; its number or -1. */
int32_t ms__ex_constant(MsExporter *x, MsTensor *t);
/* A new number; `name` is copied. */
int32_t ms__ex_value(MsExporter *x, const char *name, const MsAval *aval);

/* The table. */
typedef struct MsExRow {
    const char *op;
    const char *line[MS_MODEL_FORMATS]; /* "Softmax* $0 (axis)"; NULL: see below */
    int32_t (*emit[MS_MODEL_FORMATS])(MsExporter *x, const MsNode *n); /* number of output 0 */
} MsExRow;
const MsExRow *ms__ex_row(const MsOp *op);
/* What says the operator with others: fills the outputs from the inputs; NULL: nothing does. */
typedef MsStatus (*MsExLower)(const MsNode *n, MsTensor *const *in, MsTensor **out);
MsExLower ms__ex_lower(const MsOp *op);
/* Whether a node that has a line is to be lowered all the same: the format's operator covers less than ours. */
bool ms__ex_wants_lower(const MsExporter *x, const MsNode *n, MsTensor *const *in);

/* What a model consists of beside the graph. Texts are borrowed. */
typedef struct MsModel {
    const MsGraph *g,
        *other;       /* other: the same function for other sizes; what differs is open. NULL: nothing is */
    const char *name; /* of the graph */
    const char *const *input;    /* names of the arguments */
    const char *const *captured; /* by captured tensor: its name as a parameter; NULL: a constant */
    const char *const *place;    /* by captured tensor: file of its content, or NULL: in the model */
    const int64_t *offset;
    const char *result; /* how results are put together: "0", "(0,(1,N),2)"; N is None */
} MsModel;

/* The model as bytes. Errors: NOT_IMPLEMENTED (an operator that the format has not; the text names it), MEMORY. */
MS_API_EXPORT MsStatus ms__mindir_write(const MsModel *m, MsProtoBuffer *out);
/* output: names of the results, or NULL. */
MS_API_EXPORT MsStatus ms__onnx_write(const MsModel *m, const char *const *output, MsProtoBuffer *out);

/* Shared by both: x is set up for m with the lowered graph; every node of the graph is written. */
MsStatus ms__ex_begin(MsExporter *x, MsModelFormat format, const MsModel *m);
MsStatus ms__ex_nodes(MsExporter *x);
/* Goes on with graph g: x->g (lowered), value and uses are set anew; leave drops them. */
MsStatus ms__ex_enter(MsExporter *x, const MsGraph *g);
void ms__ex_leave(MsExporter *x);
/* Branches and loops in MindIR. */
int32_t ms__mindir_control(MsExporter *x, const MsNode *n);
void ms__ex_end(MsExporter *x);
/* Emitters of nodes and constants by format. */
int32_t ms__mindir_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                        const MsAval *out);
int32_t ms__onnx_emit(MsExporter *x, const char *op, int n_arg, const MsExArg *arg, int n_out,
                      const MsAval *out);
int32_t ms__mindir_constant(MsExporter *x, MsTensor *t);
int32_t ms__onnx_constant(MsExporter *x, MsTensor *t);

#endif
