/* SPDX-License-Identifier: MIT
 *
 * Operations on lists against the exact core, element by element: codes, counts and the first
 * places, on all pairs of codes of every exponent and sign, on random bits, and on sums of every
 * order, which are written here as calc.h defines them. */
#include "calc/bulk.h"
#include "dtinfo/arith.h"
#include "dtinfo/arith_kernel.h"
#include "unit.h"

enum { SAMPLE = 256, PAIRS = SAMPLE * SAMPLE };

static uint64_t state = 20260921;

/* Machines that compute in wider registers have no kernels. */
static bool has_kernels(void)
{
    const void *const operands[3] = {"\0\0\0", "\0\0\0", NULL};
    static const bool scalar[3] = {false};
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}};
    struct dti_calc_bulk_counts counts;
    uint32_t code;
    return dti_arith_kernel_find(DTI_LEVEL_SCALAR) != NULL ||
           !CHECK(!dti_calc_bulk(DTI_CALC_ADD, dti_format_get(DTI_FP32), &options, &code, operands,
                                 scalar, 1, &counts));
}

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* 32 exponents (all, or both ends and the middle), four mantissas, both signs. */
static uint32_t sample_code(const struct dti_format *f, unsigned i)
{
    const uint32_t full = (UINT32_C(1) << f->man_bits) - 1;
    const uint32_t mantissas[] = {0, 1, full / 2 + 2, full};
    const unsigned at = i >> 3, last = (1U << f->exp_bits) - 1;
    const unsigned exponent = last == 31 ? at
                              : at < 6   ? at
                              : at < 26  ? last / 2 - 10 + at - 6
                                         : last - 31 + at;
    const uint32_t sign = (i & 1) << (f->width - 1);
    return sign | exponent << f->man_bits | mantissas[i >> 1 & 3];
}

static uint32_t code_at(const struct dti_format *f, const void *codes, size_t i)
{
    uint32_t word;
    uint16_t half;
    if (f->width == 32)
        return memcpy(&word, (const char *)codes + 4 * i, 4), word;
    return memcpy(&half, (const char *)codes + 2 * i, 2), half;
}

static void set_code(const struct dti_format *f, void *codes, size_t i, uint32_t code)
{
    const uint16_t half = (uint16_t)code;
    if (f->width == 32)
        memcpy((char *)codes + 4 * i, &code, 4);
    else
        memcpy((char *)codes + 2 * i, &half, 2);
}

static void note(struct dti_calc_bulk_counts *counts, enum dti_calc_event_kind kind, size_t place)
{
    if (counts->events[kind]++ == 0 || place < counts->first[kind])
        counts->first[kind] = place;
}

static bool is_number(const struct dti_value *v)
{
    return v->class == DTI_CLASS_ZERO || v->class == DTI_CLASS_FINITE;
}

/* One rounded operation, and what calc.h calls it. */
static uint32_t judge(const struct dti_format *f, enum dti_calc_op op, const uint32_t code[3],
                      size_t place, struct dti_calc_bulk_counts *counts)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value v[3], exact, product, stored;
    struct dti_outcome outcome;
    unsigned flags = 0;
    for (unsigned k = 0; k < 3; k++)
        dti_decode(f, code[k], &v[k]);
    if (op == DTI_CALC_ADD)
        flags = dti_value_add(&exact, &v[0], &v[1], policy.round);
    else if (op == DTI_CALC_SUBTRACT)
        flags = dti_value_subtract(&exact, &v[0], &v[1], policy.round);
    else if (op == DTI_CALC_MULTIPLY)
        flags = dti_value_multiply(&exact, &v[0], &v[1]);
    else if (op == DTI_CALC_DIVIDE)
        flags = dti_value_divide(&exact, &v[0], &v[1]);
    else if (op == DTI_CALC_SQRT)
        flags = dti_value_sqrt(&exact, &v[0]);
    else
        flags = dti_value_fma(&exact, &v[0], &v[1], &v[2], policy.round);
    dti_encode(f, &exact, &policy, 0, &outcome);
    dti_decode(f, outcome.code, &stored);

    const bool inexact = (outcome.flags & DTI_FLAG_INEXACT) != 0;
    counts->inexact += inexact;
    if (outcome.flags & DTI_FLAG_OVERFLOW)
        note(counts, DTI_CALC_OVERFLOW, place);
    if ((flags & DTI_ARITH_INVALID) &&
        !(op == DTI_CALC_FMA && v[2].class == DTI_CLASS_NAN)) /* a NaN was there before */
        note(counts, DTI_CALC_NAN, place);
    if (flags & DTI_ARITH_DIVIDE_BY_ZERO)
        note(counts, DTI_CALC_DIVIDE_BY_ZERO, place);
    if (stored.class == DTI_CLASS_ZERO && exact.class == DTI_CLASS_FINITE)
        note(counts, DTI_CALC_TO_ZERO, place);
    if (inexact && stored.class == DTI_CLASS_FINITE && (outcome.flags & DTI_FLAG_UNDERFLOW))
        note(counts, DTI_CALC_SUBNORMAL, place);
    (void)dti_value_multiply(&product, &v[0], &v[1]);
    const bool both = v[0].class == DTI_CLASS_FINITE && v[1].class == DTI_CLASS_FINITE;
    struct dti_value other = v[1];
    other.negative = op == DTI_CALC_SUBTRACT ? !other.negative : other.negative;
    if ((op == DTI_CALC_ADD || op == DTI_CALC_SUBTRACT) && both && is_number(&stored) &&
        (dti_value_compare(&stored, &v[0]) == 0 || dti_value_compare(&stored, &other) == 0))
        note(counts, DTI_CALC_ABSORBED, place);
    if (op == DTI_CALC_FMA && both && v[2].class == DTI_CLASS_FINITE && is_number(&stored) &&
        dti_value_compare(&stored, &v[2]) == 0)
        note(counts, DTI_CALC_ABSORBED, place);
    return (uint32_t)outcome.code;
}

