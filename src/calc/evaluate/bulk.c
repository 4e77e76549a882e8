/* SPDX-License-Identifier: MIT
 *
 * Long lists are processed in tiles: decode to fp32, compute in fp64, and encode with the single
 * rounding of the cast kernels, which is the rounding of the operation (see arith_kernel.h for
 * why). NaNs go through the exact core, because processors differ in signs and payloads. Then
 * sums: sequential, blocked, pairwise, Kahan. */
#include "calc/evaluate/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/plan.h"
#include "core/code/arith.h"
#include "kernels/arith/arith_kernel.h"
#include "kernels/fp64.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/process_environment.h"

/* TILE: elements per tile, so that operands, results and codes stay in the L1 cache.
 * SIDE_BY_SIDE: blocks of a sum that are added elementwise. SHORT_RUN: terms added without a
 * grid after a grid that did not last. */
enum { TILE = 1024, SIDE_BY_SIDE = 256, SHORT_RUN = 16 };

struct dti_bulk {
    const struct dti_format *format;
    const struct dti_calc_options *options;
    const struct dti_arith_kernel *kernel;
    struct dti_plan *to_fp32, *from_fp64;
    size_t code_bytes;
    float smallest_normal;
    struct dti_calc_bulk_counts *counts;
};

/* What is summed: terms, or pairs of factors whose products are not rounded (y, else NULL). */
struct addends {
    const float *x, *y;
};

/* Maps counts of kernels to events; DTI_CALC_EVENT_COUNT: no event. */
static const enum dti_calc_event_kind kind_of[DTI_ARITH_COUNTS] = {
    [DTI_ARITH_COUNT_INEXACT] = DTI_CALC_EVENT_COUNT,
    [DTI_ARITH_COUNT_NAN_RESULT] = DTI_CALC_EVENT_COUNT,
    [DTI_ARITH_COUNT_NAN] = DTI_CALC_NAN,
    [DTI_ARITH_COUNT_OVERFLOW] = DTI_CALC_OVERFLOW,
    [DTI_ARITH_COUNT_DIVIDE_BY_ZERO] = DTI_CALC_DIVIDE_BY_ZERO,
    [DTI_ARITH_COUNT_TO_ZERO] = DTI_CALC_TO_ZERO,
    [DTI_ARITH_COUNT_SUBNORMAL] = DTI_CALC_SUBNORMAL,
    [DTI_ARITH_COUNT_ABSORBED] = DTI_CALC_ABSORBED,
};

static void put_code(const struct dti_bulk *bulk, void *codes, size_t i, uint64_t code)
{
    const struct dti_layout layout = {.swapped = false};
    dti_storage_put(bulk->format, &layout, codes, i, code);
}

/* Decodes n codes. Plans without a stack rule never fail. */
static void load(const struct dti_bulk *bulk, float *ret, const void *codes, size_t n)
{
    (void)dti_plan_run(bulk->to_fp32, ret, codes, n, 0, DTI_STORES_CACHED, NULL, NULL);
}

static void value_of(float number, struct dti_value *ret)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    dti_decode(dti_format_get(DTI_FP32), bits, ret);
}

static uint64_t code_of(const struct dti_bulk *bulk, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN,
                                      .nan = bulk->options->policy.nan};
    struct dti_outcome outcome;
    dti_encode(bulk->format, value, &policy, 0, &outcome);
    return outcome.code;
}

/* Encodes a number. */
static void store(const struct dti_bulk *bulk, void *ret_code, float number)
{
    struct dti_value value;
    value_of(number, &value);
    put_code(bulk, ret_code, 0, code_of(bulk, &value));
}

static uint64_t exact_code(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t i)
{
    struct dti_value x, y, z;
    value_of(tile->x[i], &x);
    if (tile->op != DTI_ARITH_SQRT)
        value_of(tile->y[i], &y);
    switch (tile->op) {
    case DTI_ARITH_ADD:
        (void)dti_value_add(&x, &x, &y, DTI_ROUND_NEAREST_EVEN);
        break;
    case DTI_ARITH_SUBTRACT:
        (void)dti_value_subtract(&x, &x, &y, DTI_ROUND_NEAREST_EVEN);
        break;
    case DTI_ARITH_MULTIPLY:
        (void)dti_value_multiply(&x, &x, &y);
        break;
    case DTI_ARITH_DIVIDE:
        (void)dti_value_divide(&x, &x, &y);
        break;
    case DTI_ARITH_SQRT:
        (void)dti_value_sqrt(&x, &x);
        break;
    case DTI_ARITH_FMA:
        value_of(tile->z[i], &z);
        (void)dti_value_fma(&x, &x, &y, &z, DTI_ROUND_NEAREST_EVEN);
        break;
    }
    return code_of(bulk, &x);
}

