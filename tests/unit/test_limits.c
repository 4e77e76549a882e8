/* SPDX-License-Identifier: MIT
 *
 * Compares limits with the specifications (tests/data/limits.tsv) and with an enumeration of all
 * codes. Numbers are compared as doubles, which hold every limit except fp64's own overflow
 * threshold. */
#include <math.h>
#include <stdlib.h>

#include "core/dtype/limits.h"
#include "unit.h"

#ifndef DTI_TEST_DATA
#define DTI_TEST_DATA "tests/data"
#endif

enum { COLUMNS_MAX = 40, LINE_SIZE = 2048 };

static double to_double(const struct dti_value *value)
{
    if (value->kind == DTI_CLASS_ZERO)
        return 0.0;
    double magnitude = ldexp((double)(value->hi >> 11), value->exponent - 52);
    return value->negative ? -magnitude : magnitude;
}

/* Parses "2^-126" or anything that strtod() accepts. */
static double from_text(const char *text)
{
    if (strncmp(text, "2^", 2) == 0)
        return ldexp(1.0, atoi(text + 2));
    return strtod(text, NULL);
}

/* One line of the file, compared cell by cell with the computed limits. */
struct row {
    char *titles[COLUMNS_MAX], *cells[COLUMNS_MAX];
    size_t count;
    unsigned compared;
};

static size_t split(char *line, char **ret_cells)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *cell = line; cell && count < COLUMNS_MAX; count++) {
        char *tab = strchr(cell, '\t');
        if (tab)
            *tab++ = '\0';
        ret_cells[count] = cell;
        cell = tab;
    }
    return count;
}

/* The cell of a column, or NULL if nothing is recorded. */
static const char *cell(struct row *row, const char *title)
{
    for (size_t i = 0; i < row->count; i++) {
        if (strcmp(row->titles[i], title) == 0) {
            if (strcmp(row->cells[i], "-") == 0)
                return NULL;
            row->compared++;
            return row->cells[i];
        }
    }
    unit_check(false, title, __FILE__, __LINE__);
    return NULL;
}

static void say(const struct row *row, const char *title)
{
    printf("    (dtype %s, column %s)\n", row->cells[0], title);
}

static void compare_integer(struct row *row, const char *title, int64_t got)
{
    const char *want = cell(row, title);
    if (want && !CHECK_I64(got, strtoll(want, NULL, 10)))
        say(row, title);
}

static void compare_code(struct row *row, const char *title, bool present, uint64_t got)
{
    const char *want = cell(row, title);
    if (!want)
        return;
    bool wanted = strcmp(want, "none") != 0;
    if (!CHECK(present == wanted) || (wanted && !CHECK_U64(got, strtoull(want, NULL, 16))))
        say(row, title);
}

static void compare_limit(struct row *row, const char *title, const struct dti_limit *got)
{
    const char *want = cell(row, title);
    if (!want)
        return;
    bool wanted = strcmp(want, "none") != 0;
    if (!CHECK(got->present == wanted) ||
        (wanted && !CHECK(to_double(&got->value) == from_text(want)))) {
        printf("    %.17g, not %s\n", to_double(&got->value), want);
        say(row, title);
    }
}

