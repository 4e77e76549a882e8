/* SPDX-License-Identifier: MIT
 *
 * Comparisons: worked examples, and every kernel compared with the definition, bit for bit. */
#include "kernels/scan/comparison.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/scan/comparison_tile.h"
#include "unit.h"

enum { TILES = 2, SIZE = TILES * DTI_TILE };

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

static struct dti_comparison_rule rule_of(const char *name_a, const char *name_b, double atol,
                                          double rtol)
{
    struct dti_format a, b;
    struct dti_comparison_rule rule;
    CHECK(dti_format_lookup(name_a, &a, NULL, NULL) == DTI_OK);
    CHECK(dti_format_lookup(name_b, &b, NULL, NULL) == DTI_OK);
    dti_comparison_rule_init(&rule, &a, &b, atol, rtol);
    return rule;
}

/* Compares small fp32 arrays that hold numbers of two dtypes, with the kernels of every level. */
static struct dti_comparison compare(const struct dti_comparison_rule *rule, const float *a,
                                     const float *b, size_t n)
{
    struct dti_comparison want;
    dti_comparison_init(&want);
    dti_comparison_add_each(rule, a, b, n, 0, &want);
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct dti_comparison got;
        if (!dti_level_present((enum dti_level)level))
            continue;
        dti_comparison_init(&got);
        dti_comparison_kernel(rule->hub, (enum dti_level)level)(rule, a, b, n, 0, &got);
        CHECK(got.max_ulp == want.max_ulp);
        CHECK_U64(got.differing, want.differing);
    }
    return want;
}

static double steps(const char *name_a, const char *name_b, float a, float b)
{
    const struct dti_comparison_rule rule = rule_of(name_a, name_b, 0, 0);
    return compare(&rule, &a, &b, 1).max_ulp;
}

