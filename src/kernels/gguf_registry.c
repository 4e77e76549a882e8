/* SPDX-License-Identifier: MIT
 *
 * The decoders of GGUF's blocks by levels, and the choice of one. */
#include "kernels/first_row.h"
#include "kernels/gguf_kernels.h"

/* Rows of a type or of all; the first that is allowed and has the type is used. */
#define ONE(level_, LEVEL, type, word)      \
    {.name = "dti_gguf_" #word "_" #level_, \
     .level = DTI_LEVEL_##LEVEL,            \
     .only = DTI_GGUF_##type,               \
     .run = dti_gguf_##word##_##level_},
#define ALL(level_, LEVEL)               \
    {.name = "dti_gguf_decode_" #level_, \
     .level = DTI_LEVEL_##LEVEL,         \
     .only = DTI_GGUF_BLOCKS_COUNT,      \
     .decode = dti_gguf_decode_##level_},
#define X86(level_, LEVEL)             \
    ONE(level_, LEVEL, IQ4_NL, iq4_nl) \
    ONE(level_, LEVEL, IQ4_XS, iq4_xs) \
    ONE(level_, LEVEL, MXFP4, mxfp4)   \
    ONE(level_, LEVEL, NVFP4, nvfp4)   \
    ALL(level_, LEVEL)

const struct dti_gguf_kernels dti_gguf_kernels[] = {
#ifdef DTI_HAVE_X86
    X86(avx512, AVX512) X86(avx2, AVX2)
#endif
        ALL(scalar, SCALAR)};
const size_t dti_gguf_kernels_count = sizeof dti_gguf_kernels / sizeof dti_gguf_kernels[0];

dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed)
{
    size_t i;
    DTI_FIRST_ROW(i, dti_gguf_kernels, dti_gguf_kernels_count, allowed,
                  dti_gguf_row(&dti_gguf_kernels[i], blocks) != NULL);
    return dti_gguf_row(&dti_gguf_kernels[i], blocks);
}
