/* SPDX-License-Identifier: MIT
 *
 * The decoders of GGUF's blocks by levels, and the choice of one. */
#include "kernels/first_row.h"
#include "kernels/gguf_kernels.h"

const struct dti_gguf_kernels dti_gguf_kernels[] = {
#ifdef DTI_HAVE_X86
    {"dti_gguf_decode_avx512", DTI_LEVEL_AVX512, dti_gguf_decode_avx512},
    {"dti_gguf_decode_avx2", DTI_LEVEL_AVX2, dti_gguf_decode_avx2},
#endif
    {"dti_gguf_decode_scalar", DTI_LEVEL_SCALAR, dti_gguf_decode_scalar},
};
const size_t dti_gguf_kernels_count = sizeof dti_gguf_kernels / sizeof dti_gguf_kernels[0];

dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed)
{
    size_t i;
    DTI_FIRST_ROW(i, dti_gguf_kernels, dti_gguf_kernels_count, allowed, true);
    return dti_gguf_kernels[i].decode[blocks];
}
