/* SPDX-License-Identifier: MIT
 *
 * Names of dtypes. Any name gives an error that names something, or a format that is consistent, is
 * found under its own name, and has ordered limits. */
#include <string.h>

#include "core/dtype/dtype.h"
#include "core/dtype/limits.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "e",  "m",    "b",     "fn",    "fnuz",  "uz",  "fp",      "bf16",    "torch.", "np.",
    "0",  "1",    "2",     "3",     "4",     "5",   "8",       "16",      "64",     "11",
    "e8", "m0",   "e19",   "m52",   "b1023", "b-7", "binary8", "p3",      "se",     "uf",
    "k",  "int",  "uint",  "float", "_",     "<f4", "jnp.",    "complex", "128",    "ml_dtypes.",
    "E",  "bool", "mxfp4", "u",     "ue4",   "i",   "m3fn",    "63",      NULL,
};

enum { NAME_MAX_LENGTH = 200, COUNTED_WIDTH = 10 };

static void check_code(const struct dti_format *format, const struct dti_limit *limit)
{
    struct dti_value value;
    if (!limit->present || !limit->has_code)
        return;
    REQUIRE((limit->code & ~dti_low_bits(format->width)) == 0);
    dti_decode(format, limit->code, &value);
    REQUIRE(value.kind == DTI_CLASS_FINITE || value.kind == DTI_CLASS_ZERO);
    REQUIRE(dti_value_compare(&value, &limit->value) == 0);
}

static void check_counts(const struct dti_format *format, const struct dti_limits *limits)
{
    uint64_t infinities = 0, nans = 0;
    for (uint64_t code = 0; code >> format->width == 0; code++) {
        struct dti_value value;
        dti_decode(format, code, &value);
        infinities += value.kind == DTI_CLASS_INF;
        nans += value.kind == DTI_CLASS_NAN;
        REQUIRE(value.kind == DTI_CLASS_NAN || value.kind == DTI_CLASS_INF ||
                dti_value_compare(&value, &limits->max.value) <= 0);
    }
    REQUIRE(infinities == limits->inf_codes && nans == limits->nan_codes);
    REQUIRE(limits->finite_codes == (UINT64_C(1) << format->width) - infinities - nans);
}

static void check_float(const struct dti_format *format)
{
    struct dti_limits limits;
    uint64_t code, back;
    dti_limits_compute(&limits, format);
    REQUIRE(format->exp_bits + format->man_bits + (format->kind == DTI_KIND_FLOAT) ==
            format->width);
    REQUIRE(limits.max.present);
    check_code(format, &limits.max);
    check_code(format, &limits.lowest);
    check_code(format, &limits.smallest_normal);
    check_code(format, &limits.smallest_subnormal);
    check_code(format, &limits.eps);
    check_code(format, &limits.epsneg);
    REQUIRE(dti_value_compare(&limits.lowest.value, &limits.max.value) < 0);
    if (format->width <= COUNTED_WIDTH)
        check_counts(format, &limits);
    if (dti_code_next(format, limits.max.code, false, &code)) {
        REQUIRE(dti_code_next(format, code, true, &back));
        REQUIRE(back == limits.max.code);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[NAME_MAX_LENGTH + 1];
    struct dti_format format, again;
    struct dti_error error = {.status = DTI_OK};
    const char *note;
    if (size > NAME_MAX_LENGTH)
        return 0;
    if (size > 0)
        memcpy(name, data, size);
    name[size] = '\0';

    const enum dti_status status = dti_format_lookup(name, &format, &note, &error);
    if (status != DTI_OK) {
        REQUIRE(error.status == status && error.text[0] != '\0');
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
        return 0;
    }
    REQUIRE(format.width >= 1 && format.width <= 128);
    REQUIRE(dti_format_lookup(format.name, &again, NULL, NULL) == DTI_OK);
    REQUIRE(strcmp(format.name, again.name) == 0 && format.width == again.width &&
            format.bias == again.bias && format.specials == again.specials);
    if (dti_format_is_float(&format))
        check_float(&format);
    return 0;
}