static void compare_row(struct row *row)
{
    struct dti_format format;
    struct dti_limits limits;
    struct dti_error error;
    uint64_t code = 0;
    if (!CHECK_U64(dti_format_lookup(row->cells[0], &format, NULL, &error), DTI_OK))
        return;
    CHECK_STR(format.name, row->cells[0]);
    dti_limits_compute(&limits, &format);

    compare_integer(row, "bits", format.width);
    compare_integer(row, "sign", dti_format_is_signed(&format));
    compare_integer(row, "exp", format.exp_bits);
    compare_integer(row, "man", format.man_bits);
    compare_integer(row, "bias", format.bias);
    bool present = dti_code_inf(&format, false, &code);
    compare_code(row, "inf", present, code);
    CHECK(present == limits.has_inf);
    compare_integer(row, "inf_codes", (int64_t)limits.inf_codes);
    compare_code(row, "nan", limits.has_nan_code, limits.nan_code);
    compare_integer(row, "nan_codes", (int64_t)limits.nan_codes);
    CHECK(limits.has_nan == (limits.nan_codes > 0));
    compare_code(row, "minus_zero", limits.has_minus_zero, dti_format_sign_bit(&format));
    compare_limit(row, "max", &limits.max);
    compare_code(row, "max_code", limits.max.present, limits.max.code);
    compare_limit(row, "lowest", &limits.lowest);
    compare_limit(row, "smallest_normal", &limits.smallest_normal);
    compare_limit(row, "smallest_normal_text", &limits.smallest_normal);
    compare_limit(row, "smallest_subnormal", &limits.smallest_subnormal);
    compare_limit(row, "smallest_subnormal_text", &limits.smallest_subnormal);
    compare_limit(row, "eps", &limits.eps);
    compare_limit(row, "epsneg", &limits.epsneg);
    compare_integer(row, "p", limits.precision);
    compare_integer(row, "integers", (int64_t)limits.integers_up_to);
    compare_integer(row, "digits10", limits.digits10);
    compare_integer(row, "max_digits10", limits.max_digits10);
    compare_limit(row, "step_at_max", &limits.step_at_max);
    compare_limit(row, "overflow", &limits.overflow_from);
    const char *inclusive = cell(row, "overflow_inclusive");
    if (inclusive && !CHECK(limits.overflow_inclusive == (strcmp(inclusive, "yes") == 0)))
        say(row, "overflow_inclusive");
    compare_limit(row, "to_zero", &limits.to_zero_up_to);
    if (limits.to_zero_up_to.present)
        CHECK(limits.to_zero_inclusive);
    compare_integer(row, "machep", limits.machep);
    compare_integer(row, "negep", limits.negep);
    compare_integer(row, "minexp", limits.minexp);
    compare_integer(row, "maxexp", limits.maxexp);
}

static void every_limit_is_that_of_the_specification(void)
{
    char titles[LINE_SIZE], line[LINE_SIZE];
    struct row row = {.count = 0};
    size_t rows = 0;
    FILE *file = fopen(DTI_TEST_DATA "/limits.tsv", "r");
    if (!CHECK(file != NULL))
        return;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        if (row.count == 0) {
            memcpy(titles, line, sizeof titles);
            row.count = split(titles, row.titles);
        } else if (CHECK_SIZE(split(line, row.cells), row.count)) {
            compare_row(&row);
            rows++;
        }
    }
    (void)fclose(file);
    CHECK_SIZE(rows, 44);
    CHECK(row.compared >= 900); /* the number of recorded cells: detects a misspelt title */
}

/* Found by enumerating all codes of a small format. */
struct found {
    double max, lowest, smallest, above_one, below_one;
    uint64_t nans, infs, finites;
    bool has_one;
};

static void walk(const struct dti_format *format, struct found *ret)
{
    struct found found = {.max = -INFINITY,
                          .lowest = INFINITY,
                          .smallest = INFINITY,
                          .above_one = INFINITY,
                          .below_one = -INFINITY};
    for (uint64_t code = 0; code >> format->width == 0; code++) {
        struct dti_value value;
        dti_decode(format, code, &value);
        found.nans += value.kind == DTI_CLASS_NAN;
        found.infs += value.kind == DTI_CLASS_INF;
        if (value.kind == DTI_CLASS_NAN || value.kind == DTI_CLASS_INF)
            continue;
        double number = to_double(&value);
        found.finites++;
        found.max = fmax(found.max, number);
        found.lowest = fmin(found.lowest, number);
        found.has_one |= number == 1.0;
        if (number > 0.0)
            found.smallest = fmin(found.smallest, number);
        if (number > 1.0)
            found.above_one = fmin(found.above_one, number);
        if (number < 1.0)
            found.below_one = fmax(found.below_one, number);
    }
    *ret = found;
}

