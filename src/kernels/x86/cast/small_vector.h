/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of at most 8 bits, for the levels from AVX2 on; small.h explains the
 * method. The levels differ in how they select bits, by masks or by blends, and in how they pack
 * codes: with AVX-512 VBMI and VNNI a code is the second byte of 32 bits, else words are packed,
 * which hold it with an offset and zeros below. Rounding modes other than to nearest even take a
 * step from there. */
#ifndef KERNELS_X86_CAST_SMALL_VECTOR_H
#define KERNELS_X86_CAST_SMALL_VECTOR_H

#include "kernels/cast/small.h"
#include "kernels/x86/vector.h"

#ifdef __AVX2__
/* Results that the rounding alone does not give. */
enum fixes {
    FIX_NOTHING,
    FIX_PAYLOAD, /* NaN, with a payload */
    FIX_NAN,
    FIX_ALL, /* NaN, infinity and overflow */
};

struct small_encode {
    vector top, least, magic, join; /* as in struct dti_small, in 32 bits each */
    vector_ps step;                 /* 2^(23 - man_bits) */
    vector nan_value, nan_payload;
    vector inf_mark, nan_mark, payload; /* payload: mask */
#ifdef __AVX512VBMI__
    vector offset;                 /* added to sums in 32 bits each */
    vector code_bytes, sign_bytes; /* indices of the second and the fourth byte of 32 bits */
#else
    vector offset; /* subtracted in 16 bits each */
#endif
    vector top_code, sign; /* in 8 bits each, as all below */
    vector overflow, overflow_negative, inf, inf_negative, nan, nan_negative, payload_code;
    vector normal, largest; /* codes of the smallest normal and the largest number */
    __m128i zeros, sign_shift, payload_shift;
    bool minus_zero;
#ifndef __AVX512BW__
    bool is_e5m2;
#endif
    enum fixes fixes;
    enum dti_round round;
};

/* x with a last bit that takes it off a tie, away from zero. */
DTI_INLINE vector small_off_tie(vector x, enum dti_round round)
{
    const vector one = VECTOR_BITS(set1_epi32)(1);
    return round == DTI_ROUND_NEAREST_AWAY ? VECTOR_WHOLE(or)(x, one) : x;
}

/* The sum x + m, rounded to nearest even, becomes that in another mode: by a step of its last bit,
 * which is the result's, if it is on the wrong side of x. Of x only the magnitude is given. */
DTI_INLINE vector small_moved(vector bits, vector_ps x, vector_ps m, vector_ps sum,
                              enum dti_round round)
{
    const vector nearest = (vector)sum, one = VECTOR_BITS(set1_epi32)(1);
    if (round == DTI_ROUND_NEAREST_EVEN || round == DTI_ROUND_NEAREST_AWAY)
        return nearest;
    const vector_ps near = VECTOR_BITS(sub_ps)(sum, m), zero = VECTOR_BITS(setzero_ps)();
    const vector sign = VECTOR_WHOLE(and)(bits, VECTOR_BITS(set1_epi32)(INT32_MIN));
    const vector_ps error =
        (vector_ps)VECTOR_WHOLE(xor)((vector)VECTOR_BITS(sub_ps)(near, x), sign);
    const vector step = VECTOR_WHOLE(or)(VECTOR_BITS(srai_epi32)(bits, 31), one);
#ifdef __AVX512BW__
    if (round == DTI_ROUND_UP)
        return _mm512_mask_add_epi32(nearest, _mm512_cmp_ps_mask(error, zero, _CMP_LT_OQ), nearest,
                                     step);
    if (round == DTI_ROUND_DOWN)
        return _mm512_mask_sub_epi32(nearest, _mm512_cmp_ps_mask(error, zero, _CMP_GT_OQ), nearest,
                                     step);
    const vector cut =
        _mm512_mask_sub_epi32(nearest, _mm512_cmp_ps_mask(near, x, _CMP_GT_OQ), nearest, one);
    if (round == DTI_ROUND_ZERO)
        return cut;
    return _mm512_mask_or_epi32(cut, _mm512_cmp_ps_mask(near, x, _CMP_NEQ_OQ), cut, one);
#else
    if (round == DTI_ROUND_UP)
        return _mm256_add_epi32(
            nearest, _mm256_and_si256((__m256i)_mm256_cmp_ps(error, zero, _CMP_LT_OQ), step));
    if (round == DTI_ROUND_DOWN)
        return _mm256_sub_epi32(
            nearest, _mm256_and_si256((__m256i)_mm256_cmp_ps(error, zero, _CMP_GT_OQ), step));
    const vector cut = _mm256_add_epi32(nearest, (__m256i)_mm256_cmp_ps(near, x, _CMP_GT_OQ));
    if (round == DTI_ROUND_ZERO)
        return cut;
    return _mm256_or_si256(cut,
                           _mm256_and_si256((__m256i)_mm256_cmp_ps(near, x, _CMP_NEQ_OQ), one));
#endif
}

