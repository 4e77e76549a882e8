/* SPDX-License-Identifier: MIT
 *
 * Maxima of the loss with ratios of all magnitudes next to each other, from 2^-24 up and for
 * sources of all magnitudes. Compares the vector code of every level, for arrays and for casts that
 * count their loss, with the portable kernels. */
#include <math.h>

#include "kernels/fp64.h"
#include "kernels/scan/loss.h"
#include "unit.h"

enum { GROUP = 128, COUNT = 3 * DTI_TILE + GROUP + 77 };

static uint64_t random_state = 5;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

static int pick(int first, int count)
{
    return first + (int)(random_word() % (uint64_t)count);
}

/* The magnitudes of an array's numbers, and their distances from the stored numbers. */
struct spread {
    int exponent, exponents; /* of sources: the first, and how many */
    int bits;                /* errors are below 2 to this power, in units in the last place */
    enum { ANY, RISING, FALLING, ALIKE } order; /* in each group */
    bool exact;                                 /* most elements are exact */
};

static struct spread draw_spread(int last_bit, int exponent)
{
    static const int widths[] = {1, 2, 12, 60};
    return (struct spread){.exponent = exponent + pick(-3, 6),
                           .exponents = widths[random_word() % 4],
                           .bits = pick(0, last_bit + 1),
                           .order = (unsigned)pick(0, 4),
                           .exact = random_word() % 2};
}

/* The distance of element i from its stored number, in units in the last place. Elements at the
 * ends of a group or tile may have the largest. */
static int64_t draw_distance(const struct spread *spread, size_t i, size_t *border)
{
    const size_t groups = COUNT / GROUP, group = i / GROUP;
    int bits = spread->bits;
    if (i % GROUP == 0)
        *border = random_word() % 4; /* group ends with the largest: none, first, last, both */
    if (spread->exact && i % GROUP % 16 != 5 && i % GROUP != 0 && i % GROUP != GROUP - 1)
        return 0;
    if (spread->order == RISING)
        bits = bits * (int)group / (int)groups;
    else if (spread->order == FALLING)
        bits = bits * (int)(groups - group) / (int)groups;
    else if (spread->order == ANY)
        bits = pick(0, bits + 1);
    const bool at_border =
        (i % GROUP == 0 && *border & 1) || (i % GROUP == GROUP - 1 && *border & 2);
    bits = at_border && bits < spread->bits ? bits + 1 : bits;
    const int64_t distance = (int64_t)(random_word() & dti_low_bits((unsigned)bits)) | 1;
    return random_word() % 2 ? distance : -distance;
}

/* A number of the format near 2^exponent, as fp64. */
static double draw_number(const struct dti_format *format, int exponent)
{
    const double mantissa = 1 + (double)(random_word() >> 12) * 0x1p-52;
    const double number = ldexp(random_word() % 2 ? mantissa : -mantissa, exponent);
    struct dti_value value;
    struct dti_outcome outcome;
    dti_fp64_to_value(number, &value);
    dti_encode(format, &value, &(struct dti_policy){.overflow = DTI_OVERFLOW_SATURATE}, 0,
               &outcome);
    dti_decode(format, outcome.code, &value);
    return value.kind == DTI_CLASS_FINITE ? dti_fp64_from_value(&value) : number;
}

static struct {
    _Alignas(64) float f32[2][COUNT];
    double f64[2][COUNT];
    unsigned char codes[2][COUNT * 8];
} arrays;

/* Fills one array with numbers of dst, and the sources at a distance from them. */
static void fill(const struct dti_format *dst, const struct spread *spread)
{
    size_t border = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const int exponent = spread->exponent + pick(0, spread->exponents);
        const double number = draw_number(dst, exponent);
        const int64_t distance = draw_distance(spread, i, &border);
        float single = (float)number;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        arrays.f32[1][i] = single;
        if ((bits & INT32_MAX) + distance > 0 && (bits & INT32_MAX) + distance < 0x7f800000)
            bits += (uint32_t)distance;
        memcpy(&arrays.f32[0][i], &bits, sizeof bits);
        const uint64_t wide = dti_fp64_bits(number), size = wide & INT64_MAX;
        const int64_t moved = (int64_t)size + distance;
        arrays.f64[1][i] = number;
        arrays.f64[0][i] = moved > 0 && moved < INT64_C(0x7ff) << 52
                               ? dti_fp64_from_bits(wide + (uint64_t)distance)
                               : number;
    }
}

static void set(size_t i, double source, double stored)
{
    arrays.f64[0][i] = source;
    arrays.f64[1][i] = stored;
    arrays.f32[0][i] = (float)source;
    arrays.f32[1][i] = (float)stored;
}

