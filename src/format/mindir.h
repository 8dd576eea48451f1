/* mindir.h - models in the MindIR format. */
#ifndef MS_FORMAT_MINDIR_H
#define MS_FORMAT_MINDIR_H
#include "core/tensor.h"
#include "format/proto.h"
#include "graph/ir.h"

/* The tables of the format's messages, see docs/design/009-models.md. */
MS_API_EXPORT extern const MsProtoField ms__mindir_model[], ms__mindir_tensor[];

/* The tensor that a TensorProto describes. folder: where files of its content lie. NULL and an error (VALUE, IO). */
MS_API_EXPORT MsTensor *ms__mindir_tensor_of(const MsProtoMessage *m, const char *folder);
/* The format's number of a dtype, 0 where it has none, and back. */
MS_API_EXPORT int ms__mindir_dtype(MsDtype dtype);
MS_API_EXPORT MsDtype ms__mindir_dtype_of(int64_t number);

#endif
