/* SPDX-License-Identifier: MIT
 *
 * The parts of the ONNX reader: a walk through the messages of a model, the tensors in them, what
 * they are called, and the files with their data. */
#ifndef CONTAINERS_ONNX_ONNX_H
#define CONTAINERS_ONNX_ONNX_H

#include "containers/onnx/protobuf_wire.h"

enum {
    DTI_ONNX_DEPTH_MAX = 100,     /* of messages, as in protobuf libraries */
    DTI_ONNX_RANK_MAX = 64,       /* of tensors; ONNX has no limit, numpy has this one */
    DTI_ONNX_TEXT_MAX = 4096,     /* bytes of a name that is read, and of a location */
    DTI_ONNX_VALUE_MAX = 1 << 20, /* bytes of a metadata value that are kept */
    DTI_ONNX_PATHS_MAX = 1 << 24, /* bytes of all names that are made of paths */
    DTI_ONNX_NODES_MAX = 1 << 18, /* nodes of onnx_read.c that are looked at */
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

/* Where a text is in the file; a text that is absent has no bytes. */
struct dti_onnx_text {
    uint64_t at, size;
};
enum { DTI_ONNX_TEXTS = 4 };

/* What a tensor is in, if it is not an initializer of the main graph: onnx_names.c. Its texts are
 * filled when the message ends. */
struct dti_onnx_scope {
    const struct dti_onnx_scope *parent; /* NULL: the model */
    enum dti_onnx_message message;
    uint32_t field;                    /* of the message in its parent */
    uint64_t place;                    /* among the messages in its parent */
    const char *texts[DTI_ONNX_TEXTS]; /* NULL: absent */
};

/* A node's inputs and integers, by places in the tables of onnx_read.c. */
enum { DTI_ONNX_INPUTS = 5, DTI_ONNX_INTEGERS = 7 };
struct dti_onnx_arguments {
    struct dti_onnx_text inputs[DTI_ONNX_INPUTS];
    unsigned input_count;
    int64_t integers[DTI_ONNX_INTEGERS];
    unsigned given, referred; /* sets of integers: those that there are; of a function's caller */
};

/* A message that is being read. */
struct dti_onnx_frame {
    enum dti_onnx_message message;
    uint32_t field;
    uint64_t start, end;
    uint64_t place, entered; /* among its siblings; messages in it so far */
    uint64_t number;
    size_t graph;    /* the innermost that it is in, or is: of graphs in dti_onnx_reading */
    int64_t integer; /* of an attribute */
    bool has_integer;
    struct dti_onnx_arguments arguments; /* of a node */
    struct dti_onnx_text texts[DTI_ONNX_TEXTS];
    struct dti_onnx_scope *scope; /* NULL until a tensor is found in it */
};

/* A tensor that is being read; fields may come in any order. */
struct dti_onnx_draft {
    uint64_t shape[DTI_ONNX_RANK_MAX];
    unsigned rank;
    bool segment, has_raw, external;
    struct dti_onnx_text raw, location, offset, length;
    bool has_offset, has_length;
    uint64_t string_bytes;
};

/* What the container keeps of each tensor beside struct dti_tensor. */
struct dti_onnx_tensor {
    const struct dti_onnx_scope *scope; /* NULL: an initializer of the main graph */
    uint64_t place;                     /* in its attribute, of several */
    size_t graph;                       /* that it is in */
    bool initializer;                   /* of that graph */
    const char *name;                   /* its own; it may be empty */
    size_t name_length;
    uint64_t start, end;  /* of its message, for values that are decoded */
    const char *location; /* of its external data, or NULL */
    size_t location_length;
    uint64_t claimed; /* bytes of external data, at least those of its elements */
    uint64_t type;    /* of values that are decoded: its id */
    bool decoded;     /* they have been: to this offset */
    uint64_t offset;
};
struct dti_onnx {
    struct dti_onnx_tensor *tensors; /* as many as the container has, in its order */
    bool decoding;                   /* scratch is open */
    struct dti_input scratch;        /* decoded values, one tensor behind the other */
};

/* A node that makes numbers of codes, and an input of a graph: onnx_read.c. */
struct dti_onnx_name {
    const char *text; /* NULL: absent, or longer than any tensor's */
    size_t length;
};
struct dti_onnx_node {
    enum dti_onnx_operator op;
    size_t graph;
    struct dti_onnx_name codes, scale, zero;
    bool has_zero;
    bool order; /* it assigns columns to groups */
    int64_t integers[DTI_ONNX_INTEGERS];
    unsigned given, referred;
};
struct dti_onnx_input {
    struct dti_onnx_name name;
    size_t graph;
};

/* The reading of one model. */
struct dti_onnx_reading {
    struct dti_opening *opening;
    struct dti_wire wire;
    struct dti_onnx_tensor *tensors;
    size_t tensor_capacity;
    size_t depth;
    struct dti_onnx_frame frames[DTI_ONNX_DEPTH_MAX];
    struct dti_onnx_draft draft, sparse;
    size_t *graphs; /* the graph in which each one is; 0, which is none: it sees no others */
    size_t graph_count, graph_capacity;
    struct dti_onnx_node *nodes;
    size_t node_count, node_capacity, nodes_skipped;
    struct dti_onnx_input *inputs; /* of graphs in others */
    size_t input_count, input_capacity;
    const char *sparse_type, *sparse_name; /* of its values */
    size_t sparse_name_length;
    const char *location;                      /* of the last tensor with external data */
    uint64_t path_bytes;                       /* of names so far */
    size_t sparse_count, other_keys, too_long; /* for notes */
    unsigned opsets;
    bool has_graph;
};

/* onnx_reading.c: a copy of a text, cut at `most` bytes: NULL: failed. */
char *dti_onnx_text(struct dti_onnx_reading *reading, struct dti_onnx_text text, size_t most,
                    size_t *ret_length);
/* The scope of the message at that depth, whose parents get theirs. */
bool dti_onnx_scope(struct dti_onnx_reading *reading, size_t depth,
                    const struct dti_onnx_scope **ret);
/* Refuses a tensor: by its name, or by where its message starts. */
bool dti_onnx_refuse(struct dti_onnx_reading *reading, const struct dti_tensor *tensor,
                     uint64_t start, const char *format, ...) DTI_PRINTF(4, 5);

/* onnx_tensor.c: a tensor, or a sparse one, whose message has ended, becomes one of the
 * container. */
bool dti_onnx_tensor(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame);
bool dti_onnx_sparse(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame);

/* onnx_weights.c: the tensors that nodes make numbers of get their weights, once all tensors are in
 * their order. */
bool dti_onnx_find_weights(struct dti_onnx_reading *reading);

/* onnx_values.c: types by the field that holds their values. */
struct dti_onnx_type {
    const char *name;
    const struct dti_format *format;
    unsigned field, bits, numbers, elements;
};
/* The type of an id; false: there is none, or it holds no numbers. */
bool dti_onnx_type(uint64_t id, struct dti_onnx_type *ret);
/* Checks the values in a tensor's message and counts their numbers; *ret_at: where they are in the
 * file, if they lie there as they do in memory, else UINT64_MAX. */
bool dti_onnx_check_values(struct dti_wire *wire, const struct dti_onnx_type *type, uint64_t start,
                           uint64_t end, uint64_t *ret_count, uint64_t *ret_at);
enum dti_status dti_onnx_data(struct dti_container *container, size_t tensor,
                              const struct dti_input **ret_input, uint64_t *ret_offset,
                              struct dti_error *reterr);
void dti_onnx_free(struct dti_container *container);

/* onnx_names.c: names that are unique, made of paths where that is needed. */
bool dti_onnx_name_tensors(struct dti_onnx_reading *reading);
/* The output of the Constant node whose value a tensor in a scope is, or NULL. */
const char *dti_onnx_constant_of(const struct dti_onnx_tensor *own);

/* onnx_external.c: a draft with external data: its place, and `bytes` if the file says so, which
 * are at least those in tensor->bytes unless that is UINT64_MAX. */
bool dti_onnx_place_external(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                             struct dti_tensor *tensor, struct dti_onnx_tensor *own);
/* Opens the files with external data, and puts tensors into the order of their
 * data. */
bool dti_onnx_open_external(struct dti_onnx_reading *reading);

#endif
