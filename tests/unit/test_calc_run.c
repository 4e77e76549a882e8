/* SPDX-License-Identifier: MIT
 *
 * Evaluates expressions in a dtype: results, steps and events, computed by hand. */
#include "calc/calc.h"
#include "calc/truth/truth.h"
#include "core/number/number.h"
#include "core/number/spell.h"
#include "unit.h"

static const struct dti_calc_options plain = {.block = 1, .truth = DTI_CALC_TRUTH_NO};

/* Writes the elements as numbers, "256" or "[1, 2]", followed by ": nan at inf - inf" if an event
 * occurred; or the error. */
static void describe(char *ret, size_t size, const char *text, enum dti_dtype dtype,
                     const struct dti_calc_options *options)
{
    struct dti_calc_tree *tree;
    struct dti_calc_result result;
    struct dti_error error;
    struct dti_buffer out;
    if (dti_calc_parse(&tree, text, strlen(text), &error) != DTI_OK) {
        (void)snprintf(ret, size, "%s", error.text);
        return;
    }
    if (dti_calc_run(tree, dti_format_get(dtype), options, &result, &error) != DTI_OK) {
        (void)snprintf(ret, size, "%s", error.text);
        dti_calc_tree_free(tree);
        return;
    }
    dti_buffer_init(&out);
    for (size_t i = 0; i < result.value.count; i++) {
        char number[DTI_TEXT_SIZE];
        struct dti_value value;
        dti_decode(&result.value.format, dti_calc_code(&result.value, i), &value);
        dti_spell_text(number, &value);
        dti_buffer_puts(&out, i > 0 ? " " : "");
        dti_buffer_puts(&out, number);
    }
    if (result.went_wrong) {
        dti_buffer_puts(&out, ": ");
        dti_buffer_puts(&out, dti_calc_event_name(result.first.kind));
        dti_buffer_puts(&out, " at ");
        dti_calc_event_text(&out, &result.first_step, &result.first);
    }
    (void)snprintf(ret, size, "%s", out.data);
    dti_buffer_free(&out);
    dti_calc_result_free(&result);
    dti_calc_tree_free(tree);
}

static void comes_to_with(const char *text, enum dti_dtype dtype,
                          const struct dti_calc_options *options, const char *want)
{
    char got[512];
    describe(got, sizeof got, text, dtype, options);
    CHECK_STR(got, want);
}

static void comes_to(const char *text, enum dti_dtype dtype, const char *want)
{
    comes_to_with(text, dtype, &plain, want);
}

static void each_operation_is_rounded_once(void)
{
    comes_to("1 + 2*3", DTI_FP16, "7");
    comes_to("1/3", DTI_FP16, "0.333251953125");
    comes_to("2049 + 0", DTI_FP16, "2048"); /* the literal is already rounded */
    comes_to("1/3 + 1/3 + 1/3", DTI_FP16, "1");
    comes_to("sqrt(2)", DTI_BF16, "1.4140625");
    comes_to("fma(0.1, 10, -1)", DTI_FP32, "1.4901161193847656e-08");
    comes_to("0.1*10 - 1", DTI_FP32, "0: cancellation at 1 - 1: 24 of 24 bits lost");
    comes_to("-2^2", DTI_FP32, "-4");
    comes_to("0.1^2", DTI_FP16, "0.0099945068359375"); /* 1638^2/2^28 is 10233.5.. 2^-20 */
    comes_to("2^-2", DTI_FP16, "0.25");
    comes_to("min(2, -3) + max(-0, 0)", DTI_FP32, "-3");
    comes_to("[floor(-1.5), ceil(-1.5), round(2.5), round(3.5)]", DTI_FP32, "-2 -1 2 4");
    comes_to("relu([-1, 2]) + abs(-3)", DTI_BF16, "3 5");
}

