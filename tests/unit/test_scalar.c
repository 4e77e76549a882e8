/* SPDX-License-Identifier: MIT
 *
 * One number through one cast: routes, neighbours, steps. Expected values are worked out by hand.
 */
#include "core/code/scalar.h"
#include "unit.h"

static struct dti_scalar cast_text(const char *text, enum dti_dtype dtype, enum dti_dtype via,
                                   enum dti_overflow overflow)
{
    struct dti_cast cast = {.dst = *dti_format_get(dtype), .policy = {.overflow = overflow}};
    struct dti_number number;
    struct dti_value value;
    struct dti_scalar scalar;
    memset(&scalar, 0, sizeof scalar);
    if (via != DTI_NONE)
        cast.via[cast.via_count++] = *dti_format_get(via);
    if (!CHECK(dti_number_parse(&number, text, strlen(text), NULL) == DTI_OK))
        return scalar;
    CHECK(dti_number_value(&number, &value));
    dti_scalar_cast(&cast, &value, &number, 0, &scalar);
    dti_number_free(&number);
    return scalar;
}

static void neighbours_bracket_an_inexact_number(void)
{
    struct dti_scalar scalar = cast_text("70000", DTI_BF16, DTI_NONE, DTI_OVERFLOW_NATIVE);
    CHECK_U64(scalar.code, 0x4789);
    CHECK(scalar.has_below && scalar.has_above);
    CHECK_U64(scalar.below, 0x4788);
    CHECK_U64(scalar.above, 0x4789);
    CHECK_I64(scalar.step_exponent, 9);
    CHECK_I64(dti_scalar_direction(&scalar), 1);
}

static void neighbours_of_an_exact_number_lie_beside_it(void)
{
    struct dti_scalar scalar = cast_text("1", DTI_FP16, DTI_NONE, DTI_OVERFLOW_NATIVE);
    CHECK_U64(scalar.below, 0x3bff);
    CHECK_U64(scalar.above, 0x3c01);
    CHECK(!(scalar.flags & DTI_FLAG_INEXACT));
}

static void beyond_the_range_only_what_is_there_counts(void)
{
    struct dti_scalar scalar = cast_text("500", DTI_FP8_E4M3FN, DTI_NONE, DTI_OVERFLOW_NATIVE);
    CHECK(scalar.has_below && !scalar.has_above && !scalar.has_step);
    CHECK_U64(scalar.below, 0x7e);
    scalar = cast_text("-70000", DTI_FP16, DTI_NONE, DTI_OVERFLOW_NATIVE);
    CHECK_U64(scalar.below, 0xfc00);
    CHECK_U64(scalar.above, 0xfbff);
    scalar = cast_text("-5", DTI_UINT8, DTI_NONE, DTI_OVERFLOW_NATIVE);
    CHECK(!scalar.has_below && scalar.has_above);
    CHECK_U64(scalar.above, 0);
    CHECK(scalar.flags & DTI_FLAG_OVERFLOW);
}

static void a_route_rounds_at_each_stage(void)
{
    CHECK_U64(cast_text("65519.99999999907", DTI_FP16, DTI_NONE, DTI_OVERFLOW_NATIVE).code, 0x7bff);
    struct dti_scalar scalar =
        cast_text("65519.99999999907", DTI_FP16, DTI_FP32, DTI_OVERFLOW_NATIVE);
    CHECK_U64(scalar.code, 0x7c00);
    CHECK(scalar.flags & DTI_FLAG_OVERFLOW);
    CHECK(scalar.flags & DTI_FLAG_INEXACT);
}

static void integers_truncate_unless_told_otherwise(void)
{
    CHECK_U64(cast_text("2.9", DTI_INT8, DTI_NONE, DTI_OVERFLOW_NATIVE).code, 2);
    CHECK_U64(cast_text("-2.9", DTI_INT8, DTI_NONE, DTI_OVERFLOW_NATIVE).code, 0xfe);
}

/* 1.00048828125 = 1 + 2^-11 rounds up to bf16's 1.0078125 one time in 16, and that rounds up to
 * e4m3fn's 1.125 one time in 16: 390 of 100,000. If both stages used the same random bits, it would
 * be 6,250. */
static void each_stage_has_random_bits_of_its_own(void)
{
    struct dti_cast cast = {.dst = *dti_format_get(DTI_FP8_E4M3FN),
                            .via_count = 1,
                            .policy = {.round = DTI_ROUND_STOCHASTIC, .seed = 11}};
    struct dti_value value;
    unsigned ups = 0;
    cast.via[0] = *dti_format_get(DTI_BF16);
    dti_value_set(&value, false, 2049, -11);
    for (uint64_t i = 0; i < 100000; i++) {
        struct dti_scalar scalar;
        dti_scalar_store(&cast, &value, NULL, i, &scalar);
        ups += scalar.code == 0x39;
    }
    CHECK(ups > 310 && ups < 470); /* four standard deviations */
}

