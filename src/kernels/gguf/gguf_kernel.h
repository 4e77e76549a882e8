/* SPDX-License-Identifier: MIT
 *
 * Kernels that decode GGUF blocks to fp32: one per row of gguf_types.def and CPU level. All
 * levels give the same numbers, except for the bits of NaNs. Also encoders for some types. */
#ifndef KERNELS_GGUF_GGUF_KERNEL_H
#define KERNELS_GGUF_GGUF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/dtype/gguf_type.h"
#include "kernels/cpu.h"

/* Decodes `count` consecutive whole blocks, little-endian; reads exactly their bytes and writes
 * exactly their numbers. tensor_scale: for NVFP4, whose scales are first multiplied by it; other
 * types ignore it. */
typedef void dti_gguf_decode_fn(float *x, const unsigned char *blocks, size_t count,
                                float tensor_scale);

struct dti_gguf_kernels {
    const char *name;
    enum dti_level level;
    dti_gguf_decode_fn *const *decode; /* indexed by enum dti_gguf_blocks */
};
extern const struct dti_gguf_kernels dti_gguf_kernels[];
extern const size_t dti_gguf_kernels_count;

/* The decoder of the first allowed row; never NULL. */
dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed);

/* Encodes consecutive finite numbers into `count` whole blocks, like ggml's quantize_row_*_ref
 * without an importance matrix: each operation is rounded to fp32 in the same order, so all
 * levels give the same bytes. A scale that is too large for fp16 becomes infinite. */
typedef void dti_gguf_encode_fn(unsigned char *blocks, const float *x, size_t count);
/* NULL if blocks of this type can only be read. */
dti_gguf_encode_fn *dti_gguf_find_encoder(enum dti_gguf_blocks blocks, enum dti_level allowed);
/* The same with an importance matrix, like ggml's quantize_row_*_impl: for blocks of one row, with
 * a finite weight of at least 0 for each number. */
typedef void dti_gguf_weigh_fn(unsigned char *blocks, const float *x, size_t count,
                               const float *weights, float mean);
struct dti_gguf_weigher {
    dti_gguf_weigh_fn *run;
    bool of_row; /* mean matters: of the squares of the whole row, summed in order in fp32 */
};
/* NULL: the type has no encoder, or one that takes no weights. A type may have this one alone: it
 * cannot be encoded without weights. */
const struct dti_gguf_weigher *dti_gguf_find_weigher(enum dti_gguf_blocks blocks,
                                                     enum dti_level allowed);
/* Makes what the encoder of a type with weights has to compute once; before its first use. False:
 * no memory. */
bool dti_gguf_prepare(enum dti_gguf_blocks blocks);
/* The types with an encoder or a weigher, ordered by id; NULL at the end. */
const struct dti_gguf_type *dti_gguf_encoded(size_t index);

#endif
