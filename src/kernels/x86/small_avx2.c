/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of 8 bits or less in AVX2; small.h says how. */
#include "kernels/kernels.h"
#include "kernels/x86/avx2.h"
#include "kernels/x86/small.h"

/* What of the answers does not come out of the rounding by itself. */
enum small_fixes_avx2 {
    FIX_NOTHING,
    FIX_PAYLOAD, /* NaN, with a payload */
    FIX_NAN,
    FIX_ALL, /* NaN, infinity and overflow */
};

struct small_encode_avx2 {
    __m256i top, least, magic, join; /* as in struct dti_small, 8 times */
    __m256i nan_value, nan_payload;
    __m256i inf_mark, nan_mark, payload; /* 8 times; payload: mask */
    __m256i offset;                      /* 16 times */
    __m256i top_code, sign;              /* 32 times, as all below */
    __m256i overflow, overflow_negative, inf, inf_negative, nan, nan_negative, payload_code;
    __m128i zeros, sign_shift;
    bool minus_zero;
};

/* 8 at once: codes with zeros below and the offset added, or marks. */
DTI_INLINE __m256i small_round(const struct small_encode_avx2 *c, __m256i bits,
                               enum small_fixes_avx2 fixes)
{
    const __m256i exponent_field = _mm256_set1_epi32(0x7f800000);
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i x = _mm256_min_epu32(magnitude, c->top);
    const __m256i nan = _mm256_cmpgt_epi32(magnitude, exponent_field);
    if (fixes == FIX_PAYLOAD)
        x = _mm256_blendv_epi8(
            x, _mm256_or_si256(_mm256_and_si256(bits, c->nan_payload), c->nan_value), nan);
    const __m256i e = _mm256_max_epu32(_mm256_and_si256(x, exponent_field), c->least);
    const __m256i m = _mm256_add_epi32(e, c->magic);
    const __m256 sum = _mm256_add_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(m));
    __m256i code = _mm256_madd_epi16(_mm256_castps_si256(sum), c->join);
    if (fixes == FIX_NOTHING || fixes == FIX_PAYLOAD)
        return code;
    if (fixes == FIX_NAN) /* a negative number saturates to 0, and this to 255 in the end */
        return _mm256_or_si256(code, nan);
    const __m256i mark =
        _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(bits, 16), c->payload), c->nan_mark);
    code = _mm256_blendv_epi8(code, mark, nan);
    if (fixes == FIX_ALL)
        code = _mm256_blendv_epi8(code, c->inf_mark, _mm256_cmpeq_epi32(magnitude, exponent_field));
    return code;
}

/* 16 at once: takes offset and zeros away. */
DTI_INLINE __m256i small_words(const struct small_encode_avx2 *c, const __m256i bits[2],
                               enum small_fixes_avx2 fixes)
{
    const __m256i words =
        _mm256_packus_epi32(small_round(c, bits[0], fixes), small_round(c, bits[1], fixes));
    return _mm256_srl_epi16(_mm256_sub_epi16(words, c->offset), c->zeros);
}

DTI_INLINE __m256i small_codes(const struct small_encode_avx2 *c, const unsigned char *src,
                               enum small_fixes_avx2 fixes)
{
    const __m256i bits[4] = {load256(src), load256(src + 32), load256(src + 64), load256(src + 96)};
    /* Codes without sign, and bytes with the sign in their top bit, which saturation has kept; both
     * in the order that packing leaves. */
    const __m256i code =
        _mm256_packus_epi16(small_words(c, bits, fixes), small_words(c, bits + 2, fixes));
    const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(bits[0], bits[1]),
                                             _mm256_packs_epi32(bits[2], bits[3]));
    const __m256i sign = _mm256_and_si256(_mm256_srl_epi16(signs, c->sign_shift), c->sign);
    __m256i answer = _mm256_or_si256(code, sign);
    if (!c->minus_zero)
        answer = _mm256_andnot_si256(_mm256_cmpeq_epi8(code, _mm256_setzero_si256()), answer);
    if (fixes == FIX_NAN || fixes == FIX_ALL) {
        if (fixes == FIX_ALL) {
            const __m256i over = _mm256_blendv_epi8(c->overflow, c->overflow_negative, signs);
            const __m256i inf = _mm256_blendv_epi8(c->inf, c->inf_negative, signs);
            const __m256i inf_mark = _mm256_set1_epi8((char)DTI_SMALL_INF);
            answer = _mm256_blendv_epi8(answer, over, _mm256_cmpeq_epi8(code, c->top_code));
            answer = _mm256_blendv_epi8(answer, inf, _mm256_cmpeq_epi8(code, inf_mark));
        }
        const __m256i nan_mark = _mm256_set1_epi8((char)DTI_SMALL_NAN);
        const __m256i is_nan = _mm256_cmpeq_epi8(_mm256_max_epu8(code, nan_mark), code);
        __m256i nan = _mm256_blendv_epi8(c->nan, c->nan_negative, signs);
        if (fixes != FIX_NAN)
            nan = _mm256_or_si256(nan, _mm256_and_si256(code, c->payload_code));
        answer = _mm256_blendv_epi8(answer, nan, is_nan);
    }
    return order_packed(answer);
}