static void the_stage_that_overflowed_is_named(void)
{
    struct dti_scalar scalar = cast_text("1e10", DTI_FP32, DTI_FP16, DTI_OVERFLOW_NATIVE);
    CHECK(scalar.flags & DTI_FLAG_OVERFLOW);
    CHECK_SIZE(scalar.stage, 0);
    scalar = cast_text("1e10", DTI_FP16, DTI_FP32, DTI_OVERFLOW_NATIVE);
    CHECK_SIZE(scalar.stage, 1);
}

/* 10^60 mod 2^64 = 1152921504606846976 (Python: 10**60 % 2**64). */
static void wrapping_takes_the_low_bits_of_numbers_of_any_length(void)
{
    CHECK_U64(cast_text("1e60", DTI_UINT64, DTI_NONE, DTI_OVERFLOW_WRAP).code,
              UINT64_C(1152921504606846976));
    CHECK_U64(cast_text("-1e60", DTI_UINT64, DTI_NONE, DTI_OVERFLOW_WRAP).code,
              UINT64_C(0) - UINT64_C(1152921504606846976));
    CHECK_U64(
        cast_text("340282366920938463463374607431768211461", DTI_UINT8, DTI_NONE, DTI_OVERFLOW_WRAP)
            .code,
        5); /* 2^128 + 5 */
}

/* 2^128 + 0.75 rounds to 2^128 + 1; 10^60 / 7 modulo 256 is 73.4... (Python: Fraction). */
static void wrapping_rounds_what_lies_behind_the_point(void)
{
    struct dti_cast cast = {.dst = *dti_format_get(DTI_UINT8),
                            .round_given = true,
                            .policy = {.overflow = DTI_OVERFLOW_WRAP}};
    static const struct {
        const char *text;
        enum dti_round round;
        uint64_t code;
    } rows[] = {
        {"340282366920938463463374607431768211456.75", DTI_ROUND_NEAREST_EVEN, 1},
        {"340282366920938463463374607431768211456.75", DTI_ROUND_ZERO, 0},
        {"-340282366920938463463374607431768211456.75", DTI_ROUND_NEAREST_EVEN, 255},
        {"340282366920938463463374607431768211456.5", DTI_ROUND_NEAREST_EVEN, 0},
        {"340282366920938463463374607431768211457.5", DTI_ROUND_NEAREST_EVEN, 2},
        {"340282366920938463463374607431768211456.500000000000000000000000001",
         DTI_ROUND_NEAREST_EVEN, 1},
        {"1e60/7", DTI_ROUND_UP, 74},
        {"1e60/7", DTI_ROUND_DOWN, 73},
        {"0x100000000000000000000000000000001.8", DTI_ROUND_NEAREST_EVEN, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_number number;
        struct dti_value value;
        struct dti_scalar scalar;
        cast.policy.round = rows[i].round;
        CHECK(dti_number_parse(&number, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_value(&number, &value));
        dti_scalar_store(&cast, &value, &number, 0, &scalar);
        if (!CHECK_U64(scalar.code, rows[i].code))
            printf("    %s\n", rows[i].text);
        CHECK(scalar.flags & DTI_FLAG_OVERFLOW);
        dti_number_free(&number);
    }
}

static void stored_integers_are_written_out(void)
{
    char text[DTI_TEXT_SIZE];
    struct dti_scalar scalar = cast_text("1e18", DTI_INT64, DTI_NONE, DTI_OVERFLOW_NATIVE);
    dti_spell_stored(text, dti_format_get(DTI_INT64), scalar.code, &scalar.stored);
    CHECK_STR(text, "1000000000000000000");
    scalar = cast_text("1e18", DTI_FP64, DTI_NONE, DTI_OVERFLOW_NATIVE);
    dti_spell_stored(text, dti_format_get(DTI_FP64), scalar.code, &scalar.stored);
    CHECK_STR(text, "1e+18");
}

static void classes_are_those_of_the_stored_number(void)
{
    const struct dti_format *fp16 = dti_format_get(DTI_FP16);
    CHECK(dti_code_class(fp16, 0x0000) == DTI_NUMBER_ZERO);
    CHECK(dti_code_class(fp16, 0x83ff) == DTI_NUMBER_SUBNORMAL);
    CHECK(dti_code_class(fp16, 0x0400) == DTI_NUMBER_NORMAL);
    CHECK(dti_code_class(fp16, 0x7c00) == DTI_NUMBER_INF);
    CHECK(dti_code_class(fp16, 0x7c01) == DTI_NUMBER_NAN);
    CHECK(dti_code_class(dti_format_get(DTI_FP8_E8M0), 0) == DTI_NUMBER_NORMAL);
}

UNIT_MAIN(neighbours_bracket_an_inexact_number, neighbours_of_an_exact_number_lie_beside_it,
          beyond_the_range_only_what_is_there_counts, a_route_rounds_at_each_stage,
          each_stage_has_random_bits_of_its_own, the_stage_that_overflowed_is_named,
          integers_truncate_unless_told_otherwise,
          wrapping_takes_the_low_bits_of_numbers_of_any_length,
          wrapping_rounds_what_lies_behind_the_point, stored_integers_are_written_out,
          classes_are_those_of_the_stored_number)