static void the_hub_holds_both_dtypes(void)
{
    static const struct {
        const char *a, *b;
        enum dti_comparison_hub hub;
        const char *ulp;
    } cases[] = {
        {"fp32", "bf16", DTI_COMPARISON_HUB32, "bf16"},
        {"fp16", "bf16", DTI_COMPARISON_HUB32, "bf16"},
        {"fp16", "tf32", DTI_COMPARISON_HUB32, "fp16"},
        {"fp64", "fp16", DTI_COMPARISON_HUB64, "fp16"},
        {"fp32", "fp8_e8m0", DTI_COMPARISON_HUB64, "fp8_e8m0"}, /* 2^-127 is a subnormal of fp32 */
        {"int8", "uint8", DTI_COMPARISON_HUB32, ""},
        {"int32", "fp32", DTI_COMPARISON_HUB64, ""},
        {"int64", "int8", DTI_COMPARISON_I64, ""},
        {"uint64", "uint8", DTI_COMPARISON_U64, ""},
        {"uint64", "int64", DTI_COMPARISON_WIDE, ""},
        {"int64", "fp64", DTI_COMPARISON_WIDE, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_comparison_rule rule = rule_of(cases[i].a, cases[i].b, 0, 0);
        CHECK_U64(rule.hub, cases[i].hub);
        CHECK_STR(rule.ulp.width > 0 ? rule.ulp.name : "", cases[i].ulp);
    }
}

static void nan_matches_nan_and_infinity_itself(void)
{
    const float a[] = {NAN, INFINITY, -INFINITY, INFINITY, NAN, 1, 0};
    const float b[] = {-NAN, INFINITY, -INFINITY, -INFINITY, 1, INFINITY, -0.0F};
    const struct dti_comparison_rule rule = rule_of("fp32", "fp32", 1e30, 0);
    const struct dti_comparison c = compare(&rule, a, b, 7);
    CHECK_U64(c.elements, 7);
    CHECK_U64(c.differing, 3);
    CHECK_U64(c.unmatched, 3);
    CHECK_U64(c.exceeding, 3);
    CHECK_U64(c.compared, 1);
    CHECK_U64(c.first_unmatched, 3);
    CHECK_U64(c.first_differing, 3);
    CHECK(c.max_absolute == 0 && c.max_relative == 0 && c.max_ulp == 0);
}

static void steps_are_counted_along_the_numbers(void)
{
    CHECK(steps("fp32", "fp32", 1, nextafterf(1, 2)) == 1);
    CHECK(steps("fp32", "fp32", nextafterf(1, 0), nextafterf(1, 2)) == 2); /* across a binade */
    CHECK(steps("fp32", "fp32", 0x1p-149F, -0x1p-149F) == 2);              /* across zero */
    CHECK(steps("fp32", "fp32", 0, -0.0F) == 0);
    CHECK(steps("fp32", "fp32", -3.4028235e38F, 3.4028235e38F) == 2.0 * 0x7f7fffff);
    CHECK(steps("bf16", "bf16", 1, 1.0078125F) == 1);
    CHECK(steps("fp32", "bf16", 1.00390625F, 1) == 0.5);
    CHECK(steps("fp32", "bf16", 1 + 0x1p-23F, 1) == 0x1p-16);
    CHECK(steps("fp16", "fp16", 0x1p-24F, 0x1p-14F) == 1023); /* subnormals are equally spaced */
    CHECK(steps("fp16", "fp32", 0x1p-24F, 0x1p-25F) == 0.5);
    CHECK(steps("fp16", "fp16", -0x1p-24F, 0x1p-24F) == 2);
    CHECK(steps("fp32", "fp16", 131072, 65504) == 1025); /* as if fp16 had larger binades */
    CHECK(steps("int8", "int8", 1, 100) == 0);
}

static void the_earliest_of_the_largest_differences_is_told(void)
{
    const float a[] = {1, 2, 3, -1, 5}, b[] = {1, 1, 2, -2, 5};
    const struct dti_comparison_rule rule = rule_of("fp32", "fp32", 0.5, 0.25);
    const struct dti_comparison c = compare(&rule, a, b, 5);
    CHECK(c.max_absolute == 1);
    CHECK_U64(c.max_index, 1);
    CHECK_U64(c.first_differing, 1);
    CHECK(c.max_relative == 1);
    CHECK_U64(c.exceeding, 1); /* 1 > 0.5 + 0.25, not 1 > 0.5 + 0.25 x 2 */
    CHECK(dti_comparison_mean_absolute(&c) == 3.0 / 5);
    CHECK(dti_comparison_root_mean_square(&c) == sqrt(3.0 / 5));
}

static void equal_arrays_have_cosine_one(void)
{
    float a[100];
    for (unsigned i = 0; i < 100; i++)
        a[i] = 0.1F * (float)i - 3;
    const struct dti_comparison_rule rule = rule_of("fp32", "fp32", 0, 0);
    struct dti_comparison c = compare(&rule, a, a, 100);
    CHECK(dti_comparison_cosine(&c) == 1);
    CHECK_U64(c.differing, 0);
    CHECK_U64(c.first_differing, UINT64_MAX);
    const float zero[100] = {0};
    c = compare(&rule, a, zero, 100);
    CHECK(isnan(dti_comparison_cosine(&c)));
    dti_comparison_init(&c);
    CHECK(isnan(dti_comparison_cosine(&c)) && dti_comparison_mean_absolute(&c) == 0);
}

static void codes_of_any_two_dtypes_are_compared_exactly(void)
{
    const uint64_t a[] = {(UINT64_C(1) << 53) + 1, UINT64_C(1) << 63, 5};
    const double b[] = {0x1p53, 0x1p63, 5};
    const struct dti_comparison_rule rule = rule_of("uint64", "fp64", 0, 0);
    struct dti_comparison c;
    dti_comparison_init(&c);
    dti_comparison_kernel(rule.hub, DTI_LEVEL_SCALAR)(&rule, a, b, 3, 0, &c);
    CHECK_U64(c.differing, 1);
    CHECK_U64(c.first_differing, 0);
    CHECK(c.max_absolute == 1);
}

static bool same_sum(const struct dti_exact_sum *a, const struct dti_exact_sum *b)
{
    return memcmp(a->word, b->word, sizeof a->word) == 0 && a->infinite == b->infinite;
}

static bool same(const struct dti_comparison *got, const struct dti_comparison *want)
{
    bool ok = CHECK_U64(got->elements, want->elements);
    ok = CHECK_U64(got->differing, want->differing) && ok;
    ok = CHECK_U64(got->unmatched, want->unmatched) && ok;
    ok = CHECK_U64(got->exceeding, want->exceeding) && ok;
    ok = CHECK_U64(got->compared, want->compared) && ok;
    ok = CHECK_U64(got->max_index, want->max_index) && ok;
    ok = CHECK_U64(got->first_differing, want->first_differing) && ok;
    ok = CHECK_U64(got->first_unmatched, want->first_unmatched) && ok;
    ok = CHECK_U64(dti_fp64_bits(got->max_absolute), dti_fp64_bits(want->max_absolute)) && ok;
    ok = CHECK_U64(dti_fp64_bits(got->max_relative), dti_fp64_bits(want->max_relative)) && ok;
    ok = CHECK_U64(dti_fp64_bits(got->max_ulp), dti_fp64_bits(want->max_ulp)) && ok;
    ok = CHECK(same_sum(&got->sum_absolute, &want->sum_absolute)) && ok;
    ok = CHECK(same_sum(&got->sum_squared, &want->sum_squared)) && ok;
    ok = CHECK(same_sum(&got->sum_aa, &want->sum_aa)) && ok;
    ok = CHECK(same_sum(&got->sum_bb, &want->sum_bb)) && ok;
    return CHECK(same_sum(&got->sum_ab, &want->sum_ab)) && ok;
}

enum kind { NEAR, EQUAL, ANY_BITS, SPECIAL, SMALL, ZEROS, OPPOSITE, GROWING, KINDS };

/* A pair of fp64 numbers. The second may be rounded to the precision of bf16. */
static void draw(enum kind kind, size_t i, double ret[2])
{
    const uint64_t word = random_word();
    double a = (word & 1 ? 1 : -1) * ldexp((double)(word >> 40), -24), b = a;
    if (kind == NEAR || kind == SPECIAL)
        b = a * (1 + ldexp((double)(word >> 20 & 0xffff) - 0x8000, -24));
    if (kind == SMALL && word >> 61 == 0)
        a *= 0x1p-140;
    if (kind == SMALL || kind == OPPOSITE)
        b = kind == SMALL ? a * 0.75 : -a;
    if (kind == ZEROS)
        (word >> 62 == 0 ? (a = 0) : (b = word >> 62 == 1 ? 0 : a));
    if (kind == GROWING)
        b = a * (1 + (double)i * 0x1p-12);
    if (kind == SPECIAL && word >> 56 == 0)
        (word & 2 ? (a = NAN) : (b = word & 4 ? INFINITY : -INFINITY));
    ret[0] = a;
    ret[1] = b;
}

static void fill(enum kind kind, size_t n, bool single, unsigned char *a, unsigned char *b)
{
    for (size_t i = 0; i < n; i++) {
        double pair[2];
        draw(kind, i, pair);
        if (kind == ANY_BITS) {
            const uint64_t bits[2] = {random_word(), random_word()};
            memcpy(pair, bits, sizeof pair);
        }
        const float narrow[2] = {(float)pair[0], (float)pair[1]};
        uint32_t bits[2];
        memcpy(bits, narrow, sizeof bits);
        if (kind == ANY_BITS) {
            bits[0] = (uint32_t)random_word();
            bits[1] = (uint32_t)random_word();
        } else if (i % 3) {
            bits[1] &= 0xffff0000;
        }
        memcpy(single ? a + 4 * i : a + 8 * i, single ? (void *)&bits[0] : (void *)&pair[0],
               single ? 4 : 8);
        memcpy(single ? b + 4 * i : b + 8 * i, single ? (void *)&bits[1] : (void *)&pair[1],
               single ? 4 : 8);
    }
}

static bool agree(const struct dti_comparison_rule *rule, const unsigned char *a,
                  const unsigned char *b, size_t n)
{
    const size_t size = rule->hub == DTI_COMPARISON_HUB32 ? 4 : 8;
    const uint64_t index = (random_word() >> 30) * DTI_TILE;
    struct dti_comparison want;
    dti_comparison_init(&want);
    for (size_t at = 0; at < n; at += DTI_TILE)
        dti_comparison_add_each(rule, a + at * size, b + at * size,
                                n - at < DTI_TILE ? n - at : DTI_TILE, index + at, &want);
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct dti_comparison got;
        if (!dti_level_present((enum dti_level)level))
            continue;
        dti_comparison_init(&got);
        for (size_t tiles = (n + DTI_TILE - 1) / DTI_TILE; tiles-- > 0;) {
            const size_t at = tiles * DTI_TILE; /* last tile first */
            dti_comparison_kernel(rule->hub, (enum dti_level)level)(
                rule, a + at * size, b + at * size, n - at < DTI_TILE ? n - at : DTI_TILE,
                index + at, &got);
        }
        if (!same(&got, &want)) {
            printf("  %s and %s, %zu pairs, %s\n", rule->a.name, rule->b.name, n,
                   dti_level_name((enum dti_level)level));
            return false;
        }
    }
    return true;
}

