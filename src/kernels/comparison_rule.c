/* SPDX-License-Identifier: MIT
 *
 * Chooses the arithmetic for comparing two dtypes, and whose ulps to use. */
#include "dtinfo/comparison.h"

#include <string.h>

#include "dtinfo/kernel.h"

/* The dtype in which steps are counted; NULL for none. */
static const struct dti_format *ulp_of(const struct dti_format *a, const struct dti_format *b)
{
    if (!dti_format_is_float(a) || !dti_format_is_float(b))
        return NULL;
    if (a->man_bits != b->man_bits)
        return a->man_bits < b->man_bits ? a : b;
    return a->width < b->width ? a : b;
}

enum dti_comparison_hub dti_comparison_hub_of(const struct dti_format *a,
                                              const struct dti_format *b)
{
    const struct dti_format *const ulp = ulp_of(a, b);
    const int32_t least = ulp ? dti_format_min_exponent(ulp) : 0;
    const bool integers = dti_format_is_integer(a) && dti_format_is_integer(b);
    if (dti_format_fits_hub32(a) && dti_format_fits_hub32(b) && least >= -126 && least <= 100)
        return DTI_COMPARISON_HUB32;
    if (dti_format_fits_hub64(a) && dti_format_fits_hub64(b) && least >= -1022 && least <= 1000)
        return DTI_COMPARISON_HUB64;
    if (integers && a->man_bits <= 63 && b->man_bits <= 63)
        return DTI_COMPARISON_I64;
    if (integers && !dti_format_is_signed(a) && !dti_format_is_signed(b))
        return DTI_COMPARISON_U64;
    return DTI_COMPARISON_WIDE;
}

const struct dti_format *dti_comparison_hub_format(enum dti_comparison_hub hub)
{
    static const enum dti_dtype formats[] = {
        [DTI_COMPARISON_HUB32] = DTI_FP32,
        [DTI_COMPARISON_HUB64] = DTI_FP64,
        [DTI_COMPARISON_I64] = DTI_INT64,
        [DTI_COMPARISON_U64] = DTI_UINT64,
    };
    return hub == DTI_COMPARISON_WIDE ? NULL : dti_format_get(formats[hub]);
}

void dti_comparison_rule_init(struct dti_comparison_rule *ret, const struct dti_format *a,
                              const struct dti_format *b, double atol, double rtol)
{
    const struct dti_format *const ulp = ulp_of(a, b);
    memset(ret, 0, sizeof *ret);
    ret->hub = dti_comparison_hub_of(a, b);
    ret->a = *a;
    ret->b = *b;
    if (ulp)
        ret->ulp = *ulp;
    ret->atol = atol;
    ret->rtol = rtol;
}
