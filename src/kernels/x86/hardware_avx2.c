/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> fp16 and fp64 <-> fp32 in AVX2 and F16C, by the processor's own conversions. Those into
 * fp16 round as the instruction says; those into fp32 as the processor is set, which is to nearest
 * even throughout the program. NaNs keep their sign and upper payload. */
#include "kernels/kernels.h"
#include "kernels/x86/avx2.h"
#include "kernels/x86/modes.h"

/* plain: NaNs as the processor leaves them; else every NaN becomes the positive one without payload
 * beforehand. */
DTI_INLINE __m256 fp32_or_nan(__m256 x, bool plain)
{
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return plain ? x : _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

DTI_INLINE __m256d fp64_or_nan(__m256d x, bool plain)
{
    const __m256d nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8000000000000));
    return plain ? x : _mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
}

/* 8 at once, rounded as the instruction says. */
DTI_INLINE __m128i fp16_of(__m256 x, enum dti_round round)
{
    switch (round) {
    case DTI_ROUND_ZERO:
        return _mm256_cvtps_ph(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case DTI_ROUND_UP:
        return _mm256_cvtps_ph(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    case DTI_ROUND_DOWN:
        return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    default:
        return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
}

DTI_INLINE void fp16_encode_block(const void *constants, unsigned char *dst,
                                  const unsigned char *src, bool stream, enum dti_round round,
                                  bool plain)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m256 a = fp32_or_nan(load256_ps(src + 64 * i), plain);
        const __m256 b = fp32_or_nan(load256_ps(src + 64 * i + 32), plain);
        store256(dst + 32 * i, join128(fp16_of(a, round), fp16_of(b, round)), stream);
    }
}
DTI_FOUR_MODES(fp16_encode, 64, 4, 2)

void dti_fp32_to_fp16_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    fp16_encode_by_mode(NULL, args, dst, src, n);
}

DTI_INLINE void fp16_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 8; i++) {
        const __m256 wide = _mm256_cvtph_ps(load128(src + 16 * i));
        store256(dst + 32 * i, _mm256_castps_si256(wide), stream);
    }
}

void dti_fp16_to_fp32_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {fp16_block, 64, 2, 4, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}

DTI_INLINE void narrow_block(unsigned char *dst, const unsigned char *src, bool stream, bool plain)
{
    for (size_t i = 0; i < 4; i++) {
        const __m256d a = fp64_or_nan(load256_pd(src + 64 * i), plain);
        const __m256d b = fp64_or_nan(load256_pd(src + 64 * i + 32), plain);
        const __m128i low = _mm_castps_si128(_mm256_cvtpd_ps(a));
        const __m128i high = _mm_castps_si128(_mm256_cvtpd_ps(b));
        store256(dst + 32 * i, join128(low, high), stream);
    }
}

DTI_INLINE void fp64_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    narrow_block(dst, src, stream, true);
}

DTI_INLINE void fp64_canonical_block(const void *constants, unsigned char *dst,
                                     const unsigned char *src, bool stream)
{
    (void)constants;
    narrow_block(dst, src, stream, false);
}

void dti_fp64_to_fp32_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct dti_blocks keeping = {fp64_block, 32, 8, 4, false};
    const struct dti_blocks canonical = {fp64_canonical_block, 32, 8, 4, false};
    if (args->encoder->policy.nan == DTI_NAN_QUIET)
        dti_blocks_run(keeping, NULL, dst, src, n, args->stream);
    else
        dti_blocks_run(canonical, NULL, dst, src, n, args->stream);
}

DTI_INLINE void fp32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 8; i++) {
        const __m128 x = _mm_castsi128_ps(load128(src + 16 * i));
        store256(dst + 32 * i, _mm256_castpd_si256(_mm256_cvtps_pd(x)), stream);
    }
}

void dti_fp32_to_fp64_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {fp32_block, 32, 4, 8, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}