#ifdef __AVX512BW__
/* The code of a sum, with zeros below; with AVX-512 VBMI without the offset, else with it. */
DTI_INLINE __m512i small_join(const struct small_encode *c, __m512i sum)
{
#ifdef __AVX512VBMI__
    return _mm512_dpwssd_epi32(c->offset, sum, c->join);
#else
    return _mm512_madd_epi16(sum, c->join);
#endif
}

/* Encodes one vector: codes with zeros below and the offset added, or marks. */
DTI_INLINE __m512i small_round(const struct small_encode *c, __m512i bits, enum fixes fixes,
                               enum dti_round round)
{
    const __m512i exponent_field = _mm512_set1_epi32(0x7f800000);
    const __m512 number = _mm512_castsi512_ps(bits), top = _mm512_castsi512_ps(c->top);
    __m512i x;
    if (fixes == FIX_NOTHING)
        x = _mm512_min_epu32(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)), c->top);
    else /* the smaller magnitude, positive; signaling NaNs stay NaNs and are replaced below */
        x = _mm512_castps_si512(_mm512_range_ps(number, top, 10));
    const __mmask16 ordered = _mm512_cmp_ps_mask(number, number, _CMP_ORD_Q);
    if (fixes == FIX_PAYLOAD)
        x = _mm512_mask_mov_epi32(
            _mm512_ternarylogic_epi32(bits, c->nan_payload, c->nan_value, 0xea), ordered, x);
    const __m512i e = _mm512_max_epu32(_mm512_and_si512(x, exponent_field), c->least);
    const __m512 power = _mm512_castsi512_ps(e);
    x = small_off_tie(x, round);
    const __m512 near = _mm512_fmadd_round_ps(power, c->step, _mm512_castsi512_ps(x),
                                              _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512i sum =
        small_moved(bits, _mm512_castsi512_ps(x), _mm512_mul_ps(power, c->step), near, round);
    __m512i code = small_join(c, sum);
    if (fixes == FIX_NOTHING || fixes == FIX_PAYLOAD)
        return code;
    __m512i mark = c->nan_mark;
    if (fixes == FIX_ALL)
        mark = _mm512_ternarylogic_epi32(_mm512_srl_epi32(bits, c->payload_shift), c->payload, mark,
                                         0xea);
    code = _mm512_mask_mov_epi32(mark, ordered, code);
    if (fixes == FIX_ALL) {
        const __mmask16 inf =
            _mm512_cmpeq_epi32_mask(_mm512_slli_epi32(bits, 1), _mm512_set1_epi32((int)0xff000000));
        code = _mm512_mask_mov_epi32(code, inf, c->inf_mark);
    }
    return code;
}

