/* SPDX-License-Identifier: MIT
 *
 * Sequential sums, in which every rounding waits for the one before: the chain computes nothing
 * else, and keeps its partial sums, which are counted afterwards as elementwise additions are. */
#include <math.h>
#include <string.h>

#include "calc/bulk_parts.h"
#include "kernels/fp64.h"

enum { SHORT_RUN = 16 };

/* How a double is rounded to a dtype: so many bits are dropped from normal numbers. */
struct dtype_cut {
    unsigned drop;
    double smallest_normal, beyond; /* from here on magnitudes are infinite, after rounding */
};

static struct dtype_cut cut_of(const struct dti_bulk *bulk)
{
    struct dtype_cut cut = {.drop = 52U - bulk->format->man_bits,
                            .smallest_normal = (double)bulk->smallest_normal,
                            .beyond = bulk->format->exp_bits == 5 ? 0x1p16 : 0x1p128};
    return cut;
}

/* a + b to odd: see arith_lanes.c. */
static double add_to_odd(double a, double b)
{
    const double sum = a + b, b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);
    if (!(error < 0 || error > 0))
        return sum;
    const uint64_t bits = dti_fp64_bits(sum);
    return dti_fp64_from_bits((bits - ((error > 0) != (sum > 0))) | 1);
}

/* A double rounded to odd, among numbers that are not normal in the dtype: multiples of its least
 * subnormal, which adding and taking away a large number makes. */
static double round_small(const struct dtype_cut *cut, double sum)
{
    const double large = cut->smallest_normal * (double)(UINT64_C(1) << cut->drop) * 1.5;
    return copysign((fabs(sum) + large) - large, sum);
}

static double round_bits(const struct dtype_cut *cut, uint64_t bits)
{
    const uint64_t half = UINT64_C(1) << (cut->drop - 1);
    bits += half - 1 + (bits >> cut->drop & 1);
    return dti_fp64_from_bits(bits & ~(2 * half - 1));
}

/* a + b rounded to the dtype. fp64's own rounding of the sum changes that only where it ends in the
 * middle between two numbers, or below the normal ones, which have fewer bits than are cut here. */
static inline double add_rounded(const struct dtype_cut *cut, double a, double b)
{
    double sum = a + b;
    const uint64_t bits = dti_fp64_bits(sum), below = (UINT64_C(1) << cut->drop) - 1;
    double rounded = round_bits(cut, bits);
    if ((bits & below) == below / 2 + 1) {
        sum = add_to_odd(a, b);
        rounded = round_bits(cut, dti_fp64_bits(sum));
    }
    if (fabs(sum) < cut->smallest_normal)
        rounded = sum == 0 ? sum : round_small(cut, add_to_odd(a, b));
    if (!(fabs(rounded) < cut->beyond))
        rounded = sum != sum ? sum : copysign(INFINITY, sum);
    return rounded;
}

static double term_at(const struct dti_bulk_terms *terms, size_t i)
{
    return terms->y ? (double)terms->x[i] * (double)terms->y[i] : (double)terms->x[i];
}

/* Numbers of one binade are multiples of one step. With `magic`, 1.5 x 2^52 steps, added to one of
 * them, the processor's own rounding of the next sum is the dtype's, in one addition for each term.
 * That holds for results within the binade; the lowest reaches down to the subnormals. */
struct grid {
    double magic, low, high;
};

static struct grid grid_of(const struct dtype_cut *cut, double number)
{
    const double magnitude = fabs(number);
    const bool lowest = magnitude < 2 * cut->smallest_normal;
    const double low = lowest
                           ? cut->smallest_normal
                           : dti_fp64_from_bits(dti_fp64_bits(magnitude) & UINT64_C(0x7ff) << 52);
    if (!(magnitude < cut->beyond))
        return (struct grid){.magic = 0, .low = 0, .high = 0};
    return (struct grid){.magic = low * (double)(UINT64_C(1) << cut->drop) * 1.5,
                         .low = lowest ? 0 : low,
                         .high = 2 * low};
}

/* Whether adding a term to a number `from` of the binade gave `sum` rightly. The binade's lower end
 * is right where the term led away from zero, as in a sum that does not grow any more. */
static bool is_within(const struct grid *grid, double from, double term, double sum)
{
    const double magnitude = fabs(sum);
    return magnitude < grid->high &&
           (magnitude > grid->low || (magnitude == grid->low && from * term > 0));
}

