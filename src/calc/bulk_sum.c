/* SPDX-License-Identifier: MIT
 *
 * Sums and dot products of lists. A sequential sum is a chain in which every rounding waits for the
 * one before: the chain computes nothing else, and its partial sums are counted afterwards, as
 * elementwise additions are. A chain starts from -0, to which every first term is added exactly. */
#include <math.h>
#include <string.h>

#include "calc/bulk_parts.h"
#include "kernels/fp64.h"

/* How a double is rounded to a dtype: so many bits are dropped from normal numbers. */
struct cut {
    unsigned drop;
    double smallest_normal, beyond; /* from here on magnitudes are infinite, after rounding */
};

static struct cut cut_of(const struct dti_bulk *bulk)
{
    struct cut cut = {.drop = 52U - bulk->format->man_bits,
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
static double round_small(const struct cut *cut, double sum)
{
    const double large = cut->smallest_normal * (double)(UINT64_C(1) << cut->drop) * 1.5;
    return copysign((fabs(sum) + large) - large, sum);
}

static double round_bits(const struct cut *cut, uint64_t bits)
{
    const uint64_t half = UINT64_C(1) << (cut->drop - 1);
    bits += half - 1 + (bits >> cut->drop & 1);
    return dti_fp64_from_bits(bits & ~(2 * half - 1));
}

/* a + b rounded to the dtype. fp64's own rounding of the sum changes that only where it ends in the
 * middle between two numbers, or below the normal ones, which have fewer bits than are cut here. */
static inline double add_rounded(const struct cut *cut, double a, double b)
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

/* What is added up: terms, or factors of terms that are not rounded. */
struct terms {
    const float *x, *y; /* y may be NULL */
};

static double term_at(const struct terms *terms, size_t i)
{
    return terms->y ? (double)terms->x[i] * (double)terms->y[i] : (double)terms->x[i];
}

/* Adds terms `from` to `to`, keeping what was there before each and after it. */
static float chain(const struct dti_bulk *bulk, const struct terms *terms, size_t from, size_t to,
                   float start, float *before, float *after)
{
    const struct cut cut = cut_of(bulk);
    if (bulk->format->id == DTI_FP32 && !terms->y) {
        float sum = start;
        for (size_t i = from; i < to; i++) {
            before[i] = sum;
            sum += terms->x[i];
            after[i] = sum;
        }
        return sum;
    }
    double sum = (double)start;
    for (size_t i = from; i < to; i++) {
        before[i] = (float)sum;
        sum = add_rounded(&cut, sum, term_at(terms, i));
        after[i] = (float)sum;
    }
    return (float)sum;
}

static struct dti_arith_tile added(const struct terms *terms, const float *before, size_t n)
{
    if (terms->y)
        return (struct dti_arith_tile){DTI_ARITH_FMA, terms->x, terms->y, before, n};
    return (struct dti_arith_tile){DTI_ARITH_ADD, before, terms->x, NULL, n};
}

/* A chain whose NaN is the exact core's: the first one, which stays. */
static float chain_exact(const struct dti_bulk *bulk, const struct terms *terms, size_t from,
                         size_t to, float start, float *before, float *after)
{
    const float end = chain(bulk, terms, from, to, start, before, after);
    if (end == end)
        return end;
    if (start != start)
        return start;
    const struct dti_arith_tile tile = added(terms, before, to);
    size_t i = from;
    while (after[i] == after[i])
        i++;
    return dti_bulk_exact_number(bulk, &tile, i);
}

/* A running sum of blocks: chains of `block` terms, and a chain of their sums. */
struct running {
    uint64_t block, in_block; /* the length of one, how much of the current one is done */
    size_t blocks;            /* that are done and added to `total` */
    float sum, total;
    size_t waiting; /* sums of blocks that are not yet in `total` */
    float sums[DTI_BULK_TILE];
};

static void flush(const struct dti_bulk *bulk, struct running *r)
{
    float before[DTI_BULK_TILE], after[DTI_BULK_TILE];
    const struct terms terms = {r->sums, NULL};
    const struct dti_arith_tile tile = added(&terms, before, r->waiting);
    if (r->waiting == 0)
        return;
    r->total = chain_exact(bulk, &terms, 0, r->waiting, r->total, before, after);
    (void)dti_bulk_count(bulk, &tile, r->blocks * (size_t)r->block, (size_t)r->block, after);
    r->blocks += r->waiting;
    r->waiting = 0;
}

static void end_block(const struct dti_bulk *bulk, struct running *r)
{
    r->sums[r->waiting++] = r->sum;
    r->sum = -0.0F;
    r->in_block = 0;
    if (r->waiting == DTI_BULK_TILE)
        flush(bulk, r);
}

static void add_terms(const struct dti_bulk *bulk, struct running *r, const struct terms *terms,
                      size_t n, size_t first)
{
    float before[DTI_BULK_TILE], after[DTI_BULK_TILE];
    for (size_t at = 0; at < n;) {
        const uint64_t room = r->block - r->in_block;
        const size_t end = room < n - at ? at + (size_t)room : n;
        r->sum = chain_exact(bulk, terms, at, end, r->sum, before, after);
        r->in_block += end - at;
        at = end;
        if (r->in_block == r->block)
            end_block(bulk, r);
    }
    const struct dti_arith_tile tile = added(terms, before, n);
    (void)dti_bulk_count(bulk, &tile, first, 1, after);
}

/* Kahan 1965: `correction` is what the sum has too much. False at an infinity or a NaN. */
struct kahan {
    bool started;
    float sum, correction;
};

static bool add_kahan(const struct dti_bulk *bulk, struct kahan *k, const float *terms, size_t n,
                      size_t first)
{
    const struct cut cut = cut_of(bulk);
    const bool native = bulk->format->id == DTI_FP32;
    float before[DTI_BULK_TILE], after[DTI_BULK_TILE], corrected[DTI_BULK_TILE];
    double sum = (double)k->sum, c = (double)k->correction;
    float sum32 = k->sum, c32 = k->correction;
    for (size_t i = 0; i < n; i++) {
        if (!k->started) { /* nothing to correct yet */
            before[i] = -0.0F;
            corrected[i] = after[i] = sum32 = terms[i];
            sum = (double)sum32;
            k->started = true;
        } else if (native) {
            const float y = terms[i] - c32, t = sum32 + y;
            c32 = (t - sum32) - y;
            before[i] = sum32;
            corrected[i] = y;
            after[i] = sum32 = t;
        } else {
            const double y = add_rounded(&cut, (double)terms[i], -c);
            const double t = add_rounded(&cut, sum, y);
            c = add_rounded(&cut, add_rounded(&cut, t, -sum), -y);
            before[i] = (float)sum;
            corrected[i] = (float)y;
            after[i] = (float)t;
            sum = t;
        }
    }
    k->sum = native ? sum32 : (float)sum;
    k->correction = native ? c32 : (float)c;
    if (!(fabsf(k->sum) < INFINITY) || !(fabsf(k->correction) < INFINITY))
        return false;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, before, corrected, NULL, n};
    (void)dti_bulk_count(bulk, &tile, first, 1, after);
    return true;
}

/* Sums of powers of two of terms, each half as long as the one before it or shorter. */
struct pairs {
    unsigned depth;
    struct {
        float sum;
        size_t first, length;
    } part[64];
};

/* The two last parts as one. */
static void join(const struct dti_bulk *bulk, struct pairs *p)
{
    unsigned char code[8];
    const unsigned last = --p->depth;
    float *const left = &p->part[last - 1].sum;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, &p->part[last].sum, NULL, 1};
    float sum;
    dti_bulk_tile(bulk, &tile, p->part[last].first, 1, code, &sum);
    *left = sum;
    p->part[last - 1].length += p->part[last].length;
}

