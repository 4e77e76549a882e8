/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> fp16 in AVX-512, by the processor's own conversions. They round as the instruction says,
 * whatever mode is set, never take subnormals for zero, and keep a NaN's sign and upper payload. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"

/* plain: NaNs as the processor leaves them; else every NaN becomes the positive one without payload
 * beforehand. */
#define BLOCK(name, mode, plain)                                                  \
    DTI_INLINE void name##_block(const void *constants, unsigned char *dst,       \
                                 const unsigned char *src, bool stream)           \
    {                                                                             \
        (void)constants;                                                          \
        for (size_t i = 0; i < 2; i++) {                                          \
            const __m512 a = nan_or_plain(load512_ps(src + 128 * i), plain);      \
            const __m512 b = nan_or_plain(load512_ps(src + 128 * i + 64), plain); \
            store512(dst + 64 * i,                                                \
                     join256(_mm512_cvtps_ph(a, (mode) | _MM_FROUND_NO_EXC),      \
                             _mm512_cvtps_ph(b, (mode) | _MM_FROUND_NO_EXC)),     \
                     stream);                                                     \
        }                                                                         \
    }
#define MODE(name, mode)                                                               \
    BLOCK(name, mode, true)                                                            \
    BLOCK(name##_canonical, mode, false)                                               \
    static void name(bool plain, void *dst, const void *src, size_t n, bool stream)    \
    {                                                                                  \
        const struct dti_blocks keeping = {name##_block, 64, 4, 2, false};             \
        const struct dti_blocks canonical = {name##_canonical_block, 64, 4, 2, false}; \
        if (plain)                                                                     \
            dti_blocks_run(keeping, NULL, dst, src, n, stream);                        \
        else                                                                           \
            dti_blocks_run(canonical, NULL, dst, src, n, stream);                      \
    }

DTI_INLINE __m512 nan_or_plain(__m512 x, bool plain)
{
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return plain ? x : _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

MODE(to_nearest_even, _MM_FROUND_TO_NEAREST_INT)
MODE(to_zero, _MM_FROUND_TO_ZERO)
MODE(up, _MM_FROUND_TO_POS_INF)
MODE(down, _MM_FROUND_TO_NEG_INF)

void dti_fp32_to_fp16_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    const bool plain = args->encoder->policy.nan == DTI_NAN_QUIET;
    switch (args->encoder->policy.round) {
    case DTI_ROUND_ZERO:
        to_zero(plain, dst, src, n, args->stream);
        break;
    case DTI_ROUND_UP:
        up(plain, dst, src, n, args->stream);
        break;
    case DTI_ROUND_DOWN:
        down(plain, dst, src, n, args->stream);
        break;
    default: /* the row asks for no other */
        to_nearest_even(plain, dst, src, n, args->stream);
        break;
    }
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
