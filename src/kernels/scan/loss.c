/* SPDX-License-Identifier: MIT
 *
 * Defines the loss of a cast; all kernels give the same result, bit for bit.
 *
 *   x, y   source and stored number, exact
 *   e      RN(y - x), where RN is rounding to nearest even in fp64; an element has an error if x
 * and y are both finite
 *
 * Within a tile, element i is summed in lane i mod 16, in order of i, in fp64:
 *
 *   absolute[lane]       = RN(absolute[lane] + |e|)
 *   squared[lane]        = fma(e, e, squared[lane])
 *   source_squared[lane] = fma(RN(x), RN(x), source_squared[lane])
 *
 * Elements without an error add nothing. Then lane j adds lane j + 8 for j < 8, j + 4 for j < 4,
 * j + 2, j + 1, and lane 0 is the sum of the tile; the sums of tiles are added without rounding.
 * So the result does not depend on whether the 16 lanes are in one register, in two or in none,
 * nor on threads.
 *
 * If both dtypes decode to fp32 exactly, the 8 elements that a whole group of 128 has in a lane
 * are first summed separately, in the same order and from 0, in fp32, with f = RN32(y - x):
 *
 *   a = RN32(a + |f|)     s = fma32(f, f, s)     q = fma32(x, x, q)
 *
 * provided that the largest |x| and the largest |f| of the 8 are each 0, or at least 2^-60 and
 * below 2^60. Otherwise their squares might overflow or vanish: the 8 are summed in fp64 as
 * above, and the group's three sums in this lane are 0. The sums of groups that a short tile
 * does not have are also 0. In each lane, group j then adds group j + 1 for even j, j + 2 for
 * every fourth, j + 4, j + 8, in fp32, and finally the lane adds group 0. With u = 2^-24, each
 * of 8 additions in a group, of 4 among groups and the rounding of f (twice in f^2) contributes
 * at most a factor of 1 + u, together (1 + u)^14 for positive terms; squares below 2^-126 lose
 * at most 8 x 2^-150 of a sum of at least 2^-120. With the fp64 additions all sums are within
 * 8.4e-7 of the true ones.
 *
 * The largest |e| is reported with the lowest index that has it. The largest relative error is
 * that of RN(|e| / |RN(x)|) over RN(x) != 0. A source with more than 128 bits (text) counts as
 * its first 128 bits plus half a unit of the last. */
#include "kernels/scan/loss.h"

#include <math.h>

#include "kernels/fused.h"
#include "kernels/scan/loss_single.h"
#include "kernels/scan/loss_tile.h"

/* A magnitude at the top of words 1 to 4, shifted right; lost bits set the last bit (sticky).
 * Word 0 is room for a carry. */
enum { WORDS = 5 };

static void place(const struct dti_value *value, int64_t shift, uint64_t ret_word[WORDS])
{
    const uint64_t from[3] = {value->hi, value->lo, value->sticky ? UINT64_C(1) << 63 : 0};
    const unsigned words = shift < 256 ? (unsigned)shift / 64 : 4, bits = (unsigned)shift % 64;
    bool lost = shift >= 256;
    for (unsigned i = 0; i < WORDS; i++)
        ret_word[i] = 0;
    for (unsigned i = 0; i < 3 && shift < 256; i++) {
        const uint64_t high = from[i] >> bits, low = bits ? from[i] << (64 - bits) : 0;
        if (1 + i + words < WORDS)
            ret_word[1 + i + words] |= high;
        else
            lost = lost || high != 0;
        if (2 + i + words < WORDS)
            ret_word[2 + i + words] |= low;
        else
            lost = lost || low != 0;
    }
    ret_word[WORDS - 1] |= lost;
}

/* The common case: a number and its rounded value. At most the leading bit of the larger one is
 * in a different position, and then it is a power of two. The smaller one has at least 54 bits
 * in the result, so what is beyond its 128 bits only sets the sticky bit. Returns false, without
 * doing anything, in other cases. */
