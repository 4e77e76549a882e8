/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> bf16 with AVX-512. Uses integer arithmetic, because VCVTNEPS2BF16 treats subnormals
 * as zero. */
#include "kernels/kernels.h"
#include "kernels/x86/cast/odd_vector.h"
#include "kernels/x86/cast/saturate.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/scan/loss_cast_vector.h"
#include "kernels/x86/vector.h"

static const uint16_t odd_words[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                       23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                       45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

/* A bf16 is the upper half of an fp32. */
/* Rounds so that the upper half is the result; a carry moves into the exponent, and turns the
 * largest finite number into infinity. */
DTI_INLINE __m512i round_to_half(__m512i bits, enum dti_round round)
{
    const __m512i last = _mm512_set1_epi32(0x10000), rest = _mm512_set1_epi32(0xffff);
    const __m512i half = _mm512_set1_epi32(0x7fff);
    __m512i sum;
    switch (round) {
    case DTI_ROUND_NEAREST_EVEN: /* bits + 0x7fff, plus 1 if the kept part is odd */
        sum = _mm512_add_epi32(bits, half);
        return _mm512_mask_sub_epi32(sum, _mm512_test_epi32_mask(bits, last), sum,
                                     _mm512_set1_epi32(-1));
    case DTI_ROUND_NEAREST_AWAY:
        return _mm512_add_epi32(bits, _mm512_set1_epi32(0x8000));
    case DTI_ROUND_UP:
        return _mm512_add_epi32(bits, _mm512_andnot_si512(_mm512_srai_epi32(bits, 31), rest));
    case DTI_ROUND_DOWN:
        return _mm512_add_epi32(bits, _mm512_and_si512(_mm512_srai_epi32(bits, 31), rest));
    case DTI_ROUND_ODD:
        return _mm512_mask_or_epi32(bits, _mm512_test_epi32_mask(bits, rest), bits, last);
    case DTI_ROUND_ZERO:
    case DTI_ROUND_STOCHASTIC:
        break;
    }
    return bits;
}

/* plain: NaNs keep sign and upper payload and become quiet; otherwise they all become the
 * positive NaN without payload. */
DTI_INLINE __m512i bf16_of(__m512i bits, enum dti_round round, bool plain)
{
    const __m512i quiet = _mm512_set1_epi32(plain ? 0x400000 : 0x7fc00000);
    const __m512 x = _mm512_castsi512_ps(bits);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i rounded = round_to_half(bits, round);
    return plain ? _mm512_mask_or_epi32(rounded, nan, bits, quiet)
                 : _mm512_mask_mov_epi32(rounded, nan, quiet);
}

/* order: indices of the words that form the result. */
DTI_INLINE void bf16_encode_block(const void *order, unsigned char *dst, const unsigned char *src,
                                  bool stream, enum dti_round round, bool plain)
{
    const __m512i *const words = order;
    for (size_t i = 0; i < 2; i++) {
        const __m512i a = bf16_of(load512(src + 128 * i), round, plain);
        const __m512i b = bf16_of(load512(src + 128 * i + 64), round, plain);
        store512(dst + 64 * i, _mm512_permutex2var_epi16(a, *words, b), stream);
    }
}

DTI_SIX_MODES(bf16_encode, 64, 4, 2)

struct clamped_parts {
    struct saturation limits;
    __m512i words;
};

DTI_INLINE __m512i clamped_of(const struct saturation *limits, const unsigned char *src,
                              enum dti_round round, bool plain)
{
    return bf16_of(_mm512_castps_si512(saturated(limits, load512_ps(src))), round, plain);
}

DTI_INLINE void bf16_clamped_block(const void *constants, unsigned char *dst,
                                   const unsigned char *src, bool stream, enum dti_round round,
                                   bool plain)
{
    const struct clamped_parts *const c = constants;
    for (size_t i = 0; i < 2; i++) {
        const __m512i a = clamped_of(&c->limits, src + 128 * i, round, plain);
        const __m512i b = clamped_of(&c->limits, src + 128 * i + 64, round, plain);
        store512(dst + 64 * i, _mm512_permutex2var_epi16(a, c->words, b), stream);
    }
}
DTI_ONE_MODE(bf16_clamped, 64, 4, 2)

void dti_fp32_to_bf16_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    const __m512i order = _mm512_loadu_si512((const void *)odd_words);
    bf16_encode_by_mode(&order, args, dti_keeps_nan(args), dst, src, n);
}