/* One error in each group, with ratios that rise by the smallest possible amount. All other
 * elements are exact. */
static void fill_near(const struct dti_format *dst, int exponent, double step)
{
    const int bits = pick(1, 24);
    const double ratio = ldexp(0.5 + (double)(random_word() >> 12) * 0x1p-53, 1 - bits);
    for (size_t i = 0; i < COUNT; i++) {
        const double stored = draw_number(dst, 0);
        set(i, stored, stored);
    }
    for (size_t group = 0; group < COUNT / GROUP; group++) {
        const double stored = draw_number(dst, exponent + pick(0, 3));
        const double lost = ratio * (1 + (double)group * step);
        const double source = stored / (random_word() % 2 ? 1 - lost / 2 : 1 + lost);
        const size_t places[] = {0, GROUP - 1, (size_t)pick(1, GROUP - 2)};
        set(group * GROUP + places[random_word() % 3], source * (1 + pick(-1, 3) * step), stored);
    }
}

static bool same(const struct dti_loss *got, const struct dti_loss *want)
{
    const uint64_t counts[][2] = {
        {got->elements, want->elements},
        {got->inexact, want->inexact},
        {got->overflowed, want->overflowed},
        {got->to_zero, want->to_zero},
        {got->compared, want->compared},
        {got->to_subnormal, want->to_subnormal},
        {got->max_index, want->max_index},
        {dti_fp64_bits(got->max_absolute), dti_fp64_bits(want->max_absolute)},
        {dti_fp64_bits(got->max_relative), dti_fp64_bits(want->max_relative)}};
    const struct dti_exact_sum *const sums[][2] = {
        {&got->sum_absolute, &want->sum_absolute},
        {&got->sum_squared, &want->sum_squared},
        {&got->sum_source_squared, &want->sum_source_squared}};
    bool ok = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ok = CHECK_U64(counts[i][0], counts[i][1]) && ok;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        ok = CHECK_U64(dti_fp64_bits(dti_exact_sum_value(sums[i][0])),
                       dti_fp64_bits(dti_exact_sum_value(sums[i][1]))) &&
             ok;
    return ok;
}

/* Runs the tiles of an array, last tile first. */
static void run_tiles(const struct dti_loss_kernel *kernel, const struct dti_loss_rule *rule,
                      struct dti_loss *ret)
{
    dti_loss_init(ret);
    for (size_t tile = (COUNT + DTI_TILE - 1) / DTI_TILE; tile-- > 0;) {
        const size_t at = tile * DTI_TILE, n = COUNT - at < DTI_TILE ? COUNT - at : DTI_TILE;
        if (kernel->hub == DTI_LOSS_HUB32)
            kernel->run(rule, arrays.f32[0] + at, arrays.f32[1] + at, n, at, ret);
        else
            kernel->run(rule, arrays.f64[0] + at, arrays.f64[1] + at, n, at, ret);
    }
}

static bool check_arrays(const struct dti_loss_rule *rule, const struct spread *spread)
{
    struct dti_loss want, got;
    bool ok = true;
    run_tiles(dti_loss_kernel_find(rule->hub, DTI_LEVEL_SCALAR), rule, &want);
    for (size_t k = 0; k < dti_loss_kernel_count; k++) {
        const struct dti_loss_kernel *const kernel = &dti_loss_kernels[k];
        if (kernel->hub != rule->hub || !dti_level_present(kernel->level))
            continue;
        run_tiles(kernel, rule, &got);
        if (!same(&got, &want)) {
            printf("  %s: %s -> %s, exponents %d + %d, bits %d, order %d\n", kernel->name,
                   rule->src.name, rule->dst.name, spread->exponent, spread->exponents,
                   spread->bits, (int)spread->order);
            ok = false;
        }
    }
    return ok;
}

/* Kernels that encode from a hub to dst and decode back at one level, and their parameters. */
struct both_ways {
    struct dti_encoder encoder;
    struct dti_decoder decoder;
    struct dti_kernel_args args, back_args;
    const struct dti_kernel *kernel, *back;
    size_t code_bytes;
};

static void find_both_ways(const struct dti_loss_rule *rule, enum dti_level level,
                           struct both_ways *ret)
{
    const bool wide = rule->hub == DTI_LOSS_HUB64;
    *ret = (struct both_ways){.code_bytes = dti_format_container(&rule->dst)};
    dti_encoder_init(&ret->encoder, &rule->dst, &rule->policy);
    dti_decoder_init(&ret->decoder, &rule->dst);
    ret->args.encoder = &ret->encoder;
    ret->back_args.decoder = &ret->decoder;
    ret->kernel =
        dti_kernel_find(wide ? DTI_OP_ENCODE_HUB64 : DTI_OP_ENCODE_HUB32, &ret->args, level);
    ret->back =
        dti_kernel_find(wide ? DTI_OP_DECODE_HUB64 : DTI_OP_DECODE_HUB32, &ret->back_args, level);
}

