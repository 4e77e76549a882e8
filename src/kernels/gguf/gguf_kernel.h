/* SPDX-License-Identifier: MIT
 *
 * Kernels that decode the blocks of GGUF to fp32: one for each row of gguf_types.def and each CPU
 * level, all with the same numbers but for the bits of NaNs. And encoders of some types. */
#ifndef KERNELS_GGUF_GGUF_KERNEL_H
#define KERNELS_GGUF_GGUF_KERNEL_H

#include <stddef.h>

#include "core/dtype/gguf_type.h"
#include "kernels/cpu.h"

/* `count` whole blocks, little-endian, one after the other; exactly their bytes are read and their
 * numbers written. tensor_scale: of NVFP4, whose scales are multiplied with it first; others do not
 * look at it. */
typedef void dti_gguf_decode_fn(float *x, const unsigned char *blocks, size_t count,
                                float tensor_scale);

struct dti_gguf_kernels {
    const char *name;
    enum dti_level level;
    dti_gguf_decode_fn *const *decode; /* by enum dti_gguf_blocks, of all */
};
extern const struct dti_gguf_kernels dti_gguf_kernels[];
extern const size_t dti_gguf_kernels_count;

/* Of the first row that is allowed; never NULL. */
dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed);

/* Fills `count` whole blocks with finite numbers, which follow one another, as ggml's
 * quantize_row_*_ref do without an importance matrix, each operation rounded to fp32 in their
 * order: the same bytes at every level. A scale that is too large for fp16 is infinite. */
typedef void dti_gguf_encode_fn(unsigned char *blocks, const float *x, size_t count);
/* NULL: blocks of the type are read only. */
dti_gguf_encode_fn *dti_gguf_find_encoder(enum dti_gguf_blocks blocks, enum dti_level allowed);
/* The types that have one, by ids; NULL: these were all. */
const struct dti_gguf_type *dti_gguf_encoded(size_t index);
/* "q4_0, q4_1, ...": all of them. */
enum { DTI_GGUF_ENCODED_WORDS = 256 };
const char *dti_gguf_encoded_words(char text[DTI_GGUF_ENCODED_WORDS]);

#endif
