/* SPDX-License-Identifier: MIT
 *
 * The codes of a format: landmarks (largest, smallest, infinity, NaN), the step from one number
 * to the next, and the exact value of each code. All of it follows from the format's row;
 * `specials` defines the special codes. */
#include <assert.h>
#include <string.h>

#include "core/code/taper.h"
#include "core/value.h"
#include "core/wide.h"

static uint64_t all_ones(const struct dti_format *f)
{
    return dti_low_bits(f->width) & ~dti_format_sign_bit(f);
}

static uint64_t top_exponent(const struct dti_format *f)
{
    return dti_low_bits(f->exp_bits) << f->man_bits;
}

bool dti_code_max(const struct dti_format *format, uint64_t *ret_code)
{
    uint64_t ones = all_ones(format);
    switch (format->kind) {
    case DTI_KIND_BOOL:
        *ret_code = 1;
        return true;
    case DTI_KIND_COMPLEX:
        return false;
    case DTI_KIND_INT:
    case DTI_KIND_UINT:
        *ret_code = ones;
        return true;
    case DTI_KIND_FLOAT:
    case DTI_KIND_UFLOAT:
        break;
    }
    bool unsigned_nan = format->kind == DTI_KIND_UFLOAT; /* NaN uses the all-ones code */
    switch (format->specials) {
    case DTI_SPECIALS_TAPER: /* infinity is the last place */
        *ret_code = dti_taper_code(format, ones - 1);
        break;
    case DTI_SPECIALS_IEEE:
        *ret_code = top_exponent(format) - 1;
        break;
    case DTI_SPECIALS_FN:
    case DTI_SPECIALS_SCALE:
        *ret_code = ones - 1;
        break;
    case DTI_SPECIALS_P3109E:
        *ret_code = ones - 1 - unsigned_nan;
        break;
    case DTI_SPECIALS_P3109F:
        *ret_code = ones - unsigned_nan;
        break;
    case DTI_SPECIALS_FNUZ:
    case DTI_SPECIALS_POSIT:
    case DTI_SPECIALS_FINITE:
    case DTI_SPECIALS_NONE:
        *ret_code = ones;
        break;
    }
    return true;
}

bool dti_code_lowest(const struct dti_format *format, uint64_t *ret_code)
{
    uint64_t sign_bit = dti_format_sign_bit(format);
    if (format->kind == DTI_KIND_COMPLEX)
        return false;
    *ret_code = 0;
    if (format->kind == DTI_KIND_INT)
        *ret_code = sign_bit;
    else if (format->kind == DTI_KIND_FLOAT && dti_code_max(format, ret_code))
        *ret_code = dti_format_is_tapered(format) ? dti_taper_signed(format, true, *ret_code)
                                                  : *ret_code | sign_bit;
    return true;
}

bool dti_code_smallest_normal(const struct dti_format *format, uint64_t *ret_code)
{
    uint64_t max = 0;
    if (format->man_bits > 63) /* an integer's */
        return false;
    uint64_t code = format->specials == DTI_SPECIALS_SCALE ? 0 : UINT64_C(1) << format->man_bits;
    if (dti_format_is_tapered(format)) { /* codes in no order, so there is no comparison with max */
        const int32_t least = dti_format_min_exponent(format);
        *ret_code = dti_taper_code(format, dti_taper_run(format, least)->place);
        return true;
    }
    if (!dti_format_is_float(format) || !dti_code_max(format, &max) || code > max)
        return false;
    *ret_code = code;
    return true;
}

bool dti_code_smallest_subnormal(const struct dti_format *format, uint64_t *ret_code)
{
    if (!dti_format_is_float(format) || format->man_bits == 0 ||
        format->specials == DTI_SPECIALS_POSIT)
        return false;
    *ret_code = 1;
    return true;
}

