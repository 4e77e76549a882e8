/* SPDX-License-Identifier: MIT
 *
 * Lists computed by kernels compared with the exact path: codes, counts, flags, the first event,
 * and the marks by which cancellation is detected. --steps takes the exact path for casts and
 * elementwise operations, and flushing of subnormals for sums; in their lists there are none. */
#include "calc/calc.h"
#include "core/value.h"
#include "unit.h"

enum { COUNT = 9 * 1024 + 77, LONG = (1 << 16) + 5, A_ROWS = 20, LENGTH = 45, B_COLUMNS = 30 };

static struct dti_format source;
static size_t count;
static bool ordinary; /* numbers from 1/2 to 1, and -1 to -1/2 */
static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A quarter are random bits, a quarter are near 1/2, and half are numbers of ordinary size. */
static uint64_t drawn_code(const struct dti_format *format)
{
    struct dti_value value;
    struct dti_outcome outcome;
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    const uint64_t bits = draw() >> 3;
    const bool negative = bits & 1;
    if (ordinary)
        dti_value_set(&value, negative, (UINT64_C(1) << 23) + (bits >> 8 & 0x7fffff), -24);
    else if (bits % 16 < 4)
        return draw() & dti_low_bits(format->width);
    else if (bits % 16 < 8)
        dti_value_set(&value, negative, (UINT64_C(1) << 20) + (bits >> 8) % 4096, -21);
    else
        dti_value_set(&value, negative, bits >> 40, (int64_t)(bits >> 8 & 31) - 32);
    dti_encode(format, &value, &policy, 0, &outcome);
    return outcome.code;
}

/* Every other array is offered in pieces. */
static enum dti_status load(void *context, const char *path, const char *tensor,
                            struct dti_calc_taker *taker, struct dti_calc_array *ret,
                            struct dti_error *reterr)
{
    enum { PIECE = 1500 };
    static bool in_pieces;
    const bool matrix = strcmp(path, "a") == 0 || strcmp(path, "b") == 0;
    const uint64_t rows = path[0] == 'a' ? A_ROWS : LENGTH,
                   columns = path[0] == 'a' ? LENGTH : B_COLUMNS;
    (void)context, (void)tensor, (void)reterr;
    *ret = (struct dti_calc_array){.format = source, .rank = 1, .shape = {count}, .count = count};
    if (matrix)
        *ret = (struct dti_calc_array){.format = source,
                                       .rank = 2,
                                       .shape = {rows, columns},
                                       .count = (size_t)(rows * columns)};
    ret->codes = dti_calc_codes_new(&source, ret->count);
    state = 20261128;
    for (size_t i = 0; i < ret->count; i++)
        dti_calc_put(ret, i, drawn_code(&source));
    in_pieces = !in_pieces;
    if (!in_pieces || !taker->begin(taker, ret))
        return DTI_OK;
    for (size_t at = 0; at < ret->count; at += PIECE) {
        const size_t left = ret->count - at;
        CHECK(taker->take(taker, (char *)ret->codes + at * dti_calc_code_bytes(&source),
                          left < PIECE ? left : PIECE));
    }
    dti_calc_array_free(ret);
    return DTI_OK;
}

static bool run(const char *text, const struct dti_format *format,
                const struct dti_calc_options *options, struct dti_calc_result *ret)
{
    struct dti_calc_tree *tree;
    struct dti_error error;
    if (!CHECK(dti_calc_parse(&tree, text, strlen(text), &error) == DTI_OK))
        return false;
    const bool done = CHECK(dti_calc_run(tree, format, options, ret, &error) == DTI_OK);
    dti_calc_tree_free(tree);
    return done;
}

static bool same_event(const struct dti_calc_event *a, const struct dti_calc_event *b)
{
    return a->kind == b->kind && a->op == b->op && a->step == b->step && a->element == b->element &&
           a->code == b->code && a->bits == b->bits && dti_value_compare(&a->exact, &b->exact) == 0;
}

static void compare(const char *text, const struct dti_format *format,
                    const struct dti_calc_options *options)
{
    struct dti_calc_options exact = *options;
    struct dti_calc_result got, want;
    exact.steps = !ordinary;
    exact.flush = ordinary;
    if (!run(text, format, options, &got))
        return;
    if (!run(text, format, &exact, &want)) {
        dti_calc_result_free(&got);
        return;
    }
    bool same = CHECK_U64(got.operations, want.operations);
    same &= CHECK_U64(got.flags, want.flags);
    for (unsigned kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++)
        same &= CHECK_U64(got.events[kind], want.events[kind]);
    same &= CHECK(got.went_wrong == want.went_wrong);
    same &= CHECK(!got.went_wrong || same_event(&got.first, &want.first));
    for (size_t i = 0; i < want.value.count && same; i++)
        same = CHECK_U64(dti_calc_code(&got.value, i), dti_calc_code(&want.value, i));
    if (!same)
        printf("    %s from %s to %s, round %d, overflow %d\n", text, source.name, format->name,
               (int)options->policy.round, (int)options->policy.overflow);
    dti_calc_result_free(&got);
    dti_calc_result_free(&want);
}

