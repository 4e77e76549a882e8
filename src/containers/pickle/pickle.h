/* SPDX-License-Identifier: MIT
 *
 * Reads Python pickles as data. Nothing is imported, called or executed: a global is just a name,
 * and a call becomes a value that records what would be called. An object that is referenced twice
 * is one value, so the values form a graph that may have cycles. */
#ifndef CONTAINERS_PICKLE_PICKLE_H
#define CONTAINERS_PICKLE_PICKLE_H

#include "containers/opening.h"

enum {
    DTI_PICKLE_BYTES_MAX = 256 << 20,
    DTI_PICKLE_OPCODES_MAX = 50000000,
    DTI_PICKLE_STACK_MAX = 1000000,
    DTI_PICKLE_DEPTH_MAX = 1000,   /* nesting depth, for code that walks the values */
    DTI_PICKLE_TEXT_MAX = 1 << 16, /* bytes of a text that is kept */
    DTI_PICKLE_NAME_MAX = 1000,    /* of "module.name" */
};

enum dti_pickle_type {
    DTI_PICKLE_NONE,
    DTI_PICKLE_TRUE,
    DTI_PICKLE_FALSE,
    DTI_PICKLE_INT,
    DTI_PICKLE_TEXT,
    DTI_PICKLE_PLAIN, /* a number or an unusual text: irrelevant here */
    DTI_PICKLE_BYTES,
    DTI_PICKLE_TUPLE,
    DTI_PICKLE_LIST, /* also sets */
    DTI_PICKLE_DICT, /* alternating keys and values */
    DTI_PICKLE_GLOBAL,
    DTI_PICKLE_PERSISTENT, /* stored outside the pickle: holds the tuple that identifies it */
    DTI_PICKLE_CALL,       /* call of a global marked CALL, with a tuple */
    DTI_PICKLE_OPAQUE,     /* call of an unknown global: holds its name */
};

/* What calling a global returns in Python. */
enum dti_pickle_makes {
    DTI_PICKLE_MAKES_OPAQUE, /* unknown */
    DTI_PICKLE_MAKES_PLAIN,
    DTI_PICKLE_MAKES_BYTES, /* of a text, its first argument */
    DTI_PICKLE_MAKES_DICT,
    DTI_PICKLE_MAKES_LIST,     /* its argument, or an empty list */
    DTI_PICKLE_MAKES_ARGUMENT, /* its first argument */
    DTI_PICKLE_MAKES_CALL,     /* a call that the reader interprets */
};
/* The rows of pickle_globals.def; rows without a meaning of their own are DTI_GLOBAL_ANY. */
enum dti_pickle_meaning {
    DTI_GLOBAL_UNKNOWN,
    DTI_GLOBAL_ANY,
    DTI_GLOBAL_STORAGE, /* a storage class */
    DTI_GLOBAL_UNTYPED,
    DTI_GLOBAL_DTYPE, /* "torch.bfloat16" or another torch dtype */
    DTI_GLOBAL_TENSOR_V1,
    DTI_GLOBAL_TENSOR_V2,
    DTI_GLOBAL_TENSOR_V3,
    DTI_GLOBAL_SAME,      /* its first argument is the tensor */
    DTI_GLOBAL_FROM_TYPE, /* (function, type, arguments, state) */
    DTI_GLOBAL_QUANTIZED,
    DTI_GLOBAL_SPARSE,
    DTI_GLOBAL_META,
    DTI_GLOBAL_WRAPPER,
    DTI_GLOBAL_ARRAY,  /* a numpy array, described by its state */
    DTI_GLOBAL_BUFFER, /* a numpy array, described by arguments */
    DTI_GLOBAL_NUMPY_DTYPE,
};

/* Whether "module.name" is a row or a torch dtype: calling it is harmless. */
bool dti_pickle_is_known(const char *text, size_t length, size_t module_length);
/* The dtype with this torch name, or NULL. */
const struct dti_format *dti_pickle_dtype(const char *name, size_t length);

struct dti_pickle_node;
struct dti_pickle {
    struct dti_pool pool; /* owns all memory */
    struct dti_pickle_node *nodes;
    uint32_t *items;
    char *texts;
    size_t node_count, item_count, text_count, node_capacity, item_capacity, text_capacity;
    size_t persistent_count; /* number of PERSISTENT nodes */
    uint32_t root;
    uint32_t called;     /* the first OPAQUE value; 0: none */
    uint64_t start, end; /* in the file */
};

/* Reads one pickle that starts at `start` of the opening's file and ends at or before `limit`. A
 * zeroed pickle is empty. Free it in any case. False on failure. */
bool dti_pickle_read(struct dti_opening *opening, uint64_t start, uint64_t limit,
                     struct dti_pickle *ret);
void dti_pickle_free(struct dti_pickle *pickle);

/* A value is an index that is valid for this pickle: its root, or one returned by these functions.
 */
enum dti_pickle_type dti_pickle_type(const struct dti_pickle *pickle, uint32_t value);
/* Of an INT; false: another type, or more than 64 bits. */
bool dti_pickle_int(const struct dti_pickle *pickle, uint32_t value, int64_t *ret);
bool dti_pickle_double(const struct dti_pickle *pickle, uint32_t value,
                       double *ret); /* or of an fp64 */
bool dti_pickle_size(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret); /* not < 0 */
/* Of a TEXT; of a GLOBAL or OPAQUE "module.name". NULL: another type. NUL-terminated, valid until
 * the pickle is freed. */
const char *dti_pickle_text(const struct dti_pickle *pickle, uint32_t value, size_t *ret_length);
enum dti_pickle_meaning dti_pickle_meaning(const struct dti_pickle *pickle, uint32_t value);
/* The values of a TUPLE; false: another type. */
bool dti_pickle_tuple(const struct dti_pickle *pickle, uint32_t value, const uint32_t **ret_items,
                      size_t *ret_count);
/* For a PERSISTENT, its tuple; for a CALL, its global, its tuple, and the state that BUILD passes
 * to the result, None if there is none. */
uint32_t dti_pickle_arguments(const struct dti_pickle *pickle, uint32_t value);
uint32_t dti_pickle_callee(const struct dti_pickle *pickle, uint32_t value);
uint32_t dti_pickle_state(const struct dti_pickle *pickle, uint32_t value);
/* Location and size of BYTES in the file. encoded: stored as UTF-8, one character up to U+00FF per
 * byte. False: another type. */
bool dti_pickle_bytes(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret_at,
                      uint64_t *ret_size, bool *ret_encoded);
/* Marks a value; returns whether it was already marked. */
bool dti_pickle_visit(struct dti_pickle *pickle, uint32_t value);

/* Iterates over the items of a TUPLE, LIST or DICT (keys and values); false after the last. */
struct dti_pickle_items {
    uint32_t at, left, next;
};
struct dti_pickle_items dti_pickle_items(const struct dti_pickle *pickle, uint32_t value);
bool dti_pickle_next(const struct dti_pickle *pickle, struct dti_pickle_items *items,
                     uint32_t *ret);

#endif
