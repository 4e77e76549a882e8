/* SPDX-License-Identifier: MIT
 *
 * The loss of arrays: worked examples of the definition, and every kernel compared with the
 * definition. */
#include "kernels/scan/loss.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/fp64.h"
#include "unit.h"

enum { TILES = 2, SIZE = TILES * DTI_TILE };

static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

/* An array: its values, its codes and its numbers in the hub formats. */
static struct {
    struct dti_value value[SIZE];
    uint64_t code[SIZE], stored[SIZE];
    float f32_source[SIZE], f32_stored[SIZE];
    double f64_source[SIZE], f64_stored[SIZE];
} array;

static double number_of(const struct dti_value *value)
{
    const double sign = value->negative ? -1 : 1;
    switch (value->kind) {
    case DTI_CLASS_ZERO:
        return copysign(0, sign);
    case DTI_CLASS_FINITE:
        return dti_fp64_from_value(value);
    case DTI_CLASS_INF:
        return copysign(INFINITY, sign);
    case DTI_CLASS_NAN:
        break;
    }
    return NAN;
}

enum kind { ANY_BITS, IN_RANGE, AROUND_THE_END, SMALL, MIXED, UNRELATED, KIND_COUNT };

/* A source code whose number is likely to lose something in dst. */
static uint64_t draw(const struct dti_loss_rule *rule, enum kind kind)
{
    const struct dti_format *src = &rule->src, *dst = &rule->dst;
    const uint64_t word = random_word();
    uint64_t code = word & dti_low_bits(src->width);
    uint64_t end = 0;
    int64_t exponent = (int64_t)(random_word() % 12);
    struct dti_value limit;
    struct dti_outcome outcome;
    if (kind == ANY_BITS || (kind == UNRELATED && src->id != dst->id) ||
        (kind == MIXED && word >> 50 == 0))
        return code;
    if (kind == MIXED && word >> 60 == 0)
        return 0;
    (void)dti_code_max(dst, &end);
    dti_decode(dst, end, &limit);
    if (kind == IN_RANGE || kind == MIXED || kind == UNRELATED)
        exponent = limit.exponent - exponent;
    else if (kind == AROUND_THE_END)
        exponent = limit.exponent + exponent % 3 - 1;
    else if (dti_format_is_float(dst))
        exponent = dti_format_min_exponent(dst) - dst->man_bits - 2 + exponent;
    else
        exponent = exponent - 6;
    struct dti_value value;
    dti_value_set(&value, word >> 63 != 0, random_word() | UINT64_C(1) << 63, exponent - 63);
    dti_encode(src, &value, &nearest, 0, &outcome);
    return outcome.code;
}

/* Codes that no cast stores: random ones or, from a dtype to itself, the source with some
 * significand bits and the last exponent bit cleared, or zero. */
static uint64_t unrelated(const struct dti_loss_rule *rule, uint64_t source)
{
    const uint64_t word = random_word();
    if (rule->src.id != rule->dst.id)
        return word & dti_low_bits(rule->dst.width);
    return word >> 58 == 0 ? 0 : source & ~(word & dti_low_bits(rule->src.man_bits + 1u));
}

static void fill(const struct dti_loss_rule *rule, enum kind kind, uint64_t index)
{
    for (size_t i = 0; i < SIZE; i++) {
        struct dti_value stored;
        struct dti_outcome outcome;
        array.code[i] = draw(rule, kind);
        dti_decode(&rule->src, array.code[i], &array.value[i]);
        dti_encode(&rule->dst, &array.value[i], &rule->policy, index + i, &outcome);
        array.stored[i] = kind == UNRELATED ? unrelated(rule, array.code[i]) : outcome.code;
        dti_decode(&rule->dst, array.stored[i], &stored);
        array.f64_source[i] = number_of(&array.value[i]);
        array.f64_stored[i] = number_of(&stored);
        array.f32_source[i] = (float)array.f64_source[i];
        array.f32_stored[i] = (float)array.f64_stored[i];
    }
}

