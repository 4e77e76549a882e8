/* SPDX-License-Identifier: MIT
 *
 * Rotates groups of numbers by a regular Hadamard matrix: the Kronecker power of
 *
 *    1  1  1 -1
 *    1  1 -1  1
 *    1 -1  1  1
 *   -1  1  1  1
 *
 * divided by the square root of its length (ConvRot, arXiv 2512.03673). quant_kernel.h states the
 * order of the sums. Compiled once per level.
 *
 * Indices have base-4 digits: a group of 256 has d3 d2 d1 d0, and the lanes of a loop are d1 d0. As
 * long as d2 counts, sums that differ in d3 alone are equal or opposite, so only one is computed;
 * rounding to nearest is symmetric. Where d3 changes within a run, the two possible signs make two
 * sums of each. This takes 96 additions per number instead of 256. */
#include "kernels/kernels.h"
#include "kernels/quant/quant_lanes.h"

enum { LANES = 16, RUN = 128 };

static const float h4[4][4] = {{1, 1, 1, -1}, {1, 1, -1, 1}, {1, -1, 1, 1}, {-1, 1, 1, 1}};

/* The matrix of length 16. */
#define ROWS(a, b, c, d)                                              \
    {a, a, a, -(a), b, b, b, -(b), c, c, c, -(c), d, d, d, -(d)},     \
        {a, a, -(a), a, b, b, -(b), b, c, c, -(c), c, d, d, -(d), d}, \
        {a, -(a), a, a, b, -(b), b, b, c, -(c), c, c, d, -(d), d, d}, \
    {                                                                 \
        -(a), a, a, a, -(b), b, b, b, -(c), c, c, c, -(d), d, d, d    \
    }
static const float h16[LANES][LANES] = {ROWS(1.F, 1.F, 1.F, -1.F), ROWS(1.F, 1.F, -1.F, 1.F),
                                        ROWS(1.F, -1.F, 1.F, 1.F), ROWS(-1.F, 1.F, 1.F, 1.F)};

/* Adds 16 columns to `count` sums of each lane, in order. */
DTI_LANE void add_columns(float (*restrict sums)[LANES], unsigned count, const float *restrict x)
{
    for (size_t i = 0; i < LANES; i++) {
        float sum[8];
        for (unsigned k = 0; k < count; k++)
            sum[k] = sums[k][i];
#pragma GCC unroll 16
        for (size_t column = 0; column < LANES; column++) {
            const float term = x[column] * h16[column][i];
            for (unsigned k = 0; k < count; k++)
                sum[k] += term;
        }
        for (unsigned k = 0; k < count; k++)
            sums[k][i] = sum[k];
    }
}

DTI_LANE void multiply(float *row, float factor)
{
    for (size_t i = 0; i < LANES; i++)
        row[i] *= factor;
}

/* Adds 64 columns. Sum k is that of the rows with d2 = k % 4; those from 4 on have the opposite
 * sign. */
DTI_LANE void add_64(float (*restrict sums)[LANES], unsigned count, const float *restrict x)
{
    for (unsigned column = 0; column < 4; column++) {
        for (unsigned k = 0; k < count; k++) {
            const float before = column > 0 ? h4[k % 4][column - 1] : k < 4 ? 1.F : -1.F;
            multiply(sums[k], before * h4[k % 4][column]);
        }
        add_columns(sums, count, x + (size_t)column * LANES);
    }
    for (unsigned k = 0; k < count; k++)
        multiply(sums[k], h4[k % 4][3] * (k < 4 ? 1.F : -1.F));
}

static void rotate_16(float *restrict y, const float *restrict x)
{
    float sum[1][LANES] = {{0}};
    add_columns(sum, 1, x);
    memcpy(y, sum, sizeof sum);
}

static void rotate_64(float *restrict y, const float *restrict x)
{
    float sums[4][LANES] = {{0}};
    add_64(sums, 4, x);
    memcpy(y, sums, sizeof sums);
}

/* The sums of a run: of rows where its two d3 have equal signs, then of those where they differ. */
static void run_sums(float (*restrict sums)[LANES], const float *restrict x)
{
    memset(sums, 0, 4 * sizeof *sums);
    add_64(sums, 4, x);
    memcpy(sums + 4, sums, 4 * sizeof *sums);
    add_64(sums, 8, x + RUN / 2);
}

