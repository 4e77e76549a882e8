/* SPDX-License-Identifier: MIT
 *
 * Numbers with a given number of digits, or all of them. Expected texts: Python 3.11's "%.*g",
 * "%.*e", "%.*f", '{:f}'.format(Decimal(x)), and its integers of any length. */
#include "core/number/number.h"
#include "core/number/spell.h"
#include "unit.h"

struct rounded_case {
    uint64_t code; /* of fp64 */
    unsigned digits;
    const char *text;
};

static struct dti_value decode(uint64_t code)
{
    struct dti_value value;
    dti_decode(dti_format_get(DTI_FP64), code, &value);
    return value;
}

static const char *digits_of(const struct dti_value *value, unsigned digits)
{
    static char text[DTI_TEXT_SIZE];
    const size_t length = dti_spell_digits(text, value, digits);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static void significant_digits_are_those_of_g(void)
{
    static const struct rounded_case cases[] = {
        {UINT64_C(0x47efe00000000000), 8, "3.3895314e+38"},
        {UINT64_C(0x3fe0000000000000), 1, "0.5"},
        {UINT64_C(0x4004000000000000), 1, "2"},
        {UINT64_C(0x400c000000000000), 1, "4"},
        {UINT64_C(0x3fc0000000000000), 2, "0.12"},
        {UINT64_C(0x3fd8000000000000), 2, "0.38"},
        {UINT64_C(0x4023000000000000), 1, "1e+01"},
        {UINT64_C(0x40f869f800000000), 5, "1e+05"},
        {UINT64_C(0x4023ffcb923a29c7), 4, "10"},
        {UINT64_C(0x3f202e4b6ce5dc68), 3, "0.000123"},
        {UINT64_C(0x3ee9e3abe16fc70d), 3, "1.23e-05"},
        {UINT64_C(0x40fe240000000000), 6, "123456"},
        {UINT64_C(0x4132d68700000000), 6, "1.23457e+06"},
        {UINT64_C(0x4059000000000000), 3, "100"},
        {UINT64_C(0x4480f0cf064dd592), 17, "1e+22"},
        {UINT64_C(0x0000000000000001), 17, "4.9406564584124654e-324"},
        {UINT64_C(0x7fefffffffffffff), 17, "1.7976931348623157e+308"},
        {UINT64_C(0x0010000000000000), 5, "2.2251e-308"},
        {UINT64_C(0xbee4f8b588e368f1), 4, "-1e-05"},
        {UINT64_C(0x3fd5555555555555), 17, "0.33333333333333331"},
        {UINT64_C(0x4310000000000000), 16, "1125899906842624"},
        {UINT64_C(0x3fb999999999999a), 17, "0.10000000000000001"},
        {UINT64_C(0x3ff0000000000000), 8, "1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value value = decode(cases[i].code);
        CHECK_STR(digits_of(&value, cases[i].digits), cases[i].text);
    }
    struct dti_value value = decode(0);
    CHECK_STR(digits_of(&value, 8), "0");
    value = decode(UINT64_C(0xfff0000000000000));
    CHECK_STR(digits_of(&value, 8), "-inf");
}

static void what_lies_beyond_the_significand_decides_ties(void)
{
    struct dti_value value;
    dti_value_set(&value, false, 5, -1); /* 2.5 */
    CHECK_STR(digits_of(&value, 1), "2");
    value.sticky = true;
    CHECK_STR(digits_of(&value, 1), "3");
    value.sticky = false;
    value.lo = 1;
    CHECK_STR(digits_of(&value, 1), "3");
    dti_value_set(&value, false, 25, 0); /* division path: 25 / 10 */
    CHECK_STR(digits_of(&value, 1), "2e+01");
    value.sticky = true;
    CHECK_STR(digits_of(&value, 1), "3e+01");
    value.sticky = false;
    value.lo = 1;
    CHECK_STR(digits_of(&value, 1), "3e+01");
}

static void scientific_digits_are_those_of_e(void)
{
    static const struct rounded_case cases[] = {
        {UINT64_C(0x0000000000000000), 3, "0.000e+00"},
        {UINT64_C(0x8000000000000000), 0, "-0e+00"},
        {UINT64_C(0x3ff0000000000000), 0, "1e+00"},
        {UINT64_C(0x40f1200000000000), 0, "7e+04"},
        {UINT64_C(0x40effc0000000000), 5, "6.55040e+04"},
        {UINT64_C(0x4023fff2e48e8a72), 3, "1.000e+01"},
        {UINT64_C(0x4004000000000000), 0, "2e+00"},
        {UINT64_C(0xbe80c6f7a0b5ed8d), 1, "-1.2e-07"},
        {UINT64_C(0x0000000000000001), 17, "4.94065645841246544e-324"},
        {UINT64_C(0x7fefffffffffffff), 17, "1.79769313486231571e+308"},
        {UINT64_C(0x47efffffe0000000), 7, "3.4028235e+38"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DTI_TEXT_SIZE];
        const struct dti_value value = decode(cases[i].code);
        const size_t length = dti_spell_scientific(text, &value, cases[i].digits);
        CHECK_SIZE(strlen(text), length);
        CHECK_STR(text, cases[i].text);
    }
}

static void far_exponents_are_rounded_correctly(void)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_value_set(&value, false, 1, DTI_EXPONENT_LIMIT);
    CHECK_STR(digits_of(&value, 17), "1.818585298569738e+5050445");
    dti_value_set(&value, true, 1, -DTI_EXPONENT_LIMIT);
    CHECK_STR(digits_of(&value, 17), "-5.4987797426189993e-5050446");
    dti_spell_scientific(text, &value, 17);
    CHECK_STR(text, "-5.49877974261899932e-5050446");
}

static void fixed_digits_are_those_of_f(void)
{
    static const struct rounded_case cases[] = {
        {UINT64_C(0x0000000000000000), 0, "0"},
        {UINT64_C(0x8000000000000000), 2, "-0.00"},
        {UINT64_C(0x3fd5555555555555), 60,
         "0.333333333333333314829616256247390992939472198486328125000000"},
        {UINT64_C(0x3fe0000000000000), 0, "0"},
        {UINT64_C(0x3ff8000000000000), 0, "2"},
        {UINT64_C(0x4004000000000000), 0, "2"},
        {UINT64_C(0x3fc0000000000000), 2, "0.12"},
        {UINT64_C(0xbf50624dd2f1a9fc), 2, "-0.00"},
        {UINT64_C(0x4480f0cf064dd592), 3, "10000000000000000000000.000"},
        {UINT64_C(0x3fb999999999999a), 55,
         "0.1000000000000000055511151231257827021181583404541015625"},
        {UINT64_C(0x3fb999999999999a), 57,
         "0.100000000000000005551115123125782702118158340454101562500"},
        {UINT64_C(0x4023fd70a3d70a3d), 2, "9.99"},
        {UINT64_C(0x408f3ffdf3b645a2), 1, "1000.0"},
        {UINT64_C(0x01a56e1fc2f8f359), 5, "0.00000"},
        {UINT64_C(0x419d6f3454800000), 2, "123456789.12"},
    };
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value value = decode(cases[i].code);
        dti_buffer_clear(&buffer);
        CHECK(dti_spell_fixed(&buffer, &value, cases[i].digits));
        CHECK_STR(buffer.data, cases[i].text);
    }
    dti_buffer_free(&buffer);
}

