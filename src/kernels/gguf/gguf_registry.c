/* SPDX-License-Identifier: MIT
 *
 * The tables of GGUF decoders and encoders by level, and the selection of one. */
#include <stdio.h>

#include "kernels/first_row.h"
#include "kernels/gguf/gguf_kernels.h"

#define ROW(level_, LEVEL)               \
    {.name = "dti_gguf_decode_" #level_, \
     .level = DTI_LEVEL_##LEVEL,         \
     .decode = dti_gguf_decode_##level_},

const struct dti_gguf_kernels dti_gguf_kernels[] = {
#ifdef DTI_HAVE_X86
    ROW(avx512, AVX512) ROW(avx2, AVX2)
#endif
        ROW(scalar, SCALAR)};
const size_t dti_gguf_kernels_count = sizeof dti_gguf_kernels / sizeof dti_gguf_kernels[0];

dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed)
{
    size_t i;
    DTI_FIRST_ROW(i, dti_gguf_kernels, dti_gguf_kernels_count, allowed, true);
    return dti_gguf_kernels[i].decode[blocks];
}

static const struct encoders {
    enum dti_level level;
    dti_gguf_encode_fn *const *encode;
    const struct dti_gguf_weigher *weigh;
} encoders[] = {
#ifdef DTI_HAVE_X86
    {DTI_LEVEL_AVX512, dti_gguf_encode_avx512, dti_gguf_weigh_avx512},
    {DTI_LEVEL_AVX2, dti_gguf_encode_avx2, dti_gguf_weigh_avx2},
#endif
    {DTI_LEVEL_SCALAR, dti_gguf_encode_scalar, dti_gguf_weigh_scalar}};

static const struct encoders *encoders_of(enum dti_level allowed)
{
    size_t i;
    DTI_FIRST_ROW(i, encoders, sizeof encoders / sizeof encoders[0], allowed, true);
    return &encoders[i];
}

dti_gguf_encode_fn *dti_gguf_find_encoder(enum dti_gguf_blocks blocks, enum dti_level allowed)
{
    return encoders_of(allowed)->encode[blocks];
}

const struct dti_gguf_weigher *dti_gguf_find_weigher(enum dti_gguf_blocks blocks,
                                                     enum dti_level allowed)
{
    const struct encoders *const of = encoders_of(allowed);
    const struct dti_gguf_weigher *const weigher = &of->weigh[blocks];
    return weigher->run ? weigher : dti_gguf_grid_weigher(blocks, of->level);
}

const struct dti_gguf_type *dti_gguf_encoded(size_t index)
{
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        const enum dti_gguf_blocks blocks = (enum dti_gguf_blocks)i;
        const bool made = dti_gguf_find_encoder(blocks, DTI_LEVEL_SCALAR) ||
                          dti_gguf_find_weigher(blocks, DTI_LEVEL_SCALAR);
        if (made && index-- == 0)
            return dti_gguf_type_of(blocks);
    }
    return NULL;
}
