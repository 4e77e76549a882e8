/* SPDX-License-Identifier: MIT
 *
 * Statistics: worked examples, and every kernel compared with the definition, bit for bit. */
#include "kernels/scan/stats.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/scan/stats_tile.h"
#include "unit.h"

enum { TILES = 3, SIZE = TILES * DTI_TILE };

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

static struct dti_stats_rule rule_of(const char *name, double shift)
{
    struct dti_format format;
    struct dti_stats_rule rule;
    CHECK(dti_format_lookup(name, &format, NULL, NULL) == DTI_OK);
    dti_stats_rule_init(&rule, &format, shift);
    return rule;
}

static bool same(const struct dti_stats *got, const struct dti_stats *want)
{
    bool ok = CHECK_U64(got->elements, want->elements);
    ok = CHECK_U64(got->nan, want->nan) && ok;
    ok = CHECK_U64(got->inf, want->inf) && ok;
    ok = CHECK_U64(got->negative_inf, want->negative_inf) && ok;
    ok = CHECK_U64(got->zeros, want->zeros) && ok;
    ok = CHECK_U64(got->negative, want->negative) && ok;
    ok = CHECK_U64(got->subnormals, want->subnormals) && ok;
    ok = CHECK_U64(got->finite, want->finite) && ok;
    ok = CHECK_U64(got->first_nan, want->first_nan) && ok;
    ok = CHECK_U64(got->first_inf, want->first_inf) && ok;
    ok = CHECK_U64(got->min, want->min) && ok;
    ok = CHECK_U64(got->max, want->max) && ok;
    ok = CHECK_U64(got->absmax, want->absmax) && ok;
    ok = CHECK_U64(got->min_index, want->min_index) && ok;
    ok = CHECK_U64(got->max_index, want->max_index) && ok;
    ok = CHECK_U64(got->absmax_index, want->absmax_index) && ok;
    ok = CHECK(memcmp(&got->sum, &want->sum, sizeof got->sum.word) == 0) && ok;
    return CHECK(memcmp(&got->sum_squared, &want->sum_squared, sizeof got->sum.word) == 0) && ok;
}

/* Statistics of small fp32 arrays, with the best kernel. */
static struct dti_stats stats_of(const char *name, const float *x, size_t n, double shift)
{
    const struct dti_stats_rule rule = rule_of(name, shift);
    struct dti_stats stats;
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    dti_stats_init(&stats, &rule);
    dti_stats_kernel(DTI_STATS_HUB32, level)(&rule, x, n, 0, &stats);
    return stats;
}

static void hubs_hold_their_dtypes(void)
{
    static const struct {
        const char *name;
        enum dti_stats_hub hub;
    } hubs[] = {{"fp32", DTI_STATS_HUB32},     {"bf16", DTI_STATS_HUB32},
                {"fp8_e8m0", DTI_STATS_HUB32}, {"int16", DTI_STATS_HUB32},
                {"bool", DTI_STATS_HUB32},     {"int32", DTI_STATS_HUB64},
                {"fp64", DTI_STATS_HUB64},     {"uint32", DTI_STATS_HUB64},
                {"int64", DTI_STATS_I64},      {"uint64", DTI_STATS_U64}};
    for (size_t i = 0; i < sizeof hubs / sizeof hubs[0]; i++)
        CHECK_U64(rule_of(hubs[i].name, 0).hub, hubs[i].hub);
}

