/* SPDX-License-Identifier: MIT
 *
 * Statistics of tensors in files: for every level, team and memory limit the same as tile by tile
 * in memory. */
#include "scan_files.h"

static void want_stats(const struct dti_format *format, const uint64_t *codes, size_t n,
                       struct dti_stats *ret, struct dti_histogram *histogram)
{
    static uint64_t numbers[DTI_TILE];
    struct dti_stats_rule rule;
    dti_stats_rule_init(&rule, format, 0);
    const struct dti_format *const hub = dti_stats_hub_format(rule.hub);
    const size_t first = n < DTI_TILE ? n : DTI_TILE;
    put_numbers(hub, format, codes, first, numbers);
    rule.shift = dti_stats_choose_shift(&rule, numbers, first);
    dti_stats_init(ret, &rule);
    dti_histogram_init(histogram);
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t count = n - at < DTI_TILE ? n - at : DTI_TILE;
        put_numbers(hub, format, codes + at, count, numbers);
        dti_stats_kernel(rule.hub, DTI_LEVEL_SCALAR)(&rule, numbers, count, at, ret);
        dti_histogram_kernel(rule.hub, DTI_LEVEL_SCALAR)(&rule, numbers, count, histogram);
    }
}

static bool same_stats(const struct dti_stats *got, const struct dti_stats *want)
{
    bool ok = CHECK_U64(got->elements, want->elements) && CHECK_U64(got->nan, want->nan) &&
              CHECK_U64(got->inf, want->inf) && CHECK_U64(got->zeros, want->zeros) &&
              CHECK_U64(got->negative, want->negative) && CHECK_U64(got->finite, want->finite) &&
              CHECK_U64(got->subnormals, want->subnormals) && CHECK_U64(got->min, want->min) &&
              CHECK_U64(got->max, want->max) && CHECK_U64(got->min_index, want->min_index) &&
              CHECK_U64(got->max_index, want->max_index) &&
              CHECK_U64(got->absmax_index, want->absmax_index) &&
              CHECK_U64(got->first_nan, want->first_nan) &&
              CHECK_U64(got->first_inf, want->first_inf);
    ok = CHECK(memcmp(&got->shift, &want->shift, sizeof got->shift) == 0) && ok;
    ok = CHECK(memcmp(&got->sum, &want->sum, sizeof got->sum.word) == 0) && ok;
    return CHECK(memcmp(&got->sum_squared, &want->sum_squared, sizeof got->sum.word) == 0) && ok;
}

static void statistics_are_those_of_the_array_in_memory(void)
{
    static uint64_t codes[MANY];
    static struct dti_histogram wanted, got;
    folder_enter();
    for (unsigned i = 0; i < 4 * LYINGS; i++) {
        const struct lying *const lying = &lyings[i / 4];
        const struct dti_format format = format_of(lying->name);
        const size_t n = i % 2 ? MANY : 1000;
        struct dti_stats want;
        make_codes(&format, i / 2 % 2, codes, n);
        write_codes("a", lying, codes, n);
        want_stats(&format, codes, n, &want, &wanted);
        if (i / 2 % 2 && format.id == DTI_FP32)
            CHECK(want.shift > 0);
        for (unsigned way = i % unit_each(5); way < WAYS; way += unit_each(5)) {
            const struct dti_scan_options options = options_of(way);
            struct dti_container *const container = open_raw("a", lying, n);
            struct dti_tensor_stats tensor = {.histogram = way % 2 ? &got : NULL};
            CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_OK);
            const bool ok = same_stats(&tensor.stats, &want) &&
                            (way % 2 == 0 || CHECK(memcmp(&got, &wanted, sizeof got) == 0));
            dti_container_free(container);
            if (!ok) {
                printf("  %s, %zu elements, way %u\n", lying->name, n, way);
                break;
            }
        }
    }
    folder_leave();
}

/* Codes whose largest numbers come early, late, in many tiles, or not at all. */
static void shape_codes(const struct dti_format *format, unsigned shape, uint64_t *codes, size_t n)
{
    const uint64_t sign = UINT64_C(1) << (format->width - 1);
    uint64_t highest = 0;
    (void)dti_code_max(format, &highest);
    make_codes(format, shape == 1, codes, n);
    for (size_t i = 0; i < n; i++) {
        if (shape == 2) /* equal ones in each tile, of both signs */
            codes[i] = i % 1000 == 7 ? highest : i % 1000 == 500 ? highest | sign : codes[i] & 1;
        else if (shape == 3) /* -0, then negative numbers, then a positive one at the end */
            codes[i] = i + 1 == n ? 1 : i < n / 2 ? sign : sign | (i & 3);
        else if (shape > 3)
            codes[i] = shape == 4 && i > 5000 ? codes[i] : 0;
    }
}

