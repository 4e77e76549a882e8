/* SPDX-License-Identifier: MIT
 *
 * Kernel parameters of a format: codes copied from the formats' specifications, and which casting
 * path supports which formats. */
#include "kernels/cast/lanes_odd.h"
#include "kernels/kernel.h"

#include "unit.h"

static struct dti_format format(const char *name)
{
    struct dti_format ret = {.width = 0};
    struct dti_error error = {0};
    const char *note;
    CHECK(dti_format_lookup(name, &ret, &note, &error) == DTI_OK);
    return ret;
}

static struct dti_encoder encoder(const char *name, struct dti_policy policy)
{
    const struct dti_format f = format(name);
    struct dti_encoder ret;
    dti_encoder_init(&ret, &f, &policy);
    return ret;
}

static struct dti_decoder decoder(const char *name)
{
    const struct dti_format f = format(name);
    struct dti_decoder ret;
    dti_decoder_init(&ret, &f);
    return ret;
}

static void encoders_hold_the_special_codes_of_the_specifications(void)
{
    static const struct {
        const char *name;
        uint64_t max, overflow[2], inf[2], nan[2], zero[2], payload;
    } rows[] = {
        {"fp16", 0x7bff, {0x7c00, 0xfc00}, {0x7c00, 0xfc00}, {0x7e00, 0xfe00}, {0, 0x8000}, 0x1ff},
        {"fp8_e4m3fn", 0x7e, {0x7f, 0xff}, {0x7f, 0xff}, {0x7f, 0xff}, {0, 0x80}, 0},
        {"fp8_e5m2", 0x7b, {0x7c, 0xfc}, {0x7c, 0xfc}, {0x7e, 0xfe}, {0, 0x80}, 1},
        {"fp8_e4m3fnuz", 0x7f, {0x80, 0x80}, {0x80, 0x80}, {0x80, 0x80}, {0, 0}, 0},
        {"fp4_e2m1", 0x7, {0x7, 0xf}, {0x7, 0xf}, {0x7, 0x7}, {0, 0x8}, 0},
        {"fp8_e8m0", 0xfe, {0xff, 0xff}, {0xff, 0xff}, {0xff, 0xff}, {0, 0}, 0},
        {"binary8p3se", 0x7e, {0x7f, 0xff}, {0x7f, 0xff}, {0x80, 0x80}, {0, 0}, 0},
        {"int8", 0x7f, {0x7f, 0x80}, {0x7f, 0x80}, {0, 0}, {0, 0}, 0},
        {"uint16", 0xffff, {0xffff, 0}, {0xffff, 0}, {0, 0}, {0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dti_encoder e = encoder(rows[i].name, (struct dti_policy){.seed = 0});
        CHECK_U64(e.max_magnitude, rows[i].max);
        CHECK_U64(e.nan_payload, rows[i].payload);
        for (int minus = 0; minus < 2; minus++) {
            bool same = CHECK_U64(e.overflow[minus], rows[i].overflow[minus]);
            same = CHECK_U64(e.inf[minus], rows[i].inf[minus]) && same;
            same = CHECK_U64(e.nan[minus], rows[i].nan[minus]) && same;
            if (!(CHECK_U64(e.zero[minus], rows[i].zero[minus]) && same))
                printf("    of %s\n", rows[i].name);
        }
    }
}

static void policies_change_the_special_codes(void)
{
    const struct dti_encoder saturating =
        encoder("fp8_e5m2", (struct dti_policy){.overflow = DTI_OVERFLOW_SATURATE});
    CHECK_U64(saturating.overflow[1], 0xfb);
    CHECK_U64(saturating.inf[0], 0x7b);
    const struct dti_encoder finite =
        encoder("fp8_e5m2", (struct dti_policy){.overflow = DTI_OVERFLOW_SATURATE_FINITE});
    CHECK_U64(finite.overflow[1], 0xfb);
    CHECK_U64(finite.inf[0], 0x7c);
    const struct dti_encoder down = encoder("fp16", (struct dti_policy){.round = DTI_ROUND_DOWN});
    CHECK_U64(down.overflow[0], 0x7bff);
    CHECK_U64(down.overflow[1], 0xfc00);
    const struct dti_encoder canonical =
        encoder("fp16", (struct dti_policy){.nan = DTI_NAN_CANONICAL});
    CHECK_U64(canonical.nan[1], 0x7e00);
    CHECK_U64(canonical.nan_payload, 0);
}

static void unsigned_floats_know_what_becomes_of_negatives(void)
{
    const struct dti_encoder e = encoder("binary8p3ue", (struct dti_policy){.seed = 0});
    CHECK_U64(e.negative, 0xff);
    CHECK(!e.negative_zero_bad);
    CHECK(encoder("fp8_e8m0", (struct dti_policy){.seed = 0}).negative_zero_bad);
    const struct dti_encoder clamped =
        encoder("binary8p3ue", (struct dti_policy){.overflow = DTI_OVERFLOW_SATURATE});
    CHECK_U64(clamped.negative, 0);
}

static void decoders_know_where_infinity_and_nan_stand(void)
{
    CHECK_U64(decoder("fp16").inf, 0x7c00);
    CHECK_U64(decoder("fp16").nan, 0);
    CHECK_U64(decoder("fp8_e4m3fn").inf, 0);
    CHECK_U64(decoder("fp8_e4m3fn").max_magnitude, 0x7e);
    CHECK_U64(decoder("fp8_e5m2fnuz").nan, 0x80);
    CHECK_U64(decoder("binary8p4se").inf, 0x7f);
    CHECK_U64(decoder("binary8p4se").nan, 0x80);
    CHECK_U64(decoder("binary8p4ue").inf, 0xfe);
    CHECK_U64(decoder("binary8p4ue").nan, 0);
    CHECK_I64(decoder("bf16").min_exponent, -126);
    CHECK_I64(decoder("fp8_e8m0").min_exponent, -127);
    CHECK_U64(decoder("tf32").code_shift, 13);
}

static void hubs_hold_what_they_can(void)
{
    static const struct {
        const char *name;
        bool fits_hub32, fits_hub64, takes_hub32, takes_hub64, odd_hub32, odd_hub64;
    } rows[] = {
        {"fp64", false, true, false, true, false, false},
        {"fp32", true, true, true, true, false, true},
        {"tf32", true, true, true, true, true, true},
        {"bf16", true, true, true, true, true, true},
        {"fp8_e8m0", true, true, false, true, false, true}, /* 2^-127 is subnormal in fp32 */
        {"e8m21", true, true, true, true, true, true},
        {"e8m22", true, true, true, true, false, true},
        {"e7m21", true, true, true, true, true, true},
        {"e7m22", true, true, true, true, false, true},
        {"e9m2", false, true, false, true, false, true},
        {"e11m50", false, true, false, true, false, true},
        {"e11m51", false, true, false, true, false, false},
        {"e12m2", false, false, false, false, false, false},
        {"e8m10b128", true, true, false, true, false, true},
        {"int8", true, true, true, true, true, true},
        {"uint16", true, true, true, true, true, true},
        {"int32", false, true, true, true, false, true},
        {"int64", false, false, true, true, false, false},
        {"bool", true, true, true, true, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dti_format f = format(rows[i].name);
        const struct dti_encoder e = encoder(rows[i].name, (struct dti_policy){.seed = 0});
        bool same = CHECK(dti_format_fits_hub32(&f) == rows[i].fits_hub32);
        same = CHECK(dti_format_fits_hub64(&f) == rows[i].fits_hub64) && same;
        same = CHECK(dti_encoder_takes_hub32(&f) == rows[i].takes_hub32) && same;
        same = CHECK(dti_encoder_takes_hub64(&f) == rows[i].takes_hub64) && same;
        same = CHECK(dti_encoder_takes_odd_hub32(&e) == rows[i].odd_hub32) && same;
        if (!(CHECK(dti_encoder_takes_odd_hub64(&e) == rows[i].odd_hub64) && same))
            printf("    of %s\n", rows[i].name);
    }
}

/* 2^40 + 1 in fp64 becomes 2^40 + 2^17 when rounded to odd in fp32: different low bits. */
static void rounding_to_odd_must_not_precede_wrapping_or_chance(void)
{
    struct dti_encoder e = encoder("int8", (struct dti_policy){.overflow = DTI_OVERFLOW_WRAP});
    CHECK(!dti_encoder_takes_odd_hub32(&e) && !dti_encoder_takes_odd_hub64(&e));
    e = encoder("fp16", (struct dti_policy){.round = DTI_ROUND_STOCHASTIC});
    CHECK(!dti_encoder_takes_odd_hub32(&e) && !dti_encoder_takes_odd_hub64(&e));
}

static void check_same(const struct dti_encoder *got, const struct dti_encoder *want)
{
    CHECK_U64(got->format.width, want->format.width);
    CHECK_U64(got->format.exp_bits, want->format.exp_bits);
    CHECK_U64(got->format.specials, want->format.specials);
    CHECK_U64(got->container, want->container);
    CHECK_U64(got->man_bits, want->man_bits);
    CHECK_I64(got->bias, want->bias);
    CHECK_I64(got->min_exponent, want->min_exponent);
    CHECK_U64(got->sign_bit, want->sign_bit);
    CHECK_U64(got->max_magnitude, want->max_magnitude);
    CHECK_U64(got->nan_payload, want->nan_payload);
    for (int minus = 0; minus < 2; minus++) {
        CHECK_U64(got->overflow[minus], want->overflow[minus]);
        CHECK_U64(got->inf[minus], want->inf[minus]);
        CHECK_U64(got->nan[minus], want->nan[minus]);
        CHECK_U64(got->zero[minus], want->zero[minus]);
    }
}

static void constants_of_rounding_to_odd_are_what_the_rows_say(void)
{
    static const struct dti_encoder fp32 = DTI_LANES_ODD_FP32, fp64 = DTI_LANES_ODD_FP64;
    const struct dti_policy odd = {.round = DTI_ROUND_ODD};
    const struct dti_encoder want32 = encoder("fp32", odd), want64 = encoder("fp64", odd);
    check_same(&fp32, &want32);
    check_same(&fp64, &want64);
}

static void tables_know_their_empty_planes(void)
{
    static struct dti_code_table table;
    const struct dti_format src = format("fp8_e4m3fn"), fp32 = format("fp32"),
                            bf16 = format("bf16");
    const struct dti_policy policy = {.seed = 0};
    dti_code_table_init(&table, &src, &fp32, &policy);
    CHECK_U64(table.container, 4);
    CHECK_U64(table.planes, 2);
    CHECK_U64(table.word[0x38], UINT32_C(0x3f800000)); /* 1 */
    CHECK_U64(table.plane[3][0x38], 0x3f);
    CHECK_U64(table.word[0xff], UINT32_C(0xffc00000)); /* NaN */
    dti_code_table_init(&table, &src, &bf16, &policy);
    CHECK_U64(table.planes, 2);
    CHECK_U64(table.word[0x7e], 0x43e0); /* 448 */
}

UNIT_MAIN(encoders_hold_the_special_codes_of_the_specifications, policies_change_the_special_codes,
          unsigned_floats_know_what_becomes_of_negatives,
          decoders_know_where_infinity_and_nan_stand, hubs_hold_what_they_can,
          rounding_to_odd_must_not_precede_wrapping_or_chance,
          constants_of_rounding_to_odd_are_what_the_rows_say, tables_know_their_empty_planes)
