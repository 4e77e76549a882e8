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
#include "kernels/x86/cast/odd_vector.h"
#include "kernels/x86/cast/saturate.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/scan/loss_cast_vector.h"
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

/* 64 numbers; of those that an fp32 rounds to a subnormal none is above half of the smallest fp16.
 */
DTI_NOINLINE static void fp64_to_fp16_block(const void *constants, unsigned char *dst,
                                            const unsigned char *src, bool stream)
{
    const struct dti_mode *const how = constants;
    _Alignas(VECTOR) unsigned char between[4 * ODD_NUMBERS];
    (void)odd_normal(between, src);
    if (how->plain)
        fp16_block(NULL, dst, between, stream, DTI_ROUND_NEAREST_EVEN, true);
    else
        fp16_block(NULL, dst, between, stream, DTI_ROUND_NEAREST_EVEN, false);
}

void VECTOR_NAME(dti_fp64_to_fp16)(const struct dti_kernel_args *args, void *restrict dst,
                                   const void *restrict src, size_t n)
{
    const struct dti_mode how = {NULL, DTI_ROUND_NEAREST_EVEN, dti_keeps_nan(args)};
    const struct dti_blocks blocks = {fp64_to_fp16_block, ODD_NUMBERS, 8, 2, false};
    dti_blocks_run(blocks, &how, dst, src, n, args->stream);
}

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

DTI_INLINE vector_ps fp16_number(const void *constants, const struct loss_bars *bars, vector_ps x,
                                 vector size, vector *ret_code, vector *ret_error)
{
    const half_vector code = fp16_half(x, DTI_ROUND_NEAREST_EVEN);
    const vector_ps y = VECTOR_BITS(cvtph_ps)(code);
    (void)constants, (void)size;
    *ret_code = with_low(code);
    *ret_error = loss_size_by(bars, VECTOR_BITS(sub_ps)(y, x));
    return y;
}

DTI_INLINE void fp16_put(const void *constants, unsigned char *dst, const vector code[4],
                         const vector x[4], bool stream, bool count, struct loss_group *group)
{
    (void)constants, (void)x, (void)count, (void)group;
    for (size_t i = 0; i < 2; i++)
        store_vector(dst + i * VECTOR,
                     join_halves(low_half_of(code[2 * i]), low_half_of(code[2 * i + 1])), stream);
}
#define fp16_number_beyond loss_none_beyond
LOSS_CAST_ROUNDED(fp16_loss, struct loss_no_constants, LOSS_BY_SIZE, 2, fp16_number, fp16_put)
LOSS_CAST_EXACT(fp32_loss, 2, fp32_of_fp16)

void VECTOR_NAME(dti_fp32_to_fp16_loss)(LOSS_CAST_PARAMETERS)
{
    const struct loss_no_constants none = {0};
    LOSS_CAST_RUN(fp16_loss_add, &none, false, LOSS_BY_SIZE);
}

void VECTOR_NAME(dti_fp16_to_fp32_loss)(LOSS_CAST_PARAMETERS)
{
    LOSS_CAST_RUN(fp32_loss_add, NULL, true, LOSS_BY_SIZE);
}

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
