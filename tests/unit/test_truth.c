/* SPDX-License-Identifier: MIT
 *
 * Lists of true values: values published to 50 digits, conversions in and out, bounds.
 * tests/oracle/calc/test_truth.py compares random expressions with Fractions and mpmath. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <sys/resource.h>

#include "calc/truth/truth.h"
#include "child.h"
#include "sanitized.h"
#include "unit.h"

static struct dti_calc_truth_list *list_of(size_t count)
{
    return dti_multi_load(NULL) == DTI_OK ? dti_truth_new(count, 192) : NULL;
}

static void set_text(struct dti_calc_truth_list *list, size_t i, const char *text)
{
    struct dti_number number;
    if (CHECK(dti_number_parse(&number, text, strlen(text), NULL) == DTI_OK)) {
        dti_truth_set_number(list, i, &number);
        dti_number_free(&number);
    }
}

static void apply(struct dti_calc_truth_list *list, size_t ret, enum dti_calc_op op, size_t a,
                  size_t b)
{
    const struct dti_truth_operand operands[] = {{list, a}, {list, b}, {list, b}};
    dti_truth_apply(list, ret, op, 0, operands);
}

static bool reads(const struct dti_calc_truth_list *list, size_t i, const char *want)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    const bool told = dti_truth_text(list, i, &text);
    const bool same = CHECK_STR(told ? text.data : "", want);
    dti_buffer_free(&text);
    return same;
}

/* Abramowitz and Stegun, table 1.1, and the DLMF. */
static void constants_are_those_of_tables(void)
{
    static const struct {
        enum dti_calc_op op;
        const char *x, *want;
    } rows[] = {
        {DTI_CALC_SQRT, "2", "1.41421356237309504880168872421"},
        {DTI_CALC_SQRT, "10", "3.16227766016837933199889354443"},
        {DTI_CALC_EXP, "1", "2.71828182845904523536028747135"},
        {DTI_CALC_EXP, "-1", "0.367879441171442321595523770161"},
        {DTI_CALC_LOG, "2", "0.693147180559945309417232121458"},
        {DTI_CALC_LOG, "10", "2.30258509299404568401799145468"},
        {DTI_CALC_LOG2, "10", "3.32192809488736234787031942949"},
        {DTI_CALC_SIN, "1", "0.841470984807896506652502321630"},
        {DTI_CALC_COS, "1", "0.540302305868139717400936607443"},
        {DTI_CALC_ERF, "1", "0.842700792949714869341220635083"},
        {DTI_CALC_TANH, "1", "0.761594155955764888119458282605"},
    };
    struct dti_calc_truth_list *const list = list_of(2);
    if (!CHECK(list != NULL))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_text(list, 0, rows[i].x);
        apply(list, 1, rows[i].op, 0, 0);
        if (reads(list, 1, rows[i].want)) {
            CHECK(!dti_truth_is_rational(list, 1) && !dti_truth_text_is_exact(list, 1));
            CHECK(dti_truth_bits(list, 1) > 180 && dti_truth_bits(list, 1) < 192);
        }
    }
    dti_truth_free(list);
}

static void a_new_list_is_zero(void)
{
    struct dti_calc_truth_list *const list = list_of(3);
    struct dti_value value;
    if (!CHECK(list != NULL))
        return;
    CHECK_SIZE(dti_truth_count(list), 3);
    CHECK(dti_truth_value(list, 2, &value) && value.kind == DTI_CLASS_ZERO);
    CHECK(reads(list, 0, "0"));
    CHECK(dti_truth_is_rational(list, 0) && dti_truth_text_is_exact(list, 0));
    CHECK(!dti_truth_failed(list));
    dti_truth_free(list);
    dti_truth_free(NULL);
}

static bool same(const struct dti_value *a, const struct dti_value *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->sticky == b->sticky &&
           a->exponent == b->exponent && a->hi == b->hi && a->lo == b->lo;
}