/* Casts with the portable kernels, whose results replace the second array, and with the kernels of
 * every level that count their loss. Returns the number of these. */
static unsigned check_cast(const struct dti_loss_rule *rule, const struct spread *spread)
{
    const bool wide = rule->hub == DTI_LOSS_HUB64;
    const void *const source = wide ? (const void *)arrays.f64[0] : arrays.f32[0];
    void *const stored = wide ? (void *)arrays.f64[1] : arrays.f32[1];
    struct both_ways plain;
    struct dti_loss want;
    unsigned found = 0;
    find_both_ways(rule, DTI_LEVEL_SCALAR, &plain);
    plain.kernel->run(&plain.args, arrays.codes[0], source, COUNT);
    plain.back->run(&plain.back_args, stored, arrays.codes[0], COUNT);
    run_tiles(dti_loss_kernel_find(rule->hub, DTI_LEVEL_SCALAR), rule, &want);
    for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct both_ways ways;
        struct dti_loss got;
        if (!dti_level_present((enum dti_level)level))
            continue;
        find_both_ways(rule, (enum dti_level)level, &ways);
        dti_loss_cast_fn *const run = dti_loss_cast_find(ways.kernel, &ways.args);
        const struct dti_loss_cast cast = {.kernel = ways.kernel,
                                           .args = &ways.args,
                                           .source_bytes = wide ? 8 : 4,
                                           .code_bytes = ways.code_bytes,
                                           .back = ways.back,
                                           .back_args = &ways.back_args};
        if (!run)
            continue;
        found++;
        dti_loss_init(&got);
        run(rule, &cast, arrays.codes[1], source, COUNT, 0, false, &got);
        const size_t bytes = COUNT * ways.code_bytes;
        if (!CHECK(memcmp(arrays.codes[0], arrays.codes[1], bytes) == 0) || !same(&got, &want))
            printf("  %s: %s -> %s, round %d, exponents %d + %d, bits %d, order %d\n",
                   ways.kernel->name, rule->src.name, rule->dst.name, (int)rule->policy.round,
                   spread->exponent, spread->exponents, spread->bits, (int)spread->order);
    }
    return found;
}

static void arrays_have_the_maxima_of_the_portable_kernel(void)
{
    static const int exponents[] = {0, -24, -40, -60, -84, -126, -149, 20, 58, 124};
    static const int wide[] = {0, -24, -540, -900, -1000, -1022, -1040, -1060, 500, 1000};
    for (unsigned i = 0; i < (unit_quick() ? 40U : 400U); i++) {
        const enum dti_dtype id = i % 5 == 4 ? DTI_FP64 : DTI_FP32;
        const struct dti_format *const format = dti_format_get(id);
        const struct spread spread = id == DTI_FP32 ? draw_spread(25, exponents[random_word() % 10])
                                                    : draw_spread(54, wide[random_word() % 10]);
        struct dti_loss_rule rule;
        dti_loss_rule_init(&rule, format, format, &(struct dti_policy){.round = DTI_ROUND_ZERO});
        if (i % 2)
            fill_near(format, spread.exponent, id == DTI_FP32 ? 0x1p-23 : 0x1p-52);
        else
            fill(format, &spread);
        if (!check_arrays(&rule, &spread))
            break;
    }
}

/* The error of a short number that becomes one of another magnitude has more bits than both, so its
 * ratio may be closer below 1 than a bar that was rounded up would show. */
static void an_error_of_many_bits_hides_no_larger_ratio(void)
{
    const struct dti_format *const bf16 = dti_format_get(DTI_BF16);
    const struct spread none = {0, 0, 0, ANY, true};
    struct dti_loss_rule rule;
    dti_loss_rule_init(&rule, bf16, bf16, &(struct dti_policy){.round = DTI_ROUND_NEAREST_EVEN});
    for (size_t i = 0; i < COUNT; i++)
        set(i, 1, 1);
    set(2 * GROUP + 100, 0x1p20, 0x1p-5);
    set(5 * GROUP + 7, 1, 0);
    CHECK(check_arrays(&rule, &none));
}

