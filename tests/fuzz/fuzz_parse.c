/* SPDX-License-Identifier: MIT
 *
 * Text to value and back. For any text, both parsers agree on whether it is a number and on its
 * value. For any number, the code stored in a dtype has four spellings, each of which reads back as
 * the same code. For plain decimals and hexfloats, fp64 equals the result of strtod(). */
#include <string.h>

#include "core/number/number.h"
#include "core/number/spell.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "0",
    "1",
    "9",
    "5",
    "000",
    "123456789",
    "99999999999999999999",
    ".",
    "e",
    "e-",
    "E+",
    "p",
    "p-",
    "0x",
    "0b",
    "-",
    "+",
    "/",
    "_",
    "inf",
    "nan",
    "e30",
    "308",
    "e-320",
    "1/3",
    "0x1.",
    "fffffffffffff",
    "8",
    "p+1",
    "snan",
    ",",
    "e-45",
    "65504",
    "1e",
    "3",
    "7",
    "e99999999999999999999",
    "4503599627370497.5",
    NULL,
};

enum { TEXT_MAX = 3000, EXPANDED_EXPONENT = 20000 };

static const enum dti_dtype dtypes[] = {
    DTI_FP64,         DTI_FP32,     DTI_BF16,     DTI_FP16,  DTI_FP8_E4M3FN,
    DTI_FP8_E5M2FNUZ, DTI_FP8_E8M0, DTI_FP4_E2M1, DTI_INT64, DTI_UINT8};

static bool same_value(const struct dti_value *a, const struct dti_value *b)
{
    if (a->kind != b->kind || a->negative != b->negative)
        return false;
    if (a->kind != DTI_CLASS_FINITE)
        return true;
    if (a->exponent == b->exponent && abs(a->exponent) == DTI_EXPONENT_LIMIT)
        return a->sticky && b->sticky; /* clamped: only the magnitude is known */
    return a->exponent == b->exponent && a->hi == b->hi && a->lo == b->lo && a->sticky == b->sticky;
}

static void reads_back_exactly(const char *text, size_t length, const struct dti_value *stored)
{
    struct dti_value again;
    REQUIRE(dti_value_parse(&again, text, length, NULL) == DTI_OK);
    REQUIRE(same_value(&again, stored));
}

static uint64_t encode(const struct dti_format *format, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    dti_encode(format, value, &policy, 0, &outcome);
    return outcome.code;
}

static void reads_back_as(const struct dti_format *format, const char *text, size_t length,
                          uint64_t code)
{
    struct dti_value again;
    REQUIRE(dti_value_parse(&again, text, length, NULL) == DTI_OK);
    REQUIRE(encode(format, &again) == code);
}

static void check_spellings(const struct dti_format *format, uint64_t code)
{
    const struct dti_format *const fp64 = dti_format_get(DTI_FP64);
    struct dti_value stored, as_fp64;
    char text[DTI_TEXT_SIZE];
    dti_decode(format, code, &stored);
    REQUIRE(!stored.sticky);
    size_t length = dti_spell_text(text, &stored);
    REQUIRE(length == strlen(text) && length < sizeof text);
    if (stored.kind == DTI_CLASS_NAN)
        return;
    dti_decode(fp64, encode(fp64, &stored), &as_fp64);
    if (same_value(&stored, &as_fp64))
        reads_back_as(fp64, text, length, encode(fp64, &stored));
    else
        reads_back_exactly(text, length, &stored);
    if (stored.kind == DTI_CLASS_INF)
        return;
    length = dti_spell_shortest(text, format, code);
    REQUIRE(length == strlen(text) && length < sizeof text);
    reads_back_as(format, text, length, code);
    if (dti_format_is_integer(format))
        reads_back_exactly(text, length, &stored);
    length = dti_spell_hexfloat(text, &stored);
    REQUIRE(length == strlen(text) && length < sizeof text);
    reads_back_exactly(text, length, &stored);
    struct dti_buffer exact;
    dti_buffer_init(&exact);
    REQUIRE(dti_spell_exact(&exact, &stored));
    reads_back_exactly(exact.data, exact.length, &stored);
    dti_buffer_free(&exact);
}

/* Whether strtod() accepts the same syntax: no blanks, underscores, quotients, binary or NaN. */
static bool is_plain(const char *text, size_t length)
{
    return strspn(text, "+-.0123456789abcdefABCDEFxXpPinfINF") == length && !strstr(text, "0b") &&
           !strstr(text, "0B");
}

static void check_against_strtod(const char *text, const struct dti_value *value)
{
    char *end;
    const double want = strtod(text, &end);
    uint64_t bits;
    REQUIRE(*end == '\0');
    memcpy(&bits, &want, sizeof bits);
    REQUIRE(encode(dti_format_get(DTI_FP64), value) == bits);
}

static void check_number(const struct dti_number *number, const struct dti_value *value)
{
    struct dti_buffer exact;
    dti_buffer_init(&exact);
    bool moderate = abs(value->exponent) < EXPANDED_EXPONENT; /* a long expansion takes seconds */
    if (moderate && dti_number_exact(number, &exact) && number->kind != DTI_CLASS_NAN)
        reads_back_exactly(exact.data, exact.length, value);
    dti_buffer_free(&exact);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const struct dti_format *const format = dti_format_get(dtypes[i]);
        check_spellings(format, encode(format, value));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    struct dti_number number;
    struct dti_value value, fast;
    struct dti_error error = {.status = DTI_OK};
    if (size > TEXT_MAX)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';

    const enum dti_status status = dti_number_parse(&number, text, size, &error);
    REQUIRE(dti_value_parse(&fast, text, size, NULL) == status);
    if (status != DTI_OK) {
        REQUIRE(error.status == status && error.text[0] != '\0');
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
        return 0;
    }
    REQUIRE(dti_number_value(&number, &value));
    REQUIRE(same_value(&value, &fast));
    check_number(&number, &value);
    if (is_plain(text, size))
        check_against_strtod(text, &value);
    dti_number_free(&number);
    return 0;
}