/* Computes one element with the exact core. */
static float exact_number(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t i)
{
    unsigned char code[8];
    float number;
    put_code(bulk, code, 0, exact_code(bulk, tile, i));
    load(bulk, &number, code, 1);
    return number;
}

/* The part of a tile that starts at element `from`. */
static struct dti_arith_tile part_of(const struct dti_arith_tile *tile, size_t from, size_t n)
{
    return (struct dti_arith_tile){
        .op = tile->op,
        .x = tile->x + from,
        .y = tile->y ? tile->y + from : NULL,
        .z = tile->z ? tile->z + from : NULL,
        .n = n,
    };
}

/* The first element of a kind, which must exist. */
static size_t first_of(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                       const double *exact, const float *results, enum dti_arith_count kind)
{
    size_t from = 0;
    for (size_t n = tile->n; n > 1;) {
        const struct dti_arith_tile part = part_of(tile, from, n / 2);
        uint64_t found[DTI_ARITH_COUNTS];
        bulk->kernel->count(&part, exact + from, results + from, bulk->smallest_normal, found);
        from += found[kind] == 0 ? n / 2 : 0;
        n = found[kind] == 0 ? n - n / 2 : n / 2;
    }
    return from;
}

static uint64_t count(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                      const double *exact, size_t first, size_t step, const float *results)
{
    struct dti_calc_bulk_counts *const counts = bulk->counts;
    uint64_t found[DTI_ARITH_COUNTS];
    bulk->kernel->count(tile, exact, results, bulk->smallest_normal, found);
    counts->inexact += found[DTI_ARITH_COUNT_INEXACT];
    for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++) {
        const enum dti_calc_event_kind kind = kind_of[i];
        if (kind == DTI_CALC_EVENT_COUNT || found[i] == 0)
            continue;
        if (counts->events[kind] == 0 || first < counts->first[kind]) {
            const size_t at = first_of(bulk, tile, exact, results, (enum dti_arith_count)i);
            const size_t place = first + step * at;
            if (counts->events[kind] == 0 || place < counts->first[kind])
                counts->first[kind] = place;
        }
        counts->events[kind] += found[i];
    }
    return found[DTI_ARITH_COUNT_NAN_RESULT];
}

/* Counts events for existing results. Returns the number of NaNs. */
static uint64_t count_results(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                              size_t first, size_t step, const float *results)
{
    double exact[TILE];
    bulk->kernel->exact(tile, exact);
    return count(bulk, tile, exact, first, step, results);
}

/* The rounded operation on up to TILE numbers: codes, and the same as numbers, with NaNs as the
 * exact core makes them. Counts attribute element i to position first + step * i. */
static void compute_tile(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                         size_t first, size_t step, void *ret_codes, float *ret_numbers)
{
    double exact[TILE];
    bulk->kernel->exact(tile, exact);
    (void)dti_plan_run(bulk->from_fp64, ret_codes, exact, tile->n, 0, DTI_STORES_CACHED, NULL,
                       NULL);
    load(bulk, ret_numbers, ret_codes, tile->n);
    if (count(bulk, tile, exact, first, step, ret_numbers) == 0)
        return;
    for (size_t i = 0; i < tile->n; i++) {
        if (ret_numbers[i] != ret_numbers[i])
            put_code(bulk, ret_codes, i, exact_code(bulk, tile, i));
    }
    load(bulk, ret_numbers, ret_codes, tile->n);
}

/* Parameters for rounding a double to a dtype: normal numbers lose `drop` bits. */
struct dtype_cut {
    unsigned drop;
    double smallest_normal, beyond; /* magnitudes from here on round to infinity */
};

static struct dtype_cut cut_of(const struct dti_bulk *bulk)
{
    struct dtype_cut cut = {.drop = 52U - bulk->format->man_bits,
                            .smallest_normal = (double)bulk->smallest_normal,
                            .beyond = bulk->format->exp_bits == 5 ? 0x1p16 : 0x1p128};
    return cut;
}

/* a + b rounded to odd: see arith_lanes.c. */
static double add_to_odd(double a, double b)
{
    const double sum = a + b, b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);
    if (!(error < 0 || error > 0))
        return sum;
    const uint64_t bits = dti_fp64_bits(sum);
    return dti_fp64_from_bits((bits - ((error > 0) != (sum > 0))) | 1);
}

