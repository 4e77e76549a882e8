/* SPDX-License-Identifier: MIT
 *
 * fp64 and 64-bit integers in AVX-512: fp64 <-> fp32, rounding to odd into the hubs, 32-bit
 * integers -> fp64. Rounding modes stand in the instructions. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"
#include "kernels/x86/modes.h"

DTI_INLINE __m512d nan_or_plain(__m512d x, bool plain)
{
    const __m512d nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8000000000000));
    return plain ? x : _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan);
}

/* 8 at once, rounded as the instruction says. */
DTI_INLINE __m256 fp32_of(__m512d x, enum dti_round round)
{
    switch (round) {
    case DTI_ROUND_ZERO:
        return _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case DTI_ROUND_UP:
        return _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    case DTI_ROUND_DOWN:
        return _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    default:
        return _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
}

DTI_INLINE void fp32_from_fp64_block(const void *constants, unsigned char *dst,
                                     const unsigned char *src, bool stream, enum dti_round round,
                                     bool plain)
{
    (void)constants;
    for (size_t i = 0; i < 2; i++) {
        const __m512d a = nan_or_plain(load512_pd(src + 128 * i), plain);
        const __m512d b = nan_or_plain(load512_pd(src + 128 * i + 64), plain);
        const __m256i low = _mm256_castps_si256(fp32_of(a, round));
        const __m256i high = _mm256_castps_si256(fp32_of(b, round));
        store512(dst + 64 * i, join256(low, high), stream);
    }
}
DTI_FOUR_MODES(fp32_from_fp64, 32, 8, 4)

void dti_fp64_to_fp32_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    fp32_from_fp64_by_mode(NULL, args, dst, src, n);
}

DTI_INLINE void fp32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m256 x = _mm256_castsi256_ps(load256(src + 32 * i));
        store512(dst + 64 * i, _mm512_castpd_si512(_mm512_cvtps_pd(x)), stream);
    }
}

void dti_fp32_to_fp64_avx512(const struct dti_kernel_args *args, void *restrict dst,
                             const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {fp32_block, 32, 4, 8, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}

DTI_INLINE void int32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m512d x = _mm512_cvtepi32_pd(load256(src + 32 * i));
        store512(dst + 64 * i, _mm512_castpd_si512(x), stream);
    }
}

DTI_INLINE void uint32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                             bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m512d x = _mm512_cvtepu32_pd(load256(src + 32 * i));
        store512(dst + 64 * i, _mm512_castpd_si512(x), stream);
    }
}

void dti_int32_to_fp64_avx512(const struct dti_kernel_args *args, void *restrict dst,
                              const void *restrict src, size_t n)
{
    const struct dti_blocks int32 = {int32_block, 32, 4, 8, false};
    const struct dti_blocks uint32 = {uint32_block, 32, 4, 8, false};
    if (args->decoder->format.kind == DTI_KIND_INT)
        dti_blocks_run(int32, NULL, dst, src, n, args->stream);
    else
        dti_blocks_run(uint32, NULL, dst, src, n, args->stream);
}

/* Toward zero, and then the last bit set where that lost something. Infinities and NaNs compare
 * equal or unordered and stay; the largest finite number is odd already. */
DTI_INLINE __m256i odd_fp32(__m512d x)
{
    const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(cut);
    return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
}

DTI_INLINE void odd_fp32_block(const void *constants, unsigned char *dst, const unsigned char *src,
                               bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 2; i++) {
        const __m256i low = odd_fp32(load512_pd(src + 128 * i));
        const __m256i high = odd_fp32(load512_pd(src + 128 * i + 64));
        store512(dst + 64 * i, join256(low, high), stream);
    }
}

void dti_fp64_to_fp32_odd_avx512(const struct dti_kernel_args *args, void *restrict dst,
                                 const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {odd_fp32_block, 32, 8, 4, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}

/* The same for integers: what was cut comes back without loss, being an integer of 64 bits. */
DTI_INLINE void odd_int64_block(const void *constants, unsigned char *dst, const unsigned char *src,
                                bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m512i x = load512(src + 64 * i);
        const __m512d cut = _mm512_cvt_roundepi64_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __mmask8 lost = _mm512_cmpneq_epi64_mask(_mm512_cvttpd_epi64(cut), x);
        const __m512i bits = _mm512_castpd_si512(cut);
        store512(dst + 64 * i, _mm512_mask_or_epi64(bits, lost, bits, _mm512_set1_epi64(1)),
                 stream);
    }
}

DTI_INLINE void odd_uint64_block(const void *constants, unsigned char *dst,
                                 const unsigned char *src, bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++) {
        const __m512i x = load512(src + 64 * i);
        const __m512d cut = _mm512_cvt_roundepu64_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __mmask8 lost = _mm512_cmpneq_epi64_mask(_mm512_cvttpd_epu64(cut), x);
        const __m512i bits = _mm512_castpd_si512(cut);
        store512(dst + 64 * i, _mm512_mask_or_epi64(bits, lost, bits, _mm512_set1_epi64(1)),
                 stream);
    }
}

void dti_int64_to_fp64_odd_avx512(const struct dti_kernel_args *args, void *restrict dst,
                                  const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {odd_int64_block, 32, 8, 8, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}

void dti_uint64_to_fp64_odd_avx512(const struct dti_kernel_args *args, void *restrict dst,
                                   const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {odd_uint64_block, 32, 8, 8, false};
    dti_blocks_run(blocks, NULL, dst, src, n, args->stream);
}