static void rotate_256(float *restrict y, const float *restrict x)
{
    float one[8][LANES], two[8][LANES];
    run_sums(one, x);
    run_sums(two, x + RUN);
    for (unsigned d3 = 0; d3 < 4; d3++) {
        float(*const a)[LANES] = one + (h4[d3][0] != h4[d3][1] ? 4 : 0);
        float(*const b)[LANES] = two + (h4[d3][2] != h4[d3][3] ? 4 : 0);
        for (unsigned d2 = 0; d2 < 4; d2++) {
            float *const to = y + (size_t)(d3 * 4 + d2) * LANES;
            for (size_t i = 0; i < LANES; i++)
                to[i] = a[d2][i] * h4[d3][0] + b[d2][i] * h4[d3][2];
        }
    }
}

void DTI_LANES_NAME(dti_rotate)(float *y, const float *x, size_t groups, unsigned group)
{
    const float factor = group == 256 ? 1 / 16.F : group == 64 ? 1 / 8.F : 1 / 4.F;
    float from[DTI_ROTATE_MOST], to[DTI_ROTATE_MOST];
    for (size_t i = 0; i < groups; i++) {
        memcpy(from, (const unsigned char *)x + i * group * sizeof *x, group * sizeof *x);
        for (size_t k = 0; k < group; k++)
            from[k] *= factor;
        if (group == 256)
            rotate_256(to, from);
        else if (group == 64)
            rotate_64(to, from);
        else
            rotate_16(to, from);
        memcpy((unsigned char *)y + i * group * sizeof *y, to, group * sizeof *y);
    }
}

/* Sums of small integers are exact in any order. */

/* Combines the lanes of each of `rows` rows: the digits d1 and d0. */
static void turn_lanes(float (*restrict to)[LANES], float (*restrict from)[LANES], size_t rows)
{
    const size_t count = rows < 4 ? rows : 4, last = count - 1;
    for (size_t row = 0; row < rows; row += 4) {
        for (size_t i = 0; i < LANES; i++) {
            float sum[4] = {0};
#pragma GCC unroll 16
            for (size_t column = 0; column < LANES; column++) {
                for (size_t k = 0; k < 4; k++)
                    sum[k] += from[row + (k < last ? k : last)][column] * h16[column][i];
            }
            for (size_t k = 0; k < count; k++)
                to[row + k][i] = sum[k];
        }
    }
}

/* Combines rows that differ in one digit, whose weight is `step` rows. */
static void turn_rows(float (*rows)[LANES], size_t count, size_t step)
{
    for (size_t at = 0; at < count; at++) {
        if (at / step % 4 != 0)
            continue;
        for (size_t i = 0; i < LANES; i++) {
            const float a = rows[at][i], b = rows[at + step][i];
            const float c = rows[at + 2 * step][i], d = rows[at + 3 * step][i];
            rows[at][i] = (a + b) + (c - d);
            rows[at + step][i] = (a + b) - (c - d);
            rows[at + 2 * step][i] = (a - b) + (c + d);
            rows[at + 3 * step][i] = (c + d) - (a - b);
        }
    }
}

static void unrotate_4(const struct dti_unrotate_args *args, unsigned char *y,
                       const unsigned char *codes, size_t groups)
{
    for (size_t i = 0; i < 4 * groups; i++) {
        const unsigned char *const group = codes + i / 4 * 4;
        int sum = 0;
        for (size_t k = 0; k < 4; k++)
            sum += ((int)(signed char)group[k] - args->middle) * (int)h4[i % 4][k];
        const float number = (float)sum * 0.5F * args->scale;
        memcpy(y + i * sizeof number, &number, sizeof number);
    }
}

void DTI_LANES_NAME(dti_unrotate)(const struct dti_unrotate_args *args, float *y,
                                  const unsigned char *codes, size_t groups)
{
    enum { ROWS_MOST = DTI_UNROTATE_MOST / LANES };
    float from[ROWS_MOST][LANES], to[ROWS_MOST][LANES];
    const size_t rows = args->group / LANES;
    float factor = 1;
    if (rows == 0) {
        unrotate_4(args, (unsigned char *)y, codes, groups);
        return;
    }
    for (size_t length = args->group; length > 1; length /= 4)
        factor /= 2;
    for (size_t at = 0; at < groups; at++) {
        const unsigned char *const code = codes + at * args->group;
        for (size_t i = 0; i < args->group; i++)
            from[i / LANES][i % LANES] = (float)((int)(signed char)code[i] - args->middle);
        turn_lanes(to, from, rows);
        for (size_t step = 1; step < rows; step *= 4)
            turn_rows(to, rows, step);
        for (size_t i = 0; i < args->group; i++)
            (&to[0][0])[i] = (&to[0][0])[i] * factor * args->scale;
        memcpy((unsigned char *)y + at * args->group * sizeof *y, to, args->group * sizeof *y);
    }
}