/* Rounds a double, itself rounded to odd, that is below the normal numbers of the dtype to a
 * multiple of the smallest subnormal, by adding and subtracting a large number. */
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

/* a + b rounded to the dtype. The fp64 rounding of the sum matters only if it ends halfway
 * between two numbers of the dtype, or below the normal numbers, which have fewer bits than are
 * dropped here. */
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

static double term_at(const struct addends *terms, size_t i)
{
    return terms->y ? (double)terms->x[i] * (double)terms->y[i] : (double)terms->x[i];
}

/* Fast rounding within one binade, whose numbers are multiples of one step. `magic` is 1.5 x
 * 2^52 steps: once it is added to the running sum, the processor's own rounding of the next
 * addition is that of the dtype, so each term takes one addition. This holds for results within
 * the binade; the lowest one extends down to the subnormals. */
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

/* Whether adding a term to a number `from` of the binade gave a correct `sum`. The lower end of
 * the binade is correct only if the term points away from zero, as in a sum that no longer
 * grows. */
static bool is_within(const struct grid *grid, double from, double term, double sum)
{
    const double magnitude = fabs(sum);
    return magnitude < grid->high &&
           (magnitude > grid->low || (magnitude == grid->low && from * term > 0));
}

/* Sequential sums, where every rounding depends on the previous one: the loop does only the
 * additions, and records the sum before and after each term for counting later. */
static float add_one_by_one(const struct dti_bulk *bulk, const struct addends *terms, size_t from,
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
        /* a sum that soon leaves its binade is likely to leave the next one too */
        const size_t plain = i - first < SHORT_RUN ? SHORT_RUN : 1;
        for (size_t end = to - i < plain ? to : i + plain; i < end; i++) {
            before[i] = sum;
            after[i] = sum = (float)add_rounded(&cut, (double)sum, term_at(terms, i));
        }
    }
    return sum;
}

/* before[i] + term i as a kernel operation. */
static struct dti_arith_tile added(const struct addends *terms, const float *before, size_t n)
{
    if (terms->y)
        return (struct dti_arith_tile){DTI_ARITH_FMA, terms->x, terms->y, before, n};
    return (struct dti_arith_tile){DTI_ARITH_ADD, before, terms->x, NULL, n};
}

/* add_one_by_one() with NaNs as in the exact core. In a sum the first NaN stays; in a*b + c,
 * where a and b take precedence, the NaN of the last term that has one, else the first. */
static float add_chain(const struct dti_bulk *bulk, const struct addends *terms, size_t from,
                       size_t to, float start, float *before, float *after)
{
    const float end = add_one_by_one(bulk, terms, from, to, start, before, after);
    const struct dti_arith_tile tile = added(terms, before, to);
    if (end == end)
        return end;
    for (size_t i = to; terms->y && i-- > from;) {
        if (terms->x[i] != terms->x[i] || terms->y[i] != terms->y[i])
            return exact_number(bulk, &tile, i);
    }
    if (start != start)
        return start;
    while (after[from] == after[from])
        from++;
    return exact_number(bulk, &tile, from);
}

/* Kahan 1965: y = term - correction, t = sum + y, correction = (t - sum) - y, sum = t. Starts
 * with -0 and no correction. */
struct kahan_sum {
    float sum, correction;
};

struct kahan_tile {
    float before[TILE], corrected[TILE], after[TILE];
};

static void kahan_fp32(struct kahan_sum *k, const float *terms, size_t n, struct kahan_tile *tile)
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

/* The sum on a grid as in add_one_by_one(). Within its binade t - sum is a number of the dtype,
 * and so is the error of a sum: neither needs rounding. */
