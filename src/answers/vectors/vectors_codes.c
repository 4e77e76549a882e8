/* SPDX-License-Identifier: MIT
 *
 * The inputs of a cast: codes of the source at and next to the boundaries of the target, and the
 * source's own: zeros, infinities, NaNs, its smallest and largest numbers. */
#include "answers/vectors/vectors_points.h"

/* The code of a number, rounded down. False if the source has none that is lower. */
static bool code_below(const struct dti_format *source, const struct dti_value *value,
                       uint64_t *ret_code, bool *ret_exact)
{
    const struct dti_policy policy = {.round = DTI_ROUND_DOWN};
    struct dti_outcome outcome;
    struct dti_value stored;
    dti_encode(source, value, &policy, 0, &outcome);
    dti_decode(source, outcome.code, &stored);
    *ret_code = outcome.code;
    *ret_exact = stored.kind != DTI_CLASS_NAN && dti_value_compare(&stored, value) == 0;
    return stored.kind != DTI_CLASS_NAN;
}

void dti_vectors_inputs_near(struct dti_vectors_items *codes, const struct dti_format *source,
                             const struct dti_value *value)
{
    uint64_t code, next;
    bool exact;
    if (!code_below(source, value, &code, &exact))
        return;
    dti_vectors_items_code(codes, source, code);
    if (dti_code_next(source, code, true, &next))
        dti_vectors_items_code(codes, source, next);
    if (exact && dti_code_next(source, code, false, &next))
        dti_vectors_items_code(codes, source, next);
}

/* Payloads of NaNs: none, the lowest bit without the quiet bit, with it, all bits, and each of the
 * highest bits, which narrower formats keep. */
static void add_nans(struct dti_vectors_items *codes, const struct dti_format *source)
{
    uint64_t nan;
    if (!dti_code_nan(source, &nan))
        return;
    const uint64_t sign = dti_format_sign_bit(source);
    const bool has_sign =
        source->specials == DTI_SPECIALS_IEEE || source->specials == DTI_SPECIALS_FN;
    const unsigned bits = source->specials == DTI_SPECIALS_IEEE ? source->man_bits : 0;
    const uint64_t quiet = bits > 0 ? UINT64_C(1) << (bits - 1) : 0;
    for (unsigned negative = 0; negative <= has_sign; negative++) {
        const uint64_t with = negative ? nan | sign : nan;
        dti_vectors_items_code(codes, source, with);
        if (bits < 2)
            continue;
        dti_vectors_items_code(codes, source, with | 1);
        dti_vectors_items_code(codes, source, (with & ~quiet) | 1);
        dti_vectors_items_code(codes, source, with | dti_low_bits(bits));
        dti_vectors_items_code(codes, source, (with & ~quiet) | (quiet - 1));
        for (unsigned bit = 2; bit <= 12 && bit <= bits; bit++)
            dti_vectors_items_code(codes, source, with | UINT64_C(1) << (bits - bit));
    }
}

void dti_vectors_inputs_own(struct dti_vectors_items *codes, const struct dti_format *source)
{
    uint64_t code;
    const uint64_t sign = dti_format_has_minus_zero(source) ? dti_format_sign_bit(source) : 0;
    for (int negative = 0; negative <= (sign != 0); negative++) {
        const uint64_t with = negative ? sign : 0;
        dti_vectors_items_code(codes, source, with);
        if (dti_code_smallest_subnormal(source, &code))
            dti_vectors_items_code(codes, source, with | code);
        if (dti_code_smallest_normal(source, &code)) {
            dti_vectors_items_code(codes, source, with | code);
            dti_vectors_items_code(codes, source, with | (code - 1));
        }
        if (dti_code_inf(source, negative, &code))
            dti_vectors_items_code(codes, source, code);
    }
    if (dti_code_max(source, &code))
        dti_vectors_items_code(codes, source, code);
    if (dti_code_lowest(source, &code))
        dti_vectors_items_code(codes, source, code);
    add_nans(codes, source);
}

void dti_vectors_inputs(struct dti_vectors_items *ret, const struct dti_format *source,
                        const struct dti_format *target)
{
    enum { OF_FLOATS = 32, OF_INTEGERS = 64 };
    struct dti_vectors_items points;
    *ret = (struct dti_vectors_items){.at = NULL};
    dti_vectors_points(&points, target, dti_format_is_float(source) ? OF_FLOATS : OF_INTEGERS);
    for (size_t i = 0; i < points.count && !points.failed; i++) {
        uint64_t code;
        bool exact;
        if (points.at[i].near)
            dti_vectors_inputs_near(ret, source, &points.at[i].value);
        else if (code_below(source, &points.at[i].value, &code, &exact))
            dti_vectors_items_code(ret, source, code);
    }
    dti_vectors_inputs_own(ret, source);
    ret->failed = ret->failed || points.failed;
    dti_vectors_items_free(&points);
    dti_vectors_items_sort(ret);
}