/* The numbers that do not wait for all elements. */
static bool same_peaks(const struct dti_stats *got, const struct dti_stats *want,
                       const struct dti_format *format)
{
    struct dti_stats_rule rule;
    struct dti_value min, max, absmax;
    dti_stats_rule_init_plain(&rule, format, 0);
    bool ok = CHECK_U64(got->elements, want->elements) && CHECK_U64(got->nan, want->nan) &&
              CHECK_U64(got->inf, want->inf) && CHECK_U64(got->finite, want->finite) &&
              CHECK_U64(got->negative_inf, want->negative_inf) &&
              CHECK_U64(got->first_nan, want->first_nan) &&
              CHECK_U64(got->first_inf, want->first_inf);
    if (!dti_stats_extremes(want, &rule, &min, &max, &absmax))
        return ok;
    ok = CHECK_U64(got->absmax, want->absmax) && CHECK_U64(got->absmax_index, want->absmax_index) &&
         ok;
    if (max.kind == DTI_CLASS_FINITE && !max.negative)
        ok = CHECK_U64(got->max, want->max) && CHECK_U64(got->max_index, want->max_index) && ok;
    if (min.kind == DTI_CLASS_FINITE && min.negative)
        ok = CHECK_U64(got->min, want->min) && CHECK_U64(got->min_index, want->min_index) && ok;
    return ok;
}

static void peaks_alone_are_those_of_all_statistics(void)
{
    enum { SHAPES = 6 };
    static uint64_t codes[MANY];
    static struct dti_histogram histogram;
    folder_enter();
    for (unsigned i = 0; i < 2 * SHAPES * LYINGS; i++) {
        const struct lying *const lying = &lyings[i / 2 / SHAPES];
        const struct dti_format format = format_of(lying->name);
        const size_t n = i % 2 ? MANY : 3 * DTI_TILE + 5;
        struct dti_stats want;
        if (format.kind == DTI_KIND_BOOL)
            continue;
        shape_codes(&format, i / 2 % SHAPES, codes, n);
        write_codes("a", lying, codes, n);
        want_stats(&format, codes, n, &want, &histogram);
        for (unsigned way = i % unit_each(5); way < WAYS; way += unit_each(5)) {
            struct dti_scan_options options = options_of(way);
            struct dti_container *const container = open_raw("a", lying, n);
            struct dti_tensor_stats tensor = {.histogram = NULL};
            options.only_peaks = true;
            CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_OK);
            dti_container_free(container);
            if (!same_peaks(&tensor.stats, &want, &format)) {
                printf("  %s, shape %u, %zu elements, way %u\n", lying->name, i / 2 % SHAPES, n,
                       way);
                break;
            }
        }
    }
    folder_leave();
}

/* Tensors stored one after another in one file of fp32. */
static void slice(struct dti_container *container, struct dti_tensor *tensors, size_t count,
                  size_t each)
{
    static uint64_t shape[1];
    shape[0] = each;
    for (size_t i = 0; i < count; i++) {
        tensors[i] = container->tensors[0];
        tensors[i].elements = each;
        tensors[i].bytes = 4 * (uint64_t)each;
        tensors[i].rank = 1;
        tensors[i].shape = shape;
        tensors[i].offset += 4 * (uint64_t)i * each;
    }
    container->tensors = tensors;
    container->tensor_count = count;
}