static void every_kernel_counts_as_the_definition_does(void)
{
    static unsigned char a[SIZE * 8 + 8], b[SIZE * 8 + 8];
    static const char *const pairs[][2] = {
        {"fp32", "fp32"}, {"fp32", "bf16"},  {"fp32", "fp16"},   {"fp64", "fp64"},
        {"fp64", "fp32"}, {"fp32", "int16"}, {"int64", "int64"}, {"uint64", "uint64"}};
    static const double tolerances[][2] = {{0, 0}, {1e-3, 0}, {0, 4e-3}, {1e-6, 1e-3}};
    static const size_t lengths[] = {SIZE, SIZE - 3, 1, 15, 16, 17, 31, 33, 2049, 0};
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
                const double *const tolerance = tolerances[random_word() % 4];
                const struct dti_comparison_rule rule =
                    rule_of(pairs[p][0], pairs[p][1], tolerance[0], tolerance[1]);
                const size_t skew = random_word() % 8;
                fill((enum kind)kind, lengths[i], rule.hub == DTI_COMPARISON_HUB32, a + skew, b);
                if (!agree(&rule, a + skew, b, lengths[i]) ||
                    !agree(&rule, a + skew, a + skew, lengths[i])) { /* with itself */
                    printf("  kind %u\n", kind);
                    return;
                }
            }
        }
    }
}