static bool distance_to_neighbour(const struct dti_value *x, const struct dti_value *y,
                                  double *ret_distance)
{
    const bool carried = y->exponent == x->exponent + 1 && y->hi == UINT64_C(1) << 63;
    if (x->kind != DTI_CLASS_FINITE || y->kind != DTI_CLASS_FINITE || x->negative != y->negative ||
        (y->exponent != x->exponent && !carried) || y->lo != 0 || y->sticky)
        return false;
    const bool below = !carried && y->hi <= x->hi; /* y is the smaller one */
    uint64_t high = below ? x->hi : carried ? 0 : y->hi, low = below ? x->lo : 0;
    const unsigned borrow = dti_wide_sub(&low, below ? 0 : x->lo, !below && x->sticky);
    (void)dti_wide_sub(&high, below ? y->hi : x->hi, borrow);
    if (high == 0)
        return false;
    struct dti_value value;
    dti_value_set_wide(&value, false, high, low, x->sticky, (int64_t)x->exponent - 127);
    *ret_distance = dti_fp64_from_value(&value);
    return true;
}

/* The 127 bits below the larger one's 129 hold the smaller one completely if they nearly cancel;
 * further down, only whether it has any bits matters. */
double dti_loss_distance(const struct dti_value *a, const struct dti_value *b)
{
    const bool a_zero = a->kind == DTI_CLASS_ZERO, b_zero = b->kind == DTI_CLASS_ZERO;
    if (a_zero || b_zero) {
        struct dti_value other = a_zero ? *b : *a;
        other.negative = false;
        return dti_fp64_from_value(&other);
    }
    const struct dti_value *large = a, *small = b;
    struct dti_value p = *a, q = *b;
    p.negative = q.negative = false;
    if (dti_value_compare(&p, &q) < 0) {
        large = b;
        small = a;
    }
    uint64_t sum[WORDS], other[WORDS];
    place(large, 0, sum);
    place(small, (int64_t)large->exponent - small->exponent, other);
    unsigned carry = 0;
    for (unsigned i = WORDS; i-- > 0;)
        carry = a->negative == b->negative ? dti_wide_sub(&sum[i], other[i], carry)
                                           : dti_wide_add(&sum[i], other[i], carry);
    unsigned top = 0;
    while (top < WORDS && sum[top] == 0)
        top++;
    if (top == WORDS)
        return 0;
    bool sticky = false;
    for (unsigned i = top + 2; i < WORDS; i++)
        sticky = sticky || sum[i] != 0;
    struct dti_value value;
    dti_value_set_wide(&value, false, sum[top], top + 1 < WORDS ? sum[top + 1] : 0, sticky,
                       large->exponent + 1 - 64 * ((int64_t)top + 1));
    return dti_fp64_from_value(&value);
}

/* The smallest normal of a float as a value; false for integers. *ret_none: it has no normal
 * numbers. */
static bool smallest_normal(const struct dti_format *format, struct dti_value *ret_value,
                            bool *ret_none)
{
    uint64_t code;
    if (!dti_format_is_float(format))
        return false;
    *ret_none = !dti_code_smallest_normal(format, &code);
    if (!*ret_none)
        dti_decode(format, code, ret_value);
    return true;
}

static bool is_below(const struct dti_value *number, const struct dti_value *bar)
{
    struct dti_value magnitude = *number;
    magnitude.negative = false;
    return dti_value_compare(&magnitude, bar) < 0;
}

static bool is_normal_source(const struct dti_format *format, const struct dti_value *x)
{
    struct dti_value bar;
    bool none;
    if (x->kind != DTI_CLASS_FINITE)
        return false;
    return !smallest_normal(format, &bar, &none) || (!none && !is_below(x, &bar));
}

static bool is_subnormal_stored(const struct dti_format *format, const struct dti_value *y)
{
    struct dti_value bar;
    bool none;
    return y->kind == DTI_CLASS_FINITE && smallest_normal(format, &bar, &none) &&
           (none || is_below(y, &bar));
}

static bool is_finite(const struct dti_value *value)
{
    return value->kind == DTI_CLASS_ZERO || value->kind == DTI_CLASS_FINITE;
}

