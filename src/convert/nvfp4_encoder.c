/* SPDX-License-Identifier: MIT
 *
 * NVFP4 blocks of GGUF: see nvfp4_encoder.h. */
#include "convert/nvfp4_encoder.h"

#include <string.h>

#include "kernels/gguf/gguf_halves.h"

enum { ELEMENTS = 64, SCALES = 4, CODES = ELEMENTS / 2, BYTES = SCALES + CODES };

void dti_nvfp4_encoder_init(struct dti_nvfp4_encoder *ret, float amax, enum dti_level level)
{
    uint32_t bits;
    memcpy(&bits, &amax, sizeof bits);
    memset(ret, 0, sizeof *ret);
    ret->recipe = (struct dti_block_recipe){.format = &dti_block_formats[DTI_BLOCK_NVFP4]};
    ret->recipe.tensor_scale = dti_nv_tensor_scale(ret->recipe.nv, bits);
    memcpy(&ret->scale, &ret->recipe.tensor_scale, sizeof ret->scale);
    dti_block_parts_init(&ret->parts, &ret->recipe);
    ret->args = (struct dti_block_args){.recipe = &ret->recipe,
                                        .parts = &ret->parts,
                                        .order = DTI_BLOCK_LOW,
                                        .code_stride = CODES / SCALES,
                                        .scale_stride = 1};
    ret->kernel = dti_quant_find_blocks(false, &ret->args, level);
}

void dti_nvfp4_encode(const struct dti_nvfp4_encoder *encoder, unsigned char *blocks,
                      const float *x, size_t count, unsigned char *memory)
{
    unsigned char *const scales = memory + count * CODES;
    struct dti_quant_count counted = {0};
    encoder->kernel->run.blocks(&encoder->args, memory, scales, x, count * ELEMENTS, &counted);
    for (size_t i = 0; i < count; i++) {
        unsigned char *const to = blocks + i * BYTES;
        memcpy(to, scales + i * SCALES, SCALES);
        for (size_t k = 0; k < SCALES; k++)
            dti_gguf_pair_halves(to + SCALES + 8 * k, memory + i * CODES + 8 * k, 4);
    }
}
