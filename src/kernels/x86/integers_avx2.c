/* SPDX-License-Identifier: MIT
 *
 * fp32 -> int8 and uint8 in AVX2: clamped, NaN is 0. */
#include "kernels/kernels.h"
#include "kernels/x86/avx2.h"

/* Rounds to 32 bits. What is above the limit is clamped here, what is below -2^31 comes out as
 * -2^31, so that packing with saturation does the rest. The conversion itself has nothing to round,
 * whatever mode the processor is in. */
#define ROUNDING(name, mode)                                                         \
    DTI_INLINE __m256i name(const unsigned char *src)                                \
    {                                                                                \
        const __m256 x = load256_ps(src), limit = _mm256_set1_ps(255.0f);            \
        const __m256 number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);                       \
        const __m256 clamped = _mm256_and_ps(_mm256_min_ps(limit, x), number);       \
        const __m256 rounded = _mm256_round_ps(clamped, (mode) | _MM_FROUND_NO_EXC); \
        return _mm256_cvttps_epi32(rounded);                                         \
    }
ROUNDING(nearest_even, _MM_FROUND_TO_NEAREST_INT)
ROUNDING(to_zero, _MM_FROUND_TO_ZERO)
ROUNDING(up, _MM_FROUND_TO_POS_INF)
ROUNDING(down, _MM_FROUND_TO_NEG_INF)

DTI_INLINE __m256i pack_bytes(__m256i a, __m256i b, __m256i c, __m256i d, bool is_signed)
{
    const __m256i low = _mm256_packs_epi32(a, b), high = _mm256_packs_epi32(c, d);
    return order_packed(is_signed ? _mm256_packs_epi16(low, high) : _mm256_packus_epi16(low, high));
}

#define BLOCK(name, round, is_signed)                                                          \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src,  \
                         bool stream)                                                          \
    {                                                                                          \
        (void)constants;                                                                       \
        for (size_t i = 0; i < 2; i++, src += 128)                                             \
            store256(dst + 32 * i,                                                             \
                     pack_bytes(round(src), round(src + 32), round(src + 64), round(src + 96), \
                                is_signed),                                                    \
                     stream);                                                                  \
    }
#define MODE(round)                                                                            \
    BLOCK(round##_int8, round, true)                                                           \
    BLOCK(round##_uint8, round, false)                                                         \
    static void all_##round(bool is_signed, void *dst, const void *src, size_t n, bool stream) \
    {                                                                                          \
        const struct dti_blocks int8 = {round##_int8, 64, 4, 1, false};                        \
        const struct dti_blocks uint8 = {round##_uint8, 64, 4, 1, false};                      \
        if (is_signed)                                                                         \
            dti_blocks_run(int8, NULL, dst, src, n, stream);                                   \
        else                                                                                   \
            dti_blocks_run(uint8, NULL, dst, src, n, stream);                                  \
    }
MODE(nearest_even)
MODE(to_zero)
MODE(up)
MODE(down)

void dti_fp32_to_int8_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const bool is_signed = args->encoder->format.kind == DTI_KIND_INT;
    switch (args->encoder->policy.round) {
    case DTI_ROUND_ZERO:
        all_to_zero(is_signed, dst, src, n, args->stream);
        break;
    case DTI_ROUND_UP:
        all_up(is_signed, dst, src, n, args->stream);
        break;
    case DTI_ROUND_DOWN:
        all_down(is_signed, dst, src, n, args->stream);
        break;
    default: /* the row asks for no other */
        all_nearest_even(is_signed, dst, src, n, args->stream);
        break;
    }
}
