/* SPDX-License-Identifier: MIT
 *
 * Rotations by the regular Hadamard matrix. quant_lanes_rotate.c explains the order of the sums,
 * and why one sum stands for several rows. Loops over columns of several sums stay loops, so that
 * independent sums alternate: unrolled, each sum would wait for itself.
 *
 * Codes are rotated back in words: a sum of 256 codes fits, because 120 or 136 of them are
 * subtracted. A row of the 4 x 4 matrix is the sum of all numbers minus twice the opposite one. */
#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
enum { ROW = 16, RUN = 128, PARTS = ROW / LANES /* vectors of a row */ };

/* Sign bits of the matrix of length 16. */
#define P 0
#define N 0x80000000
static const uint32_t minus[ROW][ROW] = {
    {P, P, P, N, P, P, P, N, P, P, P, N, N, N, N, P},
    {P, P, N, P, P, P, N, P, P, P, N, P, N, N, P, N},
    {P, N, P, P, P, N, P, P, P, N, P, P, N, P, N, N},
    {N, P, P, P, N, P, P, P, N, P, P, P, P, N, N, N},
    {P, P, P, N, P, P, P, N, N, N, N, P, P, P, P, N},
    {P, P, N, P, P, P, N, P, N, N, P, N, P, P, N, P},
    {P, N, P, P, P, N, P, P, N, P, N, N, P, N, P, P},
    {N, P, P, P, N, P, P, P, P, N, N, N, N, P, P, P},
    {P, P, P, N, N, N, N, P, P, P, P, N, P, P, P, N},
    {P, P, N, P, N, N, P, N, P, P, N, P, P, P, N, P},
    {P, N, P, P, N, P, N, N, P, N, P, P, P, N, P, P},
    {N, P, P, P, P, N, N, N, N, P, P, P, N, P, P, P},
    {N, N, N, P, P, P, P, N, P, P, P, N, P, P, P, N},
    {N, N, P, N, P, P, N, P, P, P, N, P, P, P, N, P},
    {N, P, N, N, P, N, P, P, P, N, P, P, P, N, P, P},
    {P, N, N, N, N, P, P, P, N, P, P, P, N, P, P, P},
};
#undef P
#undef N

DTI_INLINE floats add_or(bool subtract, floats a, floats b)
{
    return subtract ? VECTOR_BITS(sub_ps)(a, b) : VECTOR_BITS(add_ps)(a, b);
}

/* A column of the matrix of length 16, times a number. */
DTI_INLINE floats term_of(float number, unsigned column, unsigned part)
{
    const vector signs = load_vector((const unsigned char *)(minus[column] + part * LANES));
    return as_floats(VECTOR_WHOLE(xor)(as_bits(floats_of(number)), signs));
}

/* The sums of rows that differ in the digit d2. */
struct four {
    floats sum[4];
};

/* Adds a term to sums of the columns with a digit d2, or of their negatives. */
DTI_INLINE struct four add_term(struct four to, unsigned digit, bool negative, floats term)
{
    to.sum[0] = add_or((digit == 3) != negative, to.sum[0], term);
    to.sum[1] = add_or((digit == 2) != negative, to.sum[1], term);
    to.sum[2] = add_or((digit == 1) != negative, to.sum[2], term);
    to.sum[3] = add_or((digit == 0) != negative, to.sum[3], term);
    return to;
}

DTI_INLINE struct four no_sums(void)
{
    const floats zero = floats_of(0);
    return (struct four){{zero, zero, zero, zero}};
}

DTI_INLINE void put(unsigned char *y, unsigned row, unsigned part, floats x)
{
    store_floats(y + 4 * (size_t)(row * ROW + part * LANES), x, false);
}

DTI_INLINE void rotate_16(unsigned char *y, const float *x, unsigned part)
{
    floats sum = floats_of(0);
    for (unsigned column = 0; column < ROW; column++)
        sum = VECTOR_BITS(add_ps)(sum, term_of(x[column], column, part));
    put(y, 0, part, sum);
}