static void special_numbers_are_counted_and_left_out(void)
{
    const float x[] = {NAN,      -NAN, 1, -INFINITY, -3,    0x1p-140F,
                       INFINITY, 0,    3, NAN,       -0.0F, 0x1p-126F};
    const struct dti_stats s = stats_of("fp32", x, sizeof x / sizeof x[0], 0);
    CHECK_U64(s.elements, 12);
    CHECK_U64(s.finite, 7);
    CHECK_U64(s.nan, 3);
    CHECK_U64(s.inf, 2);
    CHECK_U64(s.negative_inf, 1);
    CHECK_U64(s.zeros, 2);
    CHECK_U64(s.negative, 2); /* -3 and the infinity, but not -0 or a NaN */
    CHECK_U64(s.subnormals, 1);
    CHECK_U64(s.first_nan, 0);
    CHECK_U64(s.first_inf, 3);
    CHECK_U64(s.min_index, 4);
    CHECK_U64(s.max_index, 8);
    CHECK_U64(s.absmax_index, 4); /* the earlier of -3 and 3 */
    CHECK_U64(s.absmax, 0x40400000);
}

static void subnormals_are_those_of_the_arrays_own_dtype(void)
{
    const float x[] = {0x1p-15F, 0x1p-14F, 0x1p-130F, 0x1p-127F, 0};
    CHECK_U64(stats_of("fp32", x, 5, 0).subnormals, 2);
    CHECK_U64(stats_of("fp16", x, 5, 0).subnormals, 3);
    CHECK_U64(stats_of("int16", x, 5, 0).subnormals, 0);
    CHECK_U64(stats_of("int16", x, 5, 0).zeros, 1);
    CHECK_U64(stats_of("fp8_e8m0", x + 3, 1, 0).subnormals, 0); /* its smallest number */
}

static void of_equal_extremes_the_first_counts(void)
{
    const float zeros[] = {0, -0.0F, 0}, equal[] = {2, 1, 2, 1, -2};
    struct dti_stats s = stats_of("fp32", zeros, 3, 0);
    CHECK_U64(s.min, 0); /* +0 came first */
    CHECK_U64(s.min_index, 0);
    CHECK_U64(s.max_index, 0);
    s = stats_of("fp32", zeros + 1, 2, 0);
    CHECK_U64(s.max, 0x80000000);
    s = stats_of("fp32", equal, 4, 0);
    CHECK_U64(s.min_index, 1);
    CHECK_U64(s.max_index, 0);
    s = stats_of("fp32", equal, 5, 0);
    CHECK_U64(s.absmax_index, 0);
}

static void an_empty_array_has_no_mean(void)
{
    const float nothing[] = {NAN};
    struct dti_stats s = stats_of("fp32", nothing, 1, 0);
    struct dti_value min, max, most;
    const struct dti_stats_rule rule = rule_of("fp32", 0);
    CHECK(isnan(dti_stats_mean(&s)) && isnan(dti_stats_deviation(&s)));
    CHECK(!dti_stats_extremes(&s, &rule, &min, &max, &most));
    s = stats_of("fp32", nothing, 0, 0);
    CHECK(isnan(dti_stats_mean(&s)));
}

static void the_shift_keeps_the_deviation_of_numbers_far_from_zero(void)
{
    float x[1024];
    for (unsigned i = 0; i < 1024; i++)
        x[i] = 16384.0F + (i % 2 ? 0.001953125F : -0.001953125F);
    const struct dti_stats_rule rule = rule_of("fp32", 0);
    const double shift = dti_stats_choose_shift(&rule, x, 1024);
    CHECK(shift == 16384);
    const struct dti_stats s = stats_of("fp32", x, 1024, shift);
    CHECK(dti_stats_mean(&s) == 16384);
    CHECK(dti_stats_deviation(&s) == 0.001953125);
    const float scattered[] = {-1, 2, -3, 4}, none[] = {NAN, INFINITY};
    const float near[] = {0.75F, 1.25F, 1.25F, NAN, 0.8125F, 0.9375F}; /* the bar: a quarter */
    const float far[] = {0.6875F, 1.3125F, 1.25F, NAN, 0.5625F, 1.1875F};
    CHECK(dti_stats_choose_shift(&rule, near, 6) == 1);
    CHECK(dti_stats_choose_shift(&rule, far, 6) == 0);
    CHECK(dti_stats_choose_shift(&rule, scattered, 4) == 0);
    CHECK(dti_stats_choose_shift(&rule, none, 2) == 0);
    const float one = 0.1F;
    const struct dti_stats single =
        stats_of("fp32", &one, 1, dti_stats_choose_shift(&rule, &one, 1));
    CHECK(dti_stats_mean(&single) == (double)one && dti_stats_deviation(&single) == 0);
}

