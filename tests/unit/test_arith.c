/* SPDX-License-Identifier: MIT
 *
 * Operations on values, with hand-computed results. The oracle tests compare all codes. */
#include "core/code/arith.h"
#include "unit.h"

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, SQRT, FMA };

static unsigned apply(struct dti_value *ret, int op, const struct dti_value *x,
                      enum dti_round round)
{
    switch (op) {
    case ADD:
        return dti_value_add(ret, &x[0], &x[1], round);
    case SUBTRACT:
        return dti_value_subtract(ret, &x[0], &x[1], round);
    case MULTIPLY:
        return dti_value_multiply(ret, &x[0], &x[1]);
    case DIVIDE:
        return dti_value_divide(ret, &x[0], &x[1]);
    case SQRT:
        return dti_value_sqrt(ret, &x[0]);
    default:
        return dti_value_fma(ret, &x[0], &x[1], &x[2], round);
    }
}

/* One operation on codes, rounded to the same dtype. */
static uint64_t computed(enum dti_dtype dtype, int op, uint64_t a, uint64_t b, uint64_t c,
                         enum dti_round round, unsigned *ret_flags)
{
    const struct dti_format *format = dti_format_get(dtype);
    const struct dti_policy policy = {.round = round};
    struct dti_value x[3];
    struct dti_outcome outcome;
    dti_decode(format, a, &x[0]);
    dti_decode(format, b, &x[1]);
    dti_decode(format, c, &x[2]);
    *ret_flags = apply(&x[0], op, x, round);
    dti_encode(format, &x[0], &policy, 0, &outcome);
    return outcome.code;
}

static const struct {
    enum dti_dtype dtype;
    int op;
    enum dti_round round;
    uint64_t a, b, c, want;
    unsigned flags;
} rows[] = {
    {DTI_BF16, ADD, DTI_ROUND_NEAREST_EVEN, 0x4380, 0x3f80, 0, 0x4380, 0}, /* 256 + 1: a tie */
    {DTI_BF16, ADD, DTI_ROUND_UP, 0x4380, 0x0001, 0, 0x4381, 0},           /* 256 + 2^-133 */
    {DTI_BF16, SUBTRACT, DTI_ROUND_ZERO, 0x4380, 0x0001, 0, 0x437f, 0},
    {DTI_FP16, ADD, DTI_ROUND_NEAREST_EVEN, 0x7bff, 0x4c00, 0, 0x7c00, 0},      /* 65504 + 16 */
    {DTI_FP16, MULTIPLY, DTI_ROUND_NEAREST_EVEN, 0x70e2, 0x70e2, 0, 0x7c00, 0}, /* 10000^2 */
    {DTI_FP16, MULTIPLY, DTI_ROUND_NEAREST_EVEN, 0x0001, 0x3800, 0, 0x0000, 0}, /* 2^-25: a tie */
    {DTI_FP16, DIVIDE, DTI_ROUND_NEAREST_EVEN, 0x3c00, 0x4200, 0, 0x3555, 0},   /* 1 / 3 */
    {DTI_FP64, DIVIDE, DTI_ROUND_UP, UINT64_C(0x3ff0000000000000), UINT64_C(0x4008000000000000), 0,
     UINT64_C(0x3fd5555555555556), 0},
    {DTI_FP64, SQRT, DTI_ROUND_NEAREST_EVEN, UINT64_C(0x4000000000000000), 0, 0,
     UINT64_C(0x3ff6a09e667f3bcd), 0},                        /* sqrt(2) */
    {DTI_FP16, SQRT, DTI_ROUND_ODD, 0x4880, 0, 0, 0x4200, 0}, /* sqrt(9) */
    {DTI_FP16, SQRT, DTI_ROUND_NEAREST_EVEN, 0x8000, 0, 0, 0x8000, 0},
    {DTI_FP16, SQRT, DTI_ROUND_NEAREST_EVEN, 0xbc00, 0, 0, 0x7e00, DTI_ARITH_INVALID},
    /* (1 + 2^-10)^2 - (1 + 2^-9): 2^-20 without intermediate rounding, else 0 */
    {DTI_FP16, FMA, DTI_ROUND_NEAREST_EVEN, 0x3c01, 0x3c01, 0xbc02, 0x0010, 0},
    /* 2^-200 (1 + 2^-52) - 1, rounded up: exceeds a window of 256 bits */
    {DTI_FP64, FMA, DTI_ROUND_UP, UINT64_C(0x3370000000000001), UINT64_C(0x3ff0000000000001),
     UINT64_C(0xbff0000000000000), UINT64_C(0xbfefffffffffffff), 0},
    {DTI_FP64, FMA, DTI_ROUND_UP, UINT64_C(0x0000000000000001), UINT64_C(0x0000000000000001),
     UINT64_C(0xffefffffffffffff), UINT64_C(0xffeffffffffffffe), 0},
    {DTI_FP32, ADD, DTI_ROUND_NEAREST_EVEN, 0x3f800000, 0xbf800000, 0, 0, 0},
    {DTI_FP32, ADD, DTI_ROUND_DOWN, 0x3f800000, 0xbf800000, 0, 0x80000000, 0},
    {DTI_FP32, ADD, DTI_ROUND_DOWN, 0x00000000, 0x80000000, 0, 0x80000000, 0},
    {DTI_FP32, ADD, DTI_ROUND_DOWN, 0, 0, 0, 0, 0},
    {DTI_FP32, SUBTRACT, DTI_ROUND_NEAREST_EVEN, 0x7f800000, 0x7f800000, 0, 0x7fc00000,
     DTI_ARITH_INVALID},
    {DTI_FP32, MULTIPLY, DTI_ROUND_NEAREST_EVEN, 0x7f800000, 0x80000000, 0, 0x7fc00000,
     DTI_ARITH_INVALID},
    {DTI_FP32, DIVIDE, DTI_ROUND_NEAREST_EVEN, 0xbf800000, 0x00000000, 0, 0xff800000,
     DTI_ARITH_DIVIDE_BY_ZERO},
    {DTI_FP32, DIVIDE, DTI_ROUND_NEAREST_EVEN, 0x00000000, 0x00000000, 0, 0x7fc00000,
     DTI_ARITH_INVALID},
    {DTI_FP32, DIVIDE, DTI_ROUND_NEAREST_EVEN, 0x7f800000, 0x00000000, 0, 0x7f800000, 0},
    {DTI_FP32, FMA, DTI_ROUND_NEAREST_EVEN, 0x7f800000, 0x00000000, 0xff800123, 0xffc00123,
     DTI_ARITH_INVALID},
    {DTI_FP32, FMA, DTI_ROUND_NEAREST_EVEN, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000,
     DTI_ARITH_INVALID},
    {DTI_FP32, FMA, DTI_ROUND_NEAREST_EVEN, 0x80000000, 0x3f800000, 0x80000000, 0x80000000, 0},
    /* the first NaN, quieted */
    {DTI_FP32, ADD, DTI_ROUND_NEAREST_EVEN, 0x7f800001, 0xffc00002, 0, 0x7fc00001, 0},
    {DTI_FP32, SUBTRACT, DTI_ROUND_NEAREST_EVEN, 0x3f800000, 0xff800002, 0, 0xffc00002, 0},
};