/* Adds terms `from` to `to`, keeping what was there before each and after it. */
static float chain(const struct dti_bulk *bulk, const struct dti_bulk_terms *terms, size_t from,
                   size_t to, float start, float *before, float *after)
{
    const struct dtype_cut cut = cut_of(bulk);
    float sum = start;
    if (bulk->format->id == DTI_FP32 && !terms->y) {
        for (size_t i = from; i < to; i++) {
            before[i] = sum;
            sum += terms->x[i];
            after[i] = sum;
        }
        return sum;
    }
    for (size_t i = from; i < to;) {
        const struct grid grid = grid_of(&cut, (double)sum);
        double raised = (double)sum + grid.magic;
        const size_t first = i;
        for (; i < to; i++) {
            const double term = term_at(terms, i);
            raised += term;
            const double next = raised - grid.magic;
            if (!is_within(&grid, (double)sum, term, next))
                break;
            before[i] = sum;
            after[i] = sum = (float)next;
        }
        /* A sum that soon leaves its binade is likely to leave the next one, too. */
        const size_t plain = i - first < SHORT_RUN ? SHORT_RUN : 1;
        for (size_t end = to - i < plain ? to : i + plain; i < end; i++) {
            before[i] = sum;
            after[i] = sum = (float)add_rounded(&cut, (double)sum, term_at(terms, i));
        }
    }
    return sum;
}

struct dti_arith_tile dti_bulk_added(const struct dti_bulk_terms *terms, const float *before,
                                     size_t n)
{
    if (terms->y)
        return (struct dti_arith_tile){DTI_ARITH_FMA, terms->x, terms->y, before, n};
    return (struct dti_arith_tile){DTI_ARITH_ADD, before, terms->x, NULL, n};
}

/* A chain whose NaN is the exact core's: of a sum the first one, which stays; of a*b + c, where
 * a and b come first, that of the last term which has one, or else the first. */
float dti_bulk_chain(const struct dti_bulk *bulk, const struct dti_bulk_terms *terms, size_t from,
                     size_t to, float start, float *before, float *after)
{
    const float end = chain(bulk, terms, from, to, start, before, after);
    const struct dti_arith_tile tile = dti_bulk_added(terms, before, to);
    if (end == end)
        return end;
    for (size_t i = to; terms->y && i-- > from;) {
        if (terms->x[i] != terms->x[i] || terms->y[i] != terms->y[i])
            return dti_bulk_exact_number(bulk, &tile, i);
    }
    if (start != start)
        return start;
    while (after[from] == after[from])
        from++;
    return dti_bulk_exact_number(bulk, &tile, from);
}

struct kahan_tile {
    float before[DTI_BULK_TILE], corrected[DTI_BULK_TILE], after[DTI_BULK_TILE];
};

static void kahan_fp32(struct dti_bulk_kahan *k, const float *terms, size_t n,
                       struct kahan_tile *tile)
{
    float sum = k->sum, c = k->correction;
    for (size_t i = 0; i < n; i++) {
        const float y = terms[i] - c, t = sum + y;
        c = (t - sum) - y;
        tile->before[i] = sum;
        tile->corrected[i] = y;
        tile->after[i] = sum = t;
    }
    k->sum = sum;
    k->correction = c;
}

/* The sum on a grid as in dti_bulk_chain(). Within its binade t - sum is a number of the dtype, and
 * so is the error of a sum: neither is rounded. */
static void kahan_16bit(const struct dtype_cut *cut, struct dti_bulk_kahan *k, const float *terms,
                        size_t n, struct kahan_tile *tile)
{
    double sum = (double)k->sum, c = (double)k->correction;
    struct grid grid = grid_of(cut, sum);
    double raised = sum + grid.magic;
    for (size_t i = 0; i < n; i++) {
        const double y = add_rounded(cut, (double)terms[i], -c);
        const double next = raised + y, change = next - raised;
        double t = next - grid.magic;
        if (is_within(&grid, sum, y, t) && fabs(change) < grid.high) {
            c = change - y;
            raised = next;
        } else {
            t = add_rounded(cut, sum, y);
            c = add_rounded(cut, add_rounded(cut, t, -sum), -y);
            grid = grid_of(cut, t);
            raised = t + grid.magic;
        }
        tile->before[i] = (float)sum;
        tile->corrected[i] = (float)y;
        tile->after[i] = (float)t;
        sum = t;
    }
    k->sum = (float)sum;
    k->correction = (float)c;
}

bool dti_bulk_add_kahan(const struct dti_bulk *bulk, struct dti_bulk_kahan *k, const float *terms,
                        size_t n, size_t first)
{
    const struct dtype_cut cut = cut_of(bulk);
    struct kahan_tile sums;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, sums.before, sums.corrected, NULL, n};
    if (bulk->format->id == DTI_FP32)
        kahan_fp32(k, terms, n, &sums);
    else
        kahan_16bit(&cut, k, terms, n, &sums);
    if (!(fabsf(k->sum) < INFINITY) || !(fabsf(k->correction) < INFINITY))
        return false;
    (void)dti_bulk_count(bulk, &tile, first, 1, sums.after);
    return true;
}
