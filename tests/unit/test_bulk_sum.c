/* SPDX-License-Identifier: MIT
 *
 * Sums and dot products of lists in every order, compared with the exact core and the orders
 * defined by calc.h. */
#include "bulk_judge.h"
#include "kernels/fp64.h"

enum { TRIALS = 500 };

static uint32_t lists[2][PAIRS];

/* The sums of calc.h, computed from the definition. */
struct sum {
    const struct dti_format *f;
    const uint32_t *terms; /* of SUM, or rounded products */
    bool fused;
    struct dti_calc_bulk_counts *counts;
};

static uint32_t add(const struct sum *s, uint32_t a, uint32_t b, size_t place)
{
    const uint32_t code[3] = {a, b, 0};
    return judge(s->f, DTI_CALC_ADD, code, place, s->counts);
}

static uint32_t sequential(const struct sum *s, size_t from, size_t to)
{
    uint32_t sum = s->terms[from];
    for (size_t i = from + 1; i < to; i++) {
        const uint32_t code[3] = {code_at(s->f, lists[0], i), code_at(s->f, lists[1], i), sum};
        sum =
            s->fused ? judge(s->f, DTI_CALC_FMA, code, i, s->counts) : add(s, sum, s->terms[i], i);
    }
    return sum;
}

static uint32_t by_halves(const struct sum *s, size_t from, size_t to)
{
    size_t half = 1;
    if (to - from == 1)
        return s->terms[from];
    while (2 * half < to - from)
        half *= 2;
    const uint32_t left = by_halves(s, from, from + half), right = by_halves(s, from + half, to);
    return add(s, left, right, from + half);
}

static uint32_t by_blocks(const struct sum *s, size_t n, size_t block)
{
    uint32_t total = sequential(s, 0, n < block ? n : block);
    for (size_t at = block; at < n; at += block)
        total = add(s, total, sequential(s, at, n - at < block ? n : at + block), at);
    return total;
}

static uint32_t opposite(const struct dti_format *f, uint32_t code)
{
    if (code == 0 && !dti_format_has_minus_zero(f))
        return 0;
    return code ^ UINT32_C(1) << (f->width - 1);
}

static uint32_t by_kahan(const struct sum *s, size_t n)
{
    struct dti_calc_bulk_counts ignored = {.inexact = 0};
    struct sum quiet = *s;
    uint32_t sum = s->terms[0], correction = 0;
    quiet.counts = &ignored;
    for (size_t i = 1; i < n; i++) {
        const uint32_t y = add(&quiet, s->terms[i], opposite(s->f, correction), i);
        const uint32_t t = add(s, sum, y, i);
        correction = add(&quiet, add(&quiet, t, opposite(s->f, sum), i), opposite(s->f, y), i);
        sum = t;
    }
    s->counts->events[DTI_CALC_ABSORBED] = 0;
    return sum;
}

/* 0: integers, with ties; 1: numbers of similar magnitude; 2: all exponents; 3: zeros and
 * subnormals; 4: with an infinity or a NaN; 5: products of the smallest numbers. */
static uint32_t term(const struct dti_format *f, unsigned kind)
{
    const uint32_t one = (uint32_t)((1U << (f->exp_bits - 1)) - 1) << f->man_bits;
    const uint32_t r = (uint32_t)random_bits(), sign = (r >> 31) << (f->width - 1);
    const struct dti_policy policy = {.round = DTI_ROUND_ZERO};
    struct dti_value value;
    struct dti_outcome outcome;
    switch (kind) {
    case 0:
        dti_value_set(&value, (r & 15) == 0, r >> 8 & 15, 0);
        dti_encode(f, &value, &policy, 0, &outcome);
        return (uint32_t)outcome.code;
    case 1:
        return sign | (one + r % (1U << f->man_bits));
    case 2:
        return sign | r % ((((1U << f->exp_bits) - 1) << f->man_bits) - 1);
    case 3:
        return sign | r % (2U << f->man_bits) * (r >> 20 & 1);
    case 4:
        return (r & 1023) == 0 ? sample_code(f, 248 + (r >> 10) % 8)
                               : sign | (one + r % (1U << f->man_bits));
    default:
        return sign | (one / 2 + r % (3U << f->man_bits));
    }
}

