/* SPDX-License-Identifier: MIT
 *
 * Lists are processed in tiles: decode to fp32, compute, round and count by the kernels of
 * arith_kernel.h, and encode, which is exact. NaNs go through the exact core, because processors
 * differ in signs and payloads. Then sums: sequential, blocked, pairwise, Kahan. */
#include "calc/evaluate/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/bulk_parts.h"
#include "core/code/arith.h"
#include "kernels/fp64.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/process_environment.h"

/* SIDE_BY_SIDE: blocks of a sum that are added elementwise. SHORT_RUN: terms added without a grid
 * after a grid that did not last. */
enum { TILE = DTI_BULK_TILE, SIDE_BY_SIDE = 256, SHORT_RUN = 16 };

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
    const struct dti_layout layout = {.packing = DTI_PACKING_BYTES};
    dti_storage_put(bulk->format, &layout, codes, i, code);
}

void dti_bulk_load(const struct dti_bulk *bulk, float *ret, const void *codes, size_t n)
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
    struct dti_policy policy = bulk->options->policy;
    struct dti_outcome outcome;
    policy.round = DTI_ROUND_NEAREST_EVEN;
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
    dti_bulk_load(bulk, &number, code, 1);
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
                       enum dti_arith_count kind)
{
    size_t from = 0;
    for (size_t n = tile->n; n > 1;) {
        const struct dti_arith_tile part = part_of(tile, from, n / 2);
        float results[TILE];
        uint64_t found[DTI_ARITH_COUNTS];
        bulk->kernel->round(&part, &bulk->target, results, found);
        from += found[kind] == 0 ? n / 2 : 0;
        n = found[kind] == 0 ? n - n / 2 : n / 2;
    }
    return from;
}

/* Adds events of a kind, the first of them at a place. */
static void add_events(struct dti_calc_bulk_counts *counts, enum dti_calc_event_kind kind,
                       uint64_t events, size_t place)
{
    if (counts->events[kind] == 0 || place < counts->first[kind])
        counts->first[kind] = place;
    counts->events[kind] += events;
}

static void add_counts(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t first,
                       size_t step, const uint64_t found[DTI_ARITH_COUNTS])
{
    struct dti_calc_bulk_counts *const counts = bulk->counts;
    counts->inexact += found[DTI_ARITH_COUNT_INEXACT];
    for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++) {
        const enum dti_calc_event_kind kind = kind_of[i];
        if (kind == DTI_CALC_EVENT_COUNT || found[i] == 0)
            continue;
        const bool sooner = counts->events[kind] == 0 || first < counts->first[kind];
        const size_t at = sooner ? first_of(bulk, tile, (enum dti_arith_count)i) : 0;
        add_events(counts, kind, found[i], sooner ? first + step * at : SIZE_MAX);
    }
}

void dti_bulk_count_at(const struct dti_bulk *bulk, const uint64_t found[DTI_ARITH_COUNTS],
                       uint64_t cancelled, size_t place)
{
    bulk->counts->inexact += found[DTI_ARITH_COUNT_INEXACT];
    for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++) {
        if (kind_of[i] != DTI_CALC_EVENT_COUNT && found[i] > 0)
            add_events(bulk->counts, kind_of[i], found[i], place);
    }
    if (cancelled > 0)
        add_events(bulk->counts, DTI_CALC_CANCELLATION, cancelled, place);
}

/* Counts events of operations whose results are known. */
static void count_results(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                          size_t first, size_t step)
{
    float results[TILE];
    uint64_t found[DTI_ARITH_COUNTS];
    bulk->kernel->round(tile, &bulk->target, results, found);
    add_counts(bulk, tile, first, step, found);
}

/* The rounded operation on up to TILE numbers: codes, and the same as numbers, with NaNs as the
 * exact core makes them. Counts attribute element i to position first + step * i. */
static void compute_tile(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                         size_t first, size_t step, void *ret_codes, float *ret_numbers)
{
    uint64_t found[DTI_ARITH_COUNTS];
    bulk->kernel->round(tile, &bulk->target, ret_numbers, found);
    (void)dti_plan_run(bulk->from_fp32, ret_codes, ret_numbers, tile->n, 0, DTI_STORES_CACHED, NULL,
                       NULL);
    add_counts(bulk, tile, first, step, found);
    const bool overflows_to_nan = bulk->target.overflow != bulk->target.overflow;
    if (found[DTI_ARITH_COUNT_NAN_RESULT] == 0 &&
        !(overflows_to_nan && found[DTI_ARITH_COUNT_OVERFLOW] > 0) &&
        (bulk->target.has_infinity || found[DTI_ARITH_COUNT_DIVIDE_BY_ZERO] == 0))
        return;
    for (size_t i = 0; i < tile->n; i++) {
        if (ret_numbers[i] != ret_numbers[i])
            put_code(bulk, ret_codes, i, exact_code(bulk, tile, i));
    }
    dti_bulk_load(bulk, ret_numbers, ret_codes, tile->n);
}