static void exact_is_the_whole_expansion(void)
{
    static const struct {
        uint64_t code;
        const char *text;
    } cases[] = {
        {UINT64_C(0x0000000000000000), "0"},
        {UINT64_C(0x8000000000000000), "-0"},
        {UINT64_C(0x3ff0000000000000), "1"},
        {UINT64_C(0x40f1200000000000), "70144"},
        {UINT64_C(0x3fd5600000000000), "0.333984375"},
        {UINT64_C(0xbfb999999999999a),
         "-0.1000000000000000055511151231257827021181583404541015625"},
        {UINT64_C(0x3e70000000000000), "0.000000059604644775390625"},
        {UINT64_C(0x43f0000000000000), "18446744073709551616"},
        {UINT64_C(0x44b52d02c7e14af6), "99999999999999991611392"},
        {UINT64_C(0x3fd5555555555555), "0.333333333333333314829616256247390992939472198486328125"},
        /* the lowest bit near a multiple of 64 places */
        {UINT64_C(0x3ca5555555555555),
         "0.000000000000000148029736616687530505849793026569735294494111637643440904099634"
         "281010366976261138916015625"},
        {UINT64_C(0xbff0000000000001), "-1.0000000000000002220446049250313080847263336181640625"},
        {UINT64_C(0x432fffffffffffff), "4503599627370495.5"},
        {UINT64_C(0x4340000000000001), "9007199254740994"},
        {UINT64_C(0x3fffffffffffffff), "1.9999999999999997779553950749686919152736663818359375"},
        {UINT64_C(0x3fb999999999999a), "0.1000000000000000055511151231257827021181583404541015625"},
        {UINT64_C(0x3f3fffffffffffff),
         "0.0004882812499999999457898913757247782996273599565029144287109375"},
        {UINT64_C(0x3f2fffffffffffff),
         "0.00024414062499999997289494568786238914981367997825145721435546875"},
        {UINT64_C(0x3b3fffffffffffff),
         "0.000000000000000000000026469779601696882657149201090520041392264644493213930453"
         "33610806978119622812073430395685136318206787109375"},
        {UINT64_C(0x3014000000000000),
         "0.000000000000000000000000000000000000000000000000000000000000000000000000000043"
         "18084277547222312693175931400199785558000182218140692511851735084295901581213528"
         "98575375173614411328027364697307483179849754947341597334682650188852903738734312"
         "355518341064453125"},
        {UINT64_C(0x332fffffffffffff),
         "0.000000000000000000000000000000000000000000000000000000000000038893845486632131"
         "35156612278890346381051314465430750902388179662429492520086941142310375356332218"
         "11202272894485754022330058282986269809456430755265840266531734981114709626126568"
         "7644481658935546875"},
        {UINT64_C(0xfff0000000000000), "-inf"},
    };
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value value = decode(cases[i].code);
        dti_buffer_clear(&buffer);
        CHECK(dti_spell_exact(&buffer, &value));
        CHECK_STR(buffer.data, cases[i].text);
    }

    struct dti_value value = decode(1);
    dti_buffer_clear(&buffer);
    dti_buffer_puts(&buffer, "= ");
    CHECK(dti_spell_exact(&buffer, &value));
    CHECK_SIZE(buffer.length, 2 + 1076);
    CHECK(strncmp(buffer.data, "= 0.000", 7) == 0);
    CHECK_STR(buffer.data + 2 + 1036, "4565229087538682506419718265533447265625");
    value = decode(UINT64_C(0x7fefffffffffffff));
    dti_buffer_clear(&buffer);
    CHECK(dti_spell_exact(&buffer, &value));
    CHECK_SIZE(buffer.length, 309);
    CHECK_STR(buffer.data + 269, "8738177180919299881250404026184124858368");
    CHECK(strncmp(buffer.data, "1797693134862315708145274237317043567980", 40) == 0);
    dti_buffer_free(&buffer);
}

