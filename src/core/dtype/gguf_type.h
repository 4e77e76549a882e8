/* SPDX-License-Identifier: MIT
 *
 * The element types of GGUF: rows of gguf_types.def, and those that only other programs define. */
#ifndef CORE_DTYPE_GGUF_TYPE_H
#define CORE_DTYPE_GGUF_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/dtype.h"

/* The block types. */
enum dti_gguf_blocks {
#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(number, spelling, ...) DTI_GGUF_##spelling,
#include "core/dtype/gguf_types.def"
#undef GGUF_DTYPE
#undef GGUF_BLOCKS
    DTI_GGUF_BLOCKS_COUNT
};

enum { DTI_GGUF_BLOCK_MAX = 256 }; /* elements of a block */

struct dti_gguf_type {
    unsigned id;
    char name[12];               /* ggml's name: "Q4_K" */
    char word[12];               /* our name for blocks: "q4_k"; else "" */
    unsigned elements, bytes;    /* per block; elements is 1 for dtypes */
    enum dti_dtype dtype;        /* DTI_NONE: a block type */
    enum dti_gguf_blocks blocks; /* DTI_GGUF_BLOCKS_COUNT: a dtype */
    unsigned group;              /* elements that share a scale */
    unsigned other_bytes;        /* bytes of a block that are not codes: scales, minima, sums */
};

/* A type of a program that continues ggml (gguf_forks.def): only its name and size are known. */
struct dti_gguf_fork {
    unsigned id;
    char name[16];
    char refusal[124];        /* after a tensor's name: "is IQ4_KS of ik_llama.cpp, which ..." */
    unsigned elements, bytes; /* per block */
    unsigned row_bytes, tensor_bytes; /* before each row, and of the tensor besides its rows */
};

/* The type with that id; NULL if no program is known that has it. */
const struct dti_gguf_fork *dti_gguf_fork_find(uint64_t id);
/* The bytes of `rows` rows of `row` elements; false if rows are not whole blocks, or on overflow.
 */
bool dti_gguf_fork_bytes(const struct dti_gguf_fork *fork, uint64_t rows, uint64_t row,
                         uint64_t *ret_bytes);

/* The type with that id; NULL if ggml defines none. */
const struct dti_gguf_type *dti_gguf_type_find(uint64_t id);
const struct dti_gguf_type *dti_gguf_type_of(enum dti_gguf_blocks blocks);
/* The type that stores single numbers of a dtype; NULL if GGUF has none. */
const struct dti_gguf_type *dti_gguf_type_storing(enum dti_dtype dtype);
/* Finds blocks by their name, ignoring case; NULL if there are none. */
const struct dti_gguf_type *dti_gguf_type_named(const char *word);

#endif
