/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> fp16 and fp64 <-> fp32, and fp16 and bf16 -> fp64, by the processor's conversion
 * instructions, with AVX2 and F16C or with AVX-512. They never flush subnormals, and NaNs keep
 * their sign and upper payload. The rounding mode is part of the instruction, except for fp64 to
 * fp32 in AVX2, which uses the processor's current mode: nearest even throughout the program. The
 * other modes take a step from there to the neighbour, where the number that came out tells that it
 * is due. */
#include <math.h>

#include "kernels/kernels.h"
#include "kernels/x86/cast/saturate.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/scan/loss_cast_avx512.h"
#include "kernels/x86/vector.h"

/* plain: NaNs as the processor leaves them; otherwise every NaN is first replaced by the
 * positive one without payload. */
#ifdef __AVX512BW__
#define OR_NAN(type, x) \
    _mm512_mask_mov_##type(x, _mm512_cmp_##type##_mask(x, x, _CMP_UNORD_Q), _mm512_set1_##type(NAN))
#else
#define OR_NAN(type, x) \
    _mm256_blendv_##type(x, _mm256_set1_##type(NAN), _mm256_cmp_##type(x, x, _CMP_UNORD_Q))
#endif

DTI_INLINE vector_ps load_fp32(const unsigned char *src, bool plain)
{
    const vector_ps x = (vector_ps)load_vector(src);
    return plain ? x : OR_NAN(ps, x);
}

DTI_INLINE vector_pd load_fp64(const unsigned char *src, bool plain)
{
    const vector_pd x = (vector_pd)load_vector(src);
    return plain ? x : OR_NAN(pd, x);
}

DTI_INLINE half_vector fp16_half(vector_ps x, enum dti_round round){
    DTI_RETURN_BY_ROUND(VECTOR_BITS(cvtps_ph), x, round)}

DTI_INLINE vector fp16_of(vector_ps a, vector_ps b, enum dti_round round)
{
    return join_halves(fp16_half(a, round), fp16_half(b, round));
}

#ifdef __AVX512BW__
DTI_INLINE __m256 fp32_half(__m512d x, enum dti_round round){
    DTI_RETURN_BY_ROUND(_mm512_cvt_roundpd_ps, x, round)}

DTI_INLINE __m512i fp32_of(__m512d a, __m512d b, enum dti_round round)
{
    return join256((__m256i)fp32_half(a, round), (__m256i)fp32_half(b, round));
}
#else
/* What to add to the nearest fp32, in 64 bits: up, down: a mask of the numbers that need a step up
 * or down; toward zero, odd: a step in the magnitude. Codes of the same sign compare like their
 * magnitudes. NaNs take no step. */
DTI_INLINE __m256d fp32_step(__m256d x, __m128 nearest, enum dti_round round)
{
    const __m256d back = _mm256_cvtps_pd(nearest);
    if (round == DTI_ROUND_UP)
        return _mm256_cmp_pd(back, x, _CMP_LT_OQ);
    if (round == DTI_ROUND_DOWN)
        return _mm256_cmp_pd(back, x, _CMP_GT_OQ);
    const __m256i lost = _mm256_castpd_si256(_mm256_cmp_pd(back, x, _CMP_NEQ_OQ));
    __m256i step = _mm256_cmpgt_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(x));
    if (round == DTI_ROUND_ODD)
        step = _mm256_or_si256(step, _mm256_set1_epi64x(1));
    return _mm256_castsi256_pd(_mm256_and_si256(step, lost));
}

/* The step past the largest number leads to infinity or back, as it must. Rounded to odd: an even
 * neighbour is exact, or the odd one is on the other side of x. */
DTI_INLINE __m256i fp32_of(__m256d a, __m256d b, enum dti_round round)
{
    const __m128 low = _mm256_cvtpd_ps(a), high = _mm256_cvtpd_ps(b);
    const __m256i bits = join128(_mm_castps_si128(low), _mm_castps_si128(high));
    if (round == DTI_ROUND_NEAREST_EVEN)
        return bits;
    const __m256 steps = _mm256_shuffle_ps(_mm256_castpd_ps(fp32_step(a, low, round)),
                                           _mm256_castpd_ps(fp32_step(b, high, round)), 0x88);
    const __m256i step = _mm256_permute4x64_epi64(_mm256_castps_si256(steps), 0xd8);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i away =
        _mm256_or_si256(_mm256_srai_epi32(bits, 31), one); /* the sign as a number */
    if (round == DTI_ROUND_UP)
        return _mm256_add_epi32(bits, _mm256_and_si256(step, away));
    if (round == DTI_ROUND_DOWN)
        return _mm256_sub_epi32(bits, _mm256_and_si256(step, away));
    if (round == DTI_ROUND_ZERO)
        return _mm256_add_epi32(bits, step);
    const __m256i even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    return _mm256_add_epi32(bits, _mm256_and_si256(step, even));
}
#endif

#define NARROWING(name, load, narrow)                                                         \
    DTI_INLINE void name##_block(const void *constants, unsigned char *dst,                   \
                                 const unsigned char *src, bool stream, enum dti_round round, \
                                 bool plain)                                                  \
    {                                                                                         \
        (void)constants;                                                                      \
        for (size_t i = 0; i < 128; i += VECTOR)                                              \
            store_vector(                                                                     \
                dst + i,                                                                      \
                narrow(load(src + 2 * i, plain), load(src + 2 * i + VECTOR, plain), round),   \
                stream);                                                                      \
    }
NARROWING(fp16, load_fp32, fp16_of)