static void what_went_wrong_first_is_told(void)
{
    comes_to("10k*10k - inf", DTI_FP16, "nan: overflow at 10000*10000: 1e+08 > 65504");
    comes_to("inf - inf", DTI_FP16, "nan: nan at inf - inf");
    comes_to("0*inf", DTI_FP32, "nan: nan at 0*inf");
    comes_to("sqrt(-1)", DTI_FP32, "nan: nan at sqrt(-1)");
    comes_to("1/0", DTI_FP32, "inf: divide_by_zero at 1/0");
    comes_to("256 + 1", DTI_BF16, "256: absorbed at 256 + 1 = 256 (spacing 2)");
    comes_to("1 - 256", DTI_BF16, "-255");
    comes_to("1e-8 + 1", DTI_BF16, "1: absorbed at 1.00117e-08 + 1 = 1 (spacing 2^-7)");
    comes_to("1e-8", DTI_FP16, "0: to_zero at 1e-08 < 2^-25");
    comes_to("-1e-8", DTI_FP16, "-0: to_zero at -1e-08 > -2^-25");
    comes_to("0x1p-12*0x1p-13", DTI_FP16,
             "0: to_zero at 0.000244141*0.00012207 = 2^-25, rounded to 0");
    comes_to("1e-5*1", DTI_FP16, "1.0013580322265625e-05"); /* subnormal: not an event */
    comes_to("x = 1/3; x*3 - 1", DTI_FP16, "0: cancellation at 1 - 1: 11 of 11 bits lost");
    comes_to("1001 - 1000", DTI_FP16, "1"); /* exact operands */
    comes_to("x = 0.1; x - x", DTI_FP16, "0");
    comes_to("70000", DTI_FP16, "inf: overflow at 70000 > 65504");
    comes_to("-70000", DTI_FP16, "-inf: overflow at -70000 < -65504");
    comes_to("1e999999999", DTI_FP16, "inf: overflow at 1e999999999 > 65504");
    comes_to("1e-999999999", DTI_FP16, "0: to_zero at 1e-999999999 < 2^-25");
    comes_to("[1e999999999]", DTI_FP16, "inf: overflow at 2^16777216 > 65504");
    comes_to("65519.9", DTI_FP16, "65504");
    comes_to("65520", DTI_FP16, "inf: overflow at 65520 > 65504");
    comes_to("nan + 1", DTI_FP16, "nan");
    comes_to("inf + 1", DTI_FP16, "inf");
    comes_to("448 + 64", DTI_FP8_E4M3FN, "nan: overflow at 448 + 64: 512 > 448");
}

static void integers_truncate_and_clamp_or_wrap(void)
{
    struct dti_calc_options options = plain;
    comes_to("7/2", DTI_INT8, "3");
    comes_to("-7/2", DTI_INT8, "-3");
    comes_to("-128", DTI_INT8, "-128");
    comes_to("100 + 100", DTI_INT8, "127: overflow at 100 + 100: 200 > 127");
    comes_to("1 - 2", DTI_UINT8, "0: overflow at 1 - 2: -1 < 0");
    comes_to("1/3", DTI_INT8, "0: to_zero at 1/3 < 1");
    options.policy.overflow = DTI_OVERFLOW_WRAP;
    comes_to_with("100 + 100", DTI_INT8, &options, "-56: overflow at 100 + 100: 200 > 127");
    comes_to_with("340282366920938463463374607431768211457 + 1", DTI_UINT8, &options,
                  "2: overflow at 3.40282e+38 > 255");
    options = plain;
    options.round_given = true;
    comes_to_with("7/2", DTI_INT8, &options, "4");
}

static void policies_apply_to_every_step(void)
{
    struct dti_calc_options options = plain;
    options.policy.round = DTI_ROUND_UP;
    comes_to_with("1/3", DTI_FP16, &options, "0.33349609375");
    comes_to_with("0 - 0", DTI_FP16, &options, "0");
    options.policy.round = DTI_ROUND_DOWN;
    comes_to_with("-(1/3)", DTI_FP16, &options, "-0.333251953125");
    comes_to_with("1 - 1", DTI_FP16, &options, "-0");
    options = plain;
    options.policy.overflow = DTI_OVERFLOW_SATURATE;
    comes_to_with("10k*10k", DTI_FP16, &options, "65504: overflow at 10000*10000: 1e+08 > 65504");
    options = plain;
    options.flush = true;
    comes_to_with("6e-5/4", DTI_FP16, &options, "0: to_zero at 6e-05 < 2^-14");
    comes_to_with("6.2e-5*2", DTI_FP16, &options, "0.0001239776611328125");
    comes_to_with("1e-4/4", DTI_FP16, &options, "0: to_zero at 0.000100017/4 < 2^-14");
    options = plain;
    options.fma = true;
    comes_to_with("0.1*10 - 1", DTI_FP32, &options, "1.4901161193847656e-08");
    comes_to_with("1 - 0.1*10", DTI_FP32, &options, "-1.4901161193847656e-08");
    comes_to_with("-1 + 10*0.1", DTI_FP32, &options, "1.4901161193847656e-08");
    comes_to_with("p = 0.1*10; (p - 1) + p", DTI_FP32, &options,
                  "1: cancellation at 1 - 1: 24 of 24 bits lost"); /* the product is needed twice */
    /* the first product is rounded to 1, the second one is exact */
    comes_to_with("dot([0.1, 0.1], [10, -10])", DTI_FP32, &options, "-1.4901161193847656e-08");
}

