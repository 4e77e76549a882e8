/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed and unsigned integers of 8, 16 and 32 bits with AVX2 and AVX-512: clamped; NaN
 * becomes 0. */
#include "kernels/kernels.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/scan/loss_cast_vector.h"
#include "kernels/x86/vector.h"

/* Rounds x to 32 bits, given its clamped value; numbers below -2^31 become -2^31. In AVX2 the
 * conversion itself has nothing left to round, so the processor's mode does not matter. */
DTI_INLINE vector rounded(vector_ps x, vector_ps clamped, enum dti_round round)
{
#ifdef __AVX512BW__
    const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
#define CONVERT(x, how) _mm512_maskz_cvt_roundps_epi32(number, x, how)
#else
    const __m256 number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
    if (round == DTI_ROUND_ZERO)
        return _mm256_cvttps_epi32(_mm256_and_ps(clamped, number));
#define CONVERT(x, how) _mm256_cvttps_epi32(_mm256_round_ps(_mm256_and_ps(x, number), how))
#endif
    DTI_RETURN_BY_ROUND(CONVERT, clamped, round)
#undef CONVERT
}

/* Clamps what exceeds `limit`; packing with saturation does the rest. */
DTI_INLINE vector whole(const unsigned char *src, float limit, enum dti_round round)
{
    const vector_ps x = (vector_ps)load_vector(src), most = VECTOR_BITS(set1_ps)(limit);
    return rounded(x, VECTOR_BITS(min_ps)(most, x), round);
}

DTI_INLINE vector bytes_of(const vector number[4], bool is_signed)
{
    const vector low = VECTOR_BITS(packs_epi32)(number[0], number[1]);
    const vector high = VECTOR_BITS(packs_epi32)(number[2], number[3]);
    return order_packed(is_signed ? VECTOR_BITS(packs_epi16)(low, high)
                                  : VECTOR_BITS(packus_epi16)(low, high));
}

DTI_INLINE void to8_block(const void *constants, unsigned char *dst, const unsigned char *src,
                          bool stream, enum dti_round round, bool is_signed)
{
    (void)constants;
    for (size_t i = 0; i < 64; i += VECTOR, src += 4 * VECTOR) {
        vector number[4];
        for (size_t at = 0; at < 4; at++)
            number[at] = whole(src + at * VECTOR, 255, round);
        store_vector(dst + i, bytes_of(number, is_signed), stream);
    }
}
DTI_WHOLE_MODES(to8, 64, 4, 1)

/* Like whole(), from fp64. */
#ifdef __AVX512BW__
DTI_INLINE half_vector whole_half(const unsigned char *src, enum dti_round round)
{
    const __m512d x = load512_pd(src);
    const __m512d kept =
        _mm512_maskz_min_pd(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x, _mm512_set1_pd(255));
    DTI_RETURN_BY_ROUND(_mm512_cvt_roundpd_epi32, kept, round)
}
#else
DTI_INLINE half_vector whole_half(const unsigned char *src, enum dti_round round)
{
    const __m256d x = load256_pd(src), number = _mm256_cmp_pd(x, x, _CMP_ORD_Q);
    const __m256d kept = _mm256_and_pd(_mm256_min_pd(_mm256_set1_pd(255), x), number);
    if (round == DTI_ROUND_ZERO)
        return _mm256_cvttpd_epi32(kept);
#define CONVERT(x, how) _mm256_cvttpd_epi32(_mm256_round_pd(x, how))
    DTI_RETURN_BY_ROUND(CONVERT, kept, round)
#undef CONVERT
}
#endif

DTI_INLINE void wide_to8_block(const void *constants, unsigned char *dst, const unsigned char *src,
                               bool stream, enum dti_round round, bool is_signed)
{
    (void)constants;
    for (size_t i = 0; i < 64; i += VECTOR, src += 8 * VECTOR) {
        vector number[4];
        for (size_t at = 0; at < 4; at++)
            number[at] = join_halves(whole_half(src + 2 * at * VECTOR, round),
                                     whole_half(src + (2 * at + 1) * VECTOR, round));
        store_vector(dst + i, bytes_of(number, is_signed), stream);
    }
}
DTI_WHOLE_MODES(wide_to8, 64, 8, 1)

void VECTOR_NAME(dti_fp64_to_int8)(const struct dti_kernel_args *args, void *restrict dst,
                                   const void *restrict src, size_t n)
{
    wide_to8_by_mode(NULL, args, args->encoder->format.kind == DTI_KIND_INT, dst, src, n);
}

/* Only receive small numbers. */
DTI_INLINE vector_ps of_whole(const struct loss_bars *bars, vector_ps x, vector code,
                              vector *ret_code, vector *ret_error)
{
    const vector_ps y = VECTOR_BITS(cvtepi32_ps)(code);
    *ret_code = code;
    *ret_error = loss_size_by(bars, VECTOR_BITS(sub_ps)(y, x));
    return y;
}

DTI_INLINE vector_ps near_number(const void *constants, const struct loss_bars *bars, vector_ps x,
                                 vector size, vector *ret_code, vector *ret_error)
{
    (void)constants, (void)size;
    return of_whole(bars, x, VECTOR_BITS(cvtps_epi32)(x), ret_code, ret_error);
}