/* Replaces marks by results. signs: bytes whose top bits are the signs of the numbers. */
DTI_INLINE __m512i small_fix(const struct small_encode *c, __m512i code, __m512i signs,
                             enum fixes fixes)
{
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
    return answer;
}
#else
DTI_INLINE __m256i small_round(const struct small_encode *c, __m256i bits, enum fixes fixes,
                               enum dti_round round)
{
    const __m256i exponent_field = _mm256_set1_epi32(0x7f800000);
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i x = _mm256_min_epu32(magnitude, c->top);
    const __m256i nan = _mm256_cmpgt_epi32(magnitude, exponent_field);
    if (fixes == FIX_PAYLOAD)
        x = _mm256_blendv_epi8(
            x, _mm256_or_si256(_mm256_and_si256(bits, c->nan_payload), c->nan_value), nan);
    const __m256i e = _mm256_max_epu32(_mm256_and_si256(x, exponent_field), c->least);
    const __m256 power = _mm256_castsi256_ps(e);
    x = small_off_tie(x, round);
    const __m256 near = _mm256_fmadd_ps(power, c->step, _mm256_castsi256_ps(x));
    const __m256i sum =
        small_moved(bits, _mm256_castsi256_ps(x), _mm256_mul_ps(power, c->step), near, round);
    __m256i code = _mm256_madd_epi16(sum, c->join);
    if (fixes == FIX_NOTHING || fixes == FIX_PAYLOAD)
        return code;
    if (fixes == FIX_NAN) /* all ones, a negative number, saturates to 0, which ends up as 255 */
        return _mm256_or_si256(code, nan);
    const __m256i mark = _mm256_or_si256(
        _mm256_and_si256(_mm256_srl_epi32(bits, c->payload_shift), c->payload), c->nan_mark);
    code = _mm256_blendv_epi8(code, mark, nan);
    if (fixes == FIX_ALL)
        code = _mm256_blendv_epi8(code, c->inf_mark, _mm256_cmpeq_epi32(magnitude, exponent_field));
    return code;
}

DTI_INLINE __m256i small_fix(const struct small_encode *c, __m256i code, __m256i signs,
                             enum fixes fixes)
{
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
    return answer;
}
#endif

#ifdef __AVX512VBMI__
/* A byte of each element of four vectors, in their order. index: of the bytes in two of them,
 * twice; places that a permutation leaves alone keep theirs for the next one. */
DTI_INLINE __m512i small_bytes(const __m512i from[4], __m512i index)
{
    const __mmask64 low = UINT64_C(0xffffffff);
    index = _mm512_mask2_permutex2var_epi8(from[0], index, low, from[1]);
    return _mm512_mask2_permutex2var_epi8(from[2], index, ~low, from[3]);
}

DTI_INLINE __m512i small_codes(const struct small_encode *c, const unsigned char *src,
                               enum fixes fixes, enum dti_round round)
{
    __m512i bits[4], code[4];
    for (size_t i = 0; i < 4; i++) {
        bits[i] = load512(src + i * VECTOR);
        code[i] = small_round(c, bits[i], fixes, round);
    }
    return small_fix(c, small_bytes(code, c->code_bytes), small_bytes(bits, c->sign_bytes), fixes);
}
#else
/* Combines two vectors and removes offset and zeros. */
DTI_INLINE vector small_joined(const struct small_encode *c, vector low, vector high)
{
    const vector words = VECTOR_BITS(packus_epi32)(low, high);
    return VECTOR_BITS(srl_epi16)(VECTOR_BITS(sub_epi16)(words, c->offset), c->zeros);
}

DTI_INLINE vector small_words(const struct small_encode *c, const vector bits[2], enum fixes fixes,
                              enum dti_round round)
{
    return small_joined(c, small_round(c, bits[0], fixes, round),
                        small_round(c, bits[1], fixes, round));
}

DTI_INLINE vector small_codes(const struct small_encode *c, const unsigned char *src,
                              enum fixes fixes, enum dti_round round)
{
    const vector bits[4] = {load_vector(src), load_vector(src + VECTOR),
                            load_vector(src + 2 * VECTOR), load_vector(src + 3 * VECTOR)};
    /* codes without sign, and bytes with the sign in their top bit, which saturation preserves;
     * both in the order that packing leaves */
    const vector code = VECTOR_BITS(packus_epi16)(small_words(c, bits, fixes, round),
                                                  small_words(c, bits + 2, fixes, round));
    const vector signs = VECTOR_BITS(packs_epi16)(VECTOR_BITS(packs_epi32)(bits[0], bits[1]),
                                                  VECTOR_BITS(packs_epi32)(bits[2], bits[3]));
    return order_packed(small_fix(c, code, signs, fixes));
}
#endif