/* Adds 16 columns. */
DTI_INLINE struct four add_16(struct four to, const float *x, unsigned digit, unsigned part)
{
#pragma GCC unroll 1
    for (unsigned column = 0; column < ROW; column++)
        to = add_term(to, digit, false, term_of(x[digit * ROW + column], column, part));
    return to;
}

DTI_INLINE void rotate_64(unsigned char *y, const float *x, unsigned part)
{
    struct four to = no_sums();
    to = add_16(to, x, 0, part);
    to = add_16(to, x, 1, part);
    to = add_16(to, x, 2, part);
    to = add_16(to, x, 3, part);
    for (unsigned row = 0; row < 4; row++)
        put(y, row, part, to.sum[row]);
}

/* Two runs of 128 columns: the first 64 columns of both. */
DTI_INLINE void begin_16(struct four *one, struct four *two, const float *x, unsigned digit,
                         unsigned part)
{
#pragma GCC unroll 1
    for (unsigned column = 0; column < ROW; column++) {
        const float *const number = x + digit * ROW + column;
        *one = add_term(*one, digit, false, term_of(number[0], column, part));
        *two = add_term(*two, digit, false, term_of(number[RUN], column, part));
    }
}

/* The others, of one run: where d3 has the same sign in both halves, and where it has not. */
DTI_INLINE void end_16(struct four *same, struct four *other, const float *x, unsigned digit,
                       unsigned part)
{
#pragma GCC unroll 1
    for (unsigned column = 0; column < ROW; column++) {
        const floats term = term_of(x[RUN / 2 + digit * ROW + column], column, part);
        *same = add_term(*same, digit, false, term);
        *other = add_term(*other, digit, true, term);
    }
}

DTI_INLINE void end_64(struct four *same, struct four *other, const float *x, unsigned part)
{
    *other = *same;
    end_16(same, other, x, 0, part);
    end_16(same, other, x, 1, part);
    end_16(same, other, x, 2, part);
    end_16(same, other, x, 3, part);
}

DTI_INLINE void rotate_256(unsigned char *y, const float *x, unsigned part)
{
    struct four one = no_sums(), two = no_sums(), one_other, two_other;
    begin_16(&one, &two, x, 0, part);
    begin_16(&one, &two, x, 1, part);
    begin_16(&one, &two, x, 2, part);
    begin_16(&one, &two, x, 3, part);
    end_64(&one, &one_other, x, part);
    end_64(&two, &two_other, x + RUN, part);
    for (unsigned row = 0; row < 4; row++) {
        put(y, row, part, VECTOR_BITS(add_ps)(one.sum[row], two_other.sum[row]));
        put(y, 4 + row, part, VECTOR_BITS(sub_ps)(one.sum[row], two_other.sum[row]));
        put(y, 8 + row, part, VECTOR_BITS(add_ps)(one_other.sum[row], two.sum[row]));
        put(y, 12 + row, part, VECTOR_BITS(sub_ps)(two.sum[row], one_other.sum[row]));
    }
}

void VECTOR_NAME(dti_rotate_rows)(float *y, const float *x, size_t groups, unsigned group)
{
    const floats factor = floats_of(group == 256 ? 1 / 16.F : group == 64 ? 1 / 8.F : 1 / 4.F);
    unsigned char *to = (unsigned char *)y;
    const unsigned char *from = (const unsigned char *)x;
    const size_t bytes = group * sizeof *x;
    float scaled[DTI_ROTATE_MOST];
    for (size_t i = 0; i < groups; i++, to += bytes, from += bytes) {
        for (size_t at = 0; at < bytes; at += VECTOR)
            store_floats((unsigned char *)scaled + at,
                         VECTOR_BITS(mul_ps)(as_floats(load_vector(from + at)), factor), false);
        for (unsigned part = 0; part < PARTS; part++) {
            if (group == 256)
                rotate_256(to, scaled, part);
            else if (group == 64)
                rotate_64(to, scaled, part);
            else
                rotate_16(to, scaled, part);
        }
    }
}

