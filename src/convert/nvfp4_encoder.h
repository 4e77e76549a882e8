/* SPDX-License-Identifier: MIT
 *
 * Encodes numbers as NVFP4 blocks of GGUF with a scale of the whole tensor: the codes and scales of
 * `quant nvfp4` in other files, in ggml's order. */
#ifndef CONVERT_NVFP4_ENCODER_H
#define CONVERT_NVFP4_ENCODER_H

#include "kernels/quant/quant_kernel.h"

struct dti_nvfp4_encoder {
    struct dti_block_recipe recipe;
    struct dti_block_parts parts;
    struct dti_block_args args;
    const struct dti_quant_kernel *kernel;
    float scale; /* of the tensor, a factor */
};
/* amax: the largest magnitude of the tensor, finite. *ret must not move afterwards. */
void dti_nvfp4_encoder_init(struct dti_nvfp4_encoder *ret, float amax, enum dti_level level);
/* Encodes finite numbers into `count` whole blocks. memory: count * 36 bytes, aligned. */
void dti_nvfp4_encode(const struct dti_nvfp4_encoder *encoder, unsigned char *blocks,
                      const float *x, size_t count, unsigned char *memory);

#endif