static void integers_of_64_bits_have_exact_extremes(void)
{
    const int64_t x[] = {INT64_MAX - 1, INT64_MIN, INT64_MAX, 0, -1, INT64_MAX};
    const uint64_t y[] = {UINT64_MAX - 1, 5, UINT64_MAX, 4};
    struct dti_value min, max, most;
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        if (!dti_level_present((enum dti_level)level))
            continue;
        struct dti_stats_rule rule = rule_of("int64", 0);
        struct dti_stats s;
        dti_stats_init(&s, &rule);
        dti_stats_kernel(rule.hub, (enum dti_level)level)(&rule, x, 6, 0, &s);
        CHECK_U64(s.min, (uint64_t)INT64_MIN);
        CHECK_U64(s.max, (uint64_t)INT64_MAX);
        CHECK_U64(s.absmax, UINT64_C(1) << 63);
        CHECK_U64(s.max_index, 2);
        CHECK_U64(s.absmax_index, 1);
        CHECK_U64(s.negative, 2);
        CHECK(dti_stats_extremes(&s, &rule, &min, &max, &most));
        CHECK(most.exponent == 63 && !most.negative && min.negative);
        rule = rule_of("uint64", 0);
        dti_stats_init(&s, &rule);
        dti_stats_kernel(rule.hub, (enum dti_level)level)(&rule, y, 4, 0, &s);
        CHECK_U64(s.max, UINT64_MAX);
        CHECK_U64(s.max_index, 2);
        CHECK_U64(s.min_index, 3);
        CHECK_U64(s.negative, 0);
    }
}

static void arrays_fit_where_nothing_overflows(void)
{
    static const struct {
        float x;
        const char *dst;
        bool fits;
    } cases[] = {
        {65519, "fp16", true},      {65520, "fp16", false},
        {-65520, "fp16", false},    {464, "fp8_e4m3fn", true},
        {465, "fp8_e4m3fn", false}, {1e-30F, "fp16", true},
        {127.9F, "int8", true},     {128, "int8", false},
        {-128.9F, "int8", true},    {-0.5F, "uint8", true},
        {-1, "uint8", false},       {NAN, "bf16", true},
        {NAN, "int8", false},       {NAN, "fp4_e2m1", false},
        {INFINITY, "fp16", true},   {INFINITY, "fp8_e4m3fn", false},
        {7, "fp4_e2m1", false},     {6, "fp4_e2m1", true},
        {-1, "binary8p3ue", false}, {3.4e38F, "fp32", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_stats_rule rule = rule_of("fp32", 0);
        const float x[] = {0, cases[i].x, 1};
        const struct dti_stats s = stats_of("fp32", x, 3, 0);
        struct dti_format dst;
        CHECK(dti_format_lookup(cases[i].dst, &dst, NULL, NULL) == DTI_OK);
        if (!CHECK(dti_stats_fit(&s, &rule, &dst) == cases[i].fits))
            printf("  %zu: into %s\n", i, cases[i].dst);
    }
}

static void ranges_begin_and_end_where_the_formats_say(void)
{
    const struct dti_stats_rule rule = rule_of("fp32", 0);
    const double overflow[] = {65520, 0x1.FFp127, 464, 61440};
    const double zero[] = {0x1p-25, 0x1p-134, 0x1p-10, 0x1p-17};
    const double normal[] = {0x1p-14 - 0x1p-25, 0x1p-126 - 0x1p-134, 0x1p-6 - 0x1p-10,
                             0x1p-14 - 0x1p-17};
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        /* 464 lies between 448 and a NaN and rounds to 448, which is even */
        CHECK(rule.overflow_from[i] == (i == 2 ? nextafter(464, 465) : overflow[i]));
        CHECK(rule.zero_to[i] == zero[i]);
        CHECK(rule.subnormal_below[i] == normal[i]);
    }
}

