/* SPDX-License-Identifier: MIT
 *
 * The exact size of arrays in a dtype or in blocks, computed from the shape. */
#ifndef CORE_DTYPE_FOOTPRINT_H
#define CORE_DTYPE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "core/dtype/gguf_type.h"

/* An array's element type. */
struct dti_stored {
    const struct dti_block_format *block; /* or */
    const struct dti_gguf_type *gguf;     /* a GGUF block type; both NULL: a dtype */
    struct dti_format format;
};
const char *dti_stored_name(const struct dti_stored *stored);
/* Finds a block format or GGUF block type by name, ignoring case; false if there is none. */
bool dti_stored_find(const char *name, struct dti_stored *ret);
/* Elements and bytes per block; 0 for dtypes. */
unsigned dti_stored_elements(const struct dti_stored *stored);
unsigned dti_stored_bytes(const struct dti_stored *stored);

/* An array as blocks see it: its last dimension is divided into blocks. */
struct dti_extent {
    uint64_t elements;
    uint64_t row; /* the last dimension; 1 for a scalar */
};
/* Returns false if the number of elements exceeds 64 bits. An array with a dimension of 0 has no
 * elements. */
bool dti_extent_of(const uint64_t *shape, unsigned rank, struct dti_extent *ret);

/* Dtypes: as in storage.h; those below 8 bits are packed without gaps, and the last byte is
 * padded; complex numbers count as their parts. Blocks: every row has whole blocks, its last one
 * padded; codes are packed, and each block has its scale. nvfp4 has one additional scale per
 * array. In a GGUF block everything but the codes counts as scales. An array without elements
 * takes no bytes. */
struct dti_footprint {
    uint64_t bytes;       /* total */
    uint64_t scale_bytes; /* of these, the scales */
    uint64_t blocks;      /* 0 for dtypes */
    uint64_t padding;     /* elements that pad blocks */
};
/* Returns false if a size exceeds 64 bits. */
bool dti_footprint_of(const struct dti_stored *stored, const struct dti_extent *extent,
                      struct dti_footprint *ret);
/* Adds an array to a sum; on overflow leaves the sum unchanged. */
bool dti_footprint_add(struct dti_footprint *sum, const struct dti_footprint *more);

#endif