#define BLOCK(name, fixes)                                                                    \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src, \
                         bool stream)                                                         \
    {                                                                                         \
        store256(dst, small_codes(constants, src, fixes), stream);                            \
        store256(dst + 32, small_codes(constants, src + 128, fixes), stream);                 \
    }
BLOCK(plain_block, FIX_NOTHING)
BLOCK(nan_block, FIX_NAN)
BLOCK(payload_block, FIX_PAYLOAD)
BLOCK(all_block, FIX_ALL)

DTI_INLINE __m256i bytes_of(uint64_t code)
{
    return _mm256_set1_epi8((char)(unsigned char)code);
}

void dti_fp32_to_small_avx2(const struct dti_kernel_args *args, void *restrict dst,
                            const void *restrict src, size_t n)
{
    const struct dti_encoder *e = args->encoder;
    const struct dti_small s = dti_small_init(e);
    const struct dti_blocks plain = {plain_block, 64, 4, 1, true};
    const struct dti_blocks nans = {nan_block, 64, 4, 1, true};
    const struct dti_blocks payloads = {payload_block, 64, 4, 1, true};
    const struct dti_blocks all = {all_block, 64, 4, 1, true};
    struct small_encode_avx2 c;
    c.top = _mm256_set1_epi32((int)s.top);
    c.least = _mm256_set1_epi32((int)s.least);
    c.magic = _mm256_set1_epi32((int)s.magic);
    c.join = _mm256_set1_epi32((int)s.join);
    c.nan_value = _mm256_set1_epi32((int)s.nan_value);
    c.nan_payload = _mm256_set1_epi32((int)s.nan_payload);
    c.inf_mark = _mm256_set1_epi32((int)s.inf_mark);
    c.nan_mark = _mm256_set1_epi32((int)s.nan_mark);
    c.payload = _mm256_set1_epi32((int)(e->nan_payload << s.zeros));
    c.offset = _mm256_set1_epi16((short)s.offset);
    c.top_code = bytes_of(s.top_code);
    c.sign = bytes_of(e->sign_bit);
    c.overflow = bytes_of(e->overflow[0]);
    c.overflow_negative = bytes_of(e->overflow[1]);
    c.inf = bytes_of(e->inf[0]);
    c.inf_negative = bytes_of(e->inf[1]);
    c.nan = bytes_of(e->nan[0]);
    c.nan_negative = bytes_of(e->nan[1]);
    c.payload_code = bytes_of(e->nan_payload);
    c.zeros = _mm_cvtsi32_si128((int)s.zeros);
    c.sign_shift = _mm_cvtsi32_si128((int)s.sign_shift);
    c.minus_zero = e->zero[1] != 0;
    if (!s.top_is_overflow || !s.top_is_inf)
        dti_blocks_run(all, &c, dst, src, n, args->stream);
    else if (s.top_is_nan)
        dti_blocks_run(plain, &c, dst, src, n, args->stream);
    else if (e->nan_payload != 0)
        dti_blocks_run(payloads, &c, dst, src, n, args->stream);
    else
        dti_blocks_run(nans, &c, dst, src, n, args->stream);
}
