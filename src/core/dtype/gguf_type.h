/* SPDX-License-Identifier: MIT
 *
 * The element types of GGUF: rows of gguf_types.def. */
#ifndef CORE_DTYPE_GGUF_TYPE_H
#define CORE_DTYPE_GGUF_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "dtinfo/dtype.h"

/* The types that are blocks. */
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
    const char *name;            /* of ggml: "Q4_K" */
    const char *word;            /* ours of blocks: "q4_k"; else NULL */
    unsigned elements, bytes;    /* of a block; 1 element otherwise */
    enum dti_dtype dtype;        /* DTI_NONE: blocks */
    enum dti_gguf_blocks blocks; /* DTI_GGUF_BLOCKS_COUNT: a dtype */
    unsigned group;              /* elements that share a scale */
    unsigned other_bytes;        /* of a block, that are not codes: scales, minima, sums */
};

/* The type of that id; NULL: ggml defines none. */
const struct dti_gguf_type *dti_gguf_type_find(uint64_t id);
const struct dti_gguf_type *dti_gguf_type_of(enum dti_gguf_blocks blocks);
/* That of single numbers of a dtype; NULL: GGUF has none. */
const struct dti_gguf_type *dti_gguf_type_storing(enum dti_dtype dtype);
/* Blocks by their word, in letters of either case; NULL: none. */
const struct dti_gguf_type *dti_gguf_type_named(const char *word);

#endif
