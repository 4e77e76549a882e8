/* SPDX-License-Identifier: MIT
 *
 * Rounding and overflow, with test vectors of the standards and of published tables. */
#include "core/value.h"
#include "unit.h"

/* significand x 2^exponent, as a value. */
static struct dti_value number(bool negative, uint64_t significand, int exponent)
{
    struct dti_value value;
    dti_value_set(&value, negative, significand, exponent);
    return value;
}

static struct dti_outcome encode(enum dti_dtype dtype, const struct dti_value *value,
                                 enum dti_round round, enum dti_overflow overflow)
{
    const struct dti_policy policy = {.round = round, .overflow = overflow};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(dtype), value, &policy, 0, &outcome);
    return outcome;
}

static uint64_t nearest(enum dti_dtype dtype, const struct dti_value *value)
{
    return encode(dtype, value, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_NATIVE).code;
}

static const struct dti_value inf = {.kind = DTI_CLASS_INF};
static const struct dti_value minus_inf = {.kind = DTI_CLASS_INF, .negative = true};
static const struct dti_value quiet_nan = {.kind = DTI_CLASS_NAN, .hi = UINT64_C(3) << 62};

static void rounds_70000_to_bf16_as_everyone_should(void)
{
    struct dti_value value = number(false, 70000, 0);
    CHECK_U64(nearest(DTI_BF16, &value), 0x4789);
    CHECK_U64(nearest(DTI_FP16, &value), 0x7c00);
    CHECK_U64(nearest(DTI_FP32, &value), 0x4788b800);
    CHECK_U64(nearest(DTI_FP8_E4M3FN, &value), 0x7f);
    CHECK_U64(nearest(DTI_FP8_E5M2, &value), 0x7c);
}

static void rounds_half_to_even(void)
{
    struct dti_value a = number(false, 257, 0), b = number(false, 259, 0);
    CHECK_U64(nearest(DTI_BF16, &a), 0x4380); /* 256 */
    CHECK_U64(nearest(DTI_BF16, &b), 0x4382); /* 260 */
}

static void a_sticky_bit_breaks_the_tie(void)
{
    struct dti_value value = number(false, 257, 0);
    value.sticky = true;
    CHECK_U64(nearest(DTI_BF16, &value), 0x4381);
}

static void every_mode_goes_its_own_way(void)
{
    static const struct {
        enum dti_round round;
        uint64_t positive, negative;
    } rows[] = {
        /* 1 + 2^-11 in tf32: a tie between 1 and 1 + 2^-10 */
        {DTI_ROUND_NEAREST_EVEN, 0x1fc00, 0x5fc00}, {DTI_ROUND_NEAREST_AWAY, 0x1fc01, 0x5fc01},
        {DTI_ROUND_ZERO, 0x1fc00, 0x5fc00},         {DTI_ROUND_UP, 0x1fc01, 0x5fc00},
        {DTI_ROUND_DOWN, 0x1fc00, 0x5fc01},         {DTI_ROUND_ODD, 0x1fc01, 0x5fc01},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_value plus = number(false, 2049, -11), minus = number(true, 2049, -11);
        CHECK_U64(encode(DTI_TF32, &plus, rows[i].round, DTI_OVERFLOW_NATIVE).code,
                  rows[i].positive);
        CHECK_U64(encode(DTI_TF32, &minus, rows[i].round, DTI_OVERFLOW_NATIVE).code,
                  rows[i].negative);
    }
}

static void overflow_borders_are_those_of_the_tables(void)
{
    struct dti_value just_below = number(false, 65519, 0), at = number(false, 65520, 0);
    CHECK_U64(nearest(DTI_FP16, &just_below), 0x7bff);
    CHECK_U64(nearest(DTI_FP16, &at), 0x7c00);
    struct dti_value tie = number(false, 464, 0), above = tie;
    above.sticky = true;
    CHECK_U64(nearest(DTI_FP8_E4M3FN, &tie), 0x7e); /* 448 is even */
    CHECK_U64(nearest(DTI_FP8_E4M3FN, &above), 0x7f);
    struct dti_value seven = number(false, 7, 0);
    CHECK_U64(nearest(DTI_FP4_E2M1, &seven), 0x7);
}

static void overflow_policies_differ_where_they_should(void)
{
    struct dti_value big = number(true, 500, 0);
    CHECK_U64(encode(DTI_FP8_E4M3FN, &big, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_SATURATE).code,
              0xfe);
    CHECK_U64(
        encode(DTI_FP8_E4M3FN, &minus_inf, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_SATURATE).code,
        0xfe);
    CHECK_U64(
        encode(DTI_FP8_E4M3FN, &minus_inf, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_SATURATE_FINITE)
            .code,
        0xff);
    CHECK_U64(encode(DTI_FP8_E5M2, &inf, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_SATURATE_FINITE).code,
              0x7c);
    CHECK_U64(encode(DTI_FP8_E5M2, &inf, DTI_ROUND_NEAREST_EVEN, DTI_OVERFLOW_SATURATE).code, 0x7b);
}