/* Checks that every integer from 1 to `last` has a code and the next one has none. */
static void check_integers(const struct dti_format *format, uint64_t last)
{
    static bool seen[70000];
    memset(seen, 0, sizeof seen);
    for (uint64_t code = 0; code >> format->width == 0; code++) {
        struct dti_value value;
        dti_decode(format, code, &value);
        double number = value.kind == DTI_CLASS_FINITE ? to_double(&value) : 0.0;
        if (number >= 1.0 && number < 70000.0 && number == floor(number))
            seen[(size_t)number] = true;
    }
    uint64_t end = 1;
    while (end < 70000 && seen[end])
        end++;
    CHECK_U64(last, end - 1);
}

static void check_against_walk(const struct dti_format *format)
{
    struct dti_limits limits;
    struct found found;
    unsigned before = unit_failures;
    walk(format, &found);
    dti_limits_compute(&limits, format);
    CHECK(to_double(&limits.max.value) == found.max);
    CHECK(to_double(&limits.lowest.value) == found.lowest);
    const struct dti_limit *smallest =
        limits.smallest_subnormal.present ? &limits.smallest_subnormal : &limits.smallest_normal;
    CHECK(to_double(&smallest->value) == found.smallest);
    CHECK_U64(limits.nan_codes, found.nans);
    CHECK_U64(limits.inf_codes, found.infs);
    CHECK_U64(limits.finite_codes, found.finites);
    bool has_eps = found.has_one && isfinite(found.above_one);
    bool has_epsneg = found.has_one && isfinite(found.below_one);
    CHECK(limits.eps.present == has_eps);
    CHECK(limits.epsneg.present == has_epsneg);
    if (has_eps) {
        CHECK(to_double(&limits.eps.value) == found.above_one - 1.0);
        CHECK(ldexp(1.0, limits.machep) == found.above_one - 1.0);
    }
    if (has_epsneg) {
        CHECK(to_double(&limits.epsneg.value) == 1.0 - found.below_one);
        CHECK(ldexp(1.0, limits.negep) == 1.0 - found.below_one);
    }
    check_integers(format, limits.integers_up_to);
    if (unit_failures != before)
        printf("    (dtype %s)\n", format->name);
}

static void limits_agree_with_a_walk_over_all_codes(void)
{
    static const char *const parsed[] = {
        "e1m2",        "e2m0",         "e1m3fn",      "e4m3b0", "e4m3b40",  "e5m0",
        "e2m2b7",      "e3m3fnuz",     "e1m0fnuz",    "e6m5fn", "e3m0b0",   "e3m0b1",
        "e4m2fnb1",    "e3m0",         "e2m3b3",      "e5m3b1", "e1m6fnuz", "binary5p2ue",
        "binary3p1se", "binary12p4uf", "binary3p3ue", "ue3m4",  "ue1m1",    "ue2m3fn",
        "ue5m0fn",     "ue6m10"};
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        if (dti_format_is_float(format) && format->width <= 16)
            check_against_walk(format);
    }
    for (size_t i = 0; i < sizeof parsed / sizeof *parsed; i++) {
        struct dti_format format;
        struct dti_error error;
        if (CHECK_U64(dti_format_lookup(parsed[i], &format, NULL, &error), DTI_OK))
            check_against_walk(&format);
        else
            printf("    (%s: %s)\n", parsed[i], error.text);
    }
}

/* The formulas of C11 5.2.4.2.2, in floating point. */
static void decimal_digits_are_those_of_c(void)
{
    for (unsigned man_bits = 0; man_bits <= 61; man_bits++) {
        struct dti_limits limits;
        struct dti_format format = *dti_format_get(DTI_FP64);
        format.exp_bits = 2;
        format.bias = 1;
        format.man_bits = (uint8_t)man_bits;
        format.width = (uint8_t)(3 + man_bits);
        dti_limits_compute(&limits, &format);
        CHECK_U64(limits.precision, man_bits + 1);
        CHECK_U64(limits.digits10, (uint64_t)floor(man_bits * log10(2.0)));
        CHECK_U64(limits.max_digits10, (uint64_t)ceil(1.0 + (man_bits + 1) * log10(2.0)));
    }
}