static void equal_codes_add_what_their_numbers_do(void)
{
    static const char *const names[] = {"bf16", "fp16"};
    static uint16_t codes[DTI_TILE];
    static float numbers[DTI_TILE];
    for (unsigned trial = 0; trial < 40; trial++) {
        const struct dti_comparison_rule rule = rule_of(names[trial % 2], names[trial % 2], 0, 0);
        const size_t n = trial % 5 == 0 ? 48 : trial % 7 == 0 ? DTI_TILE - 1 : DTI_TILE;
        const bool special = trial % 3 == 0;
        for (size_t i = 0; i < n; i++) {
            struct dti_value value;
            codes[i] = (uint16_t)random_word();
            if ((codes[i] & 0x7c00) == 0x7c00) /* finite in both */
                codes[i] ^= 0x4000;
            if (special && i == n / 3)
                codes[i] |= 0x7f80; /* infinity or a NaN */
            dti_decode(&rule.a, codes[i], &value);
            numbers[i] = (float)dti_fp64_from_value(&value);
        }
        for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
            dti_comparison_same_fn *const kernel =
                dti_comparison_same_kernel(rule.a.id, (enum dti_level)level);
            struct dti_comparison got, want;
            if (!kernel || !dti_level_present((enum dti_level)level))
                continue;
            dti_comparison_init(&got);
            dti_comparison_init(&want);
            const bool taken = kernel(codes, n, &got);
            if (taken)
                dti_comparison_add_each(&rule, numbers, numbers, n, 0, &want);
            CHECK(taken == (n % 16 == 0 && !special));
            if (!CHECK(same(&got, &want)))
                printf("  %s, trial %u\n", rule.a.name, trial);
        }
    }
}

static void parts_merge_in_any_order(void)
{
    enum { PARTS = 4 };
    static float a[PARTS][DTI_TILE], b[PARTS][DTI_TILE];
    static const unsigned orders[][PARTS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
    const struct dti_comparison_rule rule = rule_of("fp32", "fp32", 0, 0.5);
    struct dti_comparison whole, parts[PARTS];
    dti_comparison_init(&whole);
    for (unsigned i = 0; i < PARTS; i++) {
        dti_comparison_init(&parts[i]);
        for (size_t k = 0; k < DTI_TILE; k++) {
            a[i][k] = (float)(random_word() % 16);
            b[i][k] = i == 0 ? a[i][k] : (float)(random_word() % 16);
        }
        a[2][7] = NAN;
        dti_comparison_add_each(&rule, a[i], b[i], DTI_TILE, i * DTI_TILE, &whole);
        dti_comparison_add_each(&rule, a[i], b[i], DTI_TILE, i * DTI_TILE, &parts[i]);
    }
    for (size_t order = 0; order < 3; order++) {
        struct dti_comparison merged;
        dti_comparison_init(&merged);
        for (unsigned i = 0; i < PARTS; i++)
            dti_comparison_merge(&merged, &parts[orders[order][i]]);
        CHECK(same(&merged, &whole));
    }
}

UNIT_MAIN(the_hub_holds_both_dtypes, nan_matches_nan_and_infinity_itself,
          steps_are_counted_along_the_numbers, the_earliest_of_the_largest_differences_is_told,
          equal_arrays_have_cosine_one, codes_of_any_two_dtypes_are_compared_exactly,
          every_kernel_counts_as_the_definition_does, equal_codes_add_what_their_numbers_do,
          parts_merge_in_any_order)