/* n terms, a power of two, by halves: neighbours, then neighbours of these. Overwrites them. */
static void push(const struct dti_bulk *bulk, struct pairs *p, float *terms, size_t n, size_t first)
{
    float left[DTI_BULK_TILE / 2], right[DTI_BULK_TILE / 2];
    unsigned char codes[DTI_BULK_TILE / 2 * sizeof(float)];
    for (size_t length = 1; length < n; length *= 2) {
        const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, right, NULL, n / length / 2};
        for (size_t i = 0; i < tile.n; i++) {
            left[i] = terms[2 * i];
            right[i] = terms[2 * i + 1];
        }
        dti_bulk_tile(bulk, &tile, first + length, 2 * length, codes, terms);
    }
    p->part[p->depth].sum = terms[0];
    p->part[p->depth].first = first;
    p->part[p->depth++].length = n;
    while (p->depth > 1 && p->part[p->depth - 2].length == p->part[p->depth - 1].length)
        join(bulk, p);
}

static void add_pairs(const struct dti_bulk *bulk, struct pairs *p, float *terms, size_t n,
                      size_t first)
{
    size_t at = 0;
    for (size_t length = DTI_BULK_TILE; length > 0; length /= 2) {
        for (; n - at >= length; at += length)
            push(bulk, p, terms + at, length, first + at);
    }
}