static void values_come_out_as_they_went_in(void)
{
    static const struct dti_value values[] = {
        {.kind = DTI_CLASS_FINITE, .exponent = 3, .hi = UINT64_C(0xA) << 60},
        {.kind = DTI_CLASS_FINITE, .negative = true, .exponent = -149, .hi = UINT64_C(1) << 63},
        {.kind = DTI_CLASS_FINITE, .exponent = 262143, .hi = UINT64_MAX},
        {.kind = DTI_CLASS_FINITE, .negative = true, .exponent = -262200, .hi = UINT64_C(7) << 61},
        {.kind = DTI_CLASS_FINITE, .exponent = 5, .hi = UINT64_MAX, .lo = UINT64_MAX},
        {.kind = DTI_CLASS_FINITE, .exponent = 0, .hi = UINT64_C(1) << 63, .lo = 1},
        {.kind = DTI_CLASS_ZERO},
        {.kind = DTI_CLASS_INF, .negative = true},
    };
    struct dti_calc_truth_list *const list = list_of(2);
    struct dti_value value, none;
    if (!CHECK(list != NULL))
        return;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        dti_truth_set_value(list, 0, &values[i]);
        dti_truth_copy(list, 1, list, 0);
        CHECK(dti_truth_value(list, 1, &value) && same(&value, &values[i]));
        CHECK(dti_truth_bits(list, 1) == UINT_MAX);
        if (values[i].kind == DTI_CLASS_FINITE && values[i].lo == 0) {
            CHECK(dti_truth_error(list, 1, &values[i], &value, &none));
            CHECK(value.kind == DTI_CLASS_ZERO && none.kind == DTI_CLASS_ZERO);
        }
    }
    const struct dti_value nan = {.kind = DTI_CLASS_NAN};
    dti_truth_set_value(list, 0, &nan);
    CHECK(!dti_truth_value(list, 0, &value) && reads(list, 0, "nan"));
    dti_truth_free(list);
}

/* A sticky value lies between its significand and the next one. */
static void a_sticky_value_is_an_interval(void)
{
    struct dti_calc_truth_list *const list = list_of(1);
    struct dti_value sticky = {
        .kind = DTI_CLASS_FINITE, .sticky = true, .hi = UINT64_C(0xAAAAAAAAAAAAAAAA)};
    struct dti_value value;
    if (!CHECK(list != NULL))
        return;
    sticky.lo = sticky.hi;
    for (int negative = 0; negative < 2; negative++) {
        sticky.negative = negative;
        dti_truth_set_value(list, 0, &sticky);
        CHECK(!dti_truth_is_rational(list, 0));
        CHECK(dti_truth_bits(list, 0) >= 126 && dti_truth_bits(list, 0) <= 128);
        CHECK(dti_truth_value(list, 0, &value) && same(&value, &sticky));
    }
    dti_truth_free(list);
}