/* 2^1024 - 2^970, the midpoint of DBL_MAX and 2^1024: 54 ones. */
static void fp64_overflows_from_the_midpoint_above_its_max(void)
{
    struct dti_limits limits;
    dti_limits_compute(&limits, dti_format_get(DTI_FP64));
    CHECK(limits.overflow_inclusive);
    CHECK_I64(limits.overflow_from.value.exponent, 1023);
    CHECK_U64(limits.overflow_from.value.hi, UINT64_C(0xfffffffffffffc00));
    CHECK_U64(limits.finite_codes, UINT64_C(18437736874454810624)); /* 2^64 - 2^53 */
}

static void integer_ranges_are_those_of_stdint(void)
{
    static const struct {
        enum dti_dtype id;
        double min, max;
        uint64_t min_code, max_code;
    } wanted[] = {
        {DTI_INT1, -1, 0, 1, 0},
        {DTI_INT2, -2, 1, 2, 1},
        {DTI_INT4, -8, 7, 8, 7},
        {DTI_INT8, INT8_MIN, INT8_MAX, 0x80, 0x7f},
        {DTI_INT16, INT16_MIN, INT16_MAX, 0x8000, 0x7fff},
        {DTI_INT32, INT32_MIN, INT32_MAX, 0x80000000, 0x7fffffff},
        {DTI_INT64, -0x1p63, 0, UINT64_C(1) << 63, INT64_MAX},
        {DTI_UINT1, 0, 1, 0, 1},
        {DTI_UINT2, 0, 3, 0, 3},
        {DTI_UINT4, 0, 15, 0, 15},
        {DTI_UINT8, 0, UINT8_MAX, 0, UINT8_MAX},
        {DTI_UINT16, 0, UINT16_MAX, 0, UINT16_MAX},
        {DTI_UINT32, 0, UINT32_MAX, 0, UINT32_MAX},
        {DTI_UINT64, 0, 0, 0, UINT64_MAX},
        {DTI_BOOL, 0, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct dti_limit min, max;
        dti_integer_limits(dti_format_get(wanted[i].id), &min, &max);
        CHECK_U64(min.code, wanted[i].min_code);
        CHECK_U64(max.code, wanted[i].max_code);
        CHECK(to_double(&min.value) == wanted[i].min);
        if (wanted[i].max != 0) /* the two largest do not fit in a double */
            CHECK(to_double(&max.value) == wanted[i].max);
    }
}

/* numpy: np.finfo(float16).resolution and so on; Python: repr(10.0 ** -n). */
static void resolution_reads_as_in_numpy(void)
{
    static const struct {
        unsigned digits;
        const char *text, *exact;
    } wanted[] = {
        {0, "1", "1"},
        {1, "0.1", "0.1"},
        {2, "0.01", "0.01"},
        {3, "0.001", "0.001"},
        {4, "0.0001", "0.0001"},
        {6, "1e-06", "0.000001"},
        {15, "1e-15", "0.000000000000001"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char text[DTI_RESOLUTION_SIZE];
        dti_resolution_text(text, wanted[i].digits);
        CHECK_STR(text, wanted[i].text);
        dti_resolution_exact(text, wanted[i].digits);
        CHECK_STR(text, wanted[i].exact);
    }
}

UNIT_MAIN(every_limit_is_that_of_the_specification, limits_agree_with_a_walk_over_all_codes,
          decimal_digits_are_those_of_c, fp64_overflows_from_the_midpoint_above_its_max,
          integer_ranges_are_those_of_stdint, resolution_reads_as_in_numpy)