DTI_INLINE void small_block(const struct small_encode *c, unsigned char *dst,
                            const unsigned char *src, bool stream, enum fixes fixes,
                            enum dti_round round)
{
    for (size_t i = 0; i < 64; i += VECTOR)
        store_vector(dst + i, small_codes(c, src + 4 * i, fixes, round), stream);
}

#define BLOCK(name, fixes)                                                                    \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src, \
                         bool stream)                                                         \
    {                                                                                         \
        small_block(constants, dst, src, stream, fixes, DTI_ROUND_NEAREST_EVEN);              \
    }
BLOCK(plain_block, FIX_NOTHING)
BLOCK(nan_block, FIX_NAN)
BLOCK(payload_block, FIX_PAYLOAD)
BLOCK(all_block, FIX_ALL)

#ifndef __AVX512BW__
/* fp8_e5m2 is the upper half of an fp16. The conversion to that truncates, after the lower half of
 * the fp32 became one bit: these numbers are exact in fp16, but for those below 2^-17, which become
 * 0. The rounding that follows decides as it would for the fp32. NaNs keep what is there. */
DTI_INLINE __m128i e5m2_half(const unsigned char *src)
{
    const __m256i bits = load256(src), rest = _mm256_set1_epi32(0xffff);
    const __m256i any = _mm256_add_epi32(_mm256_and_si256(bits, rest), rest);
    const __m256i kept = _mm256_andnot_si256(rest, _mm256_or_si256(bits, any));
    return _mm256_cvtps_ph((__m256)kept, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

DTI_INLINE __m256i e5m2_words(const unsigned char *src)
{
    const __m256i half = join128(e5m2_half(src), e5m2_half(src + VECTOR));
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(half, 8), _mm256_set1_epi16(1));
    const __m256i nan = _mm256_cmpgt_epi16(_mm256_and_si256(half, _mm256_set1_epi16(INT16_MAX)),
                                           _mm256_set1_epi16(0x7c00));
    const __m256i more = _mm256_add_epi16(odd, _mm256_set1_epi16(0x7f));
    return _mm256_srli_epi16(_mm256_add_epi16(half, _mm256_andnot_si256(nan, more)), 8);
}

DTI_INLINE void e5m2_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 64; i += VECTOR) {
        const __m256i low = e5m2_words(src + 4 * i), high = e5m2_words(src + 4 * i + 2 * VECTOR);
        store256(dst + i, _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8), stream);
    }
}

/* Whether codes are the upper halves of fp16's, with their infinities and NaNs. */
DTI_INLINE bool small_is_e5m2(const struct dti_encoder *e, const struct dti_small *s,
                              enum fixes fixes)
{
    return fixes == FIX_PAYLOAD && e->format.width == 8 && e->man_bits == 2 &&
           e->min_exponent == -14 && s->top_code == 0x7c && e->zero[1] == 0x80 &&
           e->nan[0] == 0x7e && e->nan[1] == 0xfe && e->nan_payload == 1;
}
#endif

#ifdef __AVX512VBMI__
/* For each of 64 bytes, in 32 elements and once more, byte `at` of an element. */
DTI_INLINE __m512i small_places(unsigned at)
{
    unsigned char place[VECTOR];
    for (unsigned i = 0; i < VECTOR; i++)
        place[i] = (unsigned char)(i % 32 * 4 + at);
    return load512(place);
}
#endif

DTI_INLINE vector bytes_of(uint64_t code)
{
    return VECTOR_BITS(set1_epi8)((char)(unsigned char)code);
}

DTI_INLINE enum fixes small_fixes(const struct dti_encoder *e, const struct dti_small *s)
{
    if (!s->top_is_overflow || !s->top_is_inf)
        return FIX_ALL;
    if (s->top_is_nan)
        return FIX_NOTHING;
    return e->nan_payload != 0 ? FIX_PAYLOAD : FIX_NAN;
}

