/* SPDX-License-Identifier: MIT
 *
 * Python pickles, read as data. Nothing is imported, called or executed: a global is a name, and
 * what Python would call becomes a value that says what would be called. What a pickle refers to
 * twice is one value, so the values are a graph, which may have cycles. */
#ifndef CONTAINERS_PICKLE_PICKLE_H
#define CONTAINERS_PICKLE_PICKLE_H

#include "containers/opening.h"

enum {
    DTI_PICKLE_BYTES_MAX = 256 << 20,
    DTI_PICKLE_OPCODES_MAX = 50000000,
    DTI_PICKLE_STACK_MAX = 1000000,
    DTI_PICKLE_DEPTH_MAX = 1000,   /* containers in each other, for those who walk over them */
    DTI_PICKLE_TEXT_MAX = 1 << 16, /* bytes of a text that is kept */
    DTI_PICKLE_NAME_MAX = 1000,    /* of a module with a name in it */
};

enum dti_pickle_type {
    DTI_PICKLE_NONE,
    DTI_PICKLE_TRUE,
    DTI_PICKLE_FALSE,
    DTI_PICKLE_INT,
    DTI_PICKLE_TEXT,
    DTI_PICKLE_PLAIN, /* a number, an unusual text: nothing that matters here */
    DTI_PICKLE_BYTES,
    DTI_PICKLE_TUPLE,
    DTI_PICKLE_LIST, /* sets, too */
    DTI_PICKLE_DICT, /* its keys and values in turn */
    DTI_PICKLE_GLOBAL,
    DTI_PICKLE_PERSISTENT, /* what a file keeps outside the pickle: has the tuple that says what */
    DTI_PICKLE_CALL,       /* of a global that is known as CALL, with a tuple */
    DTI_PICKLE_OPAQUE,     /* of one that is not known: has its name */
};

/* What Python gets from calling a global. */
enum dti_pickle_makes {
    DTI_PICKLE_MAKES_OPAQUE, /* nobody knows what */
    DTI_PICKLE_MAKES_PLAIN,
    DTI_PICKLE_MAKES_BYTES, /* of a text, its first argument */
    DTI_PICKLE_MAKES_DICT,
    DTI_PICKLE_MAKES_LIST,     /* its argument, or an empty one */
    DTI_PICKLE_MAKES_ARGUMENT, /* its first argument */
    DTI_PICKLE_MAKES_CALL,     /* something for the reader to look at */
};
/* The rows of pickle_globals.def: those without a name of their own here are DTI_GLOBAL_ANY. */
enum dti_pickle_meaning {
    DTI_GLOBAL_UNKNOWN,
    DTI_GLOBAL_ANY,
    DTI_GLOBAL_STORAGE, /* a class of storages */
    DTI_GLOBAL_UNTYPED,
    DTI_GLOBAL_DTYPE, /* "torch.bfloat16", and whatever torch calls a dtype */
    DTI_GLOBAL_TENSOR_V1,
    DTI_GLOBAL_TENSOR_V2,
    DTI_GLOBAL_TENSOR_V3,
    DTI_GLOBAL_SAME,      /* its first argument is the tensor */
    DTI_GLOBAL_FROM_TYPE, /* (function, type, arguments, state) */
    DTI_GLOBAL_QUANTIZED,
    DTI_GLOBAL_SPARSE,
    DTI_GLOBAL_META,
    DTI_GLOBAL_WRAPPER,
    DTI_GLOBAL_ARRAY,  /* of numpy, by its state */
    DTI_GLOBAL_BUFFER, /* the same, by arguments */
    DTI_GLOBAL_NUMPY_DTYPE,
};

/* Whether "module.name" is a row, or a dtype of torch: calling it is harmless. */
bool dti_pickle_is_known(const char *text, size_t length, size_t module_length);
/* The dtype that torch calls so, or NULL. */
const struct dti_format *dti_pickle_dtype(const char *name, size_t length);

struct dti_pickle_node;
struct dti_pickle {
    struct dti_pool pool; /* all of its memory */
    struct dti_pickle_node *nodes;
    uint32_t *items;
    char *texts;
    size_t node_count, item_count, text_count, node_capacity, item_capacity, text_capacity;
    size_t persistent_count; /* of the nodes */
    uint32_t root;
    uint32_t called;     /* the first OPAQUE value; 0: there is none */
    uint64_t start, end; /* in the file */
};

/* Reads one pickle that begins at `start` of the opening's file and ends before or at `limit`. A
 * pickle of zeros is empty, and is to be freed in any case. False on failure. */
bool dti_pickle_read(struct dti_opening *opening, uint64_t start, uint64_t limit,
                     struct dti_pickle *ret);
void dti_pickle_free(struct dti_pickle *pickle);

/* A value is a number, of this pickle: its root, or one that these give. */
enum dti_pickle_type dti_pickle_type(const struct dti_pickle *pickle, uint32_t value);
/* Of an INT; false: it is something else, or takes more than 64 bits. */
bool dti_pickle_int(const struct dti_pickle *pickle, uint32_t value, int64_t *ret);
bool dti_pickle_size(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret); /* not < 0 */
/* Of a TEXT; of a GLOBAL or OPAQUE "module.name". NULL: it is something else. Valid until the
 * pickle is freed; a NUL follows. */
const char *dti_pickle_text(const struct dti_pickle *pickle, uint32_t value, size_t *ret_length);
enum dti_pickle_meaning dti_pickle_meaning(const struct dti_pickle *pickle, uint32_t value);
/* Of a TUPLE: its values; false: it is something else. */
bool dti_pickle_tuple(const struct dti_pickle *pickle, uint32_t value, const uint32_t **ret_items,
                      size_t *ret_count);
/* Of a PERSISTENT its tuple; of a CALL its global, its tuple, and the state that BUILD gives to
 * what it makes: the value None where there is none. */
uint32_t dti_pickle_arguments(const struct dti_pickle *pickle, uint32_t value);
uint32_t dti_pickle_callee(const struct dti_pickle *pickle, uint32_t value);
uint32_t dti_pickle_state(const struct dti_pickle *pickle, uint32_t value);
/* Of BYTES where they are in the file, and how many; encoded: in UTF-8, each of them a character
 * up to U+00FF. False: it is something else. */
bool dti_pickle_bytes(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret_at,
                      uint64_t *ret_size, bool *ret_encoded);
/* Marks a value; whether it was marked before. */
bool dti_pickle_visit(struct dti_pickle *pickle, uint32_t value);

/* The items of a TUPLE, LIST or DICT (keys and values) one by one; false after the last. */
struct dti_pickle_items {
    uint32_t at, left, next;
};
struct dti_pickle_items dti_pickle_items(const struct dti_pickle *pickle, uint32_t value);
bool dti_pickle_next(const struct dti_pickle *pickle, struct dti_pickle_items *items,
                     uint32_t *ret);

#endif
