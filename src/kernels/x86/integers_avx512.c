/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed and unsigned integers of 8, 16 and 32 bits in AVX-512: clamped, NaN is 0. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"

/* Rounds to 32 bits. What is above `limit` is clamped here, what is below -2^31 comes out as -2^31,
 * so that packing with saturation does the rest. */
#define ROUNDING(name, mode)                                                   \
    DTI_INLINE __m512i name(const unsigned char *src, __m512 limit)            \
    {                                                                          \
        const __m512 x = load512_ps(src);                                      \
        const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);         \
        return _mm512_maskz_cvt_roundps_epi32(number, _mm512_min_ps(limit, x), \
                                              (mode) | _MM_FROUND_NO_EXC);     \
    }
ROUNDING(nearest_even, _MM_FROUND_TO_NEAREST_INT)
ROUNDING(to_zero, _MM_FROUND_TO_ZERO)
ROUNDING(up, _MM_FROUND_TO_POS_INF)
ROUNDING(down, _MM_FROUND_TO_NEG_INF)

/* Rounds to 32 bits and clamps to them. A negative number into unsigned ones is 0. */
#define WIDE_ROUNDING(name, mode)                                                            \
    DTI_INLINE __m512i name##_wide(const unsigned char *src, bool is_signed)                 \
    {                                                                                        \
        const __m512 x = load512_ps(src);                                                    \
        if (!is_signed)                                                                      \
            return _mm512_cvt_roundps_epu32(_mm512_max_ps(x, _mm512_setzero_ps()),           \
                                            (mode) | _MM_FROUND_NO_EXC);                     \
        const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);                       \
        const __mmask16 beyond = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ); \
        const __m512i whole =                                                                \
            _mm512_maskz_cvt_roundps_epi32(number, x, (mode) | _MM_FROUND_NO_EXC);           \
        return _mm512_mask_mov_epi32(whole, beyond, _mm512_set1_epi32(INT32_MAX));           \
    }
WIDE_ROUNDING(nearest_even, _MM_FROUND_TO_NEAREST_INT)
WIDE_ROUNDING(to_zero, _MM_FROUND_TO_ZERO)
WIDE_ROUNDING(up, _MM_FROUND_TO_POS_INF)
WIDE_ROUNDING(down, _MM_FROUND_TO_NEG_INF)

DTI_INLINE __m512i pack_bytes(__m512i a, __m512i b, __m512i c, __m512i d, bool is_signed)
{
    const __m512i low = _mm512_packs_epi32(a, b), high = _mm512_packs_epi32(c, d);
    return order_packed(is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high));
}

DTI_INLINE __m512i pack_halves(__m512i a, __m512i b, bool is_signed)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return _mm512_permutexvar_epi64(order, is_signed ? _mm512_packs_epi32(a, b)
                                                     : _mm512_packus_epi32(a, b));
}

/* One for each width, sign and mode; blocks are 64 elements of 4 bytes. */
#define BLOCKS(round, sign, is_signed)                                                          \
    DTI_INLINE void round##_##sign##8(const void *constants, unsigned char *dst,                \
                                      const unsigned char *src, bool stream)                    \
    {                                                                                           \
        const __m512 limit = _mm512_set1_ps(255.0f);                                            \
        (void)constants;                                                                        \
        store512(dst,                                                                           \
                 pack_bytes(round(src, limit), round(src + 64, limit), round(src + 128, limit), \
                            round(src + 192, limit), is_signed),                                \
                 stream);                                                                       \
    }                                                                                           \
    DTI_INLINE void round##_##sign##16(const void *constants, unsigned char *dst,               \
                                       const unsigned char *src, bool stream)                   \
    {                                                                                           \
        const __m512 limit = _mm512_set1_ps(65535.0f);                                          \
        (void)constants;                                                                        \
        for (size_t i = 0; i < 2; i++)                                                          \
            store512(dst + 64 * i,                                                              \
                     pack_halves(round(src + 128 * i, limit), round(src + 128 * i + 64, limit), \
                                 is_signed),                                                    \
                     stream);                                                                   \
    }                                                                                           \
    DTI_INLINE void round##_##sign##32(const void *constants, unsigned char *dst,               \
                                       const unsigned char *src, bool stream)                   \
    {                                                                                           \
        (void)constants;                                                                        \
        for (size_t i = 0; i < 4; i++)                                                          \
            store512(dst + 64 * i, round##_wide(src + 64 * i, is_signed), stream);              \
    }
#define MODE(round)                                                                         \
    BLOCKS(round, signed, true)                                                             \
    BLOCKS(round, unsigned, false)                                                          \
    static void all_##round(const struct dti_kernel_args *args, void *dst, const void *src, \
                            size_t n)                                                       \
    {                                                                                       \
        const struct dti_blocks signed8 = {round##_signed8, 64, 4, 1, false};               \
        const struct dti_blocks signed16 = {round##_signed16, 64, 4, 2, false};             \
        const struct dti_blocks signed32 = {round##_signed32, 64, 4, 4, false};             \
        const struct dti_blocks unsigned8 = {round##_unsigned8, 64, 4, 1, false};           \
        const struct dti_blocks unsigned16 = {round##_unsigned16, 64, 4, 2, false};         \
        const struct dti_blocks unsigned32 = {round##_unsigned32, 64, 4, 4, false};         \
        const bool is_signed = args->encoder->format.kind == DTI_KIND_INT;                  \
        const unsigned bytes = args->encoder->container;                                    \
        if (bytes == 1 && is_signed)                                                        \
            dti_blocks_run(signed8, NULL, dst, src, n, args->stream);                       \
        else if (bytes == 1)                                                                \
            dti_blocks_run(unsigned8, NULL, dst, src, n, args->stream);                     \
        else if (bytes == 2 && is_signed)                                                   \
            dti_blocks_run(signed16, NULL, dst, src, n, args->stream);                      \
        else if (bytes == 2)                                                                \
            dti_blocks_run(unsigned16, NULL, dst, src, n, args->stream);                    \
        else if (is_signed)                                                                 \
            dti_blocks_run(signed32, NULL, dst, src, n, args->stream);                      \
        else                                                                                \
            dti_blocks_run(unsigned32, NULL, dst, src, n, args->stream);                    \
    }
MODE(nearest_even)
MODE(to_zero)
MODE(up)
MODE(down)

/* Integers of their container's full width. */
void dti_fp32_to_integer_avx512(const struct dti_kernel_args *args, void *restrict dst,
                                const void *restrict src, size_t n)
{
    switch (args->encoder->policy.round) {
    case DTI_ROUND_ZERO:
        all_to_zero(args, dst, src, n);
        break;
    case DTI_ROUND_UP:
        all_up(args, dst, src, n);
        break;
    case DTI_ROUND_DOWN:
        all_down(args, dst, src, n);
        break;
    default: /* the row asks for no other */
        all_nearest_even(args, dst, src, n);
        break;
    }
}
