/* SPDX-License-Identifier: MIT
 *
 * The landmarks of a format as codes (largest, smallest, infinity, NaN) and the walk from one
 * number to the next. Everything follows from the row. */
#include "dtinfo/value.h"

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
    bool unsigned_nan = format->kind == DTI_KIND_UFLOAT; /* takes the code of all ones */
    switch (format->specials) {
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
        *ret_code |= sign_bit;
    return true;
}

bool dti_code_smallest_normal(const struct dti_format *format, uint64_t *ret_code)
{
    uint64_t max = 0;
    uint64_t code = format->specials == DTI_SPECIALS_SCALE ? 0 : UINT64_C(1) << format->man_bits;
    if (!dti_format_is_float(format) || !dti_code_max(format, &max) || code > max)
        return false;
    *ret_code = code;
    return true;
}

bool dti_code_smallest_subnormal(const struct dti_format *format, uint64_t *ret_code)
{
    if (!dti_format_is_float(format) || format->man_bits == 0)
        return false;
    *ret_code = 1;
    return true;
}

bool dti_code_inf(const struct dti_format *format, bool negative, uint64_t *ret_code)
{
    if (!dti_format_has_inf(format) || (negative && format->kind == DTI_KIND_UFLOAT))
        return false;
    (void)dti_code_max(format, ret_code); /* infinity follows the largest finite */
    *ret_code += 1;
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

/* Numbers in order, zero at 0: sign and magnitude for floats, two's complement for integers. */
static bool next_float(const struct dti_format *f, uint64_t code, bool up, uint64_t *ret_code)
{
    uint64_t sign_bit = dti_format_sign_bit(f);
    uint64_t magnitude = code & ~sign_bit, top = 0;
    bool negative = (code & sign_bit) != 0 && magnitude != 0;
    if (!dti_code_inf(f, false, &top))
        (void)dti_code_max(f, &top);
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

int32_t dti_format_step_exponent(const struct dti_format *format, const struct dti_value *value)
{
    if (!dti_format_is_float(format))
        return 0;
    int32_t exponent = dti_format_min_exponent(format);
    if (value->class == DTI_CLASS_FINITE && value->exponent > exponent)
        exponent = value->exponent;
    return exponent - format->man_bits;
}