static void many_tensors_may_share_a_histogram(void)
{
    enum { COUNT = 500, EACH = 100 };
    static uint64_t codes[COUNT * EACH];
    static struct dti_histogram whole, shared;
    static struct dti_tensor_stats tensors[COUNT + 1];
    static struct dti_tensor list[COUNT + 1];
    const struct dti_format format = format_of("fp32");
    folder_enter();
    make_codes(&format, false, codes, COUNT * EACH);
    write_codes("a", &lyings[0], codes, COUNT * EACH);
    struct dti_stats want;
    want_stats(&format, codes, COUNT * EACH, &want, &whole);
    for (unsigned way = 0; way < WAYS; way++) {
        const struct dti_scan_options options = options_of(way);
        struct dti_container *const container = open_raw("a", &lyings[0], COUNT * EACH);
        slice(container, list, COUNT, EACH);
        list[COUNT] = list[0];
        list[COUNT].elements = list[COUNT].bytes = 0;
        container->tensor_count++;
        uint64_t nan = 0;
        for (size_t i = 0; i <= COUNT; i++)
            tensors[i] = (struct dti_tensor_stats){.tensor = COUNT - i, .histogram = &shared};
        CHECK(dti_scan_stats(container, tensors, COUNT + 1, &options, &error) == DTI_OK);
        CHECK_U64(tensors[0].stats.elements, 0);
        for (size_t i = 1; i <= COUNT; i++) {
            CHECK_U64(tensors[i].stats.elements, EACH);
            nan += tensors[i].stats.nan;
        }
        CHECK_U64(nan, want.nan);
        CHECK(memcmp(&shared, &whole, sizeof whole) == 0);
        dti_container_free(container);
    }
    folder_leave();
}

static void complex_tensors_are_their_parts(void)
{
    enum { EACH = 5000 };
    static uint64_t codes[2 * EACH];
    static struct dti_histogram histogram;
    const struct dti_format component = format_of("fp32");
    const struct lying complex = {"complex64", {DTI_PACKING_LOW, false}};
    const struct dti_scan_options options = {.team = teams[1]};
    struct dti_stats want;
    folder_enter();
    make_codes(&component, false, codes, 2 * (size_t)EACH);
    write_codes("a", &lyings[0], codes, 2 * (size_t)EACH);
    want_stats(&component, codes, 2 * (size_t)EACH, &want, &histogram);
    struct dti_container *const container = open_raw("a", &complex, EACH);
    struct dti_tensor_stats tensor = {.tensor = 0};
    CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_OK);
    same_stats(&tensor.stats, &want);
    dti_container_free(container);
    folder_leave();
}

static uint64_t told;
static bool told_less;

static void hear(void *context, uint64_t done)
{
    (void)context;
    told_less = told_less || done < told;
    told = done;
}

static void progress_only_grows_and_ends_with_all_bytes(void)
{
    static uint64_t codes[MANY];
    folder_enter();
    write_codes("a", &lyings[0], codes, MANY);
    for (unsigned way = 0; way < WAYS; way++) {
        struct dti_scan_options options = options_of(way);
        options.progress = hear;
        struct dti_container *const container = open_raw("a", &lyings[0], MANY);
        struct dti_tensor_stats tensor = {.tensor = 0};
        struct dti_tensor_pair pair = {.a = 0, .b = 0};
        told = 0;
        CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_OK);
        CHECK_U64(told, 4 * (uint64_t)MANY);
        told = 0;
        CHECK(dti_scan_comparison(container, container, &pair, 1, 0, 0, &options, &error) ==
              DTI_OK);
        CHECK_U64(told, 8 * (uint64_t)MANY);
        CHECK(pair.identical && !told_less);
        dti_container_free(container);
    }
    folder_leave();
}

static void a_file_that_became_shorter_is_an_error(void)
{
    static uint64_t codes[MANY];
    folder_enter();
    for (unsigned way = 0; way < WAYS; way++) {
        const struct dti_scan_options options = options_of(way);
        write_codes("a", &lyings[0], codes, MANY);
        struct dti_container *const container = open_raw("a", &lyings[0], MANY);
        struct dti_tensor_stats tensor = {.tensor = 0};
        struct dti_tensor_pair pair = {.a = 0, .b = 0};
        CHECK(truncate("a", 4 * MANY / 2) == 0);
        CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, "'a' shrank while being read") != NULL);
        CHECK(dti_scan_comparison(container, container, &pair, 1, 0, 0, &options, &error) ==
              DTI_BAD_INPUT);
        CHECK(truncate("a", 0) == 0);
        CHECK(dti_scan_stats(container, &tensor, 1, &options, &error) == DTI_BAD_INPUT);
        dti_container_free(container);
    }
    folder_leave();
}

UNIT_MAIN(make_teams, statistics_are_those_of_the_array_in_memory,
          peaks_alone_are_those_of_all_statistics, many_tensors_may_share_a_histogram,
          complex_tensors_are_their_parts, progress_only_grows_and_ends_with_all_bytes,
          a_file_that_became_shorter_is_an_error, free_teams)
