/* SPDX-License-Identifier: MIT
 *
 * Formats: by name, in order, what they can hold, and whether one holds another. */
#include "dtinfo/dtype.h"

#include <string.h>

#include "core/code/stack.h"
#include "core/dtype/limits.h"
#include "core/dtype/storage.h"
#include "library/context.h"
#include "util/text/ascii.h"

/* The row of that very name; NULL if there is none. Faster than a search in all systems. */
static const struct dti_format *row_named(const char *name)
{
    const struct dti_format *row = dti_format_next(NULL);
    while (row && strcmp(row->name, name) != 0)
        row = dti_format_next(row);
    return row;
}

enum dti_status dti_format_find(struct dti_context *context, const char *name,
                                const struct dti_format **ret, const char **ret_note,
                                struct dti_error *reterr)
{
    struct dti_call call;
    struct dti_format format;
    const char *note = NULL;
    const struct dti_format *const row = ret_note ? NULL : row_named(name);
    if (row) {
        *ret = row;
        return DTI_OK;
    }
    dti_call_begin(&call, &context->caller);
    enum dti_status status = dti_format_lookup(name, &format, &note, reterr);
    if (status == DTI_OK)
        status = dti_context_format(context, &format, ret, reterr);
    if (status == DTI_OK && ret_note)
        *ret_note = note;
    dti_call_end(&call);
    return status;
}

const struct dti_format *dti_format_next(const struct dti_format *format)
{
    const unsigned next = format ? (unsigned)format->id + 1 : 0;
    return next < DTI_DTYPE_COUNT ? dti_format_get((enum dti_dtype)next) : NULL;
}

const char *dti_format_name(const struct dti_format *format)
{
    return format->name;
}

const char *dti_format_alias(const struct dti_format *format, const char *system, size_t index)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *const row = &dti_dtype_names[i];
        if (row->dtype == format->id && dti_ascii_equal(dti_system_title(row->system), system) &&
            index-- == 0)
            return row->name;
    }
    return NULL;
}

const char *dti_stack_word(size_t index)
{
    return index < DTI_STACK_COUNT ? dti_stack_name((enum dti_stack)index) : NULL;
}

static void describe_float(struct dti_format_info *ret, const struct dti_format *format)
{
    struct dti_limits limits;
    dti_limits_compute(&limits, format);
    ret->exponent_bits = format->exp_bits;
    ret->mantissa_bits = format->man_bits;
    ret->bias = format->bias;
    ret->has_inf = limits.has_inf;
    ret->has_nan = limits.has_nan;
    ret->has_minus_zero = limits.has_minus_zero;
    ret->has_subnormals = limits.has_subnormals;
    ret->has_nan_code = limits.has_nan_code;
    ret->max = limits.max.value;
    ret->lowest = limits.lowest.value;
    ret->smallest_normal = limits.smallest_normal.value;
    ret->smallest_subnormal = limits.smallest_subnormal.value;
    ret->eps = limits.eps.value;
    ret->epsneg = limits.epsneg.value;
    ret->step_at_max = limits.step_at_max.value;
    ret->overflow_from = limits.overflow_from.value;
    ret->overflow_inclusive = limits.overflow_inclusive;
    ret->to_zero_up_to = limits.to_zero_up_to.value;
    ret->to_zero_inclusive = limits.to_zero_inclusive;
    ret->max_code = limits.max.code;
    ret->lowest_code = limits.lowest.code;
    ret->smallest_normal_code = limits.smallest_normal.code;
    ret->smallest_subnormal_code = limits.smallest_subnormal.code;
    ret->nan_code = limits.nan_code;
    ret->integers_up_to = limits.integers_up_to;
    ret->min_exponent = limits.minexp;
    ret->max_exponent = limits.maxexp;
    ret->precision = limits.precision;
    ret->digits10 = limits.digits10;
    ret->max_digits10 = limits.max_digits10;
    ret->nan_codes = limits.nan_codes;
    ret->inf_codes = limits.inf_codes;
    ret->finite_codes = limits.finite_codes > 0 ? limits.finite_codes : UINT64_MAX;
}

static void describe_integer(struct dti_format_info *ret, const struct dti_format *format)
{
    struct dti_limit lowest, max;
    dti_integer_limits(format, &lowest, &max);
    ret->max = max.value;
    ret->max_code = max.code;
    ret->lowest = lowest.value;
    ret->lowest_code = lowest.code;
    ret->mantissa_bits = ret->precision = format->man_bits;
    ret->integers_up_to = max.code;
    ret->digits10 = format->man_bits * 30103U / 100000U; /* log10(2) = 0.30103 */
    /* the longest number: 2^n is never a power of ten, so 2^n - 1 has as many digits as 2^n */
    ret->max_digits10 = ret->digits10 + 1;
    ret->finite_codes = format->kind == DTI_KIND_BOOL ? 2
                        : format->width == 64         ? UINT64_MAX
                                                      : dti_low_bits(format->width) + 1;
}

void dti_format_describe(const struct dti_format *format, struct dti_format_info *ret)
{
    const struct dti_format *const real = dti_real_format(format);
    struct dti_format_info info = {.size = sizeof info, .kind = format->kind};
    info.component = real != format ? real : NULL;
    info.bits = format->width;
    info.container_bits = (unsigned)(8 * dti_format_item(format));
    info.packs = format == real && dti_format_packs(format);
    info.is_signed = dti_format_is_signed(real);
    if (dti_format_is_float(real))
        describe_float(&info, real);
    else
        describe_integer(&info, real);
    dti_struct_give(ret, &info, sizeof info);
}