static void compare_sum(const struct dti_format *f, size_t n, unsigned kind, enum dti_calc_op op,
                        const struct dti_calc_options *options)
{
    static const bool no_scalar[3] = {false};
    static uint32_t terms[PAIRS];
    const void *const operands[3] = {lists[0], lists[1], NULL};
    struct dti_calc_bulk_counts counts, want = {.inexact = 0};
    const struct sum s = {f, terms, op == DTI_CALC_DOT && options->fma, &want};
    uint32_t sum, stored = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t code[3] = {code_at(f, lists[0], i), code_at(f, lists[1], i), 0};
        struct dti_calc_bulk_counts ignored = {.inexact = 0};
        const bool rounds = !s.fused || i % options->block == 0;
        terms[i] = op == DTI_CALC_SUM
                       ? code[0]
                       : judge(f, DTI_CALC_MULTIPLY, code, i, rounds ? &want : &ignored);
    }
    if (options->order == DTI_CALC_PAIRWISE)
        sum = by_halves(&s, 0, n);
    else if (options->order == DTI_CALC_KAHAN)
        sum = by_kahan(&s, n);
    else
        sum = by_blocks(&s, n, (size_t)options->block);
    const bool done = dti_calc_bulk(op, f, options, &stored, operands, no_scalar, n, &counts);
    if (!done && CHECK(options->order == DTI_CALC_KAHAN)) {
        struct dti_value value;
        dti_decode(f, sum, &value);
        CHECK(!is_number(&value));
        return;
    }
    const bool same = same_counts(&counts, &want);
    if (!CHECK_U64(code_at(f, &stored, 0), sum) || !same)
        printf("    %s, %s of %zu terms of kind %u, order %d, block %" PRIu64 "%s\n", f->name,
               op == DTI_CALC_DOT ? "dot" : "sum", n, kind, (int)options->order, options->block,
               options->fma ? ", fma" : "");
}

static double number_of(const struct dti_format *f, uint32_t code)
{
    struct dti_value value;
    dti_decode(f, code, &value);
    return dti_fp64_from_value(&value);
}

static uint32_t code_near(const struct dti_format *f, double number)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_fp64_to_value(number, &value);
    dti_encode(f, &value, &policy, 0, &outcome);
    return ((uint32_t)outcome.code + (uint32_t)random_bits() % 5 - 2) &
           (uint32_t)dti_low_bits(f->width);
}

/* Terms chosen from the running sum: most change it by about half a step; some move it to the end
 * of a binade, to another binade, or across zero. */
static void fill_by_the_sum(const struct dti_format *f, size_t n, bool fused)
{
    const uint32_t one = (uint32_t)((1U << (f->exp_bits - 1)) - 1) << f->man_bits;
    struct dti_calc_bulk_counts ignored = {.inexact = 0};
    uint32_t sum = one;
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = (uint32_t)random_bits();
        const uint32_t x = fused ? one + r % (1U << f->man_bits) : one;
        const double from = number_of(f, sum), end = ldexp(r & 1 ? 1 : -1, (int)(r >> 1 & 15) - 8);
        const double step = from * ldexp(1, -f->man_bits - 1);
        const double targets[] = {end, -from, from / 2, 2 * from, end * 1.5, 0, from + step, from};
        const double target =
            (r >> 12 & 15) == 0 ? targets[r >> 8 & 7] : from + step * (r >> 16 & 3);
        const uint32_t y = code_near(f, (target - from) / number_of(f, x));
        const uint32_t code[3] = {x, y, sum};
        set_code(f, lists[0], i, fused ? x : y);
        set_code(f, lists[1], i, fused ? y : one);
        sum = i == 0 ? judge(f, DTI_CALC_MULTIPLY, code, 0, &ignored)
                     : judge(f, DTI_CALC_FMA, code, 0, &ignored);
    }
}

static void sums_that_change_binades_are_those_of_the_definition(void)
{
    for (unsigned trial = 0; has_kernels() && trial < BULK_DTYPES * 2 * TRIALS / unit_each(5);
         trial++) {
        const struct dti_format *const f = dti_format_get(bulk_dtypes[trial % BULK_DTYPES]);
        const size_t n = (size_t)(1 + random_bits() % 150);
        struct dti_calc_options options = {
            .policy = {.round = DTI_ROUND_NEAREST_EVEN}, .fma = trial & 1, .block = UINT64_MAX};
        fill_by_the_sum(f, n, options.fma);
        compare_sum(f, n, 6, DTI_CALC_DOT, &options);
        options.fma = false;
        options.order = DTI_CALC_KAHAN;
        compare_sum(f, n, 6, DTI_CALC_DOT, &options);
    }
}