DTI_INLINE vector_ps cut_number(const void *constants, const struct loss_bars *bars, vector_ps x,
                                vector size, vector *ret_code, vector *ret_error)
{
    (void)constants, (void)size;
    return of_whole(bars, x, VECTOR_BITS(cvttps_epi32)(x), ret_code, ret_error);
}

DTI_INLINE void int8_put(const void *constants, unsigned char *dst, const vector code[4],
                         const vector x[4], bool stream, bool count, struct loss_group *group)
{
    const vector packed = bytes_of(code, true);
    (void)constants;
    if (count) {
        for (unsigned i = 0; i < 4; i++)
            group->high = VECTOR_BITS(max_epu32)(group->high, loss_size((vector_ps)x[i]));
        group->small.to_zero += VECTOR - loss_nonzero_bytes(packed);
    }
    store_vector(dst, packed, stream);
}

DTI_INLINE flags int8_beyond(const void *constants, const struct loss_bars *bars,
                             const struct loss_group *group)
{
    (void)constants;
    return are_at_least(group->high, bars->limit);
}
#define near_number_beyond int8_beyond
#define cut_number_beyond  int8_beyond
LOSS_CAST_ROUNDED(int8_near, struct loss_no_constants, LOSS_BY_CODE, 1, near_number, int8_put)
LOSS_CAST_ROUNDED(int8_cut, struct loss_no_constants, LOSS_BY_CODE, 1, cut_number, int8_put)

void VECTOR_NAME(dti_fp32_to_int8_loss)(LOSS_CAST_PARAMETERS)
{
    const bool near = cast->args->encoder->policy.round == DTI_ROUND_NEAREST_EVEN;
    const struct loss_no_constants none = {0};
    LOSS_CAST_RUN(near ? int8_near_add : int8_cut_add, &none, false, LOSS_BY_CODE);
}

/* Clamps to 32 bits as well. Negative numbers become 0 in unsigned formats. */
DTI_INLINE vector whole32(const unsigned char *src, enum dti_round round, bool is_signed)
{
#ifdef __AVX512BW__
    const __m512 x = load512_ps(src);
    if (!is_signed) {
        const __m512 positive = _mm512_max_ps(x, _mm512_setzero_ps());
        DTI_RETURN_BY_ROUND(_mm512_cvt_roundps_epu32, positive, round)
    }
    const __mmask16 beyond = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
    return _mm512_mask_mov_epi32(rounded(x, x, round), beyond, _mm512_set1_epi32(INT32_MAX));
#else /* numbers beyond the signed range become 2^31 as code */
    const __m256 x = load256_ps(src), half = _mm256_set1_ps(0x1p31f);
    if (is_signed) {
        const __m256i beyond = (__m256i)_mm256_cmp_ps(x, half, _CMP_GE_OQ);
        return _mm256_xor_si256(rounded(x, x, round), beyond);
    }
    /* from 2^31 on all numbers are integers */
    const __m256 positive = _mm256_max_ps(x, _mm256_setzero_ps());
    const __m256 upper = _mm256_cmp_ps(positive, half, _CMP_GE_OQ);
    const __m256 rest = _mm256_sub_ps(positive, _mm256_and_ps(upper, half));
    const __m256i beyond = (__m256i)_mm256_cmp_ps(rest, half, _CMP_GE_OQ);
    const __m256i code =
        _mm256_xor_si256(rounded(rest, rest, round), _mm256_slli_epi32((__m256i)upper, 31));
    return _mm256_or_si256(code, beyond);
#endif
}

DTI_INLINE void to16_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream, enum dti_round round, bool is_signed)
{
    (void)constants;
    for (size_t i = 0; i < 128; i += VECTOR) {
        const vector a = whole(src + 2 * i, 65535, round);
        const vector b = whole(src + 2 * i + VECTOR, 65535, round);
        const vector packed =
            is_signed ? VECTOR_BITS(packs_epi32)(a, b) : VECTOR_BITS(packus_epi32)(a, b);
#ifdef __AVX512BW__
        const vector order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        store_vector(dst + i, _mm512_permutexvar_epi64(order, packed), stream);
#else
        store_vector(dst + i, _mm256_permute4x64_epi64(packed, 0xd8), stream);
#endif
    }
}
DTI_WHOLE_MODES(to16, 64, 4, 2)

DTI_INLINE void to32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream, enum dti_round round, bool is_signed)
{
    (void)constants;
    for (size_t i = 0; i < 256; i += VECTOR)
        store_vector(dst + i, whole32(src + i, round, is_signed), stream);
}
DTI_WHOLE_MODES(to32, 64, 4, 4)

/* Integers that fill their container. */
void VECTOR_NAME(dti_fp32_to_integer)(const struct dti_kernel_args *args, void *restrict dst,
                                      const void *restrict src, size_t n)
{
    const bool is_signed = args->encoder->format.kind == DTI_KIND_INT;
    if (args->encoder->container == 1)
        to8_by_mode(NULL, args, is_signed, dst, src, n);
    else if (args->encoder->container == 2)
        to16_by_mode(NULL, args, is_signed, dst, src, n);
    else
        to32_by_mode(NULL, args, is_signed, dst, src, n);
}