static const enum dti_dtype sources[] = {DTI_FP32, DTI_FP64,       DTI_FP16,  DTI_BF16,
                                         DTI_INT8, DTI_FP8_E4M3FN, DTI_INT32, DTI_UINT16};
static const enum dti_dtype targets[] = {
    DTI_BF16,     DTI_FP16,     DTI_FP32, DTI_FP64,  DTI_FP8_E4M3FN, DTI_FP8_E5M2FNUZ,
    DTI_FP4_E2M1, DTI_FP6_E3M2, DTI_INT8, DTI_UINT8, DTI_INT32};

static void casts_by_tiles_are_those_of_the_exact_path(void)
{
    struct dti_calc_options options = {.block = 1, .truth = DTI_CALC_TRUTH_NO, .load = load};
    count = COUNT;
    for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
        source = *dti_format_get(sources[s]);
        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            for (unsigned round = (unsigned)(s + t) % unit_each(3); round <= DTI_ROUND_STOCHASTIC;
                 round += unit_each(3)) {
                options.policy.round = (enum dti_round)round;
                options.policy.overflow =
                    (enum dti_overflow)((round + t) % (DTI_OVERFLOW_WRAP + 1));
                options.round_given = round % 2;
                compare("@x", dti_format_get(targets[t]), &options);
            }
        }
    }
}

static void marks_by_tiles_are_those_of_the_exact_path(void)
{
    const struct dti_calc_options options = {.block = 1, .truth = DTI_CALC_TRUTH_NO, .load = load};
    source = *dti_format_get(DTI_FP32);
    count = COUNT;
    compare("@x - 0.5", dti_format_get(DTI_BF16), &options);
    compare("@x + 0.5", dti_format_get(DTI_FP8_E4M3FN), &options);
    count = LONG;
    compare("@x", dti_format_get(DTI_FP16), &options);
}

static void random_lists_by_tiles_are_those_of_the_exact_path(void)
{
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        struct dti_calc_options options = {.block = 1, .truth = DTI_CALC_TRUTH_NO};
        options.policy.seed = draw();
        compare("rand(5001)", dti_format_get(targets[t]), &options);
    }
}

static void elementwise_operations_are_those_of_the_exact_path(void)
{
    static const char *const texts[] = {"x = @x; x*1.1 - x",        "x = @x; y = x/3; x - y*2.75",
                                        "x = @x; fma(x, x, 0.4)",   "x = @x; sqrt(x*x) - 0.7",
                                        "x = @x * 0.3; x - max(x)", "@a / 3 - @a * 0.3"};
    struct dti_calc_options options = {.block = 1, .truth = DTI_CALC_TRUTH_NO, .load = load};
    source = *dti_format_get(DTI_FP32);
    count = 5000;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        for (size_t i = t % unit_each(2); i < sizeof texts / sizeof texts[0]; i += unit_each(2)) {
            options.policy.overflow = (enum dti_overflow)((i + t) % (DTI_OVERFLOW_WRAP + 1));
            options.fma = i % 2;
            compare(texts[i], dti_format_get(targets[t]), &options);
        }
    }
}

static void sums_are_those_of_the_exact_path(void)
{
    static const char *const texts[] = {"x = @x * 0.7; sum(x) - 1", "x = @x; y = x*0.7; dot(x, y)",
                                        "matmul(@a, @b)", "matmul(@a * 0.7, @b) - 0.25",
                                        "rowsum(@a * 0.7) - 0.5"};
    static const enum dti_dtype dtypes[] = {DTI_BF16, DTI_FP16, DTI_FP32, DTI_FP8_E4M3FN};
    struct dti_calc_options options = {.truth = DTI_CALC_TRUTH_NO, .load = load};
    ordinary = true;
    source = *dti_format_get(DTI_FP32);
    count = 3001;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (unsigned way = (unsigned)i % unit_each(5); way < 48; way += unit_each(5)) {
            options.order = (enum dti_calc_order)(way % 4);
            options.fma = way / 8 % 2;
            options.block = way / 16 == 0 ? 1 : way / 16 == 1 ? 7 : 1024;
            /* a fused product may leave a subnormal where numbers have few exponents */
            compare(texts[i], dti_format_get(dtypes[options.fma ? 2 : way / 4 % 4]), &options);
            compare(texts[i], dti_format_get(DTI_BF16), &options);
        }
    }
    ordinary = false;
}

UNIT_MAIN(casts_by_tiles_are_those_of_the_exact_path, marks_by_tiles_are_those_of_the_exact_path,
          random_lists_by_tiles_are_those_of_the_exact_path,
          elementwise_operations_are_those_of_the_exact_path, sums_are_those_of_the_exact_path)