void dti_fp32_to_bf16_saturating_avx512(const struct dti_kernel_args *args, void *restrict dst,
                                        const void *restrict src, size_t n)
{
    const struct clamped_parts parts = {saturation_init(args, 0x1.fep127F),
                                        _mm512_loadu_si512((const void *)odd_words)};
    bf16_clamped_by_mode(&parts, args, dti_keeps_nan(args), dst, src, n);
}

DTI_NOINLINE static void fp64_to_bf16_block(const void *constants, unsigned char *dst,
                                            const unsigned char *src, bool stream)
{
    const struct dti_mode *const how = constants;
    _Alignas(VECTOR) unsigned char between[4 * ODD_NUMBERS];
    odd_exact(between, src);
    if (how->plain)
        bf16_encode_block(how->constants, dst, between, stream, DTI_ROUND_NEAREST_EVEN, true);
    else
        bf16_encode_block(how->constants, dst, between, stream, DTI_ROUND_NEAREST_EVEN, false);
}

void dti_fp64_to_bf16_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    const __m512i order = _mm512_loadu_si512((const void *)odd_words);
    const struct dti_mode how = {&order, DTI_ROUND_NEAREST_EVEN, dti_keeps_nan(args)};
    const struct dti_blocks blocks = {fp64_to_bf16_block, ODD_NUMBERS, 8, 2, false};
    dti_blocks_run(blocks, &how, dst, src, n, args->stream);
}

/* Constants of round_to_half() and encoding, kept in memory because compilers would recompute
 * them. */
struct bf16_parts {
    __m512i words, half, last, one, upper;
};

DTI_INLINE __m512 bf16_number(const void *constants, const struct loss_bars *bars, __m512 x,
                              __m512i size, __m512i *ret_code, __m512i *ret_error)
{
    const struct bf16_parts *const parts = constants;
    const __m512i bits = loss_bits(x), sum = _mm512_add_epi32(bits, parts->half);
    (void)size;
    *ret_code =
        _mm512_mask_add_epi32(sum, _mm512_test_epi32_mask(bits, parts->last), sum, parts->one);
    const __m512 y = _mm512_castsi512_ps(_mm512_and_si512(*ret_code, parts->upper));
    *ret_error = loss_size_by(bars, _mm512_sub_ps(y, x));
    return y;
}

DTI_INLINE void bf16_put(const void *constants, unsigned char *dst, const __m512i code[4],
                         const __m512i x[4], bool stream, bool count, struct loss_group *group)
{
    const __m512i words = ((const struct bf16_parts *)constants)->words;
    (void)x, (void)count, (void)group;
    store512(dst, _mm512_permutex2var_epi16(code[0], words, code[1]), stream);
    store512(dst + 64, _mm512_permutex2var_epi16(code[2], words, code[3]), stream);
}
#define bf16_number_beyond loss_none_beyond
LOSS_CAST_ROUNDED(bf16_loss, struct bf16_parts, LOSS_BY_SIZE, 2, bf16_number, bf16_put)

void dti_fp32_to_bf16_loss_avx512(LOSS_CAST_PARAMETERS)
{
    const struct bf16_parts parts = {.words = _mm512_loadu_si512((const void *)odd_words),
                                     .half = _mm512_set1_epi32(0x7fff),
                                     .last = _mm512_set1_epi32(0x10000),
                                     .one = _mm512_set1_epi32(1),
                                     .upper = _mm512_set1_epi32((int)0xffff0000)};
    LOSS_CAST_RUN(bf16_loss_add, &parts, false, LOSS_BY_SIZE);
}

/* NaNs become quiet, as in all casts. */
DTI_INLINE __m512i fp32_of_bf16(const unsigned char *src)
{
    const __m512i bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(load256(src)), 16);
    const __m512 x = _mm512_castsi512_ps(bits);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(bits, nan, bits, _mm512_set1_epi32(0x400000));
}
VECTOR_KERNEL(dti_bf16_to_fp32, 64, 2, 4, fp32_of_bf16)

LOSS_CAST_EXACT(fp32_loss, 2, fp32_of_bf16)

void dti_bf16_to_fp32_loss_avx512(LOSS_CAST_PARAMETERS)
{
    LOSS_CAST_RUN(fp32_loss_add, NULL, true, LOSS_BY_SIZE);
}
