/* SPDX-License-Identifier: MIT
 *
 * fp64 and 64-bit integers with AVX2 and AVX-512: rounding to odd to the hubs, and 32-bit integers
 * -> fp64. In AVX-512 the rounding modes are encoded in the instructions, which AVX2 lacks; for
 * fp64 -> fp32 in AVX2 see hardware_vector.c. */
#include "kernels/kernels.h"
#include "kernels/x86/cast/odd_vector.h"
#include "kernels/x86/vector.h"

DTI_INLINE vector fp64_of_int32(const unsigned char *src)
{
    return (vector)VECTOR_BITS(cvtepi32_pd)(load_half(src));
}

DTI_INLINE vector fp64_of_uint32(const unsigned char *src)
{
#ifdef __AVX512BW__
    return (vector)_mm512_cvtepu32_pd(load256(src));
#else /* the low bits of 2^52 + x */
    const __m256d base = _mm256_set1_pd(0x1p52);
    const __m256i bits = _mm256_cvtepu32_epi64(load128(src));
    return (vector)_mm256_sub_pd((__m256d)_mm256_or_si256(bits, (__m256i)base), base);
#endif
}

VECTOR_BLOCK(int32_block, 32, 4, 8, fp64_of_int32)
VECTOR_BLOCK(uint32_block, 32, 4, 8, fp64_of_uint32)

void VECTOR_NAME(dti_int32_to_fp64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_blocks int32 = {int32_block, 32, 4, 8, false};
    const struct dti_blocks uint32 = {uint32_block, 32, 4, 8, false};
    if (args->decoder->format.kind == DTI_KIND_INT)
        dti_blocks_run(int32, NULL, dst, src, n, args->stream);
    else
        dti_blocks_run(uint32, NULL, dst, src, n, args->stream);
}

#ifdef __AVX512BW__
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
#else
/* x = high + low, both exact in fp64; the sum is the nearest number, and what it lost is exact,
 * because high is 0 or at least 2^32 > low. Where something was lost and the last bit is 0, the odd
 * neighbour is on the other side of x, one step away. */
DTI_INLINE vector odd_of(__m256i x, __m256i high_code, __m256d high_base)
{
    const __m256d low_base = _mm256_set1_pd(0x1p52);
    const __m256i low_code = _mm256_blend_epi32(x, (__m256i)low_base, 0xaa);
    const __m256d high = _mm256_sub_pd((__m256d)high_code, high_base);
    const __m256d low = _mm256_sub_pd((__m256d)low_code, low_base);
    const __m256d sum = _mm256_add_pd(high, low);
    const __m256d lost = _mm256_sub_pd(low, _mm256_sub_pd(sum, high));
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi64x(1);
    const __m256i bits = (__m256i)sum;
    const __m256i below = _mm256_cmpgt_epi64(zero, _mm256_xor_si256(bits, (__m256i)lost));
    const __m256i even = _mm256_cmpeq_epi64(_mm256_and_si256(bits, one), zero);
    const __m256i inexact = (__m256i)_mm256_cmp_pd(lost, (__m256d)zero, _CMP_NEQ_OQ);
    const __m256i step = _mm256_and_si256(_mm256_or_si256(below, one), even);
    return _mm256_add_epi64(bits, _mm256_and_si256(step, inexact));
}

/* The upper half, with its sign bit inverted, as the low bits of 2^84 + 2^63 + high. */
DTI_INLINE vector odd_int64(const unsigned char *src)
{
    const __m256i x = load256(src), code = _mm256_set1_epi64x(0x4530000080000000);
    return odd_of(x, _mm256_xor_si256(_mm256_srli_epi64(x, 32), code),
                  _mm256_set1_pd(0x1p84 + 0x1p63));
}

DTI_INLINE vector odd_uint64(const unsigned char *src)
{
    const __m256i x = load256(src), code = _mm256_set1_epi64x(0x4530000000000000);
    return odd_of(x, _mm256_or_si256(_mm256_srli_epi64(x, 32), code), _mm256_set1_pd(0x1p84));
}
#endif
VECTOR_KERNEL(dti_int64_to_fp64_odd, 32, 8, 8, odd_int64)
VECTOR_KERNEL(dti_uint64_to_fp64_odd, 32, 8, 8, odd_uint64)
