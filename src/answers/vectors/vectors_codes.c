/* SPDX-License-Identifier: MIT
 *
 * The inputs of a cast: codes of the source at and next to the boundaries of the target, and the
 * source's own: zeros, infinities, NaNs, its smallest and largest numbers. */
#include <stdlib.h>

#include "answers/vectors/vectors_points.h"
#include "util/run/allocate.h"

void dti_vectors_codes_add(struct dti_vectors_codes *codes, uint64_t code)
{
    if (codes->failed)
        return;
    if (codes->count == codes->room) {
        const size_t room = codes->room ? 2 * codes->room : 1024;
        uint64_t *const more = dti_realloc(codes->at, room * sizeof *more);
        if (!more) {
            codes->failed = true;
            return;
        }
        codes->at = more;
        codes->room = room;
    }
    codes->at[codes->count++] = code;
}

void dti_vectors_codes_free(struct dti_vectors_codes *codes)
{
    dti_free(codes->at);
}

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

void dti_vectors_codes_near(struct dti_vectors_codes *codes, const struct dti_format *source,
                            const struct dti_value *value)
{
    uint64_t code, next;
    bool exact;
    if (!code_below(source, value, &code, &exact))
        return;
    dti_vectors_codes_add(codes, code);
    if (dti_code_next(source, code, true, &next))
        dti_vectors_codes_add(codes, next);
    if (exact && dti_code_next(source, code, false, &next))
        dti_vectors_codes_add(codes, next);
}

/* Payloads of NaNs: none, the lowest bit without the quiet bit, with it, all bits, and each of the
 * highest bits, which narrower formats keep. */
static void add_nans(struct dti_vectors_codes *codes, const struct dti_format *source)
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
        dti_vectors_codes_add(codes, with);
        if (bits < 2)
            continue;
        dti_vectors_codes_add(codes, with | 1);
        dti_vectors_codes_add(codes, (with & ~quiet) | 1);
        dti_vectors_codes_add(codes, with | dti_low_bits(bits));
        dti_vectors_codes_add(codes, (with & ~quiet) | (quiet - 1));
        for (unsigned bit = 2; bit <= 12 && bit <= bits; bit++)
            dti_vectors_codes_add(codes, with | UINT64_C(1) << (bits - bit));
    }
}

static void add_own(struct dti_vectors_codes *codes, const struct dti_format *source)
{
    uint64_t code;
    const uint64_t sign = dti_format_has_minus_zero(source) ? dti_format_sign_bit(source) : 0;
    for (int negative = 0; negative <= (sign != 0); negative++) {
        const uint64_t with = negative ? sign : 0;
        dti_vectors_codes_add(codes, with);
        if (dti_code_smallest_subnormal(source, &code))
            dti_vectors_codes_add(codes, with | code);
        if (dti_code_smallest_normal(source, &code)) {
            dti_vectors_codes_add(codes, with | code);
            dti_vectors_codes_add(codes, with | (code - 1));
        }
        if (dti_code_inf(source, negative, &code))
            dti_vectors_codes_add(codes, code);
    }
    if (dti_code_max(source, &code))
        dti_vectors_codes_add(codes, code);
    if (dti_code_lowest(source, &code))
        dti_vectors_codes_add(codes, code);
    add_nans(codes, source);
}

struct keyed {
    struct dti_value value;
    uint64_t code;
};

static int by_value(const void *a_, const void *b_)
{
    const struct keyed *const a = a_, *const b = b_;
    const bool a_nan = a->value.kind == DTI_CLASS_NAN, b_nan = b->value.kind == DTI_CLASS_NAN;
    if (a_nan != b_nan)
        return a_nan ? 1 : -1;
    const int order = a_nan ? 0 : dti_value_compare(&a->value, &b->value);
    if (order != 0)
        return order;
    if (a->value.negative != b->value.negative)
        return a->value.negative ? -1 : 1;
    return a->code < b->code ? -1 : a->code > b->code;
}

void dti_vectors_codes_sort(struct dti_vectors_codes *codes, const struct dti_format *source)
{
    struct keyed *const keys =
        codes->failed || codes->count == 0 ? NULL : dti_calloc(codes->count, sizeof *keys);
    if (!keys) {
        codes->failed = codes->count > 0;
        return;
    }
    for (size_t i = 0; i < codes->count; i++) {
        keys[i].code = codes->at[i];
        dti_decode(source, keys[i].code, &keys[i].value);
    }
    qsort(keys, codes->count, sizeof *keys, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < codes->count; i++) {
        if (i == 0 || keys[i].code != codes->at[kept - 1])
            codes->at[kept++] = keys[i].code;
    }
    codes->count = kept;
    dti_free(keys);
}

void dti_vectors_codes_of(struct dti_vectors_codes *ret, const struct dti_format *source,
                          const struct dti_format *target)
{
    enum { OF_FLOATS = 32, OF_INTEGERS = 64 };
    struct dti_vectors_points points;
    *ret = (struct dti_vectors_codes){.at = NULL};
    dti_vectors_points_of(&points, target, dti_format_is_float(source) ? OF_FLOATS : OF_INTEGERS);
    for (size_t i = 0; i < points.count && !points.failed; i++) {
        uint64_t code;
        bool exact;
        if (points.at[i].near)
            dti_vectors_codes_near(ret, source, &points.at[i].value);
        else if (code_below(source, &points.at[i].value, &code, &exact))
            dti_vectors_codes_add(ret, code);
    }
    add_own(ret, source);
    ret->failed = ret->failed || points.failed;
    dti_vectors_points_free(&points);
    dti_vectors_codes_sort(ret, source);
}