static void kahan_16bit(const struct dtype_cut *cut, struct kahan_sum *k, const float *terms,
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

/* Adds terms and counts the additions to the sum. False at an infinity or a NaN. */
static bool add_kahan(const struct dti_bulk *bulk, struct kahan_sum *k, const float *terms,
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
    (void)count_results(bulk, &tile, first, 1, sums.after);
    return true;
}

/* A running blocked sum: chains of `block` terms, and a chain of the blocks' sums. */
struct running {
    uint64_t block, in_block; /* length of a block; elements of the current block done so far */
    size_t blocks;            /* blocks finished and added to `total` */
    float sum, total;
    size_t waiting; /* sums of finished blocks not yet in `total` */
    float sums[TILE];
};

static void flush(const struct dti_bulk *bulk, struct running *r)
{
    float before[TILE], after[TILE];
    const struct addends terms = {r->sums, NULL};
    if (r->waiting == 0)
        return;
    r->total = add_chain(bulk, &terms, 0, r->waiting, r->total, before, after);
    const struct dti_arith_tile tile = added(&terms, before, r->waiting);
    (void)count_results(bulk, &tile, r->blocks * (size_t)r->block, (size_t)r->block, after);
    r->blocks += r->waiting;
    r->waiting = 0;
}

static void end_block(const struct dti_bulk *bulk, struct running *r)
{
    r->sums[r->waiting++] = r->sum;
    r->sum = -0.0F;
    r->in_block = 0;
    if (r->waiting == TILE)
        flush(bulk, r);
}

/* Gathers numbers at first, first + step, ... */
static void load_apart(const struct dti_bulk *bulk, float ret[SIDE_BY_SIDE], const void *codes,
                       size_t first, size_t step)
{
    unsigned char near[SIDE_BY_SIDE * sizeof(float)];
    const unsigned char *from = (const unsigned char *)codes + first * bulk->code_bytes;
    for (size_t k = 0; k < SIDE_BY_SIDE; k++, from += step * bulk->code_bytes) {
        if (bulk->code_bytes == 2)
            memcpy(near + 2 * k, from, 2);
        else
            memcpy(near + 4 * k, from, 4);
    }
    load(bulk, ret, near, SIDE_BY_SIDE);
}

/* Sums SIDE_BY_SIDE blocks at once, elementwise: all first terms, then all second terms. Returns
 * the number of elements used. */
static size_t add_blocks(const struct dti_bulk *bulk, struct running *r, bool fused, const void *a,
                         const void *b, size_t first, size_t count)
{
    float x[SIDE_BY_SIDE], y[SIDE_BY_SIDE], products[SIDE_BY_SIDE];
    float sums[SIDE_BY_SIDE], next[SIDE_BY_SIDE];
    unsigned char codes[SIDE_BY_SIDE * sizeof(float)];
    const size_t block = (size_t)r->block;
    if (r->block > count / SIDE_BY_SIDE || r->in_block > 0)
        return 0;
    for (size_t k = 0; k < SIDE_BY_SIDE; k++)
        sums[k] = -0.0F;
    for (size_t i = 0; i < block; i++) {
        const struct addends terms = {x, b ? y : NULL};
        load_apart(bulk, x, a, first + i, block);
        if (b)
            load_apart(bulk, y, b, first + i, block);
        struct dti_arith_tile tile = added(&terms, sums, SIDE_BY_SIDE);
        if (b && !fused) {
            const struct dti_arith_tile both = {DTI_ARITH_MULTIPLY, x, y, NULL, SIDE_BY_SIDE};
            compute_tile(bulk, &both, first + i, block, codes, products);
            tile = (struct dti_arith_tile){DTI_ARITH_ADD, sums, products, NULL, SIDE_BY_SIDE};
        }
        compute_tile(bulk, &tile, first + i, block, codes, next);
        memcpy(sums, next, sizeof sums);
    }
    for (size_t k = 0; k < SIDE_BY_SIDE; k++) {
        r->sum = sums[k];
        end_block(bulk, r);
    }
    return SIDE_BY_SIDE * block;
}

static void add_terms(const struct dti_bulk *bulk, struct running *r, const struct addends *terms,
                      size_t n, size_t first)
{
    float before[TILE], after[TILE];
    for (size_t at = 0; at < n;) {
        const uint64_t room = r->block - r->in_block;
        const size_t end = room < n - at ? at + (size_t)room : n;
        r->sum = add_chain(bulk, terms, at, end, r->sum, before, after);
        r->in_block += end - at;
        at = end;
        if (r->in_block == r->block)
            end_block(bulk, r);
    }
    const struct dti_arith_tile tile = added(terms, before, n);
    (void)count_results(bulk, &tile, first, 1, after);
}

/* A stack of sums over powers of two of terms; each covers at most half as many as the one
 * below. */
struct pairs {
    unsigned depth;
    struct {
        float sum;
        size_t first, length;
    } part[64];
};

/* Adds the top two parts. */
static void join(const struct dti_bulk *bulk, struct pairs *p)
{
    unsigned char code[8];
    const unsigned last = --p->depth;
    float *const left = &p->part[last - 1].sum;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, &p->part[last].sum, NULL, 1};
    float sum;
    compute_tile(bulk, &tile, p->part[last].first, 1, code, &sum);
    *left = sum;
    p->part[last - 1].length += p->part[last].length;
}