static void histograms_have_a_place_for_each_binade(void)
{
    const double x[] = {1, 1.999, 2,         -0x1p-1074, 0x1.8p-1060,
                        0, NAN,   -INFINITY, 0x1.8p1023, 0x1p-1022};
    const float y[] = {0x1p-149F, -0x1.8p-140F, 0,        1,        0x1.8p127F,
                       NAN,       65520,        0x1p-25F, 0x1p-20F, 1e6F};
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        if (!dti_level_present((enum dti_level)level))
            continue;
        struct dti_stats_rule rule = rule_of("fp64", 0);
        struct dti_histogram h;
        dti_histogram_init(&h);
        dti_histogram_kernel(DTI_STATS_HUB64, (enum dti_level)level)(&rule, x, 10, &h);
        CHECK_U64(h.binade[DTI_BINADE_ZERO], 2);
        CHECK_U64(h.binade[DTI_BINADE_ZERO + 1], 1);
        CHECK_U64(h.binade[0], 1);
        CHECK_U64(h.binade[DTI_BINADE_ZERO - 1060], 1);
        CHECK_U64(h.binade[DTI_BINADES - 1], 1);
        CHECK_U64(h.binade[DTI_BINADE_ZERO - 1022], 1);
        CHECK_U64(h.overflow[0], 1);
        CHECK_U64(h.to_zero[0], 3);
        rule = rule_of("fp32", 0);
        dti_histogram_init(&h);
        dti_histogram_kernel(DTI_STATS_HUB32, (enum dti_level)level)(&rule, y, 10, &h);
        CHECK_U64(h.binade[DTI_BINADE_ZERO - 149], 1);
        CHECK_U64(h.binade[DTI_BINADE_ZERO - 140], 1);
        CHECK_U64(h.binade[DTI_BINADES - 1 - 896], 1);
        CHECK_U64(h.overflow[0], 3);
        CHECK_U64(h.to_zero[0], 3);
        CHECK_U64(h.to_subnormal[0], 1);
        CHECK_U64(h.overflow[1], 0);
        CHECK_U64(h.to_zero[1], 2);
    }
}

/* Kinds of arrays that take different paths through a kernel. */
enum kind { ORDINARY, ANY_BITS, SPECIAL, SMALL, ZEROS, POSITIVE, NEGATIVE, RISING, KINDS };

static uint64_t draw(enum dti_stats_hub hub, enum kind kind, size_t i)
{
    const bool single = hub == DTI_STATS_HUB32;
    const uint64_t word = random_word();
    const double sign = word & 1 ? 1 : -1;
    double x = sign * ldexp((double)(word >> 12), -52);
    if (kind == ANY_BITS || (kind == SPECIAL && word >> 54 == 0))
        return word;
    if (kind == SMALL && word >> 60 == 0)
        x *= single ? 0x1p-130 : 0x1p-1030;
    if (kind == ZEROS && word >> 62 != 0)
        x = sign * 0.0;
    if (kind == POSITIVE || kind == NEGATIVE)
        x = kind == POSITIVE ? fabs(x) + 1 : -fabs(x) - 1;
    if (kind == RISING)
        x = (double)i;
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return single ? bits : dti_fp64_bits(x);
}