static bool same_counts(const struct dti_calc_bulk_counts *got,
                        const struct dti_calc_bulk_counts *want)
{
    bool same = CHECK_U64(got->inexact, want->inexact);
    for (unsigned k = 0; k < DTI_CALC_EVENT_COUNT; k++) {
        if (!CHECK_U64(got->events[k], want->events[k]) ||
            (want->events[k] && !CHECK_U64(got->first[k], want->first[k]))) {
            printf("    (%s)\n", dti_calc_event_name((enum dti_calc_event_kind)k));
            same = false;
        }
    }
    return same;
}

static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_FP16, DTI_BF16};
static const enum dti_calc_op elementwise[] = {DTI_CALC_ADD,      DTI_CALC_SUBTRACT,
                                               DTI_CALC_MULTIPLY, DTI_CALC_DIVIDE,
                                               DTI_CALC_SQRT,     DTI_CALC_FMA};
static uint32_t lists[3][PAIRS], got[PAIRS];

static void compare_lists(const struct dti_format *f, size_t n, bool in_place)
{
    static const bool no_scalar[3] = {false};
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}};
    const void *const operands[3] = {lists[0], lists[1], lists[2]};
    for (size_t o = 0; o < sizeof elementwise / sizeof elementwise[0]; o++) {
        struct dti_calc_bulk_counts counts, want = {.inexact = 0};
        uint32_t kept[3];
        void *const ret = in_place ? lists[0] : got;
        static uint32_t expected[PAIRS];
        for (size_t i = 0; i < n; i++) {
            for (unsigned k = 0; k < 3; k++)
                kept[k] = code_at(f, lists[k], i);
            expected[i] = judge(f, elementwise[o], kept, i, &want);
        }
        if (!CHECK(
                dti_calc_bulk(elementwise[o], f, &options, ret, operands, no_scalar, n, &counts)))
            return;
        for (size_t i = 0; i < n; i++) {
            if (!CHECK_U64(code_at(f, ret, i), expected[i])) {
                printf("    %s %s of %#x %#x %#x\n", f->name, dti_calc_op_get(elementwise[o])->name,
                       code_at(f, lists[0], i), code_at(f, lists[1], i), code_at(f, lists[2], i));
                break;
            }
        }
        if (!same_counts(&counts, &want))
            printf("    %s %s\n", f->name, dti_calc_op_get(elementwise[o])->name);
    }
}

static void all_pairs_of_a_sample_are_those_of_the_exact_core(void)
{
    for (unsigned d = 0; has_kernels() && d < 3; d++) {
        const struct dti_format *const f = dti_format_get(dtypes[d]);
        for (unsigned i = 0; i < PAIRS; i++) {
            set_code(f, lists[0], i, sample_code(f, i / SAMPLE));
            set_code(f, lists[1], i, sample_code(f, i % SAMPLE));
            set_code(f, lists[2], i, sample_code(f, (unsigned)random_bits() % SAMPLE));
        }
        compare_lists(f, PAIRS, false);
    }
}

/* Random bits; the third operand often near the product, and the second near the first. */
static void fill_random(const struct dti_format *f, size_t n)
{
    const uint32_t mask = (uint32_t)dti_low_bits(f->width);
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = (uint32_t)random_bits() & mask, kind = (uint32_t)random_bits() & 3;
        uint32_t b = (uint32_t)random_bits() & mask, c = (uint32_t)random_bits() & mask;
        if (kind != 0)
            b = (a + (uint32_t)random_bits() % (8U << f->man_bits)) & mask;
        if (kind > 1) {
            struct dti_calc_bulk_counts ignored = {.inexact = 0};
            const uint32_t codes[3] = {a, b, 0};
            c = judge(f, DTI_CALC_MULTIPLY, codes, 0, &ignored) ^ UINT32_C(1) << (f->width - 1);
            c = (c + (uint32_t)random_bits() % (kind == 2 ? 3U : 64U << f->man_bits)) & mask;
        }
        set_code(f, lists[0], i, a);
        set_code(f, lists[1], i, b);
        set_code(f, lists[2], i, c);
    }
}