bool dti_code_inf(const struct dti_format *format, bool negative, uint64_t *ret_code)
{
    if (!dti_format_has_inf(format) || (negative && format->kind == DTI_KIND_UFLOAT))
        return false;
    if (dti_format_is_tapered(format)) {
        *ret_code = dti_taper_code(format, all_ones(format));
    } else {
        (void)dti_code_max(format,
                           ret_code); /* infinity is the code after the largest finite one */
        *ret_code += 1;
    }
    if (negative)
        *ret_code |= dti_format_sign_bit(format);
    return true;
}

bool dti_code_nan(const struct dti_format *format, uint64_t *ret_code)
{
    if (!dti_format_has_nan(format))
        return false;
    if (format->specials == DTI_SPECIALS_IEEE)
        *ret_code = top_exponent(format) | UINT64_C(1) << (format->man_bits - 1);
    else if (format->specials == DTI_SPECIALS_FN || format->kind == DTI_KIND_UFLOAT)
        *ret_code = all_ones(format);
    else
        *ret_code = dti_format_sign_bit(format);
    return true;
}

/* The position of a magnitude code among the magnitudes in order of size, and the code at one. */
static uint64_t order_of(const struct dti_format *f, uint64_t magnitude)
{
    return dti_format_is_tapered(f) ? dti_taper_place(f, magnitude) : magnitude;
}

static uint64_t code_at(const struct dti_format *f, uint64_t order)
{
    return dti_format_is_tapered(f) ? dti_taper_code(f, order) : order;
}

/* Steps through numbers in order, zero at 0: sign-magnitude for floats, two's complement for
 * integers. */
static bool next_float(const struct dti_format *f, uint64_t code, bool up, uint64_t *ret_code)
{
    uint64_t sign_bit = dti_format_sign_bit(f);
    const bool tapered = dti_format_is_tapered(f);
    uint64_t magnitude = tapered ? dti_taper_magnitude(f, code) : code & ~sign_bit, top = 0;
    bool negative = (code & sign_bit) != 0 && magnitude != 0;
    if (!dti_code_inf(f, false, &top))
        (void)dti_code_max(f, &top);
    top = order_of(f, top);
    magnitude = order_of(f, magnitude);
    if (magnitude == 0 && !up) {
        if (sign_bit == 0)
            return false;
        negative = true;
    }
    if (negative == up) { /* toward zero */
        magnitude -= 1;
    } else {
        if (magnitude == top)
            return false;
        magnitude += 1;
    }
    magnitude = code_at(f, magnitude);
    if (tapered)
        *ret_code = dti_taper_signed(f, negative, magnitude);
    else
        *ret_code = negative && magnitude != 0 ? magnitude | sign_bit : magnitude;
    return true;
}

bool dti_code_next(const struct dti_format *format, uint64_t code, bool up, uint64_t *ret_code)
{
    uint64_t end = 0, mask = dti_low_bits(format->width);
    code &= mask;
    if (format->kind == DTI_KIND_COMPLEX)
        return false;
    if (dti_format_is_float(format))
        return next_float(format, code, up, ret_code);
    (void)(up ? dti_code_max(format, &end) : dti_code_lowest(format, &end));
    if (code == end)
        return false;
    *ret_code = (up ? code + 1 : code - 1) & mask;
    return true;
}

/* Where only some binades have a number, the step is that number. */
static int32_t tapered_step(const struct dti_format *f, const struct dti_value *value)
{
    const bool finite = value->kind == DTI_CLASS_FINITE;
    const struct dti_taper *const run = dti_taper_run(f, finite ? value->exponent : INT16_MIN);
    int32_t exponent = finite && value->exponent > run->first ? value->exponent : run->first;
    if (exponent > run->last)
        exponent = run->last;
    if (run->man_bits < 0)
        return exponent - (exponent - run->first) % (1 << -run->man_bits);
    return exponent - run->man_bits;
}

int32_t dti_format_step_exponent(const struct dti_format *format, const struct dti_value *value)
{
    if (!dti_format_is_float(format))
        return 0;
    if (dti_format_is_tapered(format))
        return tapered_step(format, value);
    int32_t exponent = dti_format_min_exponent(format);
    if (value->kind == DTI_CLASS_FINITE && value->exponent > exponent)
        exponent = value->exponent;
    return exponent - format->man_bits;
}

