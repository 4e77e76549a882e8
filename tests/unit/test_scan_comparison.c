/* SPDX-License-Identifier: MIT
 *
 * Differences between tensors in files: for every level, team and memory limit the same as tile by
 * tile in memory. */
#include "scan_files.h"

static void want_comparison(const struct dti_comparison_rule *rule, const uint64_t *a,
                            const uint64_t *b, size_t n, struct dti_comparison *ret)
{
    static uint64_t x[DTI_TILE], y[DTI_TILE];
    const struct dti_format *const hub = dti_comparison_hub_format(rule->hub);
    dti_comparison_init(ret);
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t count = n - at < DTI_TILE ? n - at : DTI_TILE;
        put_numbers(hub, &rule->a, a + at, count, x);
        put_numbers(hub, &rule->b, b + at, count, y);
        dti_comparison_kernel(rule->hub, DTI_LEVEL_SCALAR)(rule, x, y, count, at, ret);
    }
}

static bool same_comparison(const struct dti_comparison *got, const struct dti_comparison *want)
{
    return CHECK_U64(got->elements, want->elements) && CHECK_U64(got->differing, want->differing) &&
           CHECK_U64(got->unmatched, want->unmatched) &&
           CHECK_U64(got->exceeding, want->exceeding) && CHECK_U64(got->compared, want->compared) &&
           CHECK_U64(got->max_index, want->max_index) &&
           CHECK_U64(got->first_differing, want->first_differing) &&
           CHECK_U64(got->first_unmatched, want->first_unmatched) &&
           CHECK(got->max_absolute >= want->max_absolute &&
                 got->max_absolute <= want->max_absolute) &&
           CHECK(got->max_relative >= want->max_relative &&
                 got->max_relative <= want->max_relative) &&
           CHECK(got->max_ulp >= want->max_ulp && got->max_ulp <= want->max_ulp) &&
           CHECK(memcmp(&got->sum_ab, &want->sum_ab, sizeof got->sum_ab.word) == 0) &&
           CHECK(memcmp(&got->sum_squared, &want->sum_squared, sizeof got->sum_ab.word) == 0);
}

static void comparisons_are_those_of_the_arrays_in_memory(void)
{
    static uint64_t a[MANY], b[MANY];
    static const unsigned pairs[][2] = {{0, 0}, {0, 2}, {1, 0},  {4, 3}, {6, 6},  {7, 5},
                                        {8, 8}, {9, 9}, {10, 9}, {0, 9}, {12, 0}, {13, 11}};
    folder_enter();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct lying *const la = &lyings[pairs[i][0]], *const lb = &lyings[pairs[i][1]];
        const struct dti_format format_a = format_of(la->name), format_b = format_of(lb->name);
        struct dti_comparison_rule rule;
        struct dti_comparison want;
        const bool wide = dti_comparison_hub_of(&format_a, &format_b) == DTI_COMPARISON_WIDE;
        const size_t n = wide ? 3 * DTI_TILE + 5 : MANY;
        make_codes(&format_a, false, a, n);
        make_codes(&format_b, false, b, n);
        for (size_t k = 0; pairs[i][0] == pairs[i][1] && k < n; k++)
            b[k] = random_word() >> 60 ? a[k] : b[k];
        write_codes("a", la, a, n);
        write_codes("b", lb, b, n);
        dti_comparison_rule_init(&rule, &format_a, &format_b, 1e-3, 0.25);
        want_comparison(&rule, a, b, n, &want);
        for (unsigned way = (unsigned)i % unit_each(5); way < WAYS; way += unit_each(5)) {
            const struct dti_scan_options options = options_of(way);
            struct dti_container *const file_a = open_raw("a", la, n);
            struct dti_container *const file_b = open_raw("b", lb, n);
            struct dti_tensor_pair pair = {.a = 0, .b = 0};
            CHECK(dti_scan_comparison(file_a, file_b, &pair, 1, 1e-3, 0.25, &options, &error) ==
                  DTI_OK);
            const bool ok = same_comparison(&pair.comparison, &want) && CHECK(!pair.identical);
            dti_container_free(file_a);
            dti_container_free(file_b);
            if (!ok) {
                printf("  %s and %s, way %u\n", la->name, lb->name, way);
                break;
            }
        }
    }
    folder_leave();
}