DTI_INLINE void small_init(const struct dti_encoder *e, struct small_encode *ret)
{
    struct dti_small s = dti_small_init(e);
    const float step = (float)(1 << (23 - e->man_bits));
    struct small_encode c;
#ifdef __AVX512VBMI__
    const unsigned up = 8 - s.zeros; /* so that codes fill bytes */
    s.inf_mark = (uint32_t)DTI_SMALL_INF << 8;
    s.nan_mark = (uint32_t)DTI_SMALL_NAN << 8;
    c.offset = _mm512_set1_epi32(-(int)(s.offset << up));
    c.code_bytes = small_places(1);
    c.sign_bytes = small_places(3);
#else
    const unsigned up = 0;
    c.offset = VECTOR_BITS(set1_epi16)((short)s.offset);
#endif
    c.top = VECTOR_BITS(set1_epi32)((int)s.top);
    c.least = VECTOR_BITS(set1_epi32)((int)s.least);
    c.magic = VECTOR_BITS(set1_epi32)((int)s.magic);
    c.step = VECTOR_BITS(set1_ps)(step);
    c.join = VECTOR_BITS(set1_epi32)((int)(s.join << up));
    c.nan_value = VECTOR_BITS(set1_epi32)((int)s.nan_value);
    c.nan_payload = VECTOR_BITS(set1_epi32)((int)s.nan_payload);
    c.inf_mark = VECTOR_BITS(set1_epi32)((int)s.inf_mark);
    c.nan_mark = VECTOR_BITS(set1_epi32)((int)s.nan_mark);
    c.payload = VECTOR_BITS(set1_epi32)((int)(e->nan_payload << (s.zeros + up)));
    c.top_code = bytes_of(s.top_code);
    c.sign = bytes_of(e->sign_bit);
    c.overflow = bytes_of(e->overflow[0]);
    c.overflow_negative = bytes_of(e->overflow[1]);
    c.inf = bytes_of(e->inf[0]);
    c.inf_negative = bytes_of(e->inf[1]);
    c.nan = bytes_of(e->nan[0]);
    c.nan_negative = bytes_of(e->nan[1]);
    c.payload_code = bytes_of(e->nan_payload);
    c.largest = bytes_of(e->max_magnitude);
    c.normal = bytes_of(UINT64_C(1) << e->man_bits);
    c.zeros = _mm_cvtsi32_si128((int)s.zeros);
    c.sign_shift = _mm_cvtsi32_si128((int)s.sign_shift);
    c.payload_shift = _mm_cvtsi32_si128((int)(16 - up));
    c.minus_zero = e->zero[1] != 0;
    c.round = e->policy.round;
    c.fixes = small_fixes(e, &s);
#ifndef __AVX512BW__
    c.is_e5m2 = small_is_e5m2(e, &s, c.fixes);
#endif
    *ret = c;
}

/* Rounds to nearest even. */
DTI_INLINE void small_run(const struct small_encode *c, void *restrict dst,
                          const void *restrict src, size_t n, const struct dti_streaming *streaming)
{
    const struct dti_blocks plain = {plain_block, 64, 4, 1, true};
    const struct dti_blocks payload = {payload_block, 64, 4, 1, true};
    const struct dti_blocks nan = {nan_block, 64, 4, 1, true};
    const struct dti_blocks all = {all_block, 64, 4, 1, true};
#ifndef __AVX512BW__
    const struct dti_blocks e5m2 = {e5m2_block, 64, 4, 1, true};
    if (c->is_e5m2) {
        dti_blocks_run(e5m2, NULL, dst, src, n, streaming);
        return;
    }
#endif
    if (c->fixes == FIX_NOTHING)
        dti_blocks_run(plain, c, dst, src, n, streaming);
    else if (c->fixes == FIX_PAYLOAD)
        dti_blocks_run(payload, c, dst, src, n, streaming);
    else if (c->fixes == FIX_NAN)
        dti_blocks_run(nan, c, dst, src, n, streaming);
    else
        dti_blocks_run(all, c, dst, src, n, streaming);
}

#endif
#endif