static void sums_are_those_of_the_definition(void)
{
    static const size_t lengths[] = {1, 2, 3, 5, 13, 100, 1023, 1024, 1025, 3333};
    static const uint64_t blocks[] = {1, 2, 3, 7, 1000, 1024, 4000};
    for (unsigned at = 0; has_kernels() && at < BULK_DTYPES * 6 * 10; at += unit_each(2)) {
        const struct dti_format *const f = dti_format_get(bulk_dtypes[at % BULK_DTYPES]);
        const unsigned kind = at / BULK_DTYPES % 6;
        const size_t n = lengths[at / (BULK_DTYPES * 6)];
        for (size_t i = 0; i < n; i++) {
            set_code(f, lists[0], i, term(f, kind));
            set_code(f, lists[1], i, term(f, kind));
        }
        for (unsigned way = 0; way < 4; way++) {
            const enum dti_calc_op op = way < 2 ? DTI_CALC_SUM : DTI_CALC_DOT;
            struct dti_calc_options options = {
                .policy = {.round = DTI_ROUND_NEAREST_EVEN}, .fma = way == 3, .block = UINT64_MAX};
            compare_sum(f, n, kind, op, &options);
            options.order = DTI_CALC_BLOCKED;
            for (size_t b = (at + at / (BULK_DTYPES * 6) + way) % unit_each(3);
                 b < sizeof blocks / sizeof blocks[0]; b += unit_each(3)) {
                options.block = blocks[b];
                compare_sum(f, n, kind, op, &options);
            }
            options.fma = false;
            options.order = DTI_CALC_PAIRWISE;
            compare_sum(f, n, kind, op, &options);
            options.order = DTI_CALC_KAHAN;
            compare_sum(f, n, kind, op, &options);
        }
    }
}

/* 1 + 2^-23, plus a product of 2^-24 (1 - 2^-46): less than half a step, but exactly half when
 * rounded to fp64. */
static void a_fused_product_is_not_rounded_to_fp64(void)
{
    static const uint32_t x[] = {0x3f800001, 0x3f800001}, y[] = {0x3f800000, 0x337ffffe};
    static const bool no_scalar[3] = {false};
    const void *const operands[3] = {x, y, NULL};
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN},
                                             .fma = true};
    struct dti_calc_bulk_counts counts;
    uint32_t sum = 0;
    if (has_kernels() && CHECK(dti_calc_bulk(DTI_CALC_DOT, dti_format_get(DTI_FP32), &options, &sum,
                                             operands, no_scalar, 2, &counts))) {
        CHECK_U64(sum, 0x3f800001);
        CHECK_U64(counts.events[DTI_CALC_ABSORBED], 1);
    }
}

/* -1.5 plus a product: the sum is a third of a step of 1 below 1, where steps are half as wide. */
static void a_sum_that_changes_its_sign_leaves_its_binade(void)
{
    static const uint16_t ones[3] = {0xbe00, 0x3c00, 0x3c0c}, others[3] = {0x3c00, 0, 0x40f1};
    uint16_t x[20], y[20], sum = 0;
    static const bool no_scalar[3] = {false};
    const void *const operands[3] = {x, y, NULL};
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN},
                                             .fma = true};
    struct dti_calc_bulk_counts counts;
    for (size_t i = 0; i < 20; i++) { /* the grid starts only after 16 terms */
        const size_t which = i == 0 ? 0 : i == 19 ? 2 : 1;
        x[i] = ones[which];
        y[i] = others[which];
    }
    if (has_kernels() && CHECK(dti_calc_bulk(DTI_CALC_DOT, dti_format_get(DTI_FP16), &options, &sum,
                                             operands, no_scalar, 20, &counts)))
        CHECK_U64(sum, 0x3bff);
}

UNIT_MAIN(sums_are_those_of_the_definition, sums_that_change_binades_are_those_of_the_definition,
          a_fused_product_is_not_rounded_to_fp64, a_sum_that_changes_its_sign_leaves_its_binade)
