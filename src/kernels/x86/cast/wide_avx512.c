/* SPDX-License-Identifier: MIT
 *
 * fp64 and 64-bit integers with AVX-512: rounding to odd to the hubs, and 32-bit integers ->
 * fp64. The rounding modes are encoded in the instructions. */
#include "kernels/kernels.h"
#include "kernels/x86/vector.h"

DTI_INLINE vector fp64_of_int32(const unsigned char *src)
{
    return (vector)_mm512_cvtepi32_pd(load256(src));
}

DTI_INLINE vector fp64_of_uint32(const unsigned char *src)
{
    return (vector)_mm512_cvtepu32_pd(load256(src));
}

VECTOR_BLOCK(int32_block, 32, 4, 8, fp64_of_int32)
VECTOR_BLOCK(uint32_block, 32, 4, 8, fp64_of_uint32)

void dti_int32_to_fp64_avx512(const struct dti_kernel_args *args, void *restrict dst,
                              const void *restrict src, size_t n)
{
    const struct dti_blocks int32 = {int32_block, 32, 4, 8, false};
    const struct dti_blocks uint32 = {uint32_block, 32, 4, 8, false};
    if (args->decoder->format.kind == DTI_KIND_INT)
        dti_blocks_run(int32, NULL, dst, src, n, args->stream);
    else
        dti_blocks_run(uint32, NULL, dst, src, n, args->stream);
}

/* Rounds toward zero, then sets the last bit if something was lost. Infinities compare equal and
 * NaNs unordered, so they stay unchanged; the largest finite number is already odd. */
DTI_INLINE __m256i odd_fp32(const unsigned char *src)
{
    const __m512d x = load512_pd(src);
    const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(cut);
    return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
}

DTI_INLINE vector odd_fp32_twice(const unsigned char *src)
{
    return join256(odd_fp32(src), odd_fp32(src + VECTOR));
}
VECTOR_KERNEL(dti_fp64_to_fp32_odd, 32, 8, 4, odd_fp32_twice)

/* The same for integers: the truncated number converts back exactly, because it is a 64-bit
 * integer. */
#define ODD_FP64(name, type)                                                          \
    DTI_INLINE vector name(const unsigned char *src)                                  \
    {                                                                                 \
        const vector x = load512(src);                                                \
        const __m512d cut =                                                           \
            _mm512_cvt_round##type##_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);   \
        const __mmask8 lost = _mm512_cmpneq_epi64_mask(_mm512_cvttpd_##type(cut), x); \
        const vector bits = _mm512_castpd_si512(cut);                                 \
        return _mm512_mask_or_epi64(bits, lost, bits, _mm512_set1_epi64(1));          \
    }
ODD_FP64(odd_int64, epi64)
ODD_FP64(odd_uint64, epu64)
VECTOR_KERNEL(dti_int64_to_fp64_odd, 32, 8, 8, odd_int64)
VECTOR_KERNEL(dti_uint64_to_fp64_odd, 32, 8, 8, odd_uint64)