/* The flags of an element's cast, from all stages. */
static unsigned flags_of(const struct dti_loss_rule *rule, const struct dti_value *x,
                         uint64_t index)
{
    struct dti_scalar scalar = {.flags = 0};
    struct dti_cast stages;
    if (!rule->stack)
        dti_scalar_store(&rule->cast, x, NULL, index, &scalar);
    else if (!dti_stack_cast(rule->stack, &rule->dst, dti_format_is_integer(&rule->src), x, &stages,
                             &scalar))
        return 0;
    return scalar.flags;
}

static void count(const struct dti_loss_rule *rule, const struct dti_value *x,
                  const struct dti_value *y, uint64_t index, struct dti_loss *loss)
{
    const bool nan_x = x->kind == DTI_CLASS_NAN, nan_y = y->kind == DTI_CLASS_NAN;
    const bool below_zero = !nan_x && x->kind != DTI_CLASS_ZERO && x->negative;
    const unsigned flags = flags_of(rule, x, index);
    bool no_code =
        (nan_x && rule->nan_has_no_code) || (below_zero && nan_y && rule->negative_has_no_code);
    if (rule->staged)
        no_code = (flags & DTI_FLAG_NO_NAN) != 0 ||
                  (below_zero && nan_y && (flags & DTI_FLAG_INVALID) != 0);
    loss->flags |= flags;
    loss->elements++;
    loss->nan_in += nan_x;
    loss->inf_in += x->kind == DTI_CLASS_INF;
    loss->inexact += nan_x || nan_y ? nan_x != nan_y : dti_value_compare(x, y) != 0;
    loss->no_code += no_code;
    if (no_code && index < loss->first_no_code)
        loss->first_no_code = index;
    if (is_finite(x))
        loss->overflowed += (flags & DTI_FLAG_OVERFLOW) != 0 || (!is_finite(y) && !no_code);
    loss->to_zero += x->kind == DTI_CLASS_FINITE && y->kind == DTI_CLASS_ZERO;
    loss->to_subnormal += is_normal_source(&rule->src, x) && is_subnormal_stored(&rule->dst, y);
}

double dti_loss_relative_beyond(const struct dti_value *x, const struct dti_value *y)
{
    struct dti_value source = *x, stored = *y;
    source.exponent = 0;
    if (stored.kind == DTI_CLASS_FINITE)
        stored.exponent -= x->exponent;
    return dti_fp64_divide(dti_loss_distance(&source, &stored), fabs(dti_fp64_from_value(&source)));
}

/* RN32(|y - x|) for numbers that fp32 can represent. */
static float single_distance(const struct dti_value *x, const struct dti_value *y)
{
    const double from = x->kind == DTI_CLASS_ZERO ? 0 : dti_fp64_from_value(x);
    const double to = y->kind == DTI_CLASS_ZERO ? 0 : dti_fp64_from_value(y);
    return fabsf(dti_fp32_add((float)to, -(float)from));
}

/* An element's contributions; zeros if it has no error. */
struct summand {
    double error, source; /* |e| and |RN(x)| */
    float single_error;   /* |f|, if rule->single */
};

static struct summand add_error(const struct dti_loss_rule *rule, const struct dti_value *x,
                                const struct dti_value *y, uint64_t index, struct dti_loss *loss)
{
    double error;
    if (!distance_to_neighbour(x, y, &error))
        error = dti_loss_distance(x, y);
    const double source = x->kind == DTI_CLASS_ZERO ? 0 : fabs(dti_fp64_from_value(x));
    loss->compared++;
    if (error > loss->max_absolute ||
        (error > 0 && error >= loss->max_absolute && index < loss->max_index)) {
        loss->max_absolute = error;
        loss->max_index = index;
    }
    const bool beyond = x->kind == DTI_CLASS_FINITE && (!(source > 0) || isinf(source));
    const double relative = beyond       ? dti_loss_relative_beyond(x, y)
                            : source > 0 ? dti_fp64_divide(error, source)
                                         : 0;
    if (relative > loss->max_relative)
        loss->max_relative = relative;
    return (struct summand){error, source, rule->single ? single_distance(x, y) : 0};
}