static void results_are_rounded_once(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned flags;
        const uint64_t got = computed(rows[i].dtype, rows[i].op, rows[i].a, rows[i].b, rows[i].c,
                                      rows[i].round, &flags);
        if (!CHECK_U64(got, rows[i].want) || !CHECK_U64(flags, rows[i].flags))
            printf("    in row %zu\n", i);
    }
}

static struct dti_value number(bool negative, uint64_t significand, int64_t exponent)
{
    struct dti_value value;
    dti_value_set(&value, negative, significand, exponent);
    return value;
}

static void exponents_beyond_the_limit_are_clamped(void)
{
    const struct dti_value large = number(false, 1, DTI_EXPONENT_LIMIT),
                           small = number(true, 1, -DTI_EXPONENT_LIMIT);
    struct dti_value got;
    CHECK_U64(dti_value_multiply(&got, &large, &large), 0);
    CHECK(got.exponent == DTI_EXPONENT_LIMIT && got.sticky && !got.negative);
    CHECK_U64(dti_value_divide(&got, &small, &large), 0);
    CHECK(got.exponent == -DTI_EXPONENT_LIMIT && got.sticky && got.negative);
    CHECK_U64(dti_value_fma(&got, &small, &small, &large, DTI_ROUND_ZERO), 0);
    CHECK(got.exponent == DTI_EXPONENT_LIMIT && got.sticky && got.hi == UINT64_C(1) << 63);
}

static void minimum_and_maximum_order_zeros_and_take_nan(void)
{
    const struct dti_value zero = {.kind = DTI_CLASS_ZERO},
                           minus_zero = {.kind = DTI_CLASS_ZERO, .negative = true},
                           nan = {.kind = DTI_CLASS_NAN, .hi = 5}, two = number(false, 2, 0),
                           minus_three = number(true, 3, 0);
    struct dti_value got;
    dti_value_minimum(&got, &zero, &minus_zero);
    CHECK(got.kind == DTI_CLASS_ZERO && got.negative);
    dti_value_maximum(&got, &minus_zero, &zero);
    CHECK(got.kind == DTI_CLASS_ZERO && !got.negative);
    dti_value_minimum(&got, &two, &minus_three);
    CHECK(dti_value_compare(&got, &minus_three) == 0);
    dti_value_maximum(&got, &two, &minus_three);
    CHECK(dti_value_compare(&got, &two) == 0);
    dti_value_maximum(&got, &two, &nan);
    CHECK(got.kind == DTI_CLASS_NAN && got.hi == (UINT64_C(1) << 63 | 5));
}

static void rounds_to_integers_in_every_direction(void)
{
    static const struct {
        bool negative;
        uint64_t halves;
        enum dti_round round;
        uint64_t want;
    } cases[] = {
        {false, 5, DTI_ROUND_NEAREST_EVEN, 2}, {true, 5, DTI_ROUND_NEAREST_AWAY, 3},
        {false, 5, DTI_ROUND_UP, 3},           {true, 5, DTI_ROUND_UP, 2},
        {false, 5, DTI_ROUND_DOWN, 2},         {true, 5, DTI_ROUND_DOWN, 3},
        {true, 5, DTI_ROUND_ZERO, 2},          {true, 1, DTI_ROUND_NEAREST_EVEN, 0},
        {false, 6, DTI_ROUND_UP, 3},           {false, UINT64_MAX, DTI_ROUND_UP, UINT64_C(1) << 63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value want = number(cases[i].negative, cases[i].want, 0);
        struct dti_value got = number(cases[i].negative, cases[i].halves, -1);
        dti_value_round_integral(&got, &got, cases[i].round);
        if (!CHECK(got.negative == want.negative && dti_value_compare(&got, &want) == 0))
            printf("    in case %zu\n", i);
    }
}

UNIT_MAIN(results_are_rounded_once, exponents_beyond_the_limit_are_clamped,
          minimum_and_maximum_order_zeros_and_take_nan, rounds_to_integers_in_every_direction)
