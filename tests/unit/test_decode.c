/* SPDX-License-Identifier: MIT
 *
 * Codes to values, and iteration over a format's numbers, compared with published values. */
#include "core/value.h"
#include "unit.h"

static struct dti_value decode(enum dti_dtype dtype, uint64_t code)
{
    struct dti_value value;
    dti_decode(dti_format_get(dtype), code, &value);
    return value;
}

static void is_power_of_two(enum dti_dtype dtype, uint64_t code, int exponent)
{
    struct dti_value value = decode(dtype, code);
    CHECK(value.kind == DTI_CLASS_FINITE);
    CHECK_U64(value.hi, UINT64_C(1) << 63);
    CHECK_I64(value.exponent, exponent);
}

static void smallest_numbers_are_those_of_the_tables(void)
{
    is_power_of_two(DTI_FP64, 1, -1074);
    is_power_of_two(DTI_FP32, 1, -149);
    is_power_of_two(DTI_FP16, 0x400, -14);
    is_power_of_two(DTI_FP8_E4M3FN, 1, -9);
    is_power_of_two(DTI_FP8_E8M0, 0, -127);
    is_power_of_two(DTI_FP8_E8M0, 0xfe, 127);
    is_power_of_two(DTI_BINARY8P1SE, 1, -63);
    is_power_of_two(DTI_FP4_E2M1, 1, -1);
}

static void special_codes_mean_what_their_family_says(void)
{
    CHECK(decode(DTI_FP8_E4M3FN, 0x7f).kind == DTI_CLASS_NAN);
    CHECK(decode(DTI_FP8_E4M3FN, 0x7e).kind == DTI_CLASS_FINITE);
    CHECK(decode(DTI_FP8_E4M3, 0x78).kind == DTI_CLASS_INF);
    CHECK(decode(DTI_FP8_E4M3FNUZ, 0x80).kind == DTI_CLASS_NAN);
    CHECK(decode(DTI_BINARY8P3SE, 0x7f).kind == DTI_CLASS_INF);
    CHECK(decode(DTI_BINARY8P3SE, 0x80).kind == DTI_CLASS_NAN);
    CHECK(decode(DTI_BINARY8P4UE, 0xfe).kind == DTI_CLASS_INF);
    CHECK(decode(DTI_BINARY8P4UE, 0xff).kind == DTI_CLASS_NAN);
    CHECK(decode(DTI_FP4_E2M1, 0x8).kind == DTI_CLASS_ZERO);
    CHECK(decode(DTI_FP4_E2M1, 0x8).negative);
    CHECK(decode(DTI_FP8_E8M0, 0xff).kind == DTI_CLASS_NAN);
}

static void integers_are_twos_complement(void)
{
    CHECK(decode(DTI_INT8, 0x80).negative);
    CHECK_I64(decode(DTI_INT8, 0x80).exponent, 7);
    CHECK(decode(DTI_INT1, 1).negative);
    CHECK_I64(decode(DTI_INT64, UINT64_C(1) << 63).exponent, 63);
    CHECK_U64(decode(DTI_UINT64, UINT64_MAX).hi, UINT64_MAX);
    CHECK_U64(decode(DTI_BOOL, 7).hi, UINT64_C(1) << 63);
}

static void the_walk_passes_every_number_once_in_order(void)
{
    for (int i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *f = dti_format_get((enum dti_dtype)i);
        uint64_t code = 0, next, steps = 0;
        if (f->width > 8 || f->kind == DTI_KIND_COMPLEX)
            continue;
        (void)dti_code_lowest(f, &code);
        if (dti_code_inf(f, true, &next))
            code = next;
        while (dti_code_next(f, code, true, &next)) {
            struct dti_value a, b;
            uint64_t back;
            dti_decode(f, code, &a);
            dti_decode(f, next, &b);
            if (!CHECK(dti_value_compare(&a, &b) < 0))
                return;
            if (!CHECK(dti_code_next(f, next, false, &back)) || !CHECK_U64(back, code))
                return;
            code = next;
            steps++;
        }
        unsigned nans = 0;
        for (uint64_t c = 0; c <= dti_low_bits(f->width); c++)
            nans += decode(f->id, c).kind == DTI_CLASS_NAN;
        uint64_t numbers = f->kind == DTI_KIND_BOOL ? 2 : dti_low_bits(f->width) + 1 - nans;
        CHECK_U64(steps + 1 + dti_format_has_minus_zero(f), numbers);
    }
}

UNIT_MAIN(smallest_numbers_are_those_of_the_tables, special_codes_mean_what_their_family_says,
          integers_are_twos_complement, the_walk_passes_every_number_once_in_order)