static void lists_broadcast_as_in_numpy(void)
{
    comes_to("[1, 2] + 10", DTI_FP16, "11 12");
    comes_to("[[1], [2]]*[10, 20, 30]", DTI_FP16, "10 20 30 20 40 60");
    comes_to("[1, 2] + [1, 2, 3]", DTI_FP16,
             "the shapes in '[1, 2] + [1, 2, 3]' do not match: [2] and [3]");
    comes_to("[[1, 2], [3]]", DTI_FP16, "the parts of '[[1, 2], [3]]' have different shapes");
    comes_to("x = 3; [x, x*2]", DTI_FP16, "3 6");
}

static void reductions_follow_their_order(void)
{
    struct dti_calc_options options = plain;
    comes_to("sum(repeat(1, 1000))", DTI_BF16, "256: absorbed at 256 + 1 = 256 (spacing 2)");
    options.order = DTI_CALC_PAIRWISE;
    comes_to_with("sum(repeat(1, 1000))", DTI_BF16, &options, "1000");
    options.order = DTI_CALC_KAHAN;
    comes_to_with("sum(repeat(1, 1000))", DTI_BF16, &options, "1000");
    options.order = DTI_CALC_BLOCKED;
    options.block = 100; /* 100, 200, 300, 400, ...: 256 + 100 stays exact enough */
    comes_to_with("sum(repeat(1, 1000))", DTI_BF16, &options, "1000");
    options = plain;
    options.accumulates = true;
    options.accumulate = *dti_format_get(DTI_FP32);
    comes_to_with("sum(repeat(1, 1000))", DTI_BF16, &options, "1000");
    comes_to_with("sum(repeat(1, 1001))", DTI_BF16, &options, "1000");
    comes_to("sum([-0, -0])", DTI_FP16, "-0");
    comes_to("prod([2, 3, 4])", DTI_FP16, "24");
    comes_to("dot([1, 2, 3], [4, 5, 6])", DTI_FP16, "32");
    comes_to("dot([1, 2], [1, 2, 3])", DTI_FP16,
             "the shapes in 'dot([1, 2], [1, 2, 3])' do not match: [2] and [3]");
    comes_to("min([3, -1, 2]) + max([3, -1, 2])", DTI_FP16, "2");
    comes_to("max([1, nan])", DTI_FP16, "nan");
    comes_to("rowsum([[1, 2], [3, 4]])", DTI_FP16, "3 7");
    comes_to("rowmax([[1, 2], [4, 3]])", DTI_FP16, "2 4");
    comes_to("[count([5, 6, 7]), rowcount([[1, 2], [3, 4]])]", DTI_FP16, "3 2");
    comes_to("matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])", DTI_FP16, "19 22 43 50");
    comes_to("matmul([1, 2], [[5, 6], [7, 8]])", DTI_FP16, "19 22");
    comes_to("matmul([[1, 2], [3, 4]], [5, 7])", DTI_FP16, "19 43");
    comes_to("matmul([[1, 2]], [[1, 2]])", DTI_FP16,
             "the shapes in 'matmul([[1, 2]], [[1, 2]])' do not match: [1, 2] and [1, 2]");
}

static void composites_are_their_bodies(void)
{
    comes_to("mean([1, 2, 3, 4])", DTI_FP16, "2.5");
    comes_to("var([1, 3])", DTI_FP16, "1");
    comes_to("norm([3, 4])", DTI_BF16, "5");
}