static void every_kernel_counts_as_the_definition_does(void)
{
    static unsigned char array[SIZE * sizeof(uint64_t) + 8];
    static const size_t lengths[] = {SIZE, SIZE - 1, 1, 2, 15, 16, 17, 31, 32, 33, 63, 4097, 0};
    for (unsigned hub = DTI_STATS_HUB32; hub <= DTI_STATS_HUB64; hub++) {
        const size_t size = hub == DTI_STATS_HUB32 ? 4 : 8;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (size_t trial = 0; trial < sizeof lengths / sizeof lengths[0]; trial++) {
                const size_t n = lengths[trial], skew = random_word() % 8;
                const double shift = trial % 2 ? 0 : kind == ORDINARY ? 0.3 : -1.5;
                const struct dti_stats_rule rule = rule_of(hub ? "fp64" : "fp32", shift);
                const uint64_t index = (random_word() >> 30) * DTI_TILE;
                struct dti_stats want;
                for (size_t i = 0; i < n; i++) {
                    const uint64_t code = draw(rule.hub, (enum kind)kind, i);
                    const uint32_t narrow = (uint32_t)code;
                    if (size == 4)
                        memcpy(array + skew + i * size, &narrow, size);
                    else
                        memcpy(array + skew + i * size, &code, size);
                }
                dti_stats_init(&want, &rule);
                for (size_t at = 0; at < n; at += DTI_TILE)
                    dti_stats_add_each(&rule, array + skew + at * size,
                                       n - at < DTI_TILE ? n - at : DTI_TILE, index + at, &want);
                for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
                    struct dti_stats got;
                    if (!dti_level_present((enum dti_level)level))
                        continue;
                    dti_stats_init(&got, &rule);
                    for (size_t tiles = (n + DTI_TILE - 1) / DTI_TILE; tiles-- > 0;) {
                        const size_t at = tiles * DTI_TILE; /* last tile first */
                        dti_stats_kernel(rule.hub, (enum dti_level)level)(
                            &rule, array + skew + at * size, n - at < DTI_TILE ? n - at : DTI_TILE,
                            index + at, &got);
                    }
                    if (!same(&got, &want)) {
                        printf("  hub %u, kind %u, %zu elements, %s\n", hub, kind, n,
                               dti_level_name((enum dti_level)level));
                        return;
                    }
                }
            }
        }
    }
}

/* A code of the format for a number that draw() makes for fp32, and the number that it stands for.
 */
static float draw_code(const struct dti_format *format, enum kind kind, size_t i, uint16_t *ret)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    uint64_t bits = draw(DTI_STATS_HUB32, kind, i);
    if (kind == ZEROS && (i < DTI_TILE || bits << 33 != 0))
        bits = i < DTI_TILE ? 0 : bits & INT32_MAX; /* the first extreme stays */
    if (kind == NEGATIVE && i < DTI_TILE)
        bits |= 1 << 22; /* below -1.5: a later tile has a new maximum */
    struct dti_value value;
    struct dti_outcome outcome = {.code = bits & UINT16_MAX};
    dti_decode(dti_format_get(DTI_FP32), bits, &value);
    if (kind == SMALL && value.kind == DTI_CLASS_FINITE && value.exponent < -100)
        outcome.code = bits >> 10 & 0x803f; /* a subnormal of either format */
    else if (kind != ANY_BITS)
        dti_encode(format, &value, &nearest, 0, &outcome);
    *ret = (uint16_t)outcome.code;
    dti_decode(format, outcome.code, &value);
    return value.kind == DTI_CLASS_ZERO && value.negative ? -0.0F
                                                          : (float)dti_fp64_from_value(&value);
}

/* Tiles that a kernel of codes leaves are added by their numbers. backward: the first, then from
 * the last on. Returns how many it took. */
static size_t add_codes(const struct dti_stats_rule *rule, dti_stats_codes_fn *kernel,
                        const uint16_t *codes, const float *numbers, size_t n, uint64_t index,
                        bool backward, struct dti_stats *stats)
{
    const size_t tiles = (n + DTI_TILE - 1) / DTI_TILE;
    size_t taken = 0;
    for (size_t i = 0; i < tiles; i++) {
        const size_t at = (backward && i > 0 ? tiles - i : i) * DTI_TILE;
        const size_t some = n - at < DTI_TILE ? n - at : DTI_TILE;
        const struct dti_stats before = *stats;
        if (kernel(rule, codes + at, some, index + at, stats)) {
            taken++;
            continue;
        }
        CHECK(same(stats, &before));
        dti_stats_add_each(rule, numbers + at, some, index + at, stats);
    }
    return taken;
}

