/* SPDX-License-Identifier: MIT
 *
 * Computes the exact size of arrays in a dtype or in blocks, without the arrays. */
#ifndef CORE_DTYPE_FOOTPRINT_H
#define CORE_DTYPE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/gguf_type.h"
#include "dtinfo/dtype.h"

/* What numbers are stored as. */
struct dti_stored {
    const struct dti_block_format *block; /* or */
    const struct dti_gguf_type *gguf;     /* blocks of GGUF; both NULL: a dtype */
    struct dti_format format;
};
const char *dti_stored_name(const struct dti_stored *stored);
/* A block or a block type of GGUF by its name, in letters of either case; false: it is none. */
bool dti_stored_find(const char *name, struct dti_stored *ret);
/* Elements and bytes of a block; 0 for dtypes. */
unsigned dti_stored_elements(const struct dti_stored *stored);
unsigned dti_stored_bytes(const struct dti_stored *stored);

/* An array as blocks see it: its last dimension is cut into them. */
struct dti_extent {
    uint64_t elements;
    uint64_t row; /* the last dimension; 1 for a scalar */
};
/* False when the number of elements exceeds 64 bits. An array with a dimension of 0 has none. */
bool dti_extent_of(const uint64_t *shape, unsigned rank, struct dti_extent *ret);

/* Dtypes: as storage.h has them, those of less than 8 bits packed without gaps, the array's last
 * byte filled up; complex numbers as their parts. Blocks: every row is whole blocks, its last one
 * filled up; codes are packed, and each block has its scale. nvfp4 has one scale more for the
 * array. Scales of a GGUF block are all that are not codes. An array without elements takes
 * nothing. */
struct dti_footprint {
    uint64_t bytes;       /* all of it */
    uint64_t scale_bytes; /* of these, scales */
    uint64_t blocks;      /* 0 for dtypes */
    uint64_t padding;     /* numbers that fill the blocks up */
};
/* False when that exceeds 64 bits. */
bool dti_footprint_of(const struct dti_stored *stored, const struct dti_extent *extent,
                      struct dti_footprint *ret);
/* Adds an array to a sum, or leaves it as it is. */
bool dti_footprint_add(struct dti_footprint *sum, const struct dti_footprint *more);

#endif
