/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> fp16 in AVX-512, by the processor's own conversions. They round as the instruction says,
 * whatever mode is set, never take subnormals for zero, and keep a NaN's sign and upper payload. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"
#include "kernels/x86/modes.h"

DTI_INLINE __m512 nan_or_plain(__m512 x, bool plain)
{
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return plain ? x : _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

/* 16 at once, rounded as the instruction says. */
DTI_INLINE __m256i fp16_of(__m512 x, enum dti_round round)
{
    switch (round) {
    case DTI_ROUND_ZERO:
        return _mm512_cvtps_ph(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case DTI_ROUND_UP:
        return _mm512_cvtps_ph(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    case DTI_ROUND_DOWN:
        return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    default:
        return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
}

DTI_INLINE void fp16_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream, enum dti_round round, bool plain)
{
    (void)constants;
    for (size_t i = 0; i < 2; i++) {
        const __m512 a = nan_or_plain(load512_ps(src + 128 * i), plain);
        const __m512 b = nan_or_plain(load512_ps(src + 128 * i + 64), plain);
        store512(dst + 64 * i, join256(fp16_of(a, round), fp16_of(b, round)), stream);
    }
}
DTI_FOUR_MODES(fp16, 64, 4, 2)

void dti_fp32_to_fp16_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    fp16_by_mode(NULL, args, dst, src, n);
}

DTI_INLINE void fp16_decode_block(const void *constants, unsigned char *dst,
                                  const unsigned char *src, bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m512 wide = _mm512_cvtph_ps(load256(src + 32 * i));
        store512(dst + 64 * i, _mm512_castps_si512(wide), stream);
    }
}

void dti_fp16_to_fp32_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {fp16_decode_block, 64, 2, 4, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}