static void codes_count_as_their_numbers_do(void)
{
    enum { MANY = 24 * DTI_TILE };
    static uint16_t codes[MANY];
    static float numbers[MANY];
    static const char *const names[] = {"bf16", "fp16"};
    for (unsigned trial = 0; trial < 2 * 2 * KINDS; trial++) {
        const enum kind kind = (enum kind)(trial / 4);
        const struct dti_stats_rule rule = rule_of(names[trial % 2], trial / 2 % 2 ? 0.3 : 0);
        const size_t n = MANY - (trial % 3) * 5;
        struct dti_stats want;
        dti_stats_init(&want, &rule);
        for (size_t i = 0; i < n; i++)
            numbers[i] = draw_code(&rule.format, kind, i % 4096, &codes[i]);
        for (size_t at = 0; at < n; at += DTI_TILE)
            dti_stats_add_each(&rule, numbers + at, n - at < DTI_TILE ? n - at : DTI_TILE,
                               4096 + at, &want);
        for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
            dti_stats_codes_fn *const kernel =
                dti_stats_codes_kernel(rule.format.id, (enum dti_level)level);
            for (unsigned backward = 0; kernel && backward < 2; backward++) {
                struct dti_stats got;
                if (!dti_level_present((enum dti_level)level))
                    continue;
                dti_stats_init(&got, &rule);
                const size_t taken =
                    add_codes(&rule, kernel, codes, numbers, n, 4096, backward, &got);
                if (!CHECK(taken > 0 || kind == ANY_BITS || kind == SPECIAL || backward) ||
                    !same(&got, &want))
                    printf("  %s, kind %u\n", rule.format.name, (unsigned)kind);
            }
        }
    }
}

static void parts_merge_in_any_order(void)
{
    enum { PARTS = 5 };
    static float array[PARTS][DTI_TILE];
    static const unsigned orders[][PARTS] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
    const struct dti_stats_rule rule = rule_of("fp32", 0);
    struct dti_stats whole, parts[PARTS];
    dti_stats_init(&whole, &rule);
    for (unsigned i = 0; i < PARTS; i++) {
        dti_stats_init(&parts[i], &rule);
        for (size_t k = 0; k < DTI_TILE; k++)
            array[i][k] = i == 3 ? NAN : (float)(random_word() % 64) - 32;
        dti_stats_add_each(&rule, array[i], DTI_TILE, i * DTI_TILE, &whole);
        dti_stats_add_each(&rule, array[i], DTI_TILE, i * DTI_TILE, &parts[i]);
    }
    for (size_t order = 0; order < 3; order++) {
        struct dti_stats merged;
        dti_stats_init(&merged, &rule);
        for (unsigned i = 0; i < PARTS; i++)
            dti_stats_merge(&merged, &parts[orders[order][i]]);
        CHECK(same(&merged, &whole));
    }
}

UNIT_MAIN(hubs_hold_their_dtypes, special_numbers_are_counted_and_left_out,
          subnormals_are_those_of_the_arrays_own_dtype, of_equal_extremes_the_first_counts,
          an_empty_array_has_no_mean, the_shift_keeps_the_deviation_of_numbers_far_from_zero,
          integers_of_64_bits_have_exact_extremes, arrays_fit_where_nothing_overflows,
          ranges_begin_and_end_where_the_formats_say, histograms_have_a_place_for_each_binade,
          every_kernel_counts_as_the_definition_does, codes_count_as_their_numbers_do,
          parts_merge_in_any_order)
