/* SPDX-License-Identifier: MIT
 *
 * Comparisons outside the kernels: the hub for two dtypes and the dtype for ulps; initializing,
 * merging, and figures derived from the sums. */
#include <math.h>
#include <string.h>

#include "kernels/fp64.h"
#include "kernels/kernel.h"
#include "kernels/scan/comparison.h"

void dti_comparison_init(struct dti_comparison *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->max_absolute = ret->max_relative = ret->max_ulp = 0;
    ret->first_differing = ret->first_unmatched = UINT64_MAX;
    dti_exact_sum_init(&ret->sum_absolute);
    dti_exact_sum_init(&ret->sum_squared);
    dti_exact_sum_init(&ret->sum_aa);
    dti_exact_sum_init(&ret->sum_bb);
    dti_exact_sum_init(&ret->sum_ab);
}

void dti_comparison_merge(struct dti_comparison *comparison, const struct dti_comparison *part)
{
    struct dti_comparison *const c = comparison;
    c->elements += part->elements;
    c->differing += part->differing;
    c->unmatched += part->unmatched;
    c->exceeding += part->exceeding;
    c->compared += part->compared;
    if (part->max_absolute > c->max_absolute ||
        (part->max_absolute >= c->max_absolute && part->max_index < c->max_index)) {
        c->max_absolute = part->max_absolute;
        c->max_index = part->max_index;
    }
    if (part->max_relative > c->max_relative)
        c->max_relative = part->max_relative;
    if (part->max_ulp > c->max_ulp)
        c->max_ulp = part->max_ulp;
    if (part->first_differing < c->first_differing)
        c->first_differing = part->first_differing;
    if (part->first_unmatched < c->first_unmatched)
        c->first_unmatched = part->first_unmatched;
    dti_exact_sum_merge(&c->sum_absolute, &part->sum_absolute);
    dti_exact_sum_merge(&c->sum_squared, &part->sum_squared);
    dti_exact_sum_merge(&c->sum_aa, &part->sum_aa);
    dti_exact_sum_merge(&c->sum_bb, &part->sum_bb);
    dti_exact_sum_merge(&c->sum_ab, &part->sum_ab);
}

double dti_comparison_mean_absolute(const struct dti_comparison *comparison)
{
    const double sum = dti_exact_sum_value(&comparison->sum_absolute);
    if (comparison->compared == 0)
        return 0;
    return isfinite(sum) ? dti_fp64_divide(sum, (double)comparison->compared) : NAN;
}

double dti_comparison_root_mean_square(const struct dti_comparison *comparison)
{
    const double sum =
        dti_exact_sum_squares(&comparison->sum_squared, comparison->max_absolute > 0);
    return comparison->compared == 0 ? 0 : sqrt(dti_fp64_divide(sum, (double)comparison->compared));
}

double dti_comparison_sqnr_db(const struct dti_comparison *comparison)
{
    return dti_exact_sum_decibels(&comparison->sum_aa, &comparison->sum_squared,
                                  comparison->max_absolute > 0);
}

double dti_comparison_nmse(const struct dti_comparison *comparison)
{
    const double signal = dti_exact_sum_squares(&comparison->sum_aa, true);
    const double noise =
        dti_exact_sum_squares(&comparison->sum_squared, comparison->max_absolute > 0);
    return comparison->compared == 0 || isnan(signal) || isnan(noise)
               ? (double)NAN
               : dti_fp64_divide(noise, signal);
}

double dti_comparison_cosine(const struct dti_comparison *comparison)
{
    const double aa = dti_exact_sum_squares(&comparison->sum_aa, true);
    const double bb = dti_exact_sum_squares(&comparison->sum_bb, true);
    const double ab = dti_exact_sum_value(&comparison->sum_ab);
    if (comparison->compared == 0 || isnan(aa) || isnan(bb) || !isfinite(ab))
        return NAN;
    const double product = aa * bb; /* its square root is aa if both sides are equal */
    const double cosine =
        product > 0x1p-900 && isfinite(product) ? ab / sqrt(product) : ab / sqrt(aa) / sqrt(bb);
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

/* The dtype in which steps are counted; NULL if there is none. */
static const struct dti_format *ulp_of(const struct dti_format *a, const struct dti_format *b)
{
    if (!dti_format_is_float(a) || !dti_format_is_float(b) || dti_format_is_tapered(a) ||
        dti_format_is_tapered(b)) /* whose steps vary with the exponent in their own way */
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
