/* SPDX-License-Identifier: MIT
 *
 * The shortest decimals of every format. The expected texts come from a search with Python's
 * fractions through all decimals of 1, 2, 3... digits between the midpoints to the neighbours. */
#include "core/number/bignum.h"
#include "core/number/number.h"
#include "core/number/spell.h"
#include "unit.h"

static struct dti_format parsed(const char *name)
{
    struct dti_format format;
    struct dti_error error;
    CHECK(dti_format_lookup(name, &format, NULL, &error) == DTI_OK);
    return format;
}

static const char *shortest_of(const struct dti_format *format, uint64_t code)
{
    static char text[DTI_TEXT_SIZE];
    const size_t length = dti_spell_shortest(text, format, code);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static void classes_without_digits_are_words(void)
{
    CHECK_STR(shortest_of(dti_format_get(DTI_FP8_E4M3FN), 0x7f), "nan");
    CHECK_STR(shortest_of(dti_format_get(DTI_FP16), 0xfc00), "-inf");
    CHECK_STR(shortest_of(dti_format_get(DTI_FP16), 0x8000), "-0");
}

static void shortest_has_the_fewest_digits_and_the_nearest_of_those(void)
{
    static const struct {
        enum dti_dtype dtype;
        uint64_t code;
        const char *text;
    } cases[] = {
        {DTI_BF16, 0x4789, "7e+04"},
        {DTI_BF16, 0x3dcd, "0.1"},
        {DTI_BF16, 0x3eab, "0.334"},
        {DTI_BF16, 0x1, "9e-41"},
        {DTI_BF16, 0x2, "2e-40"},
        {DTI_BF16, 0x80, "1.18e-38"},
        {DTI_BF16, 0x7f7f, "3.39e+38"},
        {DTI_BF16, 0x3f80, "1"},
        {DTI_BF16, 0x4049, "3.14"},
        {DTI_FP16, 0x7bff, "6.55e+04"},
        {DTI_FP16, 0x1, "6e-08"},
        {DTI_FP16, 0x3, "2e-07"},
        {DTI_FP16, 0x2e66, "0.1"},
        {DTI_FP16, 0x3555, "0.3333"},
        {DTI_FP16, 0x6400, "1024"},
        {DTI_FP16, 0x6801, "2.05e+03"},
        {DTI_FP16, 0x3c00, "1"},
        {DTI_FP32, 0x3dcccccd, "0.1"},
        {DTI_FP32, 0x7f7fffff, "3.4028235e+38"},
        {DTI_FP32, 0x1, "1e-45"},
        {DTI_FP32, 0x800000, "1.1754944e-38"},
        {DTI_FP32, 0x4b800001, "16777218"},
        {DTI_FP32, 0x4c000001, "33554436"},
        {DTI_FP32, 0x40490fdb, "3.1415927"},
        {DTI_FP32, 0x5f800000, "1.8446744e+19"},
        {DTI_FP32, 0x7e967699, "1e+38"},
        {DTI_FP64, UINT64_C(0x3fb999999999999a), "0.1"},
        {DTI_FP64, 0x1, "5e-324"},
        {DTI_FP64, UINT64_C(0x44b52d02c7e14af6), "1e+23"},
        {DTI_FP64, UINT64_C(0x4340000000000001), "9007199254740994"},
        {DTI_FP64, UINT64_C(0x4341c37937e08000), "1e+16"},
        {DTI_FP8_E4M3FN, 0x7e, "4.5e+02"},
        {DTI_FP8_E4M3FN, 0x1, "0.002"},
        {DTI_FP8_E4M3FN, 0x7, "0.014"},
        {DTI_FP8_E4M3FN, 0x38, "1"},
        {DTI_FP8_E4M3FN, 0x31, "0.56"},
        {DTI_FP8_E5M2, 0x7b, "6e+04"},
        {DTI_FP8_E5M2, 0x1, "2e-05"},
        {DTI_FP8_E5M2, 0x3d, "1.2"},
        {DTI_FP8_E4M3FNUZ, 0x7f, "2.4e+02"},
        {DTI_FP8_E4M3FNUZ, 0x1, "0.001"},
        {DTI_FP4_E2M1, 0x7, "6"},
        {DTI_FP4_E2M1, 0x1, "0.5"},
        {DTI_FP4_E2M1, 0x3, "1.5"},
        {DTI_FP6_E3M2, 0x1f, "28"},
        {DTI_FP6_E3M2, 0x1, "0.06"},
        {DTI_BINARY8P3SE, 0x7e, "5e+04"},
        {DTI_BINARY8P3SE, 0x1, "8e-06"},
        {DTI_BINARY8P3SE, 0x41, "1.2"},
        {DTI_BINARY8P8UE, 0x1, "0.008"},
        {DTI_BINARY8P8UE, 0xfd, "1.98"},
        {DTI_FP8_E8M0, 0x0, "6e-39"},
        {DTI_FP8_E8M0, 0x1, "1e-38"},
        {DTI_FP8_E8M0, 0x2, "2e-38"},
        {DTI_FP8_E8M0, 0x3, "5e-38"},
        {DTI_FP8_E8M0, 0x64, "7e-09"},
        {DTI_FP8_E8M0, 0x7e, "0.5"},
        {DTI_FP8_E8M0, 0x7f, "1"},
        {DTI_FP8_E8M0, 0x80, "2"},
        {DTI_FP8_E8M0, 0x82, "8"},
        {DTI_FP8_E8M0, 0x83, "2e+01"},
        {DTI_FP8_E8M0, 0x89, "1e+03"},
        {DTI_FP8_E8M0, 0xc8, "9e+21"},
        {DTI_FP8_E8M0, 0xfe, "2e+38"},
        {DTI_BINARY8P1SE, 0x1, "1e-19"},
        {DTI_BINARY8P1SE, 0x2, "2e-19"},
        {DTI_BINARY8P1SE, 0x3, "4e-19"},
        {DTI_BINARY8P1SE, 0x21, "5e-10"},
        {DTI_BINARY8P1SE, 0x3c, "0.06"},
        {DTI_BINARY8P1SE, 0x3d, "0.1"},
        {DTI_BINARY8P1SE, 0x3e, "0.2"},
        {DTI_BINARY8P1SE, 0x40, "1"},
        {DTI_BINARY8P1SE, 0x43, "8"},
        {DTI_BINARY8P1SE, 0x44, "2e+01"},
        {DTI_BINARY8P1SE, 0x46, "6e+01"},
        {DTI_BINARY8P1SE, 0x47, "1e+02"},
        {DTI_BINARY8P1SE, 0x4a, "1e+03"},
        {DTI_BINARY8P1SE, 0x4b, "2e+03"},
        {DTI_BINARY8P1SE, 0x4d, "8e+03"},
        {DTI_BINARY8P1SE, 0x4e, "2e+04"},
        {DTI_BINARY8P1SE, 0x7e, "5e+18"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(shortest_of(dti_format_get(cases[i].dtype), cases[i].code), cases[i].text);
    CHECK_STR(shortest_of(dti_format_get(DTI_BF16), 0xc789), "-7e+04");
    CHECK_STR(shortest_of(dti_format_get(DTI_UINT64), UINT64_MAX), "18446744073709551615");
    CHECK_STR(shortest_of(dti_format_get(DTI_INT8), 0x80), "-128");
    CHECK_STR(shortest_of(dti_format_get(DTI_BOOL), 1), "1");

    /* Just below the smallest normal, steps are as wide as above it. */
    struct dti_format format = parsed("e4m8");
    CHECK_STR(shortest_of(&format, 0x100), "0.0156");
    format = parsed("e6m3");
    CHECK_STR(shortest_of(&format, 8), "9e-10");

    format = parsed("e5m0");
    CHECK_STR(shortest_of(&format, 17), "4");
    CHECK_STR(shortest_of(&format, 19), "2e+01"); /* 16: from 12 to 24 */
    CHECK_STR(shortest_of(&format, 1), "6e-05");
}

/* A value that only clamps to the largest code does not count, except for posits: whatever lies
 * above their largest number becomes that, by the standard. */
static bool reads_as(const struct dti_format *format, const char *text, uint64_t code)
{
    static const struct dti_policy nearest_even = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_error error;
    struct dti_outcome outcome;
    CHECK(dti_value_parse(&value, text, strlen(text), &error) == DTI_OK);
    dti_encode(format, &value, &nearest_even, 0, &outcome);
    return outcome.code == code &&
           ((outcome.flags & DTI_FLAG_OVERFLOW) == 0 || format->specials == DTI_SPECIALS_POSIT);
}

static unsigned count_digits(const char *text)
{
    unsigned count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

/* The text and the shortest text read back as the code; the nearest decimal with one digit less
 * does not. */
static bool reads_back(const struct dti_format *format, uint64_t code)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_decode(format, code, &value);
    if (value.kind == DTI_CLASS_NAN)
        return true;
    dti_spell_text(text, &value);
    bool ok = CHECK(reads_as(format, text, code));
    dti_spell_shortest(text, format, code);
    ok = CHECK(reads_as(format, text, code)) && ok;
    const unsigned digits = count_digits(text);
    if (value.kind == DTI_CLASS_FINITE && digits > 1) {
        dti_spell_digits(text, &value, digits - 1);
        ok = CHECK(!reads_as(format, text, code)) && ok;
    }
    return ok;
}

static void every_code_of_up_to_16_bits_reads_back(void)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *const format = dti_format_get((enum dti_dtype)id);
        if (!dti_format_is_float(format) || format->width > 16)
            continue;
        for (uint64_t code = 0; code >> format->width == 0; code++) {
            if (!reads_back(format, code)) {
                printf("%s\n", format->name);
                break;
            }
        }
    }
}

static void wide_formats_need_long_integers(void)
{
    struct dti_format format = parsed("e15m48");
    CHECK_STR(shortest_of(&format, 1), "1e-4946");
    CHECK_STR(shortest_of(&format, UINT64_C(0x7ffeffffffffffff)), "1.18973149535723e+4932");
    format = parsed("e2m61");
    CHECK_STR(shortest_of(&format, UINT64_C(0x5fffffffffffffff)), "3.999999999999999999");
    format = parsed("e19m44");
    CHECK_STR(shortest_of(&format, 1), "1e-78926");
    CHECK_STR(shortest_of(&format, UINT64_C(0x7fffefffffffffff)), "1.6113257174857e+78913");

    format = parsed("e13m6");
    for (uint64_t code = 1; code < UINT64_C(0x7ffc0); code += 101)
        CHECK(reads_back(&format, code));
}

/* floor(5^n / 2^exponent), with long integers. */
static void leading_bits_of_power_of_five(struct dti_big *ret, int n, int exponent)
{
    struct dti_big fives, rest;
    dti_big_init(&fives);
    dti_big_init(&rest);
    dti_big_set(&fives, 1);
    dti_big_mul_pow5(&fives, (uint32_t)(n < 0 ? -n : n));
    if (n < 0) {
        dti_big_set(ret, 1);
        dti_big_shift_left(ret, (size_t)-exponent);
        dti_big_divide(ret, &rest, ret, &fives);
    } else {
        dti_big_copy(ret, &fives);
        if (exponent < 0)
            dti_big_shift_left(ret, (size_t)-exponent);
        else
            (void)dti_big_shift_right(ret, (size_t)exponent);
    }
    dti_big_free(&fives);
    dti_big_free(&rest);
}

static void the_table_of_powers_is_rounded_down(void)
{
    static const struct {
        int n;
        uint64_t high, low;
        int exponent;
    } rows[] = {
#define POWER_OF_FIVE(power, h, l, e) {.n = (power), .high = (h), .low = (l), .exponent = (e)},
#include "core/number/spell_powers.def"
#undef POWER_OF_FIVE
    };
    struct dti_big bits;
    dti_big_init(&bits);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_I64(rows[i].n, -336 + 28 * (int)i);
        leading_bits_of_power_of_five(&bits, rows[i].n, rows[i].exponent);
        if (CHECK_SIZE(bits.count, 2)) {
            CHECK_U64(bits.limb[1], rows[i].high);
            CHECK_U64(bits.limb[0], rows[i].low);
            CHECK(bits.limb[1] >> 63 == 1);
        }
    }
    CHECK_SIZE(sizeof rows / sizeof rows[0], 25);
    dti_big_free(&bits);
}

UNIT_MAIN(classes_without_digits_are_words, shortest_has_the_fewest_digits_and_the_nearest_of_those,
          every_code_of_up_to_16_bits_reads_back, wide_formats_need_long_integers,
          the_table_of_powers_is_rounded_down)