/* Sums a lane's elements of a whole group in fp32, as sum number `at`; false, with a sum of 0,
 * if they must be summed in fp64. */
static bool add_singles(const struct summand *element, size_t lane, size_t at,
                        struct dti_loss_groups *groups)
{
    float absolute = 0, squared = 0, source_squared = 0, largest = 0, largest_source = 0;
    for (size_t i = lane; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES) {
        const float error = element[i].single_error, source = (float)element[i].source;
        absolute = dti_fp32_add(absolute, error);
        squared = dti_fp32_add_square(squared, error);
        source_squared = dti_fp32_add_square(source_squared, source);
        largest = error > largest ? error : largest;
        largest_source = source > largest_source ? source : largest_source;
    }
    const bool suits = dti_loss_suits_single(largest) && dti_loss_suits_single(largest_source);
    groups->absolute[at] = suits ? absolute : 0;
    groups->squared[at] = suits ? squared : 0;
    groups->source_squared[at] = suits ? source_squared : 0;
    return suits;
}

/* Adds the elements of group number `group`, which may be short. */
static void add_group(const struct summand *element, size_t n, bool single, size_t group,
                      struct dti_loss_groups *groups, struct dti_loss_lanes *lanes)
{
    for (size_t lane = 0; lane < DTI_LOSS_LANES; lane++) {
        if (single && n == DTI_LOSS_GROUP &&
            add_singles(element, lane, group * DTI_LOSS_LANES + lane, groups))
            continue;
        for (size_t i = lane; i < n; i += DTI_LOSS_LANES) {
            const double error = element[i].error, source = element[i].source;
            lanes->absolute[lane] = dti_fp64_add(lanes->absolute[lane], error);
            lanes->squared[lane] = dti_fma(error, error, lanes->squared[lane]);
            lanes->source_squared[lane] = dti_fma(source, source, lanes->source_squared[lane]);
        }
    }
}

/* Whether a number was merely rounded to this code; also returns the stored value. */
static bool is_ordinary(const struct dti_loss_rule *rule, const struct dti_value *x, uint64_t code,
                        struct dti_value *ret_stored, unsigned *ret_flags)
{
    struct dti_outcome outcome;
    if (rule->stack || rule->staged || rule->cast.via_count > 0 ||
        !dti_encode_ordinary(&rule->dst, x, &rule->policy, &outcome, ret_stored) ||
        outcome.code != code)
        return false;
    *ret_flags = outcome.flags;
    return true;
}

void dti_loss_add_values(const struct dti_loss_rule *rule, const struct dti_value *source,
                         const uint64_t *stored_codes, size_t n, uint64_t index,
                         struct dti_loss *loss)
{
    struct dti_loss_lanes lanes = {{0}, {0}, {0}};
    struct dti_loss_groups groups;
    for (size_t at = 0; at < n; at += DTI_LOSS_GROUP) {
        const size_t part = n - at < DTI_LOSS_GROUP ? n - at : DTI_LOSS_GROUP;
        struct summand element[DTI_LOSS_GROUP] = {{0}};
        for (size_t i = 0; i < part; i++) {
            const struct dti_value *const x = &source[at + i];
            struct dti_value stored;
            unsigned flags;
            if (is_ordinary(rule, x, stored_codes[at + i], &stored, &flags)) {
                loss->flags |= flags;
                loss->elements++;
                loss->inexact += flags != 0;
            } else {
                dti_decode(&rule->dst, stored_codes[at + i], &stored);
                count(rule, x, &stored, index + at + i, loss);
            }
            if (is_finite(x) && is_finite(&stored))
                element[i] = add_error(rule, x, &stored, index + at + i, loss);
        }
        add_group(element, part, rule->single, at / DTI_LOSS_GROUP, &groups, &lanes);
    }
    if (rule->single)
        dti_loss_fold_groups(&groups, n / DTI_LOSS_GROUP, &lanes);
    dti_loss_add_lanes(loss, &lanes);
}