static void generators_round_each_element_once(void)
{
    comes_to("linspace(0, 1, 5)", DTI_FP8_E4M3FN, "0 0.25 0.5 0.75 1");
    comes_to("linspace(0, 1, 4)", DTI_FP16, "0 0.333251953125 0.66650390625 1");
    comes_to("linspace(1, -1, 3)", DTI_FP16, "1 0 -1");
    comes_to("linspace(7, 9, 1)", DTI_FP16, "7");
    comes_to("linspace(0.1, 0.3, 3)", DTI_FP32, /* the middle is 0.2, not a rounded midpoint */
             "0.10000000149011612 0.20000000298023224 0.30000001192092896");
    comes_to("arange(0, 1, 0.25)", DTI_FP16, "0 0.25 0.5 0.75");
    comes_to("arange(0, 3)", DTI_INT8, "0 1 2");
    comes_to("arange(1, 0, -0.5)", DTI_FP16, "1 0.5");
    comes_to("arange(0, 0.3, 0.1)", DTI_FP16, "0 0.0999755859375 0.199951171875"); /* not 0.3 */
    comes_to("arange(0, 1, 0)", DTI_FP16, "the step of 'arange' is 0");
    comes_to("arange(1, 0)", DTI_FP16, "'arange' is empty: its end does not lie beyond its start");
    comes_to("linspace(1e-300, 1e300, 2)", DTI_FP64, "1e-300 1e+300"); /* long integers */
    comes_to("repeat(1/3, 2)", DTI_FP16, "0.333251953125 0.333251953125");
    comes_to("repeat([1, 2], 2)", DTI_FP16, "1 2 1 2");
    comes_to("repeat(1, 0)", DTI_FP16, "'0' is no length; 'repeat' takes an integer from 1 on");
    comes_to("repeat(1, 2.5)", DTI_FP16, "'2.5' is no length; 'repeat' takes an integer from 1 on");
    comes_to("n = 2; repeat(1, n + 1)", DTI_FP16,
             "a length that 'repeat' is given must be written as a number, not 'n + 1'");
    comes_to("linspace(0, inf, 3)", DTI_FP16, "'linspace' takes finite numbers; 'inf' is not one");
    comes_to("repeat(1, 1T)", DTI_FP16, "'1T' elements are too many; the limit is 268435456");
    comes_to("rand(1M, 1M)", DTI_FP16,
             "an array of shape [1000000, 1000000] is too large; all arrays together may have "
             "268435456 elements and 1024 MiB");
}

static void random_lists_follow_from_the_seed(void)
{
    char first[512], again[512], other[512];
    struct dti_calc_options seeded = plain;
    seeded.policy.seed = 7;
    describe(first, sizeof first, "rand(5)", DTI_FP32, &plain);
    describe(again, sizeof again, "rand(5)", DTI_FP32, &plain);
    describe(other, sizeof other, "rand(5)", DTI_FP32, &seeded);
    CHECK_STR(again, first);
    CHECK(strcmp(other, first) != 0);
    describe(first, sizeof first, "rand(5) - rand(5)", DTI_FP32, &plain);
    CHECK(strcmp(first, "0 0 0 0 0") != 0);
    /* 10^5 draws are between 0 and 1, with the mean and mean square of a uniform distribution */
    comes_to("x = rand(100k); [min(x) < 0]", DTI_FP32,
             "'<' is not known; write the difference, 'a - b', for a comparison");
    comes_to("x = rand(100k); floor(max(x)) + floor(min(x))", DTI_FP16, "0");
    comes_to("x = rand(100k); round(100*mean(x))", DTI_FP64, "50");
    comes_to("x = randn(100k); [round(50*mean(x)), round(50*var(x))]", DTI_FP64, "0 50");
}

static void steps_are_kept_when_asked_for(void)
{
    struct dti_calc_options options = plain;
    struct dti_calc_tree *tree;
    struct dti_calc_result result;
    const char *const text = "x = 1/3; [x, 1] + 0.5";
    options.steps = true;
    CHECK(dti_calc_parse(&tree, text, strlen(text), NULL) == DTI_OK);
    CHECK(dti_calc_run(tree, dti_format_get(DTI_FP16), &options, &result, NULL) == DTI_OK);
    static const char *const ops[] = {"literal", "literal", "/", "list", "literal", "+"};
    CHECK_SIZE(result.step_count, sizeof ops / sizeof ops[0]);
    for (size_t i = 0; i < result.step_count && i < sizeof ops / sizeof ops[0]; i++)
        CHECK_STR(result.steps[i].op, ops[i]);
    const struct dti_calc_step *const quotient = &result.steps[2], *const sum = &result.steps[5];
    CHECK(strncmp(quotient->text, "1/3", quotient->length) == 0 && !quotient->within);
    CHECK_U64(quotient->inexact, 1);
    CHECK_U64(quotient->code, 0x3555);
    CHECK(quotient->exact.sticky && quotient->operand_count == 2);
    CHECK_U64(sum->count, 2);
    CHECK_U64(sum->inexact, 1);
    CHECK_U64(sum->worst, 0);
    CHECK_U64(result.operations, 7);
    dti_calc_result_free(&result);
    dti_calc_tree_free(tree);
}

