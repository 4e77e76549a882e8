/* SPDX-License-Identifier: MIT
 *
 * The parts of the ONNX reader: the walk through the messages of a model, its tensors, their names,
 * and the files with their data. */
#ifndef CONTAINERS_ONNX_ONNX_H
#define CONTAINERS_ONNX_ONNX_H

#include "containers/onnx/protobuf_wire.h"

enum {
    DTI_ONNX_DEPTH_MAX = 100,     /* message nesting, as in protobuf libraries */
    DTI_ONNX_RANK_MAX = 64,       /* of tensors; ONNX has no limit, numpy uses this one */
    DTI_ONNX_TEXT_MAX = 4096,     /* maximum bytes of a name or location that is read */
    DTI_ONNX_VALUE_MAX = 1 << 20, /* bytes kept of a metadata value */
    DTI_ONNX_PATHS_MAX = 1 << 24, /* total bytes of names built from paths */
    DTI_ONNX_NODES_MAX = 1 << 18, /* nodes that onnx_read.c examines */
};

enum dti_onnx_message {
    DTI_ONNX_MODEL,
    DTI_ONNX_OPSET,
    DTI_ONNX_PROPERTY,
    DTI_ONNX_TRAINING,
    DTI_ONNX_FUNCTION,
    DTI_ONNX_GRAPH,
    DTI_ONNX_NODE,
    DTI_ONNX_ATTRIBUTE,
    DTI_ONNX_SPARSE,
    DTI_ONNX_TENSOR,
    DTI_ONNX_EXTERNAL,
    DTI_ONNX_VALUE,
    DTI_ONNX_MESSAGE_COUNT
};

/* The byte range of a text in the file; empty if the text is absent. */
struct dti_onnx_text {
    uint64_t at, size;
};
enum { DTI_ONNX_TEXTS = 4 };

/* An enclosing message of a tensor that is not an initializer of the main graph: onnx_names.c. Its
 * texts are set when the message ends. */
struct dti_onnx_scope {
    const struct dti_onnx_scope *parent; /* NULL: the model */
    enum dti_onnx_message message;
    uint32_t field;                    /* field number in the parent */
    uint64_t place;                    /* index among the messages in its parent */
    const char *texts[DTI_ONNX_TEXTS]; /* NULL: absent */
};

/* A node's inputs and integer attributes, indexed by the tables in onnx_read.c. */
enum { DTI_ONNX_INPUTS = 5, DTI_ONNX_INTEGERS = 7 };
struct dti_onnx_arguments {
    struct dti_onnx_text inputs[DTI_ONNX_INPUTS];
    unsigned input_count;
    int64_t integers[DTI_ONNX_INTEGERS];
    unsigned given, referred; /* bit sets of integers: those present; those that refer to an
                                 attribute of the function's caller */
};

/* A message that is being read. */
struct dti_onnx_frame {
    enum dti_onnx_message message;
    uint32_t field;
    uint64_t start, end;
    uint64_t place, entered; /* index among its siblings; child messages read so far */
    uint64_t number;
    size_t graph; /* the innermost enclosing graph, or itself: index into dti_onnx_reading.graphs */
    int64_t integer; /* of an attribute */
    bool has_integer;
    struct dti_onnx_arguments arguments; /* of a node */
    struct dti_onnx_text texts[DTI_ONNX_TEXTS];
    struct dti_onnx_scope *scope; /* NULL until a tensor is found inside */
};

/* A tensor that is being read; its fields may come in any order. */
struct dti_onnx_draft {
    uint64_t shape[DTI_ONNX_RANK_MAX];
    unsigned rank;
    bool segment, has_raw, external;
    struct dti_onnx_text raw, location, offset, length;
    bool has_offset, has_length;
    uint64_t string_bytes;
};

/* What the container keeps per tensor in addition to struct dti_tensor. */
struct dti_onnx_tensor {
    const struct dti_onnx_scope *scope; /* NULL: an initializer of the main graph */
    uint64_t place;                     /* index in its attribute, if that has several */
    size_t graph;                       /* the graph that contains it */
    bool initializer;                   /* an initializer of that graph */
    const char *name;                   /* its own name; may be empty */
    size_t name_length;
    uint64_t start, end;  /* byte range of its message, for values that need decoding */
    const char *location; /* of its external data, or NULL */
    size_t location_length;
    uint64_t claimed; /* bytes of external data, at least those of its elements */
    uint64_t type;    /* type id, for values that need decoding */
    bool decoded;     /* values are decoded, at this offset of scratch */
    uint64_t offset;
};
struct dti_onnx {
    struct dti_onnx_tensor *tensors; /* one per tensor of the container, in the same order */
    bool decoding;                   /* scratch is open */
    struct dti_input scratch;        /* decoded values, one tensor after another */
};