static const struct {
    const char *src, *dst;
    enum dti_round round;
} casts[] = {{"fp32", "bf16", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "fp16", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "fp8_e4m3fn", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "fp8_e5m2", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "fp4_e2m1", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "e3m4b100", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "e1m2b120", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "e1m6b126", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "e1m3", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "int8", DTI_ROUND_NEAREST_EVEN},
             {"fp32", "int8", DTI_ROUND_ZERO},
             {"fp64", "fp32", DTI_ROUND_NEAREST_EVEN},
             {"bf16", "fp16", DTI_ROUND_NEAREST_EVEN},
             {"bf16", "fp8_e4m3fn", DTI_ROUND_NEAREST_EVEN},
             {"bf16", "e1m2b120", DTI_ROUND_NEAREST_EVEN},
             {"bf16", "e4m3b126", DTI_ROUND_NEAREST_EVEN},
             {"fp16", "bf16", DTI_ROUND_NEAREST_EVEN},
             {"int11", "bf16", DTI_ROUND_NEAREST_EVEN},
             {"bf16", "int8", DTI_ROUND_ZERO}};

/* The rule of a cast of the table; false if a format is unknown. */
static bool rule_of(size_t i, enum dti_overflow overflow, struct dti_loss_rule *ret)
{
    const struct dti_policy policy = {.round = casts[i].round, .overflow = overflow};
    struct dti_format src, dst;
    if (!CHECK(dti_format_lookup(casts[i].src, &src, NULL, NULL) == DTI_OK) ||
        !CHECK(dti_format_lookup(casts[i].dst, &dst, NULL, NULL) == DTI_OK))
        return false;
    dti_loss_rule_init(ret, &src, &dst, &policy);
    return true;
}

/* Some level with vectors counts the loss of each cast while casting. */
static bool is_counted(unsigned found)
{
    return CHECK(found > 0 || !dti_level_present(DTI_LEVEL_AVX2));
}

/* The first source that overflows, its neighbours, and the smallest numbers, each alone among
 * numbers that are stored unchanged: the first ones, or after a ratio of 1, or after one that may
 * have been clamped and has a larger error. */
static bool check_edges(size_t i, enum dti_overflow overflow)
{
    const struct spread none = {0, 0, 0, ANY, true};
    struct dti_loss_rule rule;
    if (!rule_of(i, overflow, &rule))
        return false;
    const double limit = rule.overflow_from[0], least = rule.dst_smallest_normal;
    const double edges[] = {
        limit, -rule.overflow_from[1], limit * (1 - 0x1p-24), limit * (1 + 0x1p-23), 0,
        least, least * (1 - 0x1p-24)};
    for (size_t k = 0; k < 3 * sizeof edges / sizeof *edges; k++) {
        for (size_t at = 0; at < COUNT; at++) {
            const double number = draw_number(&rule.dst, 0);
            set(at, number, number);
        }
        if (k % 3 == 1)
            set(3, 0x1p-148, 0);
        else if (k % 3 == 2 && isfinite(limit))
            set(3, 2 * limit, 0);
        if (isfinite(edges[k / 3]))
            set(9 * GROUP + 70 + k, edges[k / 3], 0);
        const unsigned found = check_cast(&rule, &none);
        if ((overflow == DTI_OVERFLOW_NATIVE && !is_counted(found)) || !check_arrays(&rule, &none))
            return false;
    }
    return true;
}

static void casts_see_the_first_number_that_overflows(void)
{
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
        if (!check_edges(i, DTI_OVERFLOW_NATIVE) || !check_edges(i, DTI_OVERFLOW_SATURATE))
            return;
}

/* First the casts, then their results as arrays. fp32 represents all shorter sources. */
static void casts_have_the_maxima_of_the_portable_kernels(void)
{
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
        struct dti_loss_rule rule;
        if (!rule_of(i, DTI_OVERFLOW_NATIVE, &rule))
            return;
        const struct dti_format src = rule.src, dst = rule.dst;
        const int least = dti_format_is_float(&dst) ? 1 - dst.bias : 0;
        for (unsigned k = 0; k < (unit_quick() ? 12U : 60U); k++) {
            const int near[] = {0, least, least - (int)dst.man_bits, -60, -126, -149};
            const struct spread spread = draw_spread(
                rule.hub == DTI_LOSS_HUB64 ? 54 : 25 - dst.man_bits, near[random_word() % 6]);
            if (k % 2)
                fill_near(&dst, spread.exponent, rule.hub == DTI_LOSS_HUB64 ? 0x1p-52 : 0x1p-23);
            else
                fill(&dst, &spread);
            for (size_t at = 0; src.width < 32 && at < COUNT; at++)
                arrays.f32[0][at] =
                    (float)draw_number(&src, spread.exponent + pick(0, spread.exponents));
            const unsigned found = check_cast(&rule, &spread);
            if (!is_counted(found) || !check_arrays(&rule, &spread))
                break;
        }
    }
}

UNIT_MAIN(arrays_have_the_maxima_of_the_portable_kernel,
          an_error_of_many_bits_hides_no_larger_ratio, casts_see_the_first_number_that_overflows,
          casts_have_the_maxima_of_the_portable_kernels)
