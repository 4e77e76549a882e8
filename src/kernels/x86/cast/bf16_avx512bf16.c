/* SPDX-License-Identifier: MIT
 *
 * fp32 -> bf16, to nearest even, with VCVTNE2PS2BF16, which does two vectors at once and quiets
 * NaNs as we do, but treats subnormals as zero (Intel SDM, AVX512_BF16). So results that are zero
 * send a block to integer arithmetic if one of its sources is a subnormal. */
#include "kernels/kernels.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/vector.h"

enum { SUBNORMAL = 0x20 }; /* a class of VFPCLASSPS */

DTI_INLINE __m512i pair_of(__m512 low, __m512 high, bool plain)
{
    const __m512i pair = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    if (plain)
        return pair;
    const __mmask32 nan = _mm512_kunpackw(_mm512_cmp_ps_mask(high, high, _CMP_UNORD_Q),
                                          _mm512_cmp_ps_mask(low, low, _CMP_UNORD_Q));
    return _mm512_mask_mov_epi16(pair, nan, _mm512_set1_epi16(0x7fc0));
}

/* bits + 0x7fff, plus 1 if the kept part is odd; a NaN becomes quiet, or the canonical one. */
DTI_INLINE __m256i upper_half(const unsigned char *src, bool plain)
{
    const __m512i bits = load512(src);
    const __m512 x = _mm512_castsi512_ps(bits);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i quiet = _mm512_set1_epi32(plain ? 0x400000 : 0x7fc00000);
    const __m512i half = plain ? _mm512_mask_or_epi32(sum, nan, bits, quiet)
                               : _mm512_mask_mov_epi32(sum, nan, quiet);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(half, 16));
}

static DTI_NOINLINE void with_subnormals(unsigned char *dst, const unsigned char *src, bool stream,
                                         bool plain)
{
    for (size_t i = 0; i < 2; i++) {
        const __m256i low = upper_half(src + 128 * i, plain);
        const __m256i high = upper_half(src + 128 * i + 64, plain);
        store512(dst + 64 * i, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), stream);
    }
}

DTI_INLINE void nearest_block(const void *constants, unsigned char *dst, const unsigned char *src,
                              bool stream, enum dti_round round, bool plain)
{
    const __m512i magnitude = _mm512_set1_epi16(0x7fff);
    __m512 x[4];
    (void)constants, (void)round;
    for (size_t i = 0; i < 4; i++)
        x[i] = _mm512_castsi512_ps(load512(src + 64 * i));
    const __m512i low = pair_of(x[0], x[1], plain), high = pair_of(x[2], x[3], plain);
    if (_mm512_testn_epi16_mask(low, magnitude) | _mm512_testn_epi16_mask(high, magnitude)) {
        unsigned any = 0;
        for (size_t i = 0; i < 4; i++)
            any |= _mm512_fpclass_ps_mask(x[i], SUBNORMAL);
        if (any) {
            with_subnormals(dst, src, stream, plain);
            return;
        }
    }
    store512(dst, low, stream);
    store512(dst + 64, high, stream);
}

DTI_ONE_MODE(nearest, 64, 4, 2)

void dti_fp32_to_bf16_avx512bf16(const struct dti_kernel_args *args, void *restrict dst,
                                 const void *restrict src, size_t n)
{
    nearest_by_mode(NULL, args, dti_keeps_nan(args), dst, src, n);
}
