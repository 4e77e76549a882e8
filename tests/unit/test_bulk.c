/* SPDX-License-Identifier: MIT
 *
 * Elementwise operations on lists compared with the exact core: codes, counts and first places, for
 * all pairs of codes of every exponent and sign and for random bits. */
#include "bulk_judge.h"

static const enum dti_calc_op elementwise[] = {DTI_CALC_ADD,      DTI_CALC_SUBTRACT,
                                               DTI_CALC_MULTIPLY, DTI_CALC_DIVIDE,
                                               DTI_CALC_SQRT,     DTI_CALC_FMA};
static uint32_t lists[3][PAIRS], got[PAIRS];

static void compare_lists(const struct dti_format *f, size_t n, bool in_place)
{
    static const bool no_scalar[3] = {false};
    const struct dti_calc_options options = {
        .policy = {.round = DTI_ROUND_NEAREST_EVEN, .overflow = judge_overflow}};
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
    for (unsigned d = 0; has_kernels() && d < BULK_DTYPES; d++) {
        const struct dti_format *const f = dti_format_get(bulk_dtypes[d]);
        unsigned n = 0;
        for (unsigned i = d % unit_each(5); i < PAIRS; i += unit_each(5), n++) {
            set_code(f, lists[0], n, sample_code(f, i / SAMPLE));
            set_code(f, lists[1], n, sample_code(f, i % SAMPLE));
            set_code(f, lists[2], n, sample_code(f, (unsigned)random_bits() % SAMPLE));
        }
        compare_lists(f, n, false);
    }
}

/* Numbers without infinities, as no list has one after it was stored with this policy. */
static void what_overflows_is_clamped_where_asked(void)
{
    judge_overflow = DTI_OVERFLOW_SATURATE;
    for (unsigned d = 0; has_kernels() && d < BULK_DTYPES; d++) {
        const struct dti_format *const f = dti_format_get(bulk_dtypes[d]);
        unsigned n = 0;
        for (unsigned i = d % unit_each(5); i < PAIRS; i += unit_each(5), n++) {
            for (unsigned k = 0; k < 3; k++) {
                const uint32_t code = sample_code(f, k == 2 ? (unsigned)random_bits() % SAMPLE
                                                     : k    ? i % SAMPLE
                                                            : i / SAMPLE);
                struct dti_value value;
                dti_decode(f, code, &value);
                set_code(f, lists[k], n, value.kind == DTI_CLASS_INF ? 1 : code);
            }
        }
        compare_lists(f, n, false);
    }
    judge_overflow = DTI_OVERFLOW_NATIVE;
}

/* Random bits. The third operand is often near the product, the second near the first. */
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
    for (unsigned d = 0; has_kernels() && d < BULK_DTYPES; d++) {
        for (unsigned round = 0; round < 3; round++) {
            const struct dti_format *const f = dti_format_get(bulk_dtypes[d]);
            const size_t n = PAIRS / unit_each(5);
            fill_random(f, n);
            compare_lists(f, round == 2 ? 1 : n - round, round > 0);
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
    CHECK(!dti_calc_bulk(DTI_CALC_ADD, dti_format_get(DTI_FP8_E8M0), &options, got, operands,
                         scalar, 1, &counts));
}

UNIT_MAIN(all_pairs_of_a_sample_are_those_of_the_exact_core, what_overflows_is_clamped_where_asked,
          random_bits_are_those_of_the_exact_core, one_number_stands_for_a_list,
          what_has_no_fast_way_is_refused)