static void set_class(struct dti_value *value, enum dti_class class, bool negative)
{
    memset(value, 0, sizeof *value);
    value->kind = class;
    value->negative = negative;
}

void dti_value_set_wide(struct dti_value *ret_value, bool negative, uint64_t high, uint64_t low,
                        bool sticky, int64_t exponent)
{
    int64_t top = exponent + 127 - (int64_t)dti_wide_normalise(&high, &low);
    if (top > DTI_EXPONENT_LIMIT || top < -DTI_EXPONENT_LIMIT) {
        top = top > 0 ? DTI_EXPONENT_LIMIT : -DTI_EXPONENT_LIMIT;
        sticky = true;
    }
    *ret_value = (struct dti_value){
        .kind = DTI_CLASS_FINITE,
        .negative = negative,
        .sticky = sticky,
        .exponent = (int32_t)top,
        .hi = high,
        .lo = low,
    };
}

void dti_value_set(struct dti_value *ret_value, bool negative, uint64_t significand,
                   int64_t exponent)
{
    if (significand == 0)
        set_class(ret_value, DTI_CLASS_ZERO, negative);
    else
        dti_value_set_wide(ret_value, negative, significand, 0, false, exponent - 64);
}

enum special { SPECIAL_NONE, SPECIAL_INF, SPECIAL_NAN };

static enum special special_of(const struct dti_format *f, uint64_t code, uint64_t magnitude)
{
    uint64_t sign_bit = dti_format_sign_bit(f);
    uint64_t all_ones = dti_low_bits(f->width) & ~sign_bit;
    uint64_t top_exponent = dti_low_bits(f->exp_bits) << f->man_bits;
    switch (f->specials) {
    case DTI_SPECIALS_POSIT:
        return code == sign_bit ? SPECIAL_NAN : SPECIAL_NONE;
    case DTI_SPECIALS_TAPER:
        if (code == sign_bit)
            return SPECIAL_NAN;
        return magnitude == dti_taper_code(f, all_ones) ? SPECIAL_INF : SPECIAL_NONE;
    case DTI_SPECIALS_IEEE:
        if (magnitude < top_exponent)
            return SPECIAL_NONE;
        return magnitude == top_exponent ? SPECIAL_INF : SPECIAL_NAN;
    case DTI_SPECIALS_FN:
    case DTI_SPECIALS_SCALE:
        return magnitude == all_ones ? SPECIAL_NAN : SPECIAL_NONE;
    case DTI_SPECIALS_FNUZ:
        return code == sign_bit ? SPECIAL_NAN : SPECIAL_NONE;
    case DTI_SPECIALS_P3109E:
        if (magnitude == (sign_bit ? all_ones : all_ones - 1))
            return SPECIAL_INF;
        return code == (sign_bit ? sign_bit : all_ones) ? SPECIAL_NAN : SPECIAL_NONE;
    case DTI_SPECIALS_P3109F:
        return code == (sign_bit ? sign_bit : all_ones) ? SPECIAL_NAN : SPECIAL_NONE;
    case DTI_SPECIALS_FINITE:
    case DTI_SPECIALS_NONE:
        break;
    }
    return SPECIAL_NONE;
}

/* Only IEEE-like NaNs have a sign and a payload with a meaning in other formats; FN has only the
 * sign. */
static void decode_nan(const struct dti_format *f, bool negative, uint64_t mantissa,
                       struct dti_value *ret_value)
{
    bool ieee = f->specials == DTI_SPECIALS_IEEE;
    set_class(ret_value, DTI_CLASS_NAN, negative && (ieee || f->specials == DTI_SPECIALS_FN));
    ret_value->hi = ieee ? mantissa << (64 - f->man_bits) : UINT64_C(1) << 63;
}