static bool same_sum(const struct dti_exact_sum *a, const struct dti_exact_sum *b)
{
    return memcmp(a->word, b->word, sizeof a->word) == 0 && a->infinite == b->infinite;
}

/* Whether every member is equal, bit for bit. */
static bool same(const struct dti_loss *got, const struct dti_loss *want)
{
    bool ok = CHECK_U64(got->elements, want->elements);
    ok = CHECK_U64(got->inexact, want->inexact) && ok;
    ok = CHECK_U64(got->overflowed, want->overflowed) && ok;
    ok = CHECK_U64(got->to_zero, want->to_zero) && ok;
    ok = CHECK_U64(got->to_subnormal, want->to_subnormal) && ok;
    ok = CHECK_U64(got->nan_in, want->nan_in) && ok;
    ok = CHECK_U64(got->inf_in, want->inf_in) && ok;
    ok = CHECK_U64(got->no_code, want->no_code) && ok;
    ok = CHECK_U64(got->compared, want->compared) && ok;
    ok = CHECK_U64(got->first_no_code, want->first_no_code) && ok;
    ok = CHECK_U64(got->max_index, want->max_index) && ok;
    ok = CHECK_U64(dti_fp64_bits(got->max_absolute), dti_fp64_bits(want->max_absolute)) && ok;
    ok = CHECK_U64(dti_fp64_bits(got->max_relative), dti_fp64_bits(want->max_relative)) && ok;
    ok = CHECK(same_sum(&got->sum_absolute, &want->sum_absolute)) && ok;
    ok = CHECK(same_sum(&got->sum_squared, &want->sum_squared)) && ok;
    return CHECK(same_sum(&got->sum_source_squared, &want->sum_source_squared)) && ok;
}

static void run_kernel(const struct dti_loss_kernel *kernel, const struct dti_loss_rule *rule,
                       size_t at, size_t n, uint64_t index, struct dti_loss *loss)
{
    const void *source = &array.code[at], *stored = &array.stored[at];
    if (kernel->hub == DTI_LOSS_HUB32)
        source = &array.f32_source[at], stored = &array.f32_stored[at];
    else if (kernel->hub == DTI_LOSS_HUB64)
        source = &array.f64_source[at], stored = &array.f64_stored[at];
    kernel->run(rule, source, stored, n, index, loss);
}

/* Tiles of n elements in the given order: compares all kernels with the definition. Kernels of a
 * wider hub than necessary add in fp64. */
static bool agree(const struct dti_loss_rule *rule, const size_t order[TILES], size_t n,
                  uint64_t index)
{
    struct dti_loss_rule used = *rule;
    struct dti_loss wants[2];
    bool ok = true;
    dti_loss_init(&wants[false]), dti_loss_init(&wants[true]);
    for (size_t i = 0; i < 2 * TILES; i++) {
        const size_t at = order[i % TILES] * DTI_TILE, half = i / TILES;
        used.single = rule->single && half;
        dti_loss_add_values(&used, &array.value[at], &array.stored[at], n, index + at,
                            wants + half);
    }
    for (size_t k = 0; k < dti_loss_kernel_count; k++) {
        const struct dti_loss_kernel *kernel = &dti_loss_kernels[k];
        struct dti_loss got;
        if (kernel->hub < rule->hub || !dti_level_present(kernel->level) ||
            (kernel->hub == DTI_LOSS_WIDE && rule->hub != DTI_LOSS_WIDE))
            continue; /* this is the definition itself, and slow */
        dti_loss_init(&got);
        for (size_t i = 0; i < TILES; i++)
            run_kernel(kernel, rule, order[i] * DTI_TILE, n, index + order[i] * DTI_TILE, &got);
        if (!same(&got, &wants[kernel->hub == DTI_LOSS_HUB32])) {
            printf("  %s: %s -> %s, round %d, overflow %d, %zu elements\n", kernel->name,
                   rule->src.name, rule->dst.name, (int)rule->policy.round,
                   (int)rule->policy.overflow, n);
            ok = false;
        }
    }
    return ok;
}

