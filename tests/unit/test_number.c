/* SPDX-License-Identifier: MIT
 *
 * Text to number. CPython 3.11 printed the vectors: each text as a fractions.Fraction (int(x, 16)
 * for hexfloats), 128 bits by floor division, sticky if there is a remainder. Long inputs are
 * constructed so that their value is known without arithmetic. Ordinary inputs are also compared
 * with the C library's strtod(). */
#include <stdlib.h>

#include "core/number/number.h"
#include "unit.h"

static bool same_value(const struct dti_value *a, const struct dti_value *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->sticky == b->sticky &&
           a->exponent == b->exponent && a->hi == b->hi && a->lo == b->lo;
}

/* Parses the text in both ways, which must agree. */
static struct dti_value value_of(const char *text, size_t length)
{
    struct dti_value value = {0}, slow = {0};
    struct dti_number number;
    struct dti_error error = {0};
    if (dti_value_parse(&value, text, length, &error) != DTI_OK ||
        dti_number_parse(&number, text, length, &error) != DTI_OK) {
        unit_fail(__FILE__, __LINE__);
        printf("%s\n", error.text);
        return value;
    }
    CHECK(dti_number_value(&number, &slow));
    CHECK(same_value(&value, &slow));
    dti_number_free(&number);
    return value;
}