static void long_expansions_are_exact_too(void)
{
    struct dti_buffer buffer;
    struct dti_value value;
    dti_buffer_init(&buffer);
    dti_value_set(&value, false, 1, -262186); /* 5^262186 has 183261 digits */
    CHECK(dti_spell_exact(&buffer, &value));
    if (CHECK_SIZE(buffer.length, 262188)) {
        CHECK(strncmp(buffer.data + 2 + 262186 - 183261, "14110969183686562407", 20) == 0);
        CHECK(buffer.data[1 + 262186 - 183261] == '0');
        CHECK_STR(buffer.data + 262188 - 20, "43232059478759765625");
    }
    dti_buffer_free(&buffer);
}

static void what_is_unknown_or_too_long_is_refused(void)
{
    struct dti_buffer buffer;
    struct dti_value value;
    dti_buffer_init(&buffer);
    dti_value_set(&value, false, 1, 0);
    value.sticky = true;
    CHECK(!dti_spell_exact(&buffer, &value));
    dti_value_set(&value, false, 1, -DTI_EXACT_MAX);
    CHECK(!dti_spell_exact(&buffer, &value));
    CHECK(dti_spell_fixed(&buffer, &value, 3));
    CHECK_STR(buffer.data, "0.000");
    dti_value_set(&value, false, 1, 4 * DTI_EXACT_MAX);
    CHECK(!dti_spell_fixed(&buffer, &value, 3));
    CHECK_STR(buffer.data, "0.000");
    CHECK(!buffer.failed);
    dti_value_set(&value, false, 1, 0);
    CHECK(!dti_spell_fixed(&buffer, &value, SIZE_MAX));
    CHECK(buffer.failed);
    dti_buffer_free(&buffer);
}

/* Exact expansions of up to 39 digits use 128-bit integers, fixed digits use integers of any
 * length. */
static void exact_is_fixed_with_all_decimals(void)
{
    struct dti_buffer exact, fixed;
    struct dti_value value;
    uint64_t state = 1;
    bool ok = true;
    dti_buffer_init(&exact);
    dti_buffer_init(&fixed);
    for (int i = 0; i < 20000 && ok; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t significand = (state ^ state << 23) >> (state >> 58);
        dti_value_set(&value, i % 2 != 0, significand | 1, (int64_t)(state >> 40 & 127) - 90);
        dti_buffer_clear(&exact);
        dti_buffer_clear(&fixed);
        CHECK(dti_spell_exact(&exact, &value));
        const char *const point = strchr(exact.data, '.');
        CHECK(dti_spell_fixed(&fixed, &value, point ? strlen(point + 1) : 0));
        ok = CHECK_STR(exact.data, fixed.data) &&
             CHECK(exact.data[exact.length - 1] != '0' || !point);
    }
    dti_buffer_free(&exact);
    dti_buffer_free(&fixed);
}

UNIT_MAIN(significant_digits_are_those_of_g, what_lies_beyond_the_significand_decides_ties,
          scientific_digits_are_those_of_e, far_exponents_are_rounded_correctly,
          fixed_digits_are_those_of_f, exact_is_the_whole_expansion, long_expansions_are_exact_too,
          exact_is_fixed_with_all_decimals, what_is_unknown_or_too_long_is_refused)
