/* SPDX-License-Identifier: MIT
 *
 * Kernel parameters for a format and a policy. All special codes come from dti_encode(), so that
 * there is only one definition. */
#include "kernels/kernel.h"

#include <string.h>

/* The exponent of the largest finite number of a float. */
static int32_t max_exponent(const struct dti_format *format)
{
    uint64_t code = 0;
    struct dti_value value;
    (void)dti_code_max(format, &code);
    dti_decode(format, code, &value);
    return value.exponent;
}

static uint64_t ask(const struct dti_encoder *encoder, const struct dti_value *value)
{
    struct dti_outcome outcome;
    dti_encode(&encoder->format, value, &encoder->policy, 0, &outcome);
    return outcome.code;
}

static uint64_t ask_class(const struct dti_encoder *encoder, enum dti_class class, bool negative)
{
    const struct dti_value value = {.kind = class, .negative = negative};
    return ask(encoder, &value);
}

static uint64_t ask_power(const struct dti_encoder *encoder, bool negative, int64_t exponent)
{
    struct dti_value value;
    dti_value_set(&value, negative, 1, exponent);
    return ask(encoder, &value);
}

void dti_decoder_init(struct dti_decoder *ret, const struct dti_format *format)
{
    memset(ret, 0, sizeof *ret);
    ret->format = *format;
    ret->container = (unsigned)dti_format_container(format);
    ret->code_shift = dti_format_code_shift(format);
    ret->man_bits = format->man_bits;
    ret->bias = format->bias;
    ret->sign_bit = dti_format_sign_bit(format);
    (void)dti_code_max(format, &ret->max_magnitude);
    if (!dti_format_is_float(format))
        return;
    ret->min_exponent = dti_format_min_exponent(format);
    (void)dti_code_inf(format, false, &ret->inf);
    if (ret->sign_bit != 0 && !dti_format_has_minus_zero(format))
        ret->nan = ret->sign_bit;
}

void dti_encoder_init(struct dti_encoder *ret, const struct dti_format *format,
                      const struct dti_policy *policy)
{
    memset(ret, 0, sizeof *ret);
    ret->format = *format;
    ret->policy = *policy;
    ret->container = (unsigned)dti_format_container(format);
    ret->code_shift = dti_format_code_shift(format);
    ret->man_bits = format->man_bits;
    ret->bias = format->bias;
    ret->sign_bit = dti_format_sign_bit(format);
    (void)dti_code_max(format, &ret->max_magnitude);
    for (int negative = 0; negative < 2; negative++) {
        const bool minus = negative != 0;
        ret->overflow[negative] = ask_power(ret, minus, DTI_EXPONENT_LIMIT - 1);
        ret->inf[negative] = ask_class(ret, DTI_CLASS_INF, minus);
        ret->nan[negative] = ask_class(ret, DTI_CLASS_NAN, minus);
        ret->zero[negative] = ask_class(ret, DTI_CLASS_ZERO, minus);
    }
    if (!dti_format_is_float(format))
        return;
    ret->min_exponent = dti_format_min_exponent(format);
    ret->scale = format->specials == DTI_SPECIALS_SCALE;
    ret->parity_of_code = format->man_bits == 0 && (format->specials == DTI_SPECIALS_P3109E ||
                                                    format->specials == DTI_SPECIALS_P3109F);
    if (policy->nan == DTI_NAN_QUIET && format->specials == DTI_SPECIALS_IEEE &&
        format->man_bits > 1)
        ret->nan_payload = dti_low_bits(format->man_bits - 1u);
    if (format->kind == DTI_KIND_UFLOAT) {
        ret->negative = ret->overflow[1];
        ret->negative_zero_bad = ret->scale;
    }
}

/* Whether a float with that many significand bits can represent every value of an integer
 * format. */
static bool integer_fits(const struct dti_format *format, unsigned precision)
{
    return dti_format_is_integer(format) && format->man_bits <= precision;
}

/* Whether the numbers of a float are a subset of an IEEE float: `least` is the exponent of the
 * IEEE float's smallest subnormal, `largest` that of its largest number. */
static bool float_fits(const struct dti_format *format, unsigned man_bits, int32_t least,
                       int32_t largest)
{
    return dti_format_is_float(format) && format->man_bits <= man_bits &&
           dti_format_min_exponent(format) - format->man_bits >= least &&
           max_exponent(format) <= largest;
}

bool dti_format_fits_hub32(const struct dti_format *format)
{
    return integer_fits(format, 24) || float_fits(format, 23, -149, 127);
}

bool dti_format_fits_hub64(const struct dti_format *format)
{
    /* 51 rather than 53: kernels add integers to 2^52 + 2^51 */
    return integer_fits(format, 51) || float_fits(format, 52, -1074, 1023);
}

bool dti_encoder_takes_hub32(const struct dti_format *format)
{
    return dti_format_is_integer(format) ||
           (float_fits(format, 23, -149, 127) && dti_format_min_exponent(format) >= -126);
}

bool dti_encoder_takes_hub64(const struct dti_format *format)
{
    return dti_format_is_integer(format) ||
           (float_fits(format, 52, -1074, 1023) && dti_format_min_exponent(format) >= -1022);
}

/* Rounding to odd with p bits preserves everything that a later rounding to p - 2 bits can see:
 * the last bit records whether anything was cut off. This also holds for subnormals, because
 * those of formats that dti_encoder_takes_hub32() accepts end above fp32's by as much as their
 * precision is smaller. For integers it holds up to 2^(p - 2), beyond which they must clamp
 * rather than wrap. */
static bool takes_odd(const struct dti_encoder *encoder, unsigned precision)
{
    const struct dti_format *f = &encoder->format;
    if (encoder->policy.round == DTI_ROUND_STOCHASTIC)
        return false;
    if (f->kind == DTI_KIND_BOOL)
        return true;
    if (dti_format_is_integer(f))
        return f->man_bits <= precision - 2 && encoder->policy.overflow != DTI_OVERFLOW_WRAP;
    return f->man_bits + 1u <= precision - 2;
}

bool dti_encoder_takes_odd_hub32(const struct dti_encoder *encoder)
{
    return dti_encoder_takes_hub32(&encoder->format) && takes_odd(encoder, 24);
}

bool dti_encoder_takes_odd_hub64(const struct dti_encoder *encoder)
{
    return dti_encoder_takes_hub64(&encoder->format) && takes_odd(encoder, 53);
}
