/* SPDX-License-Identifier: MIT
 *
 * Tiles of bf16 and fp16 that are the same bytes on both sides, from their codes with AVX2: there
 * are only squares to add. */
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, HALF = LANES / 2 };

DTI_INLINE __m256d add_square(__m256d sum, __m128 narrow)
{
    const __m256d x = _mm256_cvtps_pd(narrow);
    return _mm256_fmadd_pd(x, x, sum);
}

/* The numbers of eight codes; bf16 is the upper half of fp32. */
DTI_INLINE void widen(const unsigned char *codes, bool bf16, __m128 ret[2])
{
    const __m128i eight = _mm_loadu_si128((const void *)codes), zero = _mm_setzero_si128();
    const __m256 numbers = _mm256_cvtph_ps(eight);
    ret[0] =
        bf16 ? _mm_castsi128_ps(_mm_unpacklo_epi16(zero, eight)) : _mm256_castps256_ps128(numbers);
    ret[1] = bf16 ? _mm_castsi128_ps(_mm_unpackhi_epi16(zero, eight))
                  : _mm256_extractf128_ps(numbers, 1);
}

/* n: a multiple of LANES. */
DTI_INLINE double squares_of(const unsigned char *codes, size_t n, bool bf16)
{
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i < n; i += LANES) {
        __m128 first[2], second[2];
        prefetch_lines(codes + 2 * i, DTI_SCAN_AHEAD, 2 * LANES);
        widen(codes + 2 * i, bf16, first);
        widen(codes + 2 * (i + HALF), bf16, second);
        s0 = add_square(s0, first[0]);
        s1 = add_square(s1, first[1]);
        s2 = add_square(s2, second[0]);
        s3 = add_square(s3, second[1]);
    }
    double lane[LANES];
    _mm256_storeu_pd(lane, s0);
    _mm256_storeu_pd(lane + 4, s1);
    _mm256_storeu_pd(lane + 8, s2);
    _mm256_storeu_pd(lane + 12, s3);
    return dti_tile_sum(lane);
}

/* A NaN or an infinity shows in the sum. */
DTI_INLINE bool add_same(const void *codes, size_t n, bool bf16, struct dti_comparison *comparison)
{
    const double squares = n % LANES == 0 ? squares_of(codes, n, bf16) : INFINITY;
    if (!(squares <= DBL_MAX))
        return false;
    comparison->elements += n;
    comparison->compared += n;
    dti_exact_sum_add(&comparison->sum_aa, squares);
    dti_exact_sum_add(&comparison->sum_bb, squares);
    dti_exact_sum_add(&comparison->sum_ab, squares);
    return true;
}

bool dti_comparison_same_bf16_avx2(const void *codes, size_t n, struct dti_comparison *comparison)
{
    return add_same(codes, n, true, comparison);
}

bool dti_comparison_same_fp16_avx2(const void *codes, size_t n, struct dti_comparison *comparison)
{
    return add_same(codes, n, false, comparison);
}

#endif