static void random_bits_are_those_of_the_exact_core(void)
{
    for (unsigned d = 0; has_kernels() && d < 3; d++) {
        for (unsigned round = 0; round < 3; round++) {
            const struct dti_format *const f = dti_format_get(dtypes[d]);
            fill_random(f, PAIRS);
            compare_lists(f, round == 2 ? 1 : PAIRS - round, round > 0);
        }
    }
}

static void one_number_stands_for_a_list(void)
{
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}};
    const struct dti_format *const f = dti_format_get(DTI_BF16);
    for (unsigned mask = 0; has_kernels() && mask < 8; mask++) {
        const bool scalar[3] = {mask & 1, mask & 2, mask & 4};
        const void *const operands[3] = {lists[0], lists[1], lists[2]};
        struct dti_calc_bulk_counts counts, want = {.inexact = 0};
        fill_random(f, 3000);
        CHECK(dti_calc_bulk(DTI_CALC_FMA, f, &options, got, operands, scalar, 3000, &counts));
        for (size_t i = 0; i < 3000; i++) {
            uint32_t code[3];
            for (unsigned k = 0; k < 3; k++)
                code[k] = code_at(f, lists[k], scalar[k] ? 0 : i);
            if (!CHECK_U64(code_at(f, got, i), judge(f, DTI_CALC_FMA, code, i, &want)))
                break;
        }
        (void)same_counts(&counts, &want);
    }
}

/* The sums of calc.h, from the definition. */
struct sum {
    const struct dti_format *f;
    const uint32_t *terms; /* of SUM, and rounded products */
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

/* 0: integers, with ties; 1: numbers of alike size; 2: all exponents; 3: zeros and subnormals; 4:
 * with an infinity or a NaN; 5: products of the smallest; 6: products of about half a step of 1. */
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
    case 6:
        return (sign & r << 3) |
               ((one - (r & 1 ? (f->man_bits + 1U) << f->man_bits : 0)) + (r >> 1 & 1));
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
        sum = by_blocks(&s, n, options->block);
    const bool done = dti_calc_bulk(op, f, options, &stored, operands, no_scalar, n, &counts);
    if (!done && CHECK(options->order == DTI_CALC_KAHAN)) {
        const uint32_t inf = (uint32_t)dti_low_bits(f->exp_bits) << f->man_bits;
        CHECK((sum & inf) == inf);
        return;
    }
    const bool same = same_counts(&counts, &want);
    if (!CHECK_U64(code_at(f, &stored, 0), sum) || !same)
        printf("    %s, %s of %zu terms of kind %u, order %d, block %" PRIu64 "%s\n", f->name,
               op == DTI_CALC_DOT ? "dot" : "sum", n, kind, (int)options->order, options->block,
               options->fma ? ", fma" : "");
}

static void sums_are_those_of_the_definition(void)
{
    static const size_t lengths[] = {1, 2, 3, 5, 13, 100, 1023, 1024, 1025, 3333};
    static const uint64_t blocks[] = {1, 2, 3, 7, 1000, 1024, 4000};
    for (unsigned at = 0; has_kernels() && at < 3 * 7 * 10; at++) {
        const struct dti_format *const f = dti_format_get(dtypes[at % 3]);
        const unsigned kind = at / 3 % 7;
        const size_t n = lengths[at / 21];
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
            for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
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

static void what_has_no_fast_way_is_refused(void)
{
    const void *const operands[3] = {lists[0], lists[1], lists[2]};
    const bool scalar[3] = {false};
    struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}};
    struct dti_calc_bulk_counts counts;
    const struct dti_format *const bf16 = dti_format_get(DTI_BF16);
    CHECK(!dti_calc_bulk(DTI_CALC_ADD, dti_format_get(DTI_FP64), &options, got, operands, scalar, 1,
                         &counts));
    CHECK(!dti_calc_bulk(DTI_CALC_EXP, bf16, &options, got, operands, scalar, 1, &counts));
    options.flush = true;
    CHECK(!dti_calc_bulk(DTI_CALC_ADD, bf16, &options, got, operands, scalar, 1, &counts));
    options.flush = false;
    options.policy.round = DTI_ROUND_ZERO;
    CHECK(!dti_calc_bulk(DTI_CALC_ADD, bf16, &options, got, operands, scalar, 1, &counts));
    options.policy.round = DTI_ROUND_NEAREST_EVEN;
    options.policy.overflow = DTI_OVERFLOW_SATURATE;
    CHECK(!dti_calc_bulk(DTI_CALC_ADD, bf16, &options, got, operands, scalar, 1, &counts));
}

UNIT_MAIN(all_pairs_of_a_sample_are_those_of_the_exact_core,
          random_bits_are_those_of_the_exact_core, one_number_stands_for_a_list,
          sums_are_those_of_the_definition, what_has_no_fast_way_is_refused)