/* A node that dequantizes codes, and an input of a graph: onnx_read.c. */
struct dti_onnx_name {
    const char *text; /* NULL: absent, or longer than any tensor name */
    size_t length;
};
struct dti_onnx_node {
    enum dti_onnx_operator op;
    size_t graph;
    struct dti_onnx_name codes, scale, zero;
    bool has_zero;
    bool order; /* it has an input that assigns columns to groups */
    int64_t integers[DTI_ONNX_INTEGERS];
    unsigned given, referred;
};
struct dti_onnx_input {
    struct dti_onnx_name name;
    size_t graph;
};

/* State while one model is read. */
struct dti_onnx_reading {
    struct dti_opening *opening;
    struct dti_wire wire;
    struct dti_onnx_tensor *tensors;
    size_t tensor_capacity;
    size_t depth;
    struct dti_onnx_frame frames[DTI_ONNX_DEPTH_MAX];
    struct dti_onnx_draft draft, sparse;
    size_t *graphs; /* parent graph of each graph; 0: none, so no outer names are visible */
    size_t graph_count, graph_capacity;
    struct dti_onnx_node *nodes;
    size_t node_count, node_capacity, nodes_skipped;
    struct dti_onnx_input *inputs; /* of nested graphs */
    size_t input_count, input_capacity;
    const char *sparse_type, *sparse_name; /* of its values tensor */
    size_t sparse_name_length;
    const char *location;                      /* of the last tensor with external data */
    uint64_t path_bytes;                       /* bytes of path names so far */
    size_t sparse_count, other_keys, too_long; /* for notes */
    unsigned opsets;
    bool has_graph;
};

/* onnx_reading.c: copies a text, truncated to `most` bytes. NULL: failed. */
char *dti_onnx_text(struct dti_onnx_reading *reading, struct dti_onnx_text text, size_t most,
                    size_t *ret_length);
/* The scope of the message at this depth; creates the scopes of its parents too. */
bool dti_onnx_scope(struct dti_onnx_reading *reading, size_t depth,
                    const struct dti_onnx_scope **ret);
/* Refuses a tensor, identified by its name or by the offset of its message. */
bool dti_onnx_refuse(struct dti_onnx_reading *reading, const struct dti_tensor *tensor,
                     uint64_t start, const char *format, ...) DTI_PRINTF(4, 5);

/* onnx_tensor.c: adds a tensor, or a sparse one, to the container once its message has ended. */
bool dti_onnx_tensor(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame);
bool dti_onnx_sparse(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame);

/* onnx_weights.c: sets the container's weights, of tensors that nodes dequantize, once all tensors
 * are in their final order. */
bool dti_onnx_find_weights(struct dti_onnx_reading *reading);

/* onnx_values.c: types by the field that holds their values. */
struct dti_onnx_type {
    const char *name;
    const struct dti_format *format;
    unsigned field, bits, numbers, elements;
};
/* The type with this id; false: unknown, or not numeric. */
bool dti_onnx_type(uint64_t id, struct dti_onnx_type *ret);
/* Validates the values in a tensor's message and counts their numbers. *ret_at: their file offset
 * if they are stored as in memory, else UINT64_MAX. */
bool dti_onnx_check_values(struct dti_wire *wire, const struct dti_onnx_type *type, uint64_t start,
                           uint64_t end, uint64_t *ret_count, uint64_t *ret_at);
enum dti_status dti_onnx_data(struct dti_container *container, size_t tensor,
                              const struct dti_input **ret_input, uint64_t *ret_offset,
                              struct dti_error *reterr);
void dti_onnx_free(struct dti_container *container);

/* onnx_names.c: makes names unique, using paths where necessary. */
bool dti_onnx_name_tensors(struct dti_onnx_reading *reading);
/* The output of the Constant node that holds a scoped tensor as its value, or NULL. */
const char *dti_onnx_constant_of(const struct dti_onnx_tensor *own);

/* onnx_external.c: places a draft with external data, and sets `bytes` if the file gives them; they
 * must be at least tensor->bytes unless that is UINT64_MAX. */
bool dti_onnx_place_external(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                             struct dti_tensor *tensor, struct dti_onnx_tensor *own);
/* Opens the external data files, and sorts tensors by the position of their data. */
bool dti_onnx_open_external(struct dti_onnx_reading *reading);

#endif