static void identical_means_every_bit_of_the_same_dtype(void)
{
    static uint64_t codes[MANY];
    static const unsigned pairs[][2] = {{0, 0}, {0, 1}, {2, 2}, {6, 6}, {9, 9}, {0, 12}};
    folder_enter();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct lying *const la = &lyings[pairs[i][0]], *const lb = &lyings[pairs[i][1]];
        const struct dti_format format = format_of(la->name);
        const bool same = strcmp(la->name, lb->name) == 0;
        make_codes(&format, false, codes, MANY);
        for (size_t k = 0; k < MANY; k++)
            codes[k] = codes[k] & ~UINT64_C(0x1fff) & dti_low_bits(format.width);
        for (unsigned step = 0; step < 3; step++) {
            write_codes("a", la, codes, MANY);
            if (step == 1) /* -0 and 0 are equal, but not identical */
                codes[MANY - 1] = dti_format_sign_bit(&format);
            write_codes("b", lb, codes, MANY);
            if (step == 0 && !same) {
                for (size_t k = 0; k < MANY; k++)
                    codes[k] >>= 13;
                write_codes("b", lb, codes, MANY);
                for (size_t k = 0; k < MANY; k++)
                    codes[k] <<= 13;
            }
            struct dti_container *const file_a = open_raw("a", la, MANY);
            struct dti_container *const file_b = open_raw("b", lb, MANY);
            struct dti_tensor_pair pair = {.a = 0, .b = 0};
            const struct dti_scan_options options = options_of(step + (unsigned)i);
            CHECK(dti_scan_comparison(file_a, file_b, &pair, 1, 0, 0, &options, &error) == DTI_OK);
            if (!CHECK(pair.identical == (same && step != 1)))
                printf("  %s and %s, step %u\n", la->name, lb->name, step);
            if (step == 0)
                CHECK_U64(pair.comparison.differing, 0);
            dti_container_free(file_a);
            dti_container_free(file_b);
            if (!same)
                break;
            codes[MANY - 1] = 0;
        }
    }
    folder_leave();
}

/* A tensor of the other order is compared as a copy, whose file is closed after. */
static void reordered_copies_are_closed(void)
{
    const struct lying *const lying = &lyings[0];
    const struct dti_scan_options options = options_of(0);
    const struct dti_format format = format_of(lying->name);
    uint64_t a[6], b[6], shape[] = {2, 3};
    folder_enter();
    make_codes(&format, false, a, 6);
    for (size_t i = 0; i < 6; i++)
        b[i % 3 * 2 + i / 3] = a[i];
    write_codes("a", lying, a, 6);
    write_codes("b", lying, b, 6);
    struct dti_container *const file_a = open_raw("a", lying, 6);
    struct dti_container *const file_b = open_raw("b", lying, 6);
    struct dti_tensor ordered = file_a->tensors[0], reordered = file_b->tensors[0];
    struct dti_tensor_pair pair = {.a = 0, .b = 0};
    ordered.rank = reordered.rank = 2;
    ordered.shape = reordered.shape = shape;
    reordered.fortran = true;
    file_a->tensors = &ordered;
    file_b->tensors = &reordered;
    const int before = dup(STDIN_FILENO);
    close(before);
    CHECK(dti_scan_comparison(file_a, file_b, &pair, 1, 0, 0, &options, &error) == DTI_OK);
    CHECK(pair.identical);
    const int after = dup(STDIN_FILENO);
    close(after);
    CHECK_U64((uint64_t)after, (uint64_t)before);
    dti_container_free(file_a);
    dti_container_free(file_b);
    folder_leave();
}

static void shapes_must_be_equal(void)
{
    const struct dti_format fp32 = format_of("fp32"), complex = format_of("complex64"),
                            fp4 = format_of("fp4_e2m1");
    const uint64_t two_three[] = {2, 3}, three_two[] = {3, 2};
    const struct dti_tensor a = {
        .format = &fp32, .rank = 2, .shape = two_three, .elements = 6, .stored_as = "F32"};
    struct dti_tensor b = a;
    char why[DTI_SCAN_WHY_SIZE];
    enum dti_remedy remedy;
    CHECK(dti_scan_comparable(&a, &b, why, &remedy));
    b.shape = three_two;
    CHECK(!dti_scan_comparable(&a, &b, why, &remedy));
    CHECK_STR(why, "shapes [2, 3] and [3, 2] differ");
    b = a;
    b.format = &complex;
    CHECK(!dti_scan_comparable(&a, &b, why, &remedy));
    CHECK_STR(why, "one is complex, the other is real");
    b = a;
    b.fortran = true; /* another order is fine, unless elements share a byte */
    CHECK(dti_scan_comparable(&a, &b, why, &remedy));
    CHECK(dti_scan_comparable(&b, &a, why, &remedy));
    b.format = &fp4;
    CHECK(!dti_scan_comparable(&a, &b, why, &remedy));
    CHECK_STR(why, "one is in Fortran order, the other is packed");
}

UNIT_MAIN(make_teams, comparisons_are_those_of_the_arrays_in_memory,
          identical_means_every_bit_of_the_same_dtype, reordered_copies_are_closed,
          shapes_must_be_equal, free_teams)
