/* SPDX-License-Identifier: MIT
 *
 * The loss of groups of any fp32 numbers (loss_any.h) with AVX2 and AVX-512. */
#include "kernels/scan/loss_bars.h"
#include "kernels/x86/scan/loss_flags.h"

#ifdef __AVX2__
enum { WIDTH = VECTOR / 4, WIDE = WIDTH / 2 };
#define all                         VECTOR_BITS(set1_ps)
#define all_pd                      VECTOR_BITS(set1_pd)
#define load_ps                     VECTOR_BITS(loadu_ps)
#define load_pd                     VECTOR_BITS(loadu_pd)
#define store_ps                    VECTOR_BITS(store_ps)
#define store_pd                    VECTOR_BITS(storeu_pd)
#define size_of(x)                  VECTOR_BITS(andnot_ps)(all(-0.0F), x)
#define size_of_pd(x)               VECTOR_BITS(andnot_pd)(all_pd(-0.0), x)
#define max_ps                      VECTOR_BITS(max_ps)
#define max_pd                      VECTOR_BITS(max_pd)
#define add_square_ps(sum, x)       VECTOR_BITS(fmadd_ps)(x, x, sum)
#define add_square_pd(sum, x)       VECTOR_BITS(fmadd_pd)(x, x, sum)
#define less_product_pd(from, a, b) VECTOR_BITS(fnmadd_pd)(a, b, from)
#define are_below(a, b)             COMPARE(a, b, _CMP_LT_OQ)
#define are_above(a, b)             COMPARE(a, b, _CMP_GT_OQ)
#define are_from(a, b)              COMPARE(a, b, _CMP_GE_OQ)
#define differ(a, b)                COMPARE(a, b, _CMP_NEQ_UQ)
#define number_of(f)                dti_loss_popcount(MASK_OF(f))

DTI_INLINE vector_pd widen(const float *from)
{
    return VECTOR_BITS(cvtps_pd)((half_vector_ps)load_half((const void *)from));
}

#ifdef __AVX512BW__
/* Masks are stored, and counted together. */
typedef struct {
    _Alignas(64) flags row[DTI_TILE / WIDTH];
} counter;

DTI_INLINE void reset(counter *c)
{
    for (size_t i = 0; i < sizeof c->row / VECTOR; i++)
        store_vector((unsigned char *)c->row + i * VECTOR, _mm512_setzero_si512(), false);
}

DTI_INLINE void count(counter *c, size_t row, flags f)
{
    c->row[row] = f;
}

/* Rows after the last one are empty. */
static DTI_NOINLINE unsigned counted(const counter *c, size_t rows)
{
    const __m512i low = _mm512_set1_epi8(15), zero = _mm512_setzero_si512();
    const __m512i bits_of =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    __m512i sum = zero;
    (void)rows;
    for (size_t i = 0; i < sizeof c->row / VECTOR; i++) {
        const __m512i masks = load_vector((const unsigned char *)c->row + i * VECTOR);
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(masks, 4), low);
        sum = _mm512_add_epi8(sum, _mm512_shuffle_epi8(bits_of, _mm512_and_si512(masks, low)));
        sum = _mm512_add_epi8(sum, _mm512_shuffle_epi8(bits_of, high));
    }
    return (unsigned)_mm512_reduce_add_epi64(_mm512_sad_epu8(sum, zero));
}

DTI_INLINE uint64_t rows_with(const counter *c, size_t first)
{
    const __m512i low = load_vector((const unsigned char *)(c->row + first));
    const __m512i high = load_vector((const unsigned char *)(c->row + first + 32));
    return _mm512_test_epi16_mask(low, low) | (uint64_t)_mm512_test_epi16_mask(high, high) << 32;
}

DTI_INLINE flags are_special(vector_ps x)
{
    enum { NOT_FINITE = 0x99 }; /* classes of vfpclass */
    return _mm512_fpclass_ps_mask(x, NOT_FINITE);
}

DTI_INLINE vector_ps drop_where(flags f, vector_ps x)
{
    return _mm512_mask_mov_ps(x, f, _mm512_setzero_ps());
}

DTI_INLINE vector_ps larger_size(vector_ps a, vector_ps b)
{
    enum { LARGER_MAGNITUDE = 0xb }; /* without its sign */
    return _mm512_range_ps(a, b, LARGER_MAGNITUDE);
}

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm512_maskz_mov_ps(f, x);
}

DTI_INLINE vector_ps subtract_where(flags f, vector_ps a, vector_ps b)
{
    return _mm512_maskz_sub_ps(f, a, b);
}

DTI_INLINE vector_ps add_where(flags f, vector_ps a, vector_ps b)
{
    return _mm512_mask_add_ps(a, f, a, b);
}

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    return _mm512_mask_mov_pd(a, (__mmask8)(f >> WIDE * half), b);
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm512_cmp_pd_mask(a, _mm512_set1_pd(bar), _CMP_GT_OQ) != 0;
}
#else
typedef __m256i counter;
#define rows_with(c, first) ((void)(c), (void)(first), UINT64_MAX)

DTI_INLINE void reset(counter *c)
{
    *c = _mm256_setzero_si256();
}

DTI_INLINE void count(counter *c, size_t row, flags f)
{
    (void)row;
    *c = _mm256_sub_epi32(*c, (__m256i)f);
}

DTI_INLINE unsigned counted(const counter *c, size_t rows)
{
    (void)rows;
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(*c), _mm256_extracti128_si256(*c, 1));
    const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return (unsigned)_mm_cvtsi128_si32(two) + (unsigned)_mm_extract_epi32(two, 1);
}

DTI_INLINE flags are_special(vector_ps x)
{
    return COMPARE(size_of(x), all(FLT_MAX), _CMP_NLE_UQ);
}

DTI_INLINE vector_ps drop_where(flags f, vector_ps x)
{
    return _mm256_andnot_ps(f, x);
}

#define larger_size(a, b) max_ps(size_of(a), b)

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm256_and_ps(f, x);
}

DTI_INLINE vector_ps subtract_where(flags f, vector_ps a, vector_ps b)
{
    return keep_where(f, a) - keep_where(f, b);
}

#define add_where(f, a, b) ((a) + keep_where(f, b))

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    const __m128 part = half ? _mm256_extractf128_ps(f, 1) : _mm256_castps256_ps128(f);
    const __m256i wide = _mm256_cvtepi32_epi64(_mm_castps_si128(part));
    return _mm256_blendv_pd(a, b, _mm256_castsi256_pd(wide));
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_set1_pd(bar), _CMP_GT_OQ)) != 0;
}
#endif

#include "kernels/scan/loss_any.h"

void VECTOR_NAME(dti_loss_any)(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                               size_t n)
{
    loss_any(w, x, y, at, n);
}
#endif
