/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of 8 bits or less in AVX-512; small.h says how. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"
#include "kernels/x86/small.h"

/* What of the answers does not come out of the rounding by itself. */
enum small_fixes_avx512 {
    FIX_NOTHING,
    FIX_PAYLOAD, /* NaN, with a payload */
    FIX_NAN,
    FIX_ALL, /* NaN, infinity and overflow */
};

struct small_encode_avx512 {
    __m512i top, least, magic, join; /* as in struct dti_small, 16 times */
    __m512i nan_value, nan_payload;
    __m512i inf_mark, nan_mark, payload; /* 16 times; payload: mask */
    __m512i offset;                      /* 32 times */
    __m512i top_code, sign;              /* 64 times, as all below */
    __m512i overflow, overflow_negative, inf, inf_negative, nan, nan_negative, payload_code;
    __m128i zeros, sign_shift;
    bool minus_zero;
};

/* 16 at once: codes with zeros below and the offset added, or marks. */
DTI_INLINE __m512i small_round(const struct small_encode_avx512 *c, __m512i bits,
                               enum small_fixes_avx512 fixes)
{
    const __m512i exponent_field = _mm512_set1_epi32(0x7f800000);
    const __m512 number = _mm512_castsi512_ps(bits), top = _mm512_castsi512_ps(c->top);
    __m512i x;
    if (fixes == FIX_NOTHING)
        x = _mm512_min_epu32(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)), c->top);
    else /* the lesser magnitude, positive; signaling NaNs stay NaNs, and are replaced below */
        x = _mm512_castps_si512(_mm512_range_ps(number, top, 10));
    const __mmask16 ordered = _mm512_cmp_ps_mask(number, number, _CMP_ORD_Q);
    if (fixes == FIX_PAYLOAD)
        x = _mm512_mask_mov_epi32(
            _mm512_ternarylogic_epi32(bits, c->nan_payload, c->nan_value, 0xea), ordered, x);
    const __m512i e = _mm512_max_epu32(_mm512_and_si512(x, exponent_field), c->least);
    const __m512i m = _mm512_add_epi32(e, c->magic);
    const __m512 sum = _mm512_add_round_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(m),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (fixes == FIX_NOTHING || fixes == FIX_PAYLOAD)
        return _mm512_madd_epi16(_mm512_castps_si512(sum), c->join);
    __m512i mark = c->nan_mark;
    if (fixes == FIX_ALL)
        mark = _mm512_ternarylogic_epi32(_mm512_srli_epi32(bits, 16), c->payload, mark, 0xea);
    __m512i code = _mm512_mask_madd_epi16(mark, ordered, _mm512_castps_si512(sum), c->join);
    if (fixes == FIX_ALL) {
        const __mmask16 inf =
            _mm512_cmpeq_epi32_mask(_mm512_slli_epi32(bits, 1), _mm512_set1_epi32((int)0xff000000));
        code = _mm512_mask_mov_epi32(code, inf, c->inf_mark);
    }
    return code;
}

/* 32 at once: takes offset and zeros away. */
DTI_INLINE __m512i small_words(const struct small_encode_avx512 *c, const __m512i bits[2],
                               enum small_fixes_avx512 fixes)
{
    const __m512i words =
        _mm512_packus_epi32(small_round(c, bits[0], fixes), small_round(c, bits[1], fixes));
    return _mm512_srl_epi16(_mm512_sub_epi16(words, c->offset), c->zeros);
}

DTI_INLINE void small_block(const struct small_encode_avx512 *c, unsigned char *dst,
                            const unsigned char *src, bool stream, enum small_fixes_avx512 fixes)
{
    const __m512i bits[4] = {load512(src), load512(src + 64), load512(src + 128),
                             load512(src + 192)};
    /* Codes without sign, and bytes with the sign in their top bit, which saturation has kept; both
     * in the order that packing leaves. */
    const __m512i code =
        _mm512_packus_epi16(small_words(c, bits, fixes), small_words(c, bits + 2, fixes));
    const __m512i signs = _mm512_packs_epi16(_mm512_packs_epi32(bits[0], bits[1]),
                                             _mm512_packs_epi32(bits[2], bits[3]));
    __m512i answer =
        _mm512_ternarylogic_epi32(_mm512_srl_epi16(signs, c->sign_shift), c->sign, code, 0xea);
    if (!c->minus_zero)
        answer = _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(code, code), answer);
    if (fixes == FIX_NAN || fixes == FIX_ALL) {
        const __mmask64 negative = _mm512_movepi8_mask(signs);
        if (fixes == FIX_ALL) {
            const __m512i over = _mm512_mask_mov_epi8(c->overflow, negative, c->overflow_negative);
            const __m512i inf = _mm512_mask_mov_epi8(c->inf, negative, c->inf_negative);
            const __m512i inf_mark = _mm512_set1_epi8((char)DTI_SMALL_INF);
            answer = _mm512_mask_mov_epi8(answer, _mm512_cmpeq_epi8_mask(code, c->top_code), over);
            answer = _mm512_mask_mov_epi8(answer, _mm512_cmpeq_epi8_mask(code, inf_mark), inf);
        }
        const __m512i nan_mark = _mm512_set1_epi8((char)DTI_SMALL_NAN);
        __m512i nan = _mm512_mask_mov_epi8(c->nan, negative, c->nan_negative);
        if (fixes != FIX_NAN)
            nan = _mm512_ternarylogic_epi32(code, c->payload_code, nan, 0xea);
        answer = _mm512_mask_mov_epi8(answer, _mm512_cmpge_epu8_mask(code, nan_mark), nan);
    }
    store512(dst, order_packed(answer), stream);
}

#define BLOCK(name, fixes)                                                                    \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src, \
                         bool stream)                                                         \
    {                                                                                         \
        small_block(constants, dst, src, stream, fixes);                                      \
    }
BLOCK(plain_block, FIX_NOTHING)
BLOCK(nan_block, FIX_NAN)
BLOCK(payload_block, FIX_PAYLOAD)
BLOCK(all_block, FIX_ALL)

DTI_INLINE __m512i bytes_of(uint64_t code)
{
    return _mm512_set1_epi8((char)(unsigned char)code);
}

void dti_fp32_to_small_avx512(const struct dti_kernel_args *args, void *restrict dst,
                              const void *restrict src, size_t n)
{
    const struct dti_encoder *e = args->encoder;
    const struct dti_small s = dti_small_init(e);
    const struct dti_blocks plain = {plain_block, 64, 4, 1, true};
    const struct dti_blocks nans = {nan_block, 64, 4, 1, true};
    const struct dti_blocks payloads = {payload_block, 64, 4, 1, true};
    const struct dti_blocks all = {all_block, 64, 4, 1, true};
    struct small_encode_avx512 c;
    c.top = _mm512_set1_epi32((int)s.top);
    c.least = _mm512_set1_epi32((int)s.least);
    c.magic = _mm512_set1_epi32((int)s.magic);
    c.join = _mm512_set1_epi32((int)s.join);
    c.nan_value = _mm512_set1_epi32((int)s.nan_value);
    c.nan_payload = _mm512_set1_epi32((int)s.nan_payload);
    c.inf_mark = _mm512_set1_epi32((int)s.inf_mark);
    c.nan_mark = _mm512_set1_epi32((int)s.nan_mark);
    c.payload = _mm512_set1_epi32((int)(e->nan_payload << s.zeros));
    c.offset = _mm512_set1_epi16((short)s.offset);
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