static void directed_modes_stop_at_the_largest_finite(void)
{
    struct dti_value big = number(false, 1, 20);
    CHECK_U64(encode(DTI_FP16, &big, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code, 0x7bff);
    CHECK_U64(encode(DTI_FP16, &big, DTI_ROUND_DOWN, DTI_OVERFLOW_NATIVE).code, 0x7bff);
    CHECK_U64(encode(DTI_FP16, &big, DTI_ROUND_UP, DTI_OVERFLOW_NATIVE).code, 0x7c00);
}

static void integers_clamp_wrap_and_take_nan_as_zero(void)
{
    struct dti_value v300 = number(false, 300, 0), minus = number(true, 300, 0);
    CHECK_U64(encode(DTI_UINT8, &v300, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code, 255);
    CHECK_U64(encode(DTI_UINT8, &v300, DTI_ROUND_ZERO, DTI_OVERFLOW_WRAP).code, 44);
    CHECK_U64(encode(DTI_INT8, &minus, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code, 0x80);
    CHECK_U64(encode(DTI_UINT8, &minus, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code, 0);
    CHECK_U64(encode(DTI_INT8, &quiet_nan, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code, 0);
    CHECK(encode(DTI_INT8, &quiet_nan, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).flags &
          DTI_FLAG_INVALID);
    struct dti_value half_below_2_64 = number(false, UINT64_MAX, 0);
    half_below_2_64.lo = UINT64_C(1) << 63;
    CHECK_U64(encode(DTI_UINT64, &half_below_2_64, DTI_ROUND_ZERO, DTI_OVERFLOW_NATIVE).code,
              UINT64_MAX);
    CHECK(encode(DTI_UINT64, &half_below_2_64, DTI_ROUND_UP, DTI_OVERFLOW_NATIVE).flags &
          DTI_FLAG_OVERFLOW);
}

static void e8m0_is_right_between_its_two_least_scales(void)
{
    struct dti_value a = number(false, 14, -127), tie = number(false, 3, -128),
                     tiny = number(false, 1, -400);
    struct dti_value nearer = number(false, 11, -130); /* 1.375 x 2^-127 */
    struct dti_value minus = number(true, 1, 0), zero = number(false, 0, 0);
    CHECK_U64(nearest(DTI_FP8_E8M0, &a), 4);      /* 14 x 2^-127 is nearer to 2^-123 */
    CHECK_U64(nearest(DTI_FP8_E8M0, &nearer), 0); /* torch and ml_dtypes give 2^-126 */
    CHECK_U64(nearest(DTI_FP8_E8M0, &tie), 1);
    CHECK_U64(nearest(DTI_FP8_E8M0, &tiny), 0);
    CHECK_U64(nearest(DTI_FP8_E8M0, &zero), 0);
    CHECK_U64(nearest(DTI_FP8_E8M0, &minus), 0xff);
    CHECK_U64(nearest(DTI_FP8_E8M0, &inf), 0xff);
}

static void nan_keeps_sign_and_payload_unless_canonical(void)
{
    /* fp32 0xffa12345, signaling: F16C gives 0xff09 */
    struct dti_value signaling;
    dti_decode(dti_format_get(DTI_FP32), 0xffa12345, &signaling);
    CHECK_U64(nearest(DTI_FP16, &signaling), 0xff09);
    CHECK_U64(nearest(DTI_BF16, &signaling), 0xffe1);
    const struct dti_policy canonical = {.nan = DTI_NAN_CANONICAL};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_FP16), &signaling, &canonical, 0, &outcome);
    CHECK_U64(outcome.code, 0x7e00);
    CHECK_U64(nearest(DTI_FP8_E4M3FNUZ, &signaling), 0x80);
}

static void subnormals_round_into_normals(void)
{
    struct dti_value largest = number(false, 2047, -25); /* 1023.5 x 2^-24 */
    CHECK_U64(nearest(DTI_FP16, &largest), 0x0400);
    struct dti_value half = number(false, 1, -25);
    CHECK_U64(nearest(DTI_FP16, &half), 0);
    half.sticky = true;
    CHECK_U64(nearest(DTI_FP16, &half), 1);
}

/* Known answers from Random123's kat_vectors: counter 0, key 0, and all ones where the index allows
 * it. */
static void random_bits_are_philox(void)
{
    CHECK_U64(dti_random_bits(0, 0, 0), 0x6627e8d5);
    CHECK_U64(dti_random_bits(0, 0, 1), 0xe169c58d);
    CHECK_U64(dti_random_bits(0, 0, 2), 0xbc57ac4c);
    CHECK_U64(dti_random_bits(0, 0, 3), 0x9b00dbd8);
}

/* Philox with counter (0, 0, 1, 0), computed with the Python model of the tests. */
static void another_stream_has_other_bits(void)
{
    CHECK_U64(dti_random_bits(0, 1, 0), 0x844515e1);
    CHECK_U64(dti_random_bits(0, 1, 3), 0x83f875f0);
}

static void stochastic_rounding_never_moves_exact_values_and_is_fair(void)
{
    const struct dti_format *bf16 = dti_format_get(DTI_BF16);
    const struct dti_policy policy = {.round = DTI_ROUND_STOCHASTIC, .seed = 7};
    struct dti_value exact = number(false, 256, 0), quarter = number(false, 513, -1);
    unsigned ups = 0;
    for (uint64_t i = 0; i < 40000; i++) {
        struct dti_outcome outcome;
        dti_encode(bf16, &exact, &policy, i, &outcome);
        if (!CHECK_U64(outcome.code, 0x4380))
            return;
        dti_encode(bf16, &quarter, &policy, i, &outcome); /* 256.5: a quarter of the way to 258 */
        ups += outcome.code == 0x4381;
    }
    CHECK(ups > 9650 && ups < 10350); /* four standard deviations about 10000 */
}

UNIT_MAIN(rounds_70000_to_bf16_as_everyone_should, rounds_half_to_even, a_sticky_bit_breaks_the_tie,
          every_mode_goes_its_own_way, overflow_borders_are_those_of_the_tables,
          overflow_policies_differ_where_they_should, directed_modes_stop_at_the_largest_finite,
          integers_clamp_wrap_and_take_nan_as_zero, e8m0_is_right_between_its_two_least_scales,
          nan_keeps_sign_and_payload_unless_canonical, subnormals_round_into_normals,
          random_bits_are_philox, another_stream_has_other_bits,
          stochastic_rounding_never_moves_exact_values_and_is_fair)