/* Pushes n terms, a power of two, summed pairwise: neighbours, then neighbouring pairs.
 * Overwrites them. */
static void push(const struct dti_bulk *bulk, struct pairs *p, float *terms, size_t n, size_t first)
{
    float left[TILE / 2], right[TILE / 2];
    unsigned char codes[TILE / 2 * sizeof(float)];
    for (size_t length = 1; length < n; length *= 2) {
        const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, right, NULL, n / length / 2};
        for (size_t i = 0; i < tile.n; i++) {
            left[i] = terms[2 * i];
            right[i] = terms[2 * i + 1];
        }
        compute_tile(bulk, &tile, first + length, 2 * length, codes, terms);
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
    for (size_t length = TILE; length > 0; length /= 2) {
        for (; n - at >= length; at += length)
            push(bulk, p, terms + at, length, first + at);
    }
}

/* SUM of a, or DOT of a and b. A sum starts from -0, to which any first term is added exactly.
 * False if the fast path does not apply. */
static bool reduce_list(const struct dti_bulk *bulk, bool dot, const void *a, const void *b,
                        size_t count, void *ret_code)
{
    const struct dti_calc_options *const options = bulk->options;
    const enum dti_calc_order order = options->order;
    const bool fused = dot && options->fma;
    struct running running = {
        .block = order == DTI_CALC_BLOCKED ? options->block : count, .sum = -0.0F, .total = -0.0F};
    struct kahan_sum kahan = {.sum = -0.0F};
    struct pairs pairs = {.depth = 0};
    float x[TILE], y[TILE], products[TILE];
    unsigned char codes[TILE * sizeof(float)];
    if (fused && order != DTI_CALC_SEQUENTIAL && order != DTI_CALC_BLOCKED)
        return false;
    size_t at = 0, blocks = 0;
    do {
        blocks =
            order == DTI_CALC_BLOCKED ? add_blocks(bulk, &running, fused, a, b, at, count - at) : 0;
        at += blocks;
    } while (blocks > 0);
    for (; at < count && !dti_interrupted(); at += TILE) {
        const size_t n = count - at < TILE ? count - at : TILE;
        const size_t offset = at * bulk->code_bytes;
        const bool multiply = dot && !fused;
        float *const list = multiply ? products : x;
        const struct addends terms = {list, fused ? y : NULL};
        load(bulk, x, (const unsigned char *)a + offset, n);
        if (dot)
            load(bulk, y, (const unsigned char *)b + offset, n);
        if (multiply) {
            const struct dti_arith_tile tile = {DTI_ARITH_MULTIPLY, x, y, NULL, n};
            compute_tile(bulk, &tile, at, 1, codes, products);
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
        bulk->counts->events[DTI_CALC_ABSORBED] = 0; /* the correction preserves it */
    if (running.in_block > 0)
        end_block(bulk, &running);
    flush(bulk, &running);
    store(bulk, ret_code,
          order == DTI_CALC_PAIRWISE ? pairs.part[0].sum
          : order == DTI_CALC_KAHAN  ? kahan.sum
                                     : running.total);
    return true;
}

static unsigned char *bytes_at(void *codes, const struct dti_bulk *bulk, size_t i)
{
    return (unsigned char *)codes + i * bulk->code_bytes;
}

static void elementwise(const struct dti_bulk *bulk, enum dti_arith_op op, unsigned operand_count,
                        void *ret, const void *const operands[], const bool scalar[], size_t count)
{
    float numbers[3][TILE], results[TILE];
    for (unsigned k = 0; k < operand_count; k++) {
        if (!scalar[k])
            continue;
        load(bulk, &numbers[k][0], operands[k], 1);
        for (size_t i = 1; i < TILE; i++)
            numbers[k][i] = numbers[k][0];
    }
    for (size_t at = 0; at < count && !dti_interrupted(); at += TILE) {
        const size_t n = count - at < TILE ? count - at : TILE;
        const struct dti_arith_tile tile = {op, numbers[0], numbers[1], numbers[2], n};
        for (unsigned k = 0; k < operand_count; k++) {
            if (!scalar[k])
                load(bulk, numbers[k], (const unsigned char *)operands[k] + at * bulk->code_bytes,
                     n);
        }
        compute_tile(bulk, &tile, at, 1, bytes_at(ret, bulk, at), results);
    }
}

static bool new_plan(struct dti_plan **ret, const struct dti_format *src,
                     const struct dti_format *dst, enum dti_level level)
{
    const struct dti_request request = {
        .src = *src, .cast = {.dst = *dst, .policy = {.round = DTI_ROUND_NEAREST_EVEN}}};
    return dti_plan_new(ret, &request, level, NULL) == DTI_OK;
}

/* Maps an operation to one of the kernels; false if they do not have it. */
static bool operation_of(enum dti_calc_op op, enum dti_arith_op *ret, unsigned *ret_operands)
{
    static const struct {
        enum dti_calc_op op;
        enum dti_arith_op arith;
        unsigned operands;
    } rows[] = {
        {DTI_CALC_ADD, DTI_ARITH_ADD, 2},           {DTI_CALC_SUBTRACT, DTI_ARITH_SUBTRACT, 2},
        {DTI_CALC_MULTIPLY, DTI_ARITH_MULTIPLY, 2}, {DTI_CALC_DIVIDE, DTI_ARITH_DIVIDE, 2},
        {DTI_CALC_SQRT, DTI_ARITH_SQRT, 1},         {DTI_CALC_FMA, DTI_ARITH_FMA, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].op == op) {
            *ret = rows[i].arith;
            *ret_operands = rows[i].operands;
            return true;
        }
    }
    return false;
}

/* Whether the plans implement these options. Wrapping floats overflow like the native policy. */
static bool policy_fits(const struct dti_calc_options *options)
{
    const enum dti_overflow overflow = options->policy.overflow;
    return !options->flush && options->policy.round == DTI_ROUND_NEAREST_EVEN &&
           (overflow == DTI_OVERFLOW_NATIVE || overflow == DTI_OVERFLOW_WRAP);
}

void dti_bulk_close(struct dti_bulk *bulk)
{
    if (!bulk)
        return;
    dti_plan_free(bulk->to_fp32);
    dti_plan_free(bulk->from_fp64);
    dti_free(bulk);
}

struct dti_bulk *dti_bulk_open(const struct dti_format *format,
                               const struct dti_calc_options *options)
{
    const bool known = format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
    enum dti_level level;
    if (!known || !policy_fits(options) ||
        dti_level_choose(dti_environment("DTINFO_CPU"), &level, NULL) != DTI_OK)
        return NULL;
    struct dti_bulk *const bulk = dti_calloc(1, sizeof *bulk);
    if (!bulk)
        return NULL;
    bulk->format = format;
    bulk->options = options;
    bulk->code_bytes = format->id == DTI_FP32 ? 4 : 2;
    bulk->kernel = dti_arith_kernel_find(level);
    bulk->smallest_normal = (float)dti_fp64_smallest_normal(format);
    if (bulk->kernel && new_plan(&bulk->to_fp32, format, dti_format_get(DTI_FP32), level) &&
        new_plan(&bulk->from_fp64, dti_format_get(DTI_FP64), format, level))
        return bulk;
    dti_bulk_close(bulk);
    return NULL;
}

bool dti_bulk_compute(struct dti_bulk *bulk, enum dti_calc_op op, void *ret,
                      const void *const operands[], const bool scalar[], size_t count,
                      struct dti_calc_bulk_counts *counts)
{
    const bool reduces = op == DTI_CALC_SUM || op == DTI_CALC_DOT;
    struct dti_calc_bulk_counts found = {.inexact = 0};
    enum dti_arith_op arith = DTI_ARITH_ADD;
    unsigned operand_count = 0;
    bool done = true;
    if (count == 0 || (!reduces && !operation_of(op, &arith, &operand_count)))
        return false;
    bulk->counts = &found;
    if (reduces)
        done = reduce_list(bulk, op == DTI_CALC_DOT, operands[0],
                           op == DTI_CALC_DOT ? operands[1] : NULL, count, ret);
    else
        elementwise(bulk, arith, operand_count, ret, operands, scalar, count);
    if (done)
        *counts = found;
    return done;
}

bool dti_calc_bulk(enum dti_calc_op op, const struct dti_format *format,
                   const struct dti_calc_options *options, void *ret, const void *const operands[],
                   const bool scalar[], size_t count, struct dti_calc_bulk_counts *counts)
{
    struct dti_bulk *const bulk = dti_bulk_open(format, options);
    const bool done = bulk && dti_bulk_compute(bulk, op, ret, operands, scalar, count, counts);
    dti_bulk_close(bulk);
    return done;
}