/* Words: 16 of them, a row, whatever the level. */

DTI_INLINE __m256i twice_less(__m256i sum, __m256i opposite)
{
    return _mm256_sub_epi16(_mm256_sub_epi16(sum, opposite), opposite);
}

/* The digits of the words of a row. */
DTI_INLINE __m256i turn_row(__m256i x)
{
    const __m256i pairs = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(x, 0xb1), 0xb1);
    const __m256i two = _mm256_add_epi16(x, pairs);
    const __m256i four = _mm256_add_epi16(two, _mm256_shuffle_epi32(two, 0xb1));
    const __m256i y = twice_less(four, _mm256_shuffle_epi32(pairs, 0xb1));
    const __m256i halves = _mm256_add_epi16(y, _mm256_shuffle_epi32(y, 0x4e));
    const __m256i all = _mm256_add_epi16(halves, _mm256_permute4x64_epi64(halves, 0x4e));
    return twice_less(all, _mm256_permute4x64_epi64(y, 0x1b));
}

/* Combines four rows. */
DTI_INLINE void turn_rows(__m256i *rows, unsigned step)
{
    const __m256i a = rows[0], b = rows[step], c = rows[2 * step], d = rows[3 * step];
    const __m256i all = _mm256_add_epi16(_mm256_add_epi16(a, b), _mm256_add_epi16(c, d));
    rows[0] = twice_less(all, d);
    rows[step] = twice_less(all, c);
    rows[2 * step] = twice_less(all, b);
    rows[3 * step] = twice_less(all, a);
}

DTI_INLINE void put_words(unsigned char *y, __m256i words, __m256 factor, __m256 scale)
{
    const __m128i halves[2] = {_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)};
    for (unsigned i = 0; i < 2; i++) {
        const __m256 sum = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(halves[i]));
        const __m256 number = _mm256_mul_ps(_mm256_mul_ps(sum, factor), scale);
        _mm256_storeu_ps((void *)(y + 32 * (size_t)i), number);
    }
}

DTI_INLINE void unrotate(const struct dti_unrotate_args *args, unsigned char *y,
                         const unsigned char *codes, size_t groups, unsigned count)
{
    const __m256i middle = _mm256_set1_epi16((short)args->middle);
    const __m256 scale = _mm256_set1_ps(args->scale);
    const __m256 factor = _mm256_set1_ps(count == 16 ? 1 / 16.F : count == 4 ? 1 / 8.F : 1 / 4.F);
    for (size_t i = 0; i < groups; i++, codes += count * ROW, y += 4 * (size_t)count * ROW) {
        __m256i rows[ROW];
        for (unsigned k = 0; k < count; k++)
            rows[k] = turn_row(
                _mm256_sub_epi16(_mm256_cvtepi8_epi16(load128(codes + k * (size_t)ROW)), middle));
        for (unsigned k = 0; k < count / 4; k++)
            turn_rows(rows + 4 * (size_t)k, 1);
        for (unsigned k = 0; k < count / 4 && count == 16; k++)
            turn_rows(rows + k, 4);
        for (unsigned k = 0; k < count; k++)
            put_words(y + 4 * (size_t)k * ROW, rows[k], factor, scale);
    }
}

void VECTOR_NAME(dti_unrotate_words)(const struct dti_unrotate_args *args, float *y,
                                     const unsigned char *codes, size_t groups)
{
    unsigned char *const to = (unsigned char *)y;
    if (args->group == 256)
        unrotate(args, to, codes, groups, 16);
    else if (args->group == 64)
        unrotate(args, to, codes, groups, 4);
    else if (args->group == 16)
        unrotate(args, to, codes, groups, 1);
    else
        VECTOR_NAME(dti_unrotate)(args, y, codes, groups);
}
#endif