static void decode_tapered(const struct dti_format *f, uint64_t code, struct dti_value *ret_value)
{
    const uint64_t place = dti_taper_place(f, dti_taper_magnitude(f, code));
    const bool negative = (code & dti_format_sign_bit(f)) != 0;
    if (place == 0) {
        dti_value_set(ret_value, negative, 0, 0);
        return;
    }
    const struct dti_taper_number number = dti_taper_number(f, place);
    dti_value_set(ret_value, negative, number.mantissa | UINT64_C(1) << number.man_bits,
                  (int64_t)number.exponent - number.man_bits);
}

static void decode_float(const struct dti_format *f, uint64_t code, struct dti_value *ret_value)
{
    uint64_t sign_bit = dti_format_sign_bit(f);
    uint64_t magnitude = code & ~sign_bit;
    bool negative = (code & sign_bit) != 0;
    uint64_t mantissa = magnitude & dti_low_bits(f->man_bits);
    int64_t exponent = (int64_t)(magnitude >> f->man_bits);

    if (exponent - 1 < (int64_t)dti_low_bits(f->exp_bits) - 1 && exponent > 0 &&
        f->kind == DTI_KIND_FLOAT &&
        !dti_format_is_tapered(f)) { /* normal; normal numbers are never special codes */
        *ret_value = (struct dti_value){
            .kind = DTI_CLASS_FINITE,
            .negative = negative,
            .exponent = (int32_t)(exponent - f->bias),
            .hi = (mantissa | UINT64_C(1) << f->man_bits) << (63 - f->man_bits),
        };
        return;
    }
    switch (special_of(f, code, magnitude)) {
    case SPECIAL_INF:
        set_class(ret_value, DTI_CLASS_INF, negative);
        return;
    case SPECIAL_NAN:
        decode_nan(f, negative, mantissa, ret_value);
        return;
    case SPECIAL_NONE:
        break;
    }
    if (dti_format_is_tapered(f)) {
        decode_tapered(f, code, ret_value);
        return;
    }
    if (f->specials == DTI_SPECIALS_SCALE || exponent > 0)
        mantissa |= UINT64_C(1) << f->man_bits;
    else
        exponent = 1; /* subnormals have the exponent of the smallest normals */
    dti_value_set(ret_value, negative, mantissa, exponent - f->bias - f->man_bits);
}

void dti_decode(const struct dti_format *format, uint64_t code, struct dti_value *ret_value)
{
    assert(format->kind != DTI_KIND_COMPLEX);
    code &= dti_low_bits(format->width);
    switch (format->kind) {
    case DTI_KIND_FLOAT:
    case DTI_KIND_UFLOAT:
        decode_float(format, code, ret_value);
        return;
    case DTI_KIND_INT: {
        bool negative = (code & dti_format_sign_bit(format)) != 0;
        uint64_t magnitude = negative ? (UINT64_C(0) - code) & dti_low_bits(format->width) : code;
        dti_value_set(ret_value, negative, magnitude, 0);
        return;
    }
    case DTI_KIND_UINT:
        dti_value_set(ret_value, false, code, 0);
        return;
    case DTI_KIND_BOOL:
    case DTI_KIND_COMPLEX:
        dti_value_set(ret_value, false, code != 0, 0);
        return;
    }
}

static int compare_magnitude(const struct dti_value *a, const struct dti_value *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1; /* zero < finite < infinity */
    if (a->kind != DTI_CLASS_FINITE)
        return 0;
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -1 : 1;
    if (a->hi != b->hi)
        return a->hi < b->hi ? -1 : 1;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return (int)a->sticky - (int)b->sticky;
}

int dti_value_compare(const struct dti_value *a, const struct dti_value *b)
{
    bool a_negative = a->negative && a->kind != DTI_CLASS_ZERO;
    bool b_negative = b->negative && b->kind != DTI_CLASS_ZERO;
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    return a_negative ? compare_magnitude(b, a) : compare_magnitude(a, b);
}