static void reads_every_form_to_128_bits(void)
{
    static const struct {
        const char *text;
        enum dti_class kind;
        bool negative, sticky;
        int32_t exponent;
        uint64_t hi, lo;
    } rows[] = {
        {"0", DTI_CLASS_ZERO, false, false, 0, UINT64_C(0x0000000000000000),
         UINT64_C(0x0000000000000000)},
        {"-0", DTI_CLASS_ZERO, true, false, 0, UINT64_C(0x0000000000000000),
         UINT64_C(0x0000000000000000)},
        {"+1", DTI_CLASS_FINITE, false, false, 0, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"70000", DTI_CLASS_FINITE, false, false, 16, UINT64_C(0x88b8000000000000),
         UINT64_C(0x0000000000000000)},
        {"-1.5", DTI_CLASS_FINITE, true, false, 0, UINT64_C(0xc000000000000000),
         UINT64_C(0x0000000000000000)},
        {".5", DTI_CLASS_FINITE, false, false, -1, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"5.", DTI_CLASS_FINITE, false, false, 2, UINT64_C(0xa000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0.1", DTI_CLASS_FINITE, false, true, -4, UINT64_C(0xcccccccccccccccc),
         UINT64_C(0xcccccccccccccccc)},
        {"1e22", DTI_CLASS_FINITE, false, false, 73, UINT64_C(0x878678326eac9000),
         UINT64_C(0x0000000000000000)},
        {"1e23", DTI_CLASS_FINITE, false, false, 76, UINT64_C(0xa968163f0a57b400),
         UINT64_C(0x0000000000000000)},
        {"9007199254740993", DTI_CLASS_FINITE, false, false, 53, UINT64_C(0x8000000000000400),
         UINT64_C(0x0000000000000000)},
        {"18446744073709551615", DTI_CLASS_FINITE, false, false, 63, UINT64_C(0xffffffffffffffff),
         UINT64_C(0x0000000000000000)},
        {"18446744073709551616", DTI_CLASS_FINITE, false, false, 64, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"123456789012345678901234567890", DTI_CLASS_FINITE, false, false, 96,
         UINT64_C(0xc77487fb61b9f077), UINT64_C(0x271f856900000000)},
        {"1e38", DTI_CLASS_FINITE, false, false, 126, UINT64_C(0x96769950b50d88f4),
         UINT64_C(0x1314448000000000)},
        {"3.4028235677973366e38", DTI_CLASS_FINITE, false, false, 127, UINT64_C(0xffffff7fffffffa7),
         UINT64_C(0x3a9363e2e9800000)},
        {"1e-45", DTI_CLASS_FINITE, false, true, -150, UINT64_C(0xb6b00d69bb55c8d1),
         UINT64_C(0x3d607b97c5fd0d22)},
        {"4.9406564584124654417656879286822137236505980e-324", DTI_CLASS_FINITE, false, true, -1075,
         UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)},
        {"2.4703282292062327208e-324", DTI_CLASS_FINITE, false, true, -1076,
         UINT64_C(0xffffffffffffffff), UINT64_C(0x61a1ef601a4946a7)},
        {"1.7976931348623157081e308", DTI_CLASS_FINITE, false, true, 1023,
         UINT64_C(0xfffffffffffff7ff), UINT64_C(0x8911a66382256040)},
        {"1e-400", DTI_CLASS_FINITE, false, true, -1329, UINT64_C(0x95fe7e07c91efafa),
         UINT64_C(0x3931b850df08e738)},
        {"1e5000", DTI_CLASS_FINITE, false, true, 16609, UINT64_C(0xc78820040d9443cf),
         UINT64_C(0x1647f794d8771866)},
        {"1_000", DTI_CLASS_FINITE, false, false, 9, UINT64_C(0xfa00000000000000),
         UINT64_C(0x0000000000000000)},
        {"1_0.2_5e1_0", DTI_CLASS_FINITE, false, false, 36, UINT64_C(0xbeebcf0800000000),
         UINT64_C(0x0000000000000000)},
        {"0x4789", DTI_CLASS_FINITE, false, false, 14, UINT64_C(0x8f12000000000000),
         UINT64_C(0x0000000000000000)},
        {"0X1.8P3", DTI_CLASS_FINITE, false, false, 3, UINT64_C(0xc000000000000000),
         UINT64_C(0x0000000000000000)},
        {"-0x1p-149", DTI_CLASS_FINITE, true, false, -149, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0x.8", DTI_CLASS_FINITE, false, false, -1, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0x1.", DTI_CLASS_FINITE, false, false, 0, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0b101", DTI_CLASS_FINITE, false, false, 2, UINT64_C(0xa000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0B1111_0000", DTI_CLASS_FINITE, false, false, 7, UINT64_C(0xf000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0x123456789abcdef0123456789abcdef01", DTI_CLASS_FINITE, false, true, 128,
         UINT64_C(0x91a2b3c4d5e6f780), UINT64_C(0x91a2b3c4d5e6f780)},
        {"0x1.00000000000000000000000000000001", DTI_CLASS_FINITE, false, true, 0,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
        {"0x1.000000000000000000000000000000001", DTI_CLASS_FINITE, false, true, 0,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
        {"1/3", DTI_CLASS_FINITE, false, true, -2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"-1/3", DTI_CLASS_FINITE, true, true, -2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"1/-3", DTI_CLASS_FINITE, true, true, -2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"-1/-3", DTI_CLASS_FINITE, false, true, -2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"6/3", DTI_CLASS_FINITE, false, false, 1, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"1e10/8", DTI_CLASS_FINITE, false, false, 30, UINT64_C(0x9502f90000000000),
         UINT64_C(0x0000000000000000)},
        {"0x10/3", DTI_CLASS_FINITE, false, true, 2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"1/0x3p2", DTI_CLASS_FINITE, false, true, -4, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"0/5", DTI_CLASS_ZERO, false, false, 0, UINT64_C(0x0000000000000000),
         UINT64_C(0x0000000000000000)},
        {"-0/5", DTI_CLASS_ZERO, true, false, 0, UINT64_C(0x0000000000000000),
         UINT64_C(0x0000000000000000)},
        {"0.1/0.3", DTI_CLASS_FINITE, false, true, -2, UINT64_C(0xaaaaaaaaaaaaaaaa),
         UINT64_C(0xaaaaaaaaaaaaaaaa)},
        {"123456789.123456789/987654321.987654321", DTI_CLASS_FINITE, false, true, -4,
         UINT64_C(0xffffffd8dcb34656), UINT64_C(0x6c43da251bbdf8a3)},
        {"0b11/0b10", DTI_CLASS_FINITE, false, false, 0, UINT64_C(0xc000000000000000),
         UINT64_C(0x0000000000000000)},
        {"1e300/1e-300", DTI_CLASS_FINITE, false, true, 1993, UINT64_C(0x8eb39714297efb27),
         UINT64_C(0xbcafdba96ebcb609)},
        {"340282366920938463463374607431768211455", DTI_CLASS_FINITE, false, false, 127,
         UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)},
        {"340282366920938463463374607431768211456", DTI_CLASS_FINITE, false, false, 128,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
        {"340282366920938463463374607431768211457", DTI_CLASS_FINITE, false, true, 128,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
        {"0.333333333333333314829616256247390992939472198486328125", DTI_CLASS_FINITE, false, false,
         -2, UINT64_C(0xaaaaaaaaaaaaa800), UINT64_C(0x0000000000000000)},
        {"0.3333333333333333148296162562473909929394721984863281250000000000000000000000000001",
         DTI_CLASS_FINITE, false, true, -2, UINT64_C(0xaaaaaaaaaaaaa800),
         UINT64_C(0x0000000000000000)},
        {"0.3333333333333333148296162562473909929394721984863281249999999999999999999999999999",
         DTI_CLASS_FINITE, false, true, -2, UINT64_C(0xaaaaaaaaaaaaa7ff),
         UINT64_C(0xffffffffffffffff)},
        {"1e-0", DTI_CLASS_FINITE, false, false, 0, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000)},
        {"1E+2", DTI_CLASS_FINITE, false, false, 6, UINT64_C(0xc800000000000000),
         UINT64_C(0x0000000000000000)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dti_value got = value_of(rows[i].text, strlen(rows[i].text));
        const struct dti_value want = {rows[i].kind,     rows[i].negative, rows[i].sticky,
                                       rows[i].exponent, rows[i].hi,       rows[i].lo};
        if (!CHECK(same_value(&got, &want)))
            printf("    %s\n", rows[i].text);
    }
}

static void reads_the_words_in_any_case(void)
{
    CHECK(value_of("inf", 3).kind == DTI_CLASS_INF);
    CHECK(value_of("-Infinity", 9).kind == DTI_CLASS_INF);
    CHECK(value_of("-Infinity", 9).negative);
    CHECK_U64(value_of("NaN", 3).hi, UINT64_C(1) << 63);
    CHECK_U64(value_of("sNaN", 4).hi, UINT64_C(1) << 62);
    CHECK(value_of("-nan", 4).negative);
}

/* strtod() of glibc, musl and macOS is correctly rounded. A linear congruential generator makes the
 * texts. */
static void agrees_with_strtod(void)
{
    const struct dti_format *const fp64 = dti_format_get(DTI_FP64);
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    uint64_t state = 1;
    for (int i = 0; i < 4000; i++) {
        char text[80];
        uint64_t random[3];
        for (int j = 0; j < 3; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            random[j] = state >> 20;
        }
        const int exponent = (int)(random[2] % 680) - 360;
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64 "%" PRIu64 "e%d", random[0],
                     random[1], random[2], exponent);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "-%" PRIu64 "e%d", random[0] % 100000, exponent / 12);
        else
            snprintf(text, sizeof text, "0x1.%" PRIx64 "p%d", random[0], exponent * 3);
        const struct dti_value value = value_of(text, strlen(text));
        struct dti_outcome outcome;
        dti_encode(fp64, &value, &policy, 0, &outcome);
        const double number = strtod(text, NULL);
        uint64_t want;
        memcpy(&want, &number, sizeof want);
        if (!CHECK_U64(outcome.code, want)) {
            printf("    %s\n", text);
            return;
        }
    }
}

static void clamps_what_no_format_reaches(void)
{
    static const char *const huge[] = {"1e99999999999999999999999", "0x1p99999999999999999999",
                                       "1e6000000", "1e1000000/1e-9000000", "2e5050445"};
    static const char *const tiny[] = {"1e-99999999999999999999999", "0x1p-99999999999999999999",
                                       "1e-6000000", "1/1e9000000", "1e-5050446"};
    for (size_t i = 0; i < 5; i++) {
        const struct dti_value large = value_of(huge[i], strlen(huge[i]));
        const struct dti_value small = value_of(tiny[i], strlen(tiny[i]));
        CHECK(large.kind == DTI_CLASS_FINITE && large.sticky && large.hi >> 63);
        CHECK_I64(large.exponent, DTI_EXPONENT_LIMIT);
        CHECK(small.kind == DTI_CLASS_FINITE && small.sticky && small.hi >> 63);
        CHECK_I64(small.exponent, -DTI_EXPONENT_LIMIT);
    }
    const struct dti_value zero = value_of("0e99999999999999999999999", 25);
    CHECK(zero.kind == DTI_CLASS_ZERO);
    const struct dti_value one = value_of("1e999999999/1e999999999", 23);
    CHECK(one.kind == DTI_CLASS_FINITE && one.exponent == 0 && !one.sticky);
}

static void expands_to_the_last_digit(void)
{
    static const struct {
        const char *text, *exact; /* NULL: no finite expansion */
    } rows[] = {
        {"0", "0"},
        {"-0", "-0"},
        {"70000", "70000"},
        {"-1.5", "-1.5"},
        {"0.10", "0.1"},
        {"1e3", "1000"},
        {"1e-3", "0.001"},
        {"12.50e1", "125"},
        {"-0x1.8p3", "-12"},
        {"0x1p-10", "0.0009765625"},
        {"0xffp4", "4080"},
        {"1/8", "0.125"},
        {"6/3", "2"},
        {"1/3", NULL},
        {"7/0.0035", "2000"},
        {"-1/1024", "-0.0009765625"},
        {"1/1e3", "0.001"},
        {"0x1p70", "1180591620717411303424"},
        {"0x1/5", "0.2"},
        {"22/7", NULL},
        {"0b1010/0b100", "2.5"},
        {"1e-20", "0.00000000000000000001"},
        {"123456789e-5", "1234.56789"},
        {"inf", "inf"},
        {"-inf", "-inf"},
        {"nan", "nan"},
        {"-nan", "nan"},
        {"14/35", "0.4"},
        {"1/65536", "0.0000152587890625"},
        {"3e5/0x1p3", "37500"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_number number;
        struct dti_buffer buffer;
        dti_buffer_init(&buffer);
        CHECK(dti_number_parse(&number, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_exact(&number, &buffer) == (rows[i].exact != NULL));
        CHECK_STR(buffer.data, rows[i].exact ? rows[i].exact : "");
        dti_number_free(&number);
        dti_buffer_free(&buffer);
    }
}

static void gives_up_on_endless_expansions(void)
{
    static const struct {
        const char *text;
        bool given;
    } rows[] = {
        {"1e1999999", true},    {"1e2000000", false},   {"-1e1999999", false},
        {"1e-1999998", true},   {"1e-1999999", false},  {"0x1p-1999999", false},
        {"0x1p9000000", false}, {"1e999999999", false}, {"1e999999999/8", false},
        {"1/1e1999998", true},  {"1/1e1999999", false}, {"1/2e1999998", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_number number;
        struct dti_buffer buffer;
        dti_buffer_init(&buffer);
        CHECK(dti_number_parse(&number, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_exact(&number, &buffer) == rows[i].given);
        CHECK_SIZE(buffer.length, rows[i].given ? DTI_EXACT_MAX : 0);
        dti_number_free(&number);
        dti_buffer_free(&buffer);
    }
}

static void keeps_the_low_bits_of_integer_parts(void)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } rows[] = {
        {"0", UINT64_C(0x0000000000000000)},
        {"-1", UINT64_C(0xffffffffffffffff)},
        {"18446744073709551617", UINT64_C(0x0000000000000001)},
        {"-18446744073709551617", UINT64_C(0xffffffffffffffff)},
        {"340282366920938463463374607431768211457", UINT64_C(0x0000000000000001)},
        {"1e19", UINT64_C(0x8ac7230489e80000)},
        {"1e63", UINT64_C(0x8000000000000000)},
        {"12345678901234567890123456789.987", UINT64_C(0x46bec9b16e398115)},
        {"-0.9", UINT64_C(0x0000000000000000)},
        {"0x123456789abcdef0123456789abcdef01", UINT64_C(0x23456789abcdef01)},
        {"0x1p63", UINT64_C(0x8000000000000000)},
        {"0x3p63", UINT64_C(0x8000000000000000)},
        {"0x123456789abcdef01.8p1", UINT64_C(0x468acf13579bde03)},
        {"0x1f.8p-2", UINT64_C(0x0000000000000007)},
        {"0x123456789abcdef0123456789.abcdefp-9", UINT64_C(0xc4d5e6f78091a2b3)},
        {"1e40/3", UINT64_C(0xe8a7205555555555)},
        {"-7/2", UINT64_C(0xfffffffffffffffd)},
        {"1e30/0x10", UINT64_C(0x04674edea4000000)},
        {"99999999999999999999/7.5", UINT64_C(0xb90984060d355555)},
        {"1e64", UINT64_C(0x0000000000000000)},
        {"0b11111111111111111111111111111111111111111111111111111111111111111",
         UINT64_C(0xffffffffffffffff)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_number number;
        struct dti_value fraction;
        uint64_t bits = 1;
        CHECK(dti_number_parse(&number, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_low_bits(&number, &bits, &fraction));
        bits = number.negative ? UINT64_C(0) - bits : bits; /* the rows are in two's complement */
        if (!CHECK_U64(bits, rows[i].bits))
            printf("    %s\n", rows[i].text);
        dti_number_free(&number);
    }
}

/* front, `count` times `filler`, back. */
static struct dti_value long_value(const char *front, char filler, size_t count, const char *back)
{
    const size_t before = strlen(front), after = strlen(back);
    struct dti_value value = {0};
    char *const text = malloc(before + count + after);
    if (!text)
        return value;
    memcpy(text, front, before);
    memset(text + before, filler, count);
    memcpy(text + before + count, back, after);
    value = value_of(text, before + count + after);
    free(text);
    return value;
}

static void reads_a_million_digits_next_to_a_boundary(void)
{
    const size_t million = 1000000;
    struct dti_value value = long_value("0.4", '9', million, "");
    CHECK(value.sticky && value.exponent == -2);
    CHECK_U64(value.hi & value.lo, UINT64_MAX);
    value = long_value("0.5", '0', million, "");
    CHECK(!value.sticky && value.exponent == -1);
    value = long_value("0.5", '0', million, "1");
    CHECK(value.sticky && value.exponent == -1);
    CHECK_U64(value.hi, UINT64_C(1) << 63);
    CHECK_U64(value.lo, 0);
    value = long_value("1/2.", '0', million / 10, "1"); /* slightly less than a half */
    CHECK(value.sticky && value.exponent == -2);
    CHECK_U64(value.hi & value.lo, UINT64_MAX);
    /* slightly more than (1 + 2^-100) / 1 */
    value = long_value("1.0000000000000000000000000000007888609052210118054"
                       "117285652827862296732064351090230047702789306640625",
                       '0', million / 10, "1/1");
    CHECK(value.sticky && value.exponent == 0);
    CHECK_U64(value.hi, UINT64_C(1) << 63);
    CHECK_U64(value.lo, UINT64_C(1) << 27);
    value = long_value("0x8", '0', million, "p-4000000");
    CHECK(!value.sticky && value.exponent == 3);
    value = long_value("0x8", '0', million, "1p-4000004");
    CHECK(value.sticky && value.exponent == 3);
    value = long_value("0b1", '0', million, "");
    CHECK(!value.sticky && value.exponent == (int32_t)million);
    value = long_value("1", '0', million, "e-1000000");
    CHECK(!value.sticky && value.exponent == 0);
    value = long_value("0.", '0', million, "1e1000001");
    CHECK(!value.sticky && value.exponent == 0);
}

UNIT_MAIN(reads_every_form_to_128_bits, reads_the_words_in_any_case, agrees_with_strtod,
          clamps_what_no_format_reaches, expands_to_the_last_digit, gives_up_on_endless_expansions,
          keeps_the_low_bits_of_integer_parts, reads_a_million_digits_next_to_a_boundary)