static bool check_pair(const char *src_name, const char *dst_name, enum dti_round round,
                       enum dti_overflow overflow)
{
    static const size_t in_order[TILES] = {0, 1}, backwards[TILES] = {1, 0};
    static const size_t lengths[] = {DTI_TILE, 2047, 1, 7, 8, 9, 16, 31, 128, 0};
    const struct dti_policy policy = {.round = round, .overflow = overflow, .seed = 7};
    const uint64_t index = UINT64_C(3) << 33;
    struct dti_format src, dst;
    struct dti_loss_rule rule;
    bool ok = CHECK(dti_format_lookup(src_name, &src, NULL, NULL) == DTI_OK) &&
              CHECK(dti_format_lookup(dst_name, &dst, NULL, NULL) == DTI_OK);
    if (!ok)
        return false;
    dti_loss_rule_init(&rule, &src, &dst, &policy);
    for (unsigned kind = 0; kind < KIND_COUNT && ok; kind++) {
        const size_t short_length = lengths[1 + random_word() % 8];
        fill(&rule, (enum kind)kind, index);
        ok =
            agree(&rule, in_order, DTI_TILE, index) && agree(&rule, backwards, short_length, index);
    }
    return ok;
}

static void every_kernel_counts_as_the_definition_does(void)
{
    static const char *const pairs[][2] = {
        {"fp32", "bf16"},       {"fp32", "fp16"},        {"fp32", "fp8_e4m3fn"},
        {"fp32", "fp8_e5m2"},   {"fp32", "fp4_e2m1"},    {"fp32", "fp8_e8m0"},
        {"fp32", "int8"},       {"fp32", "uint8"},       {"fp32", "fp8_e4m3fnuz"},
        {"bf16", "fp8_e4m3fn"}, {"fp16", "bf16"},        {"bf16", "fp16"},
        {"fp32", "fp32"},       {"fp32", "binary8p3ue"}, {"fp32", "binary8p1se"},
        {"int16", "bf16"},      {"int16", "fp4_e2m1"},   {"fp64", "fp32"},
        {"fp64", "bf16"},       {"fp64", "fp64"},        {"fp64", "int32"},
        {"int32", "fp32"},      {"fp64", "uint16"},      {"int64", "fp32"},
        {"fp64", "int64"},      {"uint64", "fp64"},      {"fp32", "bool"},
        {"fp64", "e15m40"},     {"e15m40", "fp16"},      {"fp32", "e5m10b40"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (int round = DTI_ROUND_NEAREST_EVEN; round <= DTI_ROUND_STOCHASTIC; round++)
            for (int half = 0; half < 2; half++) /* every second round, all elements overflow */
                if ((!unit_quick() ||
                     (i + (size_t)round + (size_t)half) % (4 * unit_each(2)) == 0) &&
                    !check_pair(pairs[i][0], pairs[i][1], (enum dti_round)round,
                                (enum dti_overflow)(2 * half + (round & 1))))
                    return;
}

/* fp32 numbers and the codes stored for them, with the portable kernel. */
static void add_floats(enum dti_dtype dst, const float *source, const float *stored, size_t n,
                       uint64_t index, struct dti_loss *loss)
{
    struct dti_loss_rule rule;
    dti_loss_rule_init(&rule, dti_format_get(DTI_FP32), dti_format_get(dst), &nearest);
    dti_loss_kernel_find(rule.hub, DTI_LEVEL_SCALAR)->run(&rule, source, stored, n, index, loss);
}

static void figures_are_those_of_a_worked_example(void)
{
    /* to fp8_e4m3fn: 3 is exact, 1.0625 a tie to 1, 2^-11 becomes 0, 1000 overflows to NaN,
     * -0.0107421875 = -5.5 x 2^-9 becomes a subnormal of 6 steps */
    const float source[] = {3, 1.0625f, 0x1p-11f, 1000, -0.0107421875f, -INFINITY, NAN};
    const float stored[] = {3, 1, 0, NAN, -0.01171875f, NAN, NAN};
    struct dti_loss loss;
    dti_loss_init(&loss);
    add_floats(DTI_FP8_E4M3FN, source, stored, 7, 0, &loss);
    CHECK_U64(loss.elements, 7);
    CHECK_U64(loss.inexact, 5);
    CHECK_U64(loss.overflowed, 1);
    CHECK_U64(loss.to_zero, 1);
    CHECK_U64(loss.to_subnormal, 1);
    CHECK_U64(loss.nan_in, 1);
    CHECK_U64(loss.inf_in, 1);
    CHECK_U64(loss.no_code, 0);
    CHECK_U64(loss.first_no_code, UINT64_MAX);
    CHECK_U64(loss.compared, 4);
    CHECK(loss.max_absolute >= 0.0625 && loss.max_absolute <= 0.0625);
    CHECK_U64(loss.max_index, 1);
    CHECK(loss.max_relative >= 1 && loss.max_relative <= 1);
    /* (2^-4 + 2^-11 + 2^-10) / 4 */
    CHECK_U64(dti_fp64_bits(dti_loss_mean_absolute(&loss)), dti_fp64_bits(0.0639648437500 / 4));
    /* squares: 2^-8 + 2^-22 + 2^-20 = (2^14 + 5) 2^-22 */
    CHECK_U64(dti_fp64_bits(dti_exact_sum_value(&loss.sum_squared)),
              dti_fp64_bits(0x4005p0 * 0x1p-22));
    CHECK(fabs(dti_loss_sqnr_db(&loss) - 34.13674958769) < 1e-10);
}

static void a_nan_without_a_code_is_told_with_its_place(void)
{
    const float source[] = {1, NAN, -NAN}, stored[] = {1, 6, 6};
    struct dti_loss loss;
    dti_loss_init(&loss);
    add_floats(DTI_FP4_E2M1, source, stored, 3, 4 * DTI_TILE, &loss);
    CHECK_U64(loss.no_code, 2);
    CHECK_U64(loss.first_no_code, 4 * DTI_TILE + 1);
    CHECK_U64(loss.inexact, 2);
    CHECK_U64(loss.compared, 1);
}

static void nothing_lost_is_an_infinite_ratio_and_no_signal_none(void)
{
    const float one = 1, zero = 0;
    struct dti_loss loss;
    dti_loss_init(&loss);
    CHECK(isnan(dti_loss_sqnr_db(&loss)));
    CHECK(fabs(dti_loss_mean_absolute(&loss)) <= 0 && fabs(dti_loss_root_mean_square(&loss)) <= 0);
    add_floats(DTI_BF16, &zero, &zero, 1, 0, &loss);
    CHECK(isnan(dti_loss_sqnr_db(&loss)));
    add_floats(DTI_BF16, &one, &one, 1, DTI_TILE, &loss);
    CHECK(isinf(dti_loss_sqnr_db(&loss)) && dti_loss_sqnr_db(&loss) > 0);
    CHECK_U64(loss.max_index, 0);
}

static void parts_merge_to_the_same_in_any_order(void)
{
    struct dti_loss_rule rule;
    dti_loss_rule_init(&rule, dti_format_get(DTI_FP32), dti_format_get(DTI_FP8_E4M3FN), &nearest);
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        struct dti_loss whole, part[2], forward, backward;
        fill(&rule, (enum kind)kind, 0);
        memcpy(array.f32_source + DTI_TILE, array.f32_source, DTI_TILE * sizeof(float));
        memcpy(array.f32_stored + DTI_TILE, array.f32_stored, DTI_TILE * sizeof(float));
        const struct dti_loss_kernel *kernel = dti_loss_kernel_find(rule.hub, DTI_LEVEL_SCALAR);
        dti_loss_init(&whole);
        for (size_t i = 0; i < 2; i++) {
            dti_loss_init(&part[i]);
            run_kernel(kernel, &rule, i * DTI_TILE, DTI_TILE, i * DTI_TILE, &part[i]);
            run_kernel(kernel, &rule, i * DTI_TILE, DTI_TILE, i * DTI_TILE, &whole);
        }
        forward = part[0];
        backward = part[1];
        dti_loss_merge(&forward, &part[1]);
        dti_loss_merge(&backward, &part[0]);
        CHECK(same(&forward, &whole) && same(&backward, &whole));
    }
}

/* The largest ratio of two tiles, each filled with one repeated element. */
static double ratio_after(const struct dti_loss_kernel *kernel, const struct dti_loss_rule *rule,
                          const double source[2], const double stored[2])
{
    struct dti_loss loss;
    dti_loss_init(&loss);
    for (size_t i = 0; i < 2 * DTI_TILE; i++) {
        array.f64_source[i] = source[i / DTI_TILE];
        array.f64_stored[i] = stored[i / DTI_TILE];
        array.f32_source[i] = (float)array.f64_source[i];
        array.f32_stored[i] = (float)array.f64_stored[i];
    }
    run_kernel(kernel, rule, 0, DTI_TILE, 0, &loss);
    run_kernel(kernel, rule, DTI_TILE, DTI_TILE, DTI_TILE, &loss);
    return loss.max_relative;
}

/* The first ratio is slightly below that of the second tile, by so little that error - ratio x
 * source underflows there: by a quarter of 2^-23 at 2^-125 in fp32, of 2^-52 at 2^-1021 in fp64. */
static void a_ratio_is_seen_to_rise_where_its_difference_underflows(void)
{
    static const double near_4_tenths[2] = {16777214, 0x1p-125};
    static const double stored_f32[2] = {16777214 - 6710885, 0x1p-125 - 3355443 * 0x1p-148};
    static const double near_3_tenths[2] = {9007199254740990, 0x1p-1021};
    static const double stored_f64[2] = {9007199254740990 - 2702159776422295,
                                         0x1p-1021 - 1351079888211148 * 0x1p-1073};
    for (size_t k = 0; k < dti_loss_kernel_count; k++) {
        const struct dti_loss_kernel *kernel = &dti_loss_kernels[k];
        const enum dti_dtype id = kernel->hub == DTI_LOSS_HUB32 ? DTI_FP32 : DTI_FP64;
        struct dti_loss_rule rule;
        if (kernel->hub == DTI_LOSS_WIDE || !dti_level_present(kernel->level))
            continue;
        dti_loss_rule_init(&rule, dti_format_get(id), dti_format_get(id), &nearest);
        const double ratio = id == DTI_FP32 ? ratio_after(kernel, &rule, near_4_tenths, stored_f32)
                                            : ratio_after(kernel, &rule, near_3_tenths, stored_f64);
        const double want = id == DTI_FP32 ? 3355443 * 0x1p-23 : 1351079888211148 * 0x1p-52;
        if (!CHECK_U64(dti_fp64_bits(ratio), dti_fp64_bits(want)))
            printf("  %s\n", kernel->name);
    }
}

static void overflow_begins_where_the_formats_say(void)
{
    static const struct {
        enum dti_dtype dst;
        enum dti_round round;
        double from[2];    /* positive, negative */
        uint64_t after[2]; /* 1: from the next fp64 on, because this is a tie that rounds back */
    } rows[] = {
        {DTI_FP16, DTI_ROUND_NEAREST_EVEN, {65520, 65520}, {0, 0}},
        {DTI_FP16, DTI_ROUND_ZERO, {65536, 65536}, {0, 0}},
        {DTI_FP8_E4M3FN, DTI_ROUND_NEAREST_EVEN, {464, 464}, {1, 1}},
        {DTI_FP8_E4M3FN, DTI_ROUND_NEAREST_AWAY, {464, 464}, {0, 0}},
        {DTI_INT8, DTI_ROUND_NEAREST_EVEN, {127.5, 128.5}, {0, 1}},
        {DTI_INT8, DTI_ROUND_ZERO, {128, 129}, {0, 0}},
        {DTI_UINT8, DTI_ROUND_ZERO, {256, 1}, {0, 0}},
        {DTI_FP64, DTI_ROUND_NEAREST_EVEN, {INFINITY, INFINITY}, {0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dti_policy policy = {.round = rows[i].round};
        struct dti_loss_rule rule;
        dti_loss_rule_init(&rule, dti_format_get(DTI_FP64), dti_format_get(rows[i].dst), &policy);
        for (unsigned negative = 0; negative < 2; negative++) {
            const uint64_t bits = dti_fp64_bits(rows[i].from[negative]) + rows[i].after[negative];
            CHECK_U64(dti_fp64_bits(rule.overflow_from[negative]), bits);
            CHECK_U64(dti_fp64_bits(rule.overflow_sure[negative]), bits);
        }
    }
}

static void overflow_on_the_way_counts(void)
{
    const struct dti_cast cast = {.dst = *dti_format_get(DTI_FP32),
                                  .via = {*dti_format_get(DTI_FP16)},
                                  .via_count = 1,
                                  .policy = {.overflow = DTI_OVERFLOW_SATURATE}};
    struct dti_loss_rule rule;
    dti_loss_rule_init_cast(&rule, dti_format_get(DTI_FP32), &cast, NULL);
    CHECK(rule.overflow_from[0] == 65520 && rule.overflow_from[1] == 65520);
}

/* Each error is 1/4, and so are their mean and their root mean square. */
static void every_group_of_a_short_tile_counts(void)
{
    static float x[DTI_TILE], y[DTI_TILE];
    struct dti_loss_rule rule;
    dti_loss_rule_init(&rule, dti_format_get(DTI_FP32), dti_format_get(DTI_FP16), &nearest);
    for (size_t i = 0; i < DTI_TILE; i++) {
        x[i] = (float)(i % 1000 + 1) + 0.25F;
        y[i] = (float)(i % 1000 + 1);
    }
    for (size_t row = 0; row < dti_loss_kernel_count; row++) {
        const struct dti_loss_kernel *const kernel = &dti_loss_kernels[row];
        if (kernel->hub != DTI_LOSS_HUB32 || !dti_level_present(kernel->level))
            continue;
        for (size_t n = 1; n <= DTI_TILE; n += n < 32 ? 31 : 32) {
            struct dti_loss loss;
            dti_loss_init(&loss);
            kernel->run(&rule, x, y, n, 0, &loss);
            if (!CHECK(dti_loss_mean_absolute(&loss) == 0.25) ||
                !CHECK(dti_loss_root_mean_square(&loss) == 0.25) ||
                !CHECK(loss.max_absolute == 0.25 && loss.max_index == 0) ||
                !CHECK(loss.max_relative == 0.25 / 1.25))
                printf("  %zu numbers, %s\n", n, kernel->name);
        }
    }
}

UNIT_MAIN(every_kernel_counts_as_the_definition_does, figures_are_those_of_a_worked_example,
          a_nan_without_a_code_is_told_with_its_place,
          nothing_lost_is_an_infinite_ratio_and_no_signal_none,
          parts_merge_to_the_same_in_any_order,
          a_ratio_is_seen_to_rise_where_its_difference_underflows,
          overflow_begins_where_the_formats_say, overflow_on_the_way_counts,
          every_group_of_a_short_tile_counts)