static void texts_have_their_limits(void)
{
    struct dti_calc_truth_list *const list = list_of(2);
    if (!CHECK(list != NULL))
        return;
    static const char *const rows[][2] = {
        {"0.1", "0.1"},
        {"-12500", "-12500"},
        {"1e59", "100000000000000000000000000000000000000000000000000000000000"},
        {"1e60", "1e+60"},
        {"-1e-7", "-1e-07"},
        {"0.0001", "0.0001"},
        {"1/3", "1/3"},
        {"-22/7", "-22/7"},
        {"1/12345678901234567890123456789012345678", "1/12345678901234567890123456789012345678"},
        {"100/1234567890123456789012345678901234567", "100/1234567890123456789012345678901234567"},
        {"1001/1234567890123456789012345678901234567", "8.10810007297290066405339604289e-34"},
        {"0x1p-200", "6.22301527786114170714406405378e-61"},
        /* 30 digits: to nearest, ties to even, and to the next power of ten */
        {"0.9999999999999999999999999999999999999999999999999999999999999",
         "1.00000000000000000000000000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_text(list, 0, rows[i][0]);
        CHECK(reads(list, 0, rows[i][1]));
    }
    dti_truth_free(list);
}

static void a_rational_that_grows_becomes_an_interval(void)
{
    static const struct {
        size_t count;
        unsigned squarings;
    } rows[] = {
        {1, 16},       /* 3^(2^16) has 103873 bits, 3^(2^15) 51937 */
        {1 << 16, 12}, /* 6493, 3247 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dti_calc_truth_list *const list = list_of(rows[i].count);
        if (!CHECK(list != NULL))
            return;
        set_text(list, 0, "3");
        unsigned squarings = 0;
        while (dti_truth_is_rational(list, 0) && squarings < 40) {
            apply(list, 0, DTI_CALC_MULTIPLY, 0, 0);
            squarings++;
        }
        CHECK_U64(squarings, rows[i].squarings);
        CHECK(dti_truth_bits(list, 0) > 185);
        dti_truth_free(list);
    }
}

static void sums_go_by_steps(void)
{
    struct dti_calc_truth_list *const list = list_of(6), *const sum = list_of(1);
    if (!CHECK(list && sum))
        return;
    for (size_t i = 0; i < 6; i++)
        dti_truth_set_quotient(list, i, (int64_t)i + 1, i < 3 ? 4 : 3);
    dti_truth_sum(sum, 0, list, 0, 2, NULL, 0, 0, 3); /* 1/4 + 3/4 + 5/3 */
    CHECK(reads(sum, 0, "8/3"));
    dti_truth_sum(sum, 0, list, 0, 1, list, 3, 1, 3); /* 1/4 4/3 + 2/4 5/3 + 3/4 6/3 */
    CHECK(reads(sum, 0, "8/3"));
    dti_truth_sum(sum, 0, list, 0, 0, NULL, 0, 0, 100);
    CHECK(reads(sum, 0, "25"));
    dti_truth_sum(sum, 0, list, 0, 1, NULL, 0, 0, 0);
    CHECK(reads(sum, 0, "0"));
    dti_truth_set_quotient(list, 0, INT64_MIN, UINT64_MAX);
    CHECK(reads(list, 0, "-9223372036854775808/18446744073709551615"));
    dti_truth_free(list);
    dti_truth_free(sum);
}

#ifndef SANITIZED
enum { MANY = 1 << 18, SPARE = 1 << 24 }; /* the intervals of MANY values take 2 x SPARE bytes */

static void run_out_of_memory(FILE *out, const void *context)
{
    struct dti_calc_truth_list *const list = list_of(MANY);
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *const about = fopen("/proc/self/statm", "r");
    (void)context;
    if (!list || !about || fscanf(about, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    fclose(about);
    for (size_t i = 0; i < MANY; i++)
        dti_truth_set_quotient(list, i, (int64_t)i + 2, 1);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + SPARE;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return;
    for (size_t i = 0; i < MANY; i++)
        apply(list, i, DTI_CALC_LOG, i, i);
    fprintf(out, "%d %d %u %u", dti_truth_count(list) == MANY, dti_truth_failed(list),
            dti_truth_bits(list, 0) > 180, dti_truth_bits(list, MANY - 1));
    dti_truth_free(list);
}

/* GMP and MPFR end the process if their own allocation fails. */
static void memory_that_runs_out_is_told(void)
{
    struct child_result result;
    child_run(&result, run_out_of_memory, NULL, NULL);
    CHECK_I64(result.status, 0);
    if (result.output[0]) /* this system supports limits */
        CHECK_STR(result.output, "1 1 1 4294967295");
}
#else
static void memory_that_runs_out_is_told(void)
{
}
#endif

UNIT_MAIN(constants_are_those_of_tables, a_new_list_is_zero, values_come_out_as_they_went_in,
          a_sticky_value_is_an_interval, texts_have_their_limits,
          a_rational_that_grows_becomes_an_interval, sums_go_by_steps, memory_that_runs_out_is_told)