DTI_INLINE void clamped_block(const void *constants, unsigned char *dst, const unsigned char *src,
                              bool stream, enum dti_round round, bool plain)
{
    for (size_t i = 0; i < 128; i += VECTOR)
        store_vector(dst + i,
                     fp16_of(saturated(constants, load_fp32(src + 2 * i, plain)),
                             saturated(constants, load_fp32(src + 2 * i + VECTOR, plain)), round),
                     stream);
}
DTI_ONE_MODE(clamped, 64, 4, 2)
DTI_FOUR_MODES(fp16, 64, 4, 2)
NARROWING(fp32, load_fp64, fp32_of)
DTI_FOUR_MODES(fp32, 32, 8, 4)

#ifndef __AVX512BW__
DTI_INLINE void odd_block(const void *constants, unsigned char *dst, const unsigned char *src,
                          bool stream)
{
    fp32_block(constants, dst, src, stream, DTI_ROUND_ODD, true);
}

void dti_fp64_to_fp32_odd_avx2(const struct dti_kernel_args *args, void *restrict dst,
                               const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {odd_block, 32, 8, 4, true};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}
#endif

void VECTOR_NAME(dti_fp32_to_fp16)(const struct dti_kernel_args *args, void *restrict dst,
                                   const void *restrict src, size_t n)
{
    fp16_by_mode(NULL, args, dti_keeps_nan(args), dst, src, n);
}

void VECTOR_NAME(dti_fp32_to_fp16_saturating)(const struct dti_kernel_args *args,
                                              void *restrict dst, const void *restrict src,
                                              size_t n)
{
    const struct saturation limits = saturation_init(args, 65504.0F);
    clamped_by_mode(&limits, args, dti_keeps_nan(args), dst, src, n);
}

void VECTOR_NAME(dti_fp64_to_fp32)(const struct dti_kernel_args *args, void *restrict dst,
                                   const void *restrict src, size_t n)
{
    fp32_by_mode(NULL, args, dti_keeps_nan(args), dst, src, n);
}

DTI_INLINE vector fp32_of_fp16(const unsigned char *src)
{
    return (vector)VECTOR_BITS(cvtph_ps)(load_half(src));
}
VECTOR_KERNEL(dti_fp16_to_fp32, 64, 2, 4, fp32_of_fp16)

#ifdef __AVX512BW__
DTI_INLINE __m512 fp16_number(const void *constants, const struct loss_bars *bars, __m512 x,
                              __m512i size, __m512i *ret_code, __m512i *ret_error)
{
    const __m256i code = fp16_half(x, DTI_ROUND_NEAREST_EVEN);
    const __m512 y = _mm512_cvtph_ps(code);
    (void)constants, (void)size;
    *ret_code = _mm512_castsi256_si512(code);
    *ret_error = loss_size_by(bars, _mm512_sub_ps(y, x));
    return y;
}

DTI_INLINE void fp16_put(const void *constants, unsigned char *dst, const __m512i code[4],
                         const __m512i x[4], bool stream, bool count, struct loss_group *group)
{
    (void)constants, (void)x, (void)count, (void)group;
    store512(dst, _mm512_inserti64x4(code[0], _mm512_castsi512_si256(code[1]), 1), stream);
    store512(dst + 64, _mm512_inserti64x4(code[2], _mm512_castsi512_si256(code[3]), 1), stream);
}
DTI_INLINE bool fp16_number_beyond(const void *constants, const struct loss_bars *bars,
                                   const struct loss_group *group)
{
    (void)constants, (void)bars, (void)group;
    return false; /* sums of squares detect it */
}
LOSS_CAST_ROUNDED(fp16_loss, struct loss_no_constants, LOSS_BY_SIZE, 2, fp16_number, fp16_put)
LOSS_CAST_EXACT(fp32_loss, 2, fp32_of_fp16)

void dti_fp32_to_fp16_loss_avx512(const struct dti_loss_rule *rule,
                                  const struct dti_loss_cast *cast, void *codes, const void *source,
                                  size_t n, uint64_t index, bool stream, struct dti_loss *loss)
{
    const struct loss_no_constants none = {0};
    LOSS_CAST_RUN(fp16_loss, &none, false, LOSS_BY_SIZE);
}

void dti_fp16_to_fp32_loss_avx512(const struct dti_loss_rule *rule,
                                  const struct dti_loss_cast *cast, void *codes, const void *source,
                                  size_t n, uint64_t index, bool stream, struct dti_loss *loss)
{
    LOSS_CAST_RUN(fp32_loss, NULL, true, LOSS_BY_SIZE);
}
#endif

DTI_INLINE vector fp64_of_fp32(const unsigned char *src)
{
    return (vector)VECTOR_BITS(cvtps_pd)((half_vector_ps)load_half(src));
}
VECTOR_KERNEL(dti_fp32_to_fp64, 32, 4, 8, fp64_of_fp32)

/* fp16 and bf16 by way of fp32. */
DTI_INLINE vector fp64_of_fp16(const unsigned char *src)
{
#ifdef __AVX512BW__
    return (vector)_mm512_cvtps_pd(_mm256_cvtph_ps(load128(src)));
#else
    return (vector)_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const void *)src)));
#endif
}
VECTOR_KERNEL(dti_fp16_to_fp64, 32, 2, 8, fp64_of_fp16)

DTI_INLINE vector fp64_of_bf16(const unsigned char *src)
{
#ifdef __AVX512BW__
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(src)), 16);
    return (vector)_mm512_cvtps_pd(_mm256_castsi256_ps(bits));
#else
    const __m128i codes = _mm_loadl_epi64((const void *)src);
    const __m128i bits = _mm_slli_epi32(_mm_cvtepu16_epi32(codes), 16);
    return (vector)_mm256_cvtps_pd(_mm_castsi128_ps(bits));
#endif
}
VECTOR_KERNEL(dti_bf16_to_fp64, 32, 2, 8, fp64_of_bf16)