static void the_first_of_several_events_is_told(void)
{
    comes_to("x = linspace(1e-5, 300, 70k); max(x*x)", DTI_FP16,
             "inf: to_zero at 1.00136e-05*1.00136e-05 < 2^-25");
    comes_to("x = linspace(300, 1e-5, 70k); max(x*x)", DTI_FP16,
             "inf: overflow at 300*300: 90000 > 65504");
    comes_to("x = linspace(300, 1e-5, 7); max(x*x)", DTI_FP16,
             "inf: overflow at 300*300: 90000 > 65504");
}

static void a_list_may_be_the_answer_and_its_own_truth(void)
{
    struct dti_calc_options options = plain;
    struct dti_calc_tree *tree;
    struct dti_calc_result result;
    struct dti_error error;
    uint64_t different;
    size_t worst;
    options.truth = DTI_CALC_TRUTH_AUTO;
    CHECK(dti_calc_parse(&tree, "randn(3)", 8, NULL) == DTI_OK);
    CHECK(dti_calc_run(tree, dti_format_get(DTI_FP16), &options, &result, &error) == DTI_OK);
    if (dti_calc_worst(&result, &worst, &different)) /* libmpfr is available */
        CHECK_U64(different, 0);
    else
        CHECK_STR(result.truth_reason, "libmpfr is not available");
    dti_calc_result_free(&result);
    dti_calc_tree_free(tree);
}

static void functions_and_high_powers_need_a_library(void)
{
    if (dti_multi_load(NULL) != DTI_OK)
        return; /* calc_parse and the rows above do not need it */
    comes_to("2^12345678", DTI_FP16, "inf: overflow at 2^12345678: 2.48204e+3716419 > 65504");
    comes_to("exp(-20)", DTI_FP16, "0: to_zero at exp(-20) < 2^-25");
    comes_to("log(0)", DTI_FP16, "-inf: divide_by_zero at log(0)");
    comes_to("log(-1)", DTI_FP16, "nan: nan at log(-1)");
    comes_to("softmax([-20, 0, 5])", DTI_FP16,
             "0 0.00669097900390625 0.9931640625: to_zero at exp(-25) < 2^-25");
    comes_to("exp([0, 1])", DTI_INT8, "1 2");
}

static void complex_dtypes_are_refused(void)
{
    comes_to("1", DTI_COMPLEX64, "complex64 is complex; arithmetic is for real dtypes");
    comes_to("@a.npy", DTI_FP32, "'a.npy': files are not read here");
}

/* The result of a long list must not depend on how it is computed. */
static void long_lists_come_to_the_same(void)
{
    static const char *const texts[] = {
        "x = linspace(-1, 1.5, 70k); y = linspace(0.3, 0.9, 70k); %s"};
    static const char rows[] = "a = rand(300, 300) + 1; sum(rowsum(a/rowsum(a) - [[1]])*0.5) "
                               "+ sum((rowmax(a) - a*a)*0.25)";
    static const char *const ends[] = {"sum(x + y*y/3)", "dot(x, y)", "sum(sqrt(y) - x)",
                                       "sum(fma(x, y, x))", rows};
    static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_FP16, DTI_BF16};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (size_t j = i % unit_each(5); j < 3 * 4; j += unit_each(5)) {
            char text[256], fast[512], exact[512];
            struct dti_calc_options options = plain;
            options.order = (enum dti_calc_order)(j / 3);
            options.block = 1000;
            (void)snprintf(text, sizeof text, texts[0], ends[i]);
            describe(fast, sizeof fast, text, dtypes[j % 3], &options);
            /* changes nothing without an overflow, but disables the fast path */
            options.policy.overflow = DTI_OVERFLOW_SATURATE_FINITE;
            describe(exact, sizeof exact, text, dtypes[j % 3], &options);
            CHECK(!strstr(fast, "overflow"));
            CHECK_STR(fast, exact);
        }
    }
}

UNIT_MAIN(functions_and_high_powers_need_a_library, each_operation_is_rounded_once,
          what_went_wrong_first_is_told, integers_truncate_and_clamp_or_wrap,
          policies_apply_to_every_step, lists_broadcast_as_in_numpy, reductions_follow_their_order,
          composites_are_their_bodies, generators_round_each_element_once,
          random_lists_follow_from_the_seed, steps_are_kept_when_asked_for,
          the_first_of_several_events_is_told, a_list_may_be_the_answer_and_its_own_truth,
          complex_dtypes_are_refused, long_lists_come_to_the_same)