/* Marks the results of an operation on marked operands, and counts cancellations at positions
 * first + step * i. */
static void mark_tile(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                      const float *results, const uint8_t *const marks[3], size_t first,
                      size_t step, uint8_t *ret_marks)
{
    const struct dti_calc_bulk_marks *const m = bulk->marks;
    const uint64_t cancelled =
        bulk->kernel->mark(tile, &bulk->target, results, marks, !m->selects, ret_marks);
    if (cancelled == 0)
        return;
    size_t from = 0;
    for (size_t n = tile->n; n > 1;) { /* the first one */
        const struct dti_arith_tile part = part_of(tile, from, n / 2);
        const uint8_t *const there[3] = {marks[0] + from, marks[1] + from,
                                         marks[2] ? marks[2] + from : NULL};
        uint8_t ignored[TILE];
        const bool found = bulk->kernel->mark(&part, &bulk->target, results + from, there,
                                              !m->selects, ignored) > 0;
        from += found ? 0 : n / 2;
        n = found ? n / 2 : n - n / 2;
    }
    add_events(bulk->counts, DTI_CALC_CANCELLATION, cancelled, first + step * from);
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

static unsigned dropped_bits(const struct dti_arith_target *target)
{
    return 52U - target->man_bits; /* by normal numbers */
}

/* Rounds a double, itself rounded to odd, that is below the normal numbers of the dtype to a
 * multiple of the smallest subnormal, by adding and subtracting a large number. */
static double round_small(const struct dti_arith_target *target, double sum)
{
    return copysign((fabs(sum) + target->large) - target->large, sum);
}

static double round_bits(unsigned drop, uint64_t bits)
{
    const uint64_t half = UINT64_C(1) << (drop - 1);
    bits += half - 1 + (bits >> drop & 1);
    return dti_fp64_from_bits(bits & ~(2 * half - 1));
}

/* a + b rounded to the dtype. The fp64 rounding of the sum matters only if it ends halfway
 * between two numbers of the dtype, or below the normal numbers, which have fewer bits than are
 * dropped here. */
static inline double add_rounded(const struct dti_arith_target *target, double a, double b)
{
    const unsigned drop = dropped_bits(target);
    double sum = a + b;
    const uint64_t bits = dti_fp64_bits(sum), below = (UINT64_C(1) << drop) - 1;
    double rounded = round_bits(drop, bits);
    if ((bits & below) == below / 2 + 1) {
        sum = add_to_odd(a, b);
        rounded = round_bits(drop, dti_fp64_bits(sum));
    }
    if (fabs(sum) < target->smallest_normal)
        rounded = sum == 0 ? sum : round_small(target, add_to_odd(a, b));
    if (!(fabs(rounded) <= target->largest))
        rounded =
            sum != sum ? sum : copysign(isinf(sum) ? target->infinity : target->overflow, sum);
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

static struct grid grid_of(const struct dti_arith_target *target, double number)
{
    const double magnitude = fabs(number);
    const bool lowest = magnitude < 2 * target->smallest_normal;
    const double low = lowest
                           ? target->smallest_normal
                           : dti_fp64_from_bits(dti_fp64_bits(magnitude) & UINT64_C(0x7ff) << 52);
    if (!(magnitude <= target->largest))
        return (struct grid){.magic = 0, .low = 0, .high = 0};
    return (struct grid){.magic = low * (double)(UINT64_C(1) << dropped_bits(target)) * 1.5,
                         .low = lowest ? 0 : low,
                         .high = 2 * low < target->over ? 2 * low : target->over};
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

/* Whether the processor's own fp32 additions are those of the dtype. */
static bool is_plain_fp32(const struct dti_bulk *bulk)
{
    return bulk->format->id == DTI_FP32 && bulk->target.overflow > bulk->target.largest;
}

/* Sequential sums, where every rounding depends on the previous one: the loop does only the
 * additions, and records the sum before and after each term for counting later. */
static float add_one_by_one(const struct dti_bulk *bulk, const struct addends *terms, size_t from,
                            size_t to, float start, float *before, float *after)
{
    const struct dti_arith_target *const target = &bulk->target;
    float sum = start;
    if (is_plain_fp32(bulk) && !terms->y) {
        for (size_t i = from; i < to; i++) {
            before[i] = sum;
            sum += terms->x[i];
            after[i] = sum;
        }
        return sum;
    }
    for (size_t i = from; i < to;) {
        const struct grid grid = grid_of(target, (double)sum);
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
            after[i] = sum = (float)add_rounded(target, (double)sum, term_at(terms, i));
        }
    }
    return sum;
}

/* before[i] + term i as a kernel operation; nothing is written or read yet. */
static struct dti_arith_tile added(const struct addends *terms, float *before, size_t n)
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
static void kahan_narrow(const struct dti_arith_target *target, struct kahan_sum *k,
                         const float *terms, size_t n, struct kahan_tile *tile)
{
    double sum = (double)k->sum, c = (double)k->correction;
    struct grid grid = grid_of(target, sum);
    double raised = sum + grid.magic;
    for (size_t i = 0; i < n; i++) {
        const double y = add_rounded(target, (double)terms[i], -c);
        const double next = raised + y, change = next - raised;
        double t = next - grid.magic;
        if (is_within(&grid, sum, y, t) && fabs(change) < grid.high) {
            c = change - y;
            raised = next;
        } else {
            t = add_rounded(target, sum, y);
            c = add_rounded(target, add_rounded(target, t, -sum), -y);
            grid = grid_of(target, t);
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
    const struct dti_arith_target *const target = &bulk->target;
    struct kahan_tile sums;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, sums.before, sums.corrected, NULL, n};
    if (is_plain_fp32(bulk))
        kahan_fp32(k, terms, n, &sums);
    else
        kahan_narrow(target, k, terms, n, &sums);
    if (!(fabsf(k->sum) < INFINITY) || !(fabsf(k->correction) < INFINITY))
        return false;
    count_results(bulk, &tile, first, 1);
    return true;
}

/* Marks of a chain: the running sum is inexact from the first inexact sum or term on. */
static void mark_chain(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                       const float *after, const uint8_t *terms, size_t first, size_t step,
                       bool *rounded)
{
    static const uint8_t none[TILE];
    const uint8_t *const plain[3] = {none, none, none};
    uint8_t inexact[TILE], before[TILE];
    (void)bulk->kernel->mark(tile, &bulk->target, after, plain, false, inexact);
    for (size_t i = 0; i < tile->n; i++) {
        before[i] = *rounded;
        *rounded |= inexact[i] | terms[i];
    }
    const uint8_t *const marks[3] = {before, terms, before}; /* of a fused operation: unused */
    mark_tile(bulk, tile, after, marks, first, step, inexact);
}

/* A running blocked sum: chains of `block` terms, and a chain of the blocks' sums. */
struct running {
    uint64_t block, in_block; /* length of a block; elements of the current block done so far */
    size_t blocks;            /* blocks finished and added to `total` */
    float sum, total;
    bool rounded, total_rounded; /* with marks: whether these are inexact */
    size_t waiting;              /* sums of finished blocks not yet in `total` */
    float sums[TILE];
    uint8_t marks[TILE]; /* of these */
};

static void flush(const struct dti_bulk *bulk, struct running *r)
{
    float before[TILE], after[TILE];
    const struct addends terms = {r->sums, NULL};
    const size_t first = r->blocks * (size_t)r->block, step = (size_t)r->block;
    if (r->waiting == 0)
        return;
    r->total = add_chain(bulk, &terms, 0, r->waiting, r->total, before, after);
    const struct dti_arith_tile tile = added(&terms, before, r->waiting);
    count_results(bulk, &tile, first, step);
    if (bulk->marks)
        mark_chain(bulk, &tile, after, r->marks, first, step, &r->total_rounded);
    r->blocks += r->waiting;
    r->waiting = 0;
}

static void end_block(const struct dti_bulk *bulk, struct running *r)
{
    r->marks[r->waiting] = r->rounded;
    r->sums[r->waiting++] = r->sum;
    r->rounded = false;
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
    const size_t width = bulk->code_bytes;
    const unsigned char *from = (const unsigned char *)codes + first * width;
    for (size_t k = 0; k < SIDE_BY_SIDE; k++, from += step * width)
        memcpy(near + width * k, from, width);
    dti_bulk_load(bulk, ret, near, SIDE_BY_SIDE);
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
    if (r->block > count / SIDE_BY_SIDE || r->in_block > 0 || bulk->marks)
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
                      const uint8_t *marks, size_t n, size_t first)
{
    float before[TILE], after[TILE];
    const struct dti_arith_tile tile = added(terms, before, n);
    for (size_t at = 0; at < n;) {
        const uint64_t room = r->block - r->in_block;
        const size_t end = room < n - at ? at + (size_t)room : n;
        r->sum = add_chain(bulk, terms, at, end, r->sum, before, after);
        if (bulk->marks) {
            const struct dti_arith_tile part = part_of(&tile, at, end - at);
            mark_chain(bulk, &part, after + at, marks + at, first + at, 1, &r->rounded);
        }
        r->in_block += end - at;
        at = end;
        if (r->in_block == r->block)
            end_block(bulk, r);
    }
    count_results(bulk, &tile, first, 1);
}

/* A stack of sums over powers of two of terms; each covers at most half as many as the one
 * below. */
struct pairs {
    unsigned depth;
    struct {
        float sum;
        uint8_t mark;
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
    if (bulk->marks) {
        const uint8_t *const marks[3] = {&p->part[last - 1].mark, &p->part[last].mark, NULL};
        uint8_t mark;
        mark_tile(bulk, &tile, &sum, marks, p->part[last].first, 1, &mark);
        p->part[last - 1].mark = mark;
    }
    *left = sum;
    p->part[last - 1].length += p->part[last].length;
}

/* Pushes n terms, a power of two, summed pairwise: neighbours, then neighbouring pairs.
 * Overwrites them. */
static void push(const struct dti_bulk *bulk, struct pairs *p, float *terms, uint8_t *marks,
                 size_t n, size_t first)
{
    float left[TILE / 2], right[TILE / 2];
    uint8_t left_marks[TILE / 2], right_marks[TILE / 2];
    const uint8_t *const both[3] = {left_marks, right_marks, NULL};
    unsigned char codes[TILE / 2 * sizeof(float)];
    for (size_t length = 1; length < n; length *= 2) {
        const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, right, NULL, n / length / 2};
        for (size_t i = 0; i < tile.n; i++) {
            left[i] = terms[2 * i];
            right[i] = terms[2 * i + 1];
        }
        for (size_t i = 0; i < tile.n && bulk->marks; i++) {
            left_marks[i] = marks[2 * i];
            right_marks[i] = marks[2 * i + 1];
        }
        compute_tile(bulk, &tile, first + length, 2 * length, codes, terms);
        if (bulk->marks)
            mark_tile(bulk, &tile, terms, both, first + length, 2 * length, marks);
    }
    p->part[p->depth].sum = terms[0];
    p->part[p->depth].mark = bulk->marks ? marks[0] : 0;
    p->part[p->depth].first = first;
    p->part[p->depth++].length = n;
    while (p->depth > 1 && p->part[p->depth - 2].length == p->part[p->depth - 1].length)
        join(bulk, p);
}

static void add_pairs(const struct dti_bulk *bulk, struct pairs *p, float *terms, uint8_t *marks,
                      size_t n, size_t first)
{
    size_t at = 0;
    for (size_t length = TILE; length > 0; length /= 2) {
        for (; n - at >= length; at += length)
            push(bulk, p, terms + at, marks + at, length, first + at);
    }
}

/* The marks of elements of an operand. */
static void load_marks(const struct dti_bulk *bulk, unsigned operand, uint8_t *ret, size_t first,
                       size_t n)
{
    const struct dti_calc_bulk_marks *const m = bulk->marks;
    if (m->operand[operand])
        memcpy(ret, m->operand[operand] + first, n);
    else
        memset(ret, m->all[operand], n);
}

/* A tile of terms of a sum. */
struct terms {
    float x[TILE], y[TILE], products[TILE];
    uint8_t marks[TILE];
};

/* Loads terms, and multiplies them for a dot product that is not fused. */
static void load_terms(const struct dti_bulk *bulk, struct terms *t, const void *a, const void *b,
                       bool multiply, size_t first, size_t n)
{
    const size_t offset = first * bulk->code_bytes;
    const struct dti_arith_tile tile = {DTI_ARITH_MULTIPLY, t->x, t->y, NULL, n};
    unsigned char codes[TILE * sizeof(float)];
    uint8_t x_marks[TILE], y_marks[TILE];
    const uint8_t *const marks[3] = {x_marks, y_marks, NULL};
    dti_bulk_load(bulk, t->x, (const unsigned char *)a + offset, n);
    if (b)
        dti_bulk_load(bulk, t->y, (const unsigned char *)b + offset, n);
    if (multiply)
        compute_tile(bulk, &tile, first, 1, codes, t->products);
    if (!bulk->marks)
        return;
    load_marks(bulk, 0, x_marks, first, n);
    if (b)
        load_marks(bulk, 1, y_marks, first, n);
    if (multiply)
        mark_tile(bulk, &tile, t->products, marks, first, 1, t->marks);
    for (size_t i = 0; i < n && !multiply; i++)
        t->marks[i] = b ? x_marks[i] | y_marks[i] : x_marks[i];
}

/* SUM of a, or DOT of a and b. A sum starts from -0, to which any first term is added exactly.
 * False if the fast path does not apply. */
static bool reduce_list(const struct dti_bulk *bulk, bool dot, const void *a, const void *b,
                        size_t count, void *ret_code)
{
    const struct dti_calc_options *const options = bulk->options;
    const enum dti_calc_order order = options->order;
    const bool fused = dot && options->fma, multiply = dot && !fused;
    struct running running = {
        .block = order == DTI_CALC_BLOCKED ? options->block : count, .sum = -0.0F, .total = -0.0F};
    struct kahan_sum kahan = {.sum = -0.0F};
    struct pairs pairs = {.depth = 0};
    struct terms t;
    if (fused && order != DTI_CALC_SEQUENTIAL && order != DTI_CALC_BLOCKED)
        return false;
    size_t at = 0, blocks = 0;
    do {
        blocks =
            order == DTI_CALC_BLOCKED ? add_blocks(bulk, &running, fused, a, b, at, count - at) : 0;
        at += blocks;
    } while (blocks > 0);
    for (; at < count && dti_calc_goes_on(options, at, count); at += TILE) {
        const size_t n = count - at < TILE ? count - at : TILE;
        float *const list = multiply ? t.products : t.x;
        const struct addends terms = {list, fused ? t.y : NULL};
        load_terms(bulk, &t, a, b, multiply, at, n);
        if (order == DTI_CALC_PAIRWISE)
            add_pairs(bulk, &pairs, list, t.marks, n, at);
        else if (order != DTI_CALC_KAHAN)
            add_terms(bulk, &running, &terms, t.marks, n, at);
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
    uint8_t marks[3][TILE];
    const uint8_t *const marked[3] = {marks[0], marks[1], marks[2]};
    const bool twice = /* x*x */
        operand_count > 1 && operands[0] == operands[1] && scalar[0] == scalar[1];
    for (unsigned k = 0; k < operand_count; k++) {
        if (!scalar[k])
            continue;
        dti_bulk_load(bulk, &numbers[k][0], operands[k], 1);
        for (size_t i = 1; i < TILE; i++)
            numbers[k][i] = numbers[k][0];
        if (bulk->marks) {
            load_marks(bulk, k, marks[k], 0, 1);
            memset(marks[k], marks[k][0], TILE);
        }
    }
    for (size_t at = 0; at < count && dti_calc_goes_on(bulk->options, at, count); at += TILE) {
        const size_t n = count - at < TILE ? count - at : TILE;
        const struct dti_arith_tile tile = {op, numbers[0], numbers[twice ? 0 : 1], numbers[2], n};
        for (unsigned k = 0; k < operand_count; k++) {
            if (scalar[k])
                continue;
            if (k != 1 || !twice)
                dti_bulk_load(bulk, numbers[k],
                              (const unsigned char *)operands[k] + at * bulk->code_bytes, n);
            if (bulk->marks)
                load_marks(bulk, k, marks[k], at, n);
        }
        compute_tile(bulk, &tile, at, 1, bytes_at(ret, bulk, at), results);
        if (bulk->marks)
            mark_tile(bulk, &tile, results, marked, at, 1, bulk->marks->ret + at);
    }
}

static bool new_plan(struct dti_plan **ret, const struct dti_format *src,
                     const struct dti_format *dst, const struct dti_policy *policy,
                     enum dti_level level)
{
    const struct dti_layout bytes = {.packing = DTI_PACKING_BYTES};
    const struct dti_request request = {.src = *src,
                                        .src_layout = bytes,
                                        .dst_layout = bytes,
                                        .cast = {.dst = *dst, .policy = *policy},
                                        .uncounted = true};
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

/* Whether arrays of the format hold its codes as casts write them, and the kernels round to it. */
static bool format_fits(const struct dti_format *format)
{
    uint64_t code;
    return format->kind == DTI_KIND_FLOAT && format->man_bits >= 1 &&
           format->specials != DTI_SPECIALS_SCALE && !dti_format_is_tapered(format) &&
           (format->width <= 8 || format->width == 16 || format->width == 32) &&
           dti_format_fits_hub32(format) && dti_code_smallest_normal(format, &code) &&
           dti_code_smallest_subnormal(format, &code);
}

/* The fp64 number of a code. */
static double number_of(const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    return dti_fp64_from_value(&value);
}

static struct dti_arith_target target_of(const struct dti_bulk *bulk)
{
    const struct dti_format *const format = bulk->format;
    const struct dti_value infinity = {.kind = DTI_CLASS_INF};
    const struct dti_policy *const policy = &bulk->options->policy;
    struct dti_arith_target ret = {.man_bits = format->man_bits,
                                   .smallest_normal = dti_fp64_smallest_normal(format),
                                   .has_nan = dti_format_has_nan(format)};
    struct dti_value huge;
    struct dti_outcome outcome;
    uint64_t code = 0;
    (void)dti_code_max(format, &code);
    ret.largest = number_of(format, code);
    int exponent;
    (void)frexp(ret.largest, &exponent); /* the largest is below 2^exponent */
    ret.over = ret.largest + ldexp(1, exponent - 1 - format->man_bits);
    (void)dti_code_smallest_subnormal(format, &code);
    ret.large = number_of(format, code) * 0x1.8p52;
    dti_value_set(&huge, false, 1, 1000);
    dti_encode(format, &huge, policy, 0, &outcome);
    ret.overflow = number_of(format, outcome.code);
    dti_encode(format, &infinity, policy, 0, &outcome);
    ret.infinity = number_of(format, outcome.code);
    ret.has_infinity = outcome.flags == 0;
    return ret;
}

void dti_bulk_close(struct dti_bulk *bulk)
{
    if (!bulk)
        return;
    dti_plan_free(bulk->to_fp32);
    dti_plan_free(bulk->from_fp32);
    dti_free(bulk);
}

struct dti_bulk *dti_bulk_open(const struct dti_format *format,
                               const struct dti_calc_options *options)
{
    const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    enum dti_level level;
    if (!format_fits(format) || options->flush || options->policy.round != DTI_ROUND_NEAREST_EVEN ||
        dti_level_choose(dti_environment("DTINFO_CPU"), &level, NULL) != DTI_OK)
        return NULL;
    struct dti_bulk *const bulk = dti_calloc(1, sizeof *bulk);
    if (!bulk)
        return NULL;
    bulk->format = format;
    bulk->options = options;
    bulk->code_bytes = dti_calc_code_bytes(format);
    bulk->kernel = dti_arith_kernel_find(level);
    bulk->target = target_of(bulk);
    if (bulk->kernel && new_plan(&bulk->to_fp32, format, fp32, &exact, level) &&
        new_plan(&bulk->from_fp32, fp32, format, &options->policy, level))
        return bulk;
    dti_bulk_close(bulk);
    return NULL;
}

bool dti_bulk_compute(struct dti_bulk *bulk, enum dti_calc_op op, void *ret,
                      const void *const operands[], const bool scalar[], size_t count,
                      const struct dti_calc_bulk_marks *marks, struct dti_calc_bulk_counts *counts)
{
    const bool reduces = op == DTI_CALC_SUM || op == DTI_CALC_DOT;
    struct dti_calc_bulk_counts found = {.inexact = 0};
    enum dti_arith_op arith = DTI_ARITH_ADD;
    unsigned operand_count = 0;
    bool done = true;
    if (count == 0 || (!reduces && !operation_of(op, &arith, &operand_count)))
        return false;
    bulk->counts = &found;
    bulk->marks = marks;
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
    const bool done =
        bulk && dti_bulk_compute(bulk, op, ret, operands, scalar, count, NULL, counts);
    dti_bulk_close(bulk);
    return done;
}