bool dti_bulk_reduce(const struct dti_bulk *bulk, bool dot, const void *a, const void *b,
                     size_t count, void *ret_code)
{
    const struct dti_calc_options *const options = bulk->options;
    const enum dti_calc_order order = options->order;
    const bool fused = dot && options->fma;
    struct running running = {
        .block = order == DTI_CALC_BLOCKED ? options->block : count, .sum = -0.0F, .total = -0.0F};
    struct kahan kahan = {.started = false};
    struct pairs pairs = {.depth = 0};
    float x[DTI_BULK_TILE], y[DTI_BULK_TILE], products[DTI_BULK_TILE];
    unsigned char codes[DTI_BULK_TILE * sizeof(float)];
    if (fused && order != DTI_CALC_SEQUENTIAL && order != DTI_CALC_BLOCKED)
        return false;
    for (size_t at = 0; at < count; at += DTI_BULK_TILE) {
        const size_t n = count - at < DTI_BULK_TILE ? count - at : DTI_BULK_TILE;
        const size_t offset = at * bulk->code_bytes;
        const bool multiply = dot && !fused;
        float *const list = multiply ? products : x;
        const struct terms terms = {list, fused ? y : NULL};
        dti_bulk_load(bulk, x, (const unsigned char *)a + offset, n);
        if (dot)
            dti_bulk_load(bulk, y, (const unsigned char *)b + offset, n);
        if (multiply) {
            const struct dti_arith_tile tile = {DTI_ARITH_MULTIPLY, x, y, NULL, n};
            dti_bulk_tile(bulk, &tile, at, 1, codes, products);
        }
        if (order == DTI_CALC_PAIRWISE)
            add_pairs(bulk, &pairs, list, n, at);
        else if (order != DTI_CALC_KAHAN)
            add_terms(bulk, &running, &terms, n, at);
        else if (!add_kahan(bulk, &kahan, list, n, at))
            return false;
    }
    while (pairs.depth > 1)
        join(bulk, &pairs);
    if (order == DTI_CALC_KAHAN)
        bulk->counts->events[DTI_CALC_ABSORBED] = 0; /* the correction keeps it */
    if (running.in_block > 0)
        end_block(bulk, &running);
    flush(bulk, &running);
    dti_bulk_store(bulk, ret_code,
                   order == DTI_CALC_PAIRWISE ? pairs.part[0].sum
                   : order == DTI_CALC_KAHAN  ? kahan.sum
                                              : running.total);
    return true;
}
