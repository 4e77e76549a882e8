/* SPDX-License-Identifier: MIT
 *
 * Declares the decoders and encoders of all levels. */
#ifndef KERNELS_GGUF_GGUF_KERNELS_H
#define KERNELS_GGUF_GGUF_KERNELS_H

#include "kernels/gguf/gguf_kernel.h"

extern dti_gguf_decode_fn *const dti_gguf_decode_scalar[DTI_GGUF_BLOCKS_COUNT];
extern dti_gguf_encode_fn *const dti_gguf_encode_scalar[DTI_GGUF_BLOCKS_COUNT];
extern const struct dti_gguf_weigher dti_gguf_weigh_scalar[DTI_GGUF_BLOCKS_COUNT];
/* That of a type that needs weights, whose codes are points of a grid; NULL: another type. */
const struct dti_gguf_weigher *dti_gguf_grid_weigher(enum dti_gguf_blocks blocks,
                                                     enum dti_level level);
#ifdef DTI_HAVE_X86
extern dti_gguf_decode_fn *const dti_gguf_decode_avx2[DTI_GGUF_BLOCKS_COUNT];
extern dti_gguf_decode_fn *const dti_gguf_decode_avx512[DTI_GGUF_BLOCKS_COUNT];
extern dti_gguf_encode_fn *const dti_gguf_encode_avx2[DTI_GGUF_BLOCKS_COUNT];
extern const struct dti_gguf_weigher dti_gguf_weigh_avx2[DTI_GGUF_BLOCKS_COUNT];
extern dti_gguf_encode_fn *const dti_gguf_encode_avx512[DTI_GGUF_BLOCKS_COUNT];
extern const struct dti_gguf_weigher dti_gguf_weigh_avx512[DTI_GGUF_BLOCKS_COUNT];
#endif

#endif
