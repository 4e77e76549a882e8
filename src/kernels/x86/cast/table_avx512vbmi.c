/* SPDX-License-Identifier: MIT
 *
 * Casts from 8-bit codes by table with AVX-512 VBMI. A table of 256 bytes takes four 64-byte
 * registers: VPERMI2B looks up a 7-bit index in two of them, and the top bit selects one of two
 * results. Wider results use one table per byte; planes of zeros need none. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"

struct plane_avx512vbmi {
    __m512i quarter[4];
};

struct planes {
    struct plane_avx512vbmi plane[4]; /* from the highest byte down */
    __m512i order;
};

DTI_INLINE __m512i look_up(const struct plane_avx512vbmi *p, __m512i index)
{
    const __m512i low = _mm512_permutex2var_epi8(p->quarter[0], index, p->quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(p->quarter[2], index, p->quarter[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high);
}

/* Byte `at` of the result, counted from the highest; zeros if the table has no such plane. */
DTI_INLINE __m512i plane_of(const struct planes *t, __m512i index, unsigned at, unsigned planes)
{
    return at < planes ? look_up(&t->plane[at], index) : _mm512_setzero_si512();
}

DTI_INLINE void bytes_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    const struct planes *t = constants;
    store512(dst, look_up(&t->plane[0], load512(src)), stream);
}

/* The permutation has put the 8 codes for each 128 bits of the two results where the
 * interleaving expects them. */
DTI_INLINE void halves_block(const struct planes *t, unsigned char *dst, const unsigned char *src,
                             bool stream, unsigned planes)
{
    const __m512i index = _mm512_permutexvar_epi64(t->order, load512(src));
    const __m512i high = plane_of(t, index, 0, planes), low = plane_of(t, index, 1, planes);
    store512(dst, _mm512_unpacklo_epi8(low, high), stream);
    store512(dst + 64, _mm512_unpackhi_epi8(low, high), stream);
}

/* The same with the 4 codes for each 128 bits of four results. */
DTI_INLINE void words_block(const struct planes *t, unsigned char *dst, const unsigned char *src,
                            bool stream, unsigned planes)
{
    const __m512i index = order_packed(load512(src));
    const __m512i b3 = plane_of(t, index, 0, planes), b2 = plane_of(t, index, 1, planes);
    const __m512i b1 = plane_of(t, index, 2, planes), b0 = plane_of(t, index, 3, planes);
    const __m512i high0 = _mm512_unpacklo_epi8(b2, b3), high1 = _mm512_unpackhi_epi8(b2, b3);
    const __m512i low0 = _mm512_unpacklo_epi8(b0, b1), low1 = _mm512_unpackhi_epi8(b0, b1);
    store512(dst, _mm512_unpacklo_epi16(low0, high0), stream);
    store512(dst + 64, _mm512_unpackhi_epi16(low0, high0), stream);
    store512(dst + 128, _mm512_unpacklo_epi16(low1, high1), stream);
    store512(dst + 192, _mm512_unpackhi_epi16(low1, high1), stream);
}

#define PLANES(name, block, planes)                                                           \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src, \
                         bool stream)                                                         \
    {                                                                                         \
        block(constants, dst, src, stream, planes);                                           \
    }
PLANES(halves_of_1, halves_block, 1)
PLANES(halves_of_2, halves_block, 2)
PLANES(words_of_1, words_block, 1)
PLANES(words_of_2, words_block, 2)
PLANES(words_of_3, words_block, 3)
PLANES(words_of_4, words_block, 4)

void dti_table_avx512vbmi(const struct dti_kernel_args *args, void *restrict dst,
                          const void *restrict src, size_t n)
{
    const struct dti_code_table *table = args->table;
    const struct dti_streaming *const stream = args->stream;
    struct planes t;
    for (size_t i = 0; i < table->container; i++)
        for (size_t q = 0; q < 4; q++)
            t.plane[i].quarter[q] = load512(table->plane[table->container - 1 - i] + 64 * q);
    t.order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    const struct dti_blocks bytes = {bytes_block, 64, 1, 1, false};
    const struct dti_blocks half1 = {halves_of_1, 64, 1, 2, false};
    const struct dti_blocks half2 = {halves_of_2, 64, 1, 2, false};
    const struct dti_blocks word1 = {words_of_1, 64, 1, 4, false};
    const struct dti_blocks word2 = {words_of_2, 64, 1, 4, false};
    const struct dti_blocks word3 = {words_of_3, 64, 1, 4, false};
    const struct dti_blocks word4 = {words_of_4, 64, 1, 4, false};
    if (table->container == 1)
        dti_blocks_run(bytes, &t, dst, src, n, stream);
    else if (table->container == 2 && table->planes <= 1)
        dti_blocks_run(half1, &t, dst, src, n, stream);
    else if (table->container == 2)
        dti_blocks_run(half2, &t, dst, src, n, stream);
    else if (table->planes <= 1)
        dti_blocks_run(word1, &t, dst, src, n, stream);
    else if (table->planes == 2)
        dti_blocks_run(word2, &t, dst, src, n, stream);
    else if (table->planes == 3)
        dti_blocks_run(word3, &t, dst, src, n, stream);
    else
        dti_blocks_run(word4, &t, dst, src, n, stream);
}
