/* SPDX-License-Identifier: MIT
 *
 * Converts values to codes: the only place in the program that rounds and handles overflow.
 * Rounding is one step: the significand is cut at the weight of the destination's last bit, and
 * the discarded part decides. */
#include "core/value.h"

#include "core/code/taper.h"

/* A magnitude cut at 2^quantum: the whole units, and the discarded fraction of a unit. */
struct cut {
    uint64_t kept;     /* the units; low 64 bits */
    uint32_t fraction; /* floor(fraction x 2^32) */
    bool half;         /* fraction >= 1/2 */
    bool rest;         /* fraction is neither 0 nor 1/2 */
};

/* hi:lo >> count, both 0 <= count <= 128. */
static void shift_right(uint64_t hi, uint64_t lo, unsigned count, uint64_t *ret_hi,
                        uint64_t *ret_lo)
{
    if (count == 0) {
        *ret_hi = hi;
        *ret_lo = lo;
    } else if (count < 64) {
        *ret_hi = hi >> count;
        *ret_lo = lo >> count | hi << (64 - count);
    } else {
        *ret_hi = 0;
        *ret_lo = count >= 128 ? 0 : hi >> (count - 64);
    }
}

static void shift_left(uint64_t hi, uint64_t lo, unsigned count, uint64_t *ret_hi, uint64_t *ret_lo)
{
    if (count == 0) {
        *ret_hi = hi;
        *ret_lo = lo;
    } else if (count < 64) {
        *ret_hi = hi << count | lo >> (64 - count);
        *ret_lo = lo << count;
    } else {
        *ret_hi = count >= 128 ? 0 : lo << (count - 64);
        *ret_lo = 0;
    }
}

/*   hi:lo   1xxxxxxxxxxxxxxxxxxxxxxx          weight of the leading one: 2^exponent
 *           |--- kept ---|-- drop --|         weight of kept's last bit: 2^quantum
 * drop may exceed 128: the value is then below one unit, and the fraction has leading zeros. */
static struct cut cut_at(const struct dti_value *value, int64_t quantum)
{
    struct cut cut = {0, 0, false, false};
    int64_t drop = quantum - value->exponent + 127;
    uint64_t high, low; /* 128 bits of the fraction */
    bool sticky = value->sticky;
    if (drop < 0) { /* beyond 2^128: only for wrapping integers, which need only the low bits */
        shift_left(value->hi, value->lo, drop < -128 ? 128 : (unsigned)-drop, &high, &cut.kept);
        cut.rest = sticky;
        return cut;
    }
    if (drop <= 128) {
        shift_right(value->hi, value->lo, (unsigned)drop, &high, &cut.kept);
        shift_left(value->hi, value->lo, 128 - (unsigned)drop, &high, &low);
    } else {
        unsigned lead = drop - 128 > 128 ? 128 : (unsigned)(drop - 128);
        uint64_t lost_high, lost_low;
        shift_right(value->hi, value->lo, lead, &high, &low);
        shift_left(value->hi, value->lo, 128 - lead, &lost_high, &lost_low);
        sticky = sticky || (lost_high | lost_low) != 0;
    }
    cut.half = high >> 63 != 0;
    cut.rest = (high << 1 | low) != 0 || sticky;
    cut.fraction = (uint32_t)(high >> 32);
    return cut;
}

/* Whether to round the magnitude up to the next unit. odd: whether the lower neighbour is odd. */
static bool rounds_away(const struct cut *cut, bool odd, bool negative,
                        const struct dti_policy *policy, uint64_t index)
{
    bool inexact = cut->half || cut->rest;
    uint64_t bits;
    switch (policy->round) {
    case DTI_ROUND_NEAREST_EVEN:
        return cut->half && (cut->rest || odd);
    case DTI_ROUND_NEAREST_AWAY:
        return cut->half;
    case DTI_ROUND_ZERO:
        return false;
    case DTI_ROUND_UP:
        return inexact && !negative;
    case DTI_ROUND_DOWN:
        return inexact && negative;
    case DTI_ROUND_ODD:
        return inexact && !odd;
    case DTI_ROUND_STOCHASTIC:
        bits = dti_random_bits(policy->seed, policy->stream, index);
        return inexact && (cut->fraction + bits) >> 32 != 0;
    }
    return false;
}

/* IEEE 754-2019 7.4: overflow goes to infinity unless the rounding direction points back. */
static bool overflow_reaches_infinity(enum dti_round round, bool negative)
{
    switch (round) {
    case DTI_ROUND_NEAREST_EVEN:
    case DTI_ROUND_NEAREST_AWAY:
    case DTI_ROUND_STOCHASTIC:
        return true;
    case DTI_ROUND_UP:
        return !negative;
    case DTI_ROUND_DOWN:
        return negative;
    case DTI_ROUND_ZERO:
    case DTI_ROUND_ODD:
        break;
    }
    return false;
}

static void store(struct dti_outcome *ret, uint64_t code, unsigned flags)
{
    ret->code = code;
    ret->flags = flags;
}

static uint64_t signed_code(const struct dti_format *f, bool negative, uint64_t magnitude)
{
    if (!negative || (magnitude == 0 && !dti_format_has_minus_zero(f)))
        return magnitude;
    return magnitude | dti_format_sign_bit(f);
}

static void encode_nan(const struct dti_format *f, const struct dti_value *value,
                       const struct dti_policy *policy, struct dti_outcome *ret)
{
    uint64_t code;
    if (!dti_code_nan(f, &code)) {
        (void)dti_code_max(f, &code);
        store(ret, code, DTI_FLAG_INVALID | DTI_FLAG_INEXACT | DTI_FLAG_NO_NAN);
        return;
    }
    if (policy->nan == DTI_NAN_QUIET) {
        if (f->specials == DTI_SPECIALS_IEEE)
            code |= value->hi >> (64 - f->man_bits);
        if (value->negative && (f->specials == DTI_SPECIALS_IEEE || f->specials == DTI_SPECIALS_FN))
            code |= dti_format_sign_bit(f);
    }
    store(ret, code, 0);
}

static void store_limit(const struct dti_format *f, bool negative, unsigned flags,
                        struct dti_outcome *ret)
{
    uint64_t code;
    (void)(negative ? dti_code_lowest(f, &code) : dti_code_max(f, &code));
    store(ret, code, flags);
}

/* The native result for a magnitude beyond the range: infinity, else NaN, else the limit. */
static void store_beyond(const struct dti_format *f, bool negative, unsigned flags,
                         struct dti_outcome *ret)
{
    uint64_t code;
    if (dti_code_inf(f, negative, &code))
        store(ret, code, flags);
    else if (dti_code_nan(f, &code))
        store(ret, f->specials == DTI_SPECIALS_FN ? signed_code(f, negative, code) : code, flags);
    else
        store_limit(f, negative, flags | DTI_FLAG_SATURATED, ret);
}

/* Encodes a negative number that does not round to zero in an unsigned format. P3109: NaN, or
 * clamped. */
static void encode_unsigned_negative(const struct dti_format *f, const struct dti_policy *policy,
                                     bool infinite, struct dti_outcome *ret)
{
    bool clamp = policy->overflow == DTI_OVERFLOW_SATURATE ||
                 (policy->overflow == DTI_OVERFLOW_SATURATE_FINITE && !infinite);
    uint64_t code;
    if (clamp) {
        store_limit(f, true, DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT | DTI_FLAG_SATURATED, ret);
    } else {
        (void)dti_code_nan(f, &code);
        store(ret, code, DTI_FLAG_INVALID | DTI_FLAG_INEXACT);
    }
}

static void encode_infinity(const struct dti_format *f, bool negative,
                            const struct dti_policy *policy, struct dti_outcome *ret)
{
    uint64_t code;
    if (negative && f->kind == DTI_KIND_UFLOAT)
        encode_unsigned_negative(f, policy, true, ret);
    else if (policy->overflow == DTI_OVERFLOW_SATURATE)
        store_limit(f, negative, DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT | DTI_FLAG_SATURATED, ret);
    else if (dti_code_inf(f, negative, &code))
        store(ret, code, 0);
    else
        store_beyond(f, negative, DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT, ret);
}

static void encode_overflow(const struct dti_format *f, bool negative,
                            const struct dti_policy *policy, struct dti_outcome *ret)
{
    unsigned flags = DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT;
    if (policy->overflow == DTI_OVERFLOW_SATURATE ||
        policy->overflow == DTI_OVERFLOW_SATURATE_FINITE)
        store_limit(f, negative, flags | DTI_FLAG_SATURATED, ret);
    else if (overflow_reaches_infinity(policy->round, negative))
        store_beyond(f, negative, flags, ret);
    else
        store_limit(f, negative, flags, ret);
}

/* Whether the lower neighbour counts as odd. With mantissa bits that is the last significand
 * bit. Without them every significand is 1: P3109 uses the code's parity; all others take the
 * larger magnitude (IEEE 754-2019 4.3.1), which "always odd" achieves. */
static bool neighbour_is_odd(const struct dti_format *f, uint64_t kept, int64_t exponent)
{
    bool by_code = f->man_bits == 0 && kept != 0 &&
                   (f->specials == DTI_SPECIALS_P3109E || f->specials == DTI_SPECIALS_P3109F);
    return by_code ? ((exponent + f->bias) & 1) != 0 : (kept & 1) != 0;
}

/* The place of a magnitude as a number of steps of a run from its first power of two on, cut at
 * whole places: (exponent - first + fraction) x 2^man_bits. The fraction of 1.fraction loses up to
 * seven of its 127 bits, which stay in the last one that is kept. */
static struct cut cut_tapered(const struct dti_taper *run, const struct dti_value *value)
{
    enum { WHOLE = 7 }; /* bits of the binades of a run */
    const uint64_t hi = value->hi << 1 | value->lo >> 63, lo = value->lo << 1;
    const uint64_t lost = (lo & dti_low_bits(WHOLE)) | value->sticky;
    const uint64_t binades = (uint64_t)(value->exponent - run->first);
    const uint64_t high = binades << (64 - WHOLE) | hi >> WHOLE;
    const uint64_t low = (lo >> WHOLE | hi << (64 - WHOLE)) | (lost != 0);
    struct dti_value steps;
    if ((high | low) == 0)
        return (struct cut){.kept = 0};
    dti_value_set_wide(&steps, false, high, low, false, WHOLE - 128);
    return cut_at(&steps, -run->man_bits);
}

/* Stores a magnitude beyond the largest one of a tapered format. A posit has no infinity, and keeps
 * to its largest number whatever the policy. */
static void encode_tapered_overflow(const struct dti_format *f, bool negative,
                                    const struct dti_policy *policy, struct dti_outcome *ret)
{
    if (f->specials == DTI_SPECIALS_POSIT)
        store_limit(f, negative, DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT | DTI_FLAG_SATURATED, ret);
    else
        encode_overflow(f, negative, policy, ret);
}

/* Places are linear in the fraction within a run, and from zero to the smallest number. Ties go to
 * the even place, which has the even code: where numbers have mantissa bits, that is the even
 * significand. */
static void encode_finite_tapered(const struct dti_format *f, const struct dti_value *value,
                                  const struct dti_policy *policy, uint64_t index,
                                  struct dti_outcome *ret)
{
    const struct dti_taper *const run = dti_taper_run(f, value->exponent);
    const bool posit = f->specials == DTI_SPECIALS_POSIT;
    if (value->exponent > run->last) {
        encode_tapered_overflow(f, value->negative, policy, ret);
        return;
    }
    const bool tiny = value->exponent < run->first;
    const struct cut cut = tiny ? cut_at(value, run->first) : cut_tapered(run, value);
    const bool inexact = cut.half || cut.rest;
    uint64_t place = tiny ? 0 : run->place + cut.kept, max = 0, normal = 0;
    (void)dti_code_max(f, &max);
    (void)dti_code_smallest_normal(f, &normal);
    max = dti_taper_place(f, max);
    if (posit && place >= max && inexact) {
        encode_tapered_overflow(f, value->negative, policy, ret);
        return;
    }
    place += rounds_away(&cut, (place & 1) != 0, value->negative, policy, index);
    if (posit && place == 0)
        place = 1;
    if (place > max) {
        encode_tapered_overflow(f, value->negative, policy, ret);
        return;
    }
    unsigned flags = inexact ? DTI_FLAG_INEXACT : 0;
    if (inexact && place < dti_taper_place(f, normal))
        flags |= DTI_FLAG_UNDERFLOW;
    store(ret, dti_taper_signed(f, value->negative, dti_taper_code(f, place)), flags);
}

static void encode_finite_float(const struct dti_format *f, const struct dti_value *value,
                                const struct dti_policy *policy, uint64_t index,
                                struct dti_outcome *ret)
{
    int64_t min_exponent = dti_format_min_exponent(f);
    int64_t exponent = value->exponent > min_exponent ? value->exponent : min_exponent;
    bool unsigned_negative = value->negative && f->kind == DTI_KIND_UFLOAT;
    uint64_t max_code = 0, smallest_normal = 0;
    (void)dti_code_max(f, &max_code);
    bool has_normals = dti_code_smallest_normal(f, &smallest_normal);

    if (f->specials == DTI_SPECIALS_SCALE && unsigned_negative) {
        encode_unsigned_negative(f, policy, false, ret);
        return;
    }
    if (f->specials == DTI_SPECIALS_SCALE && value->exponent < min_exponent) {
        store(ret, 0,
              DTI_FLAG_INEXACT | DTI_FLAG_UNDERFLOW); /* no zero: the least scale is nearest */
        return;
    }
    if (exponent + f->bias > (int64_t)dti_low_bits(f->exp_bits)) {
        if (unsigned_negative)
            encode_unsigned_negative(f, policy, false, ret);
        else
            encode_overflow(f, value->negative, policy, ret);
        return;
    }

    struct cut cut = cut_at(value, exponent - f->man_bits);
    bool odd = neighbour_is_odd(f, cut.kept, exponent);
    uint64_t kept = cut.kept + rounds_away(&cut, odd, value->negative, policy, index);

    /* Adding the kept bits to the exponent field carries into the next binade, and turns an
     * overflowing subnormal into the smallest normal. The hidden bit adds one to the field. */
    uint64_t field = f->specials == DTI_SPECIALS_SCALE ? (uint64_t)(exponent + f->bias)
                                                       : (uint64_t)(exponent + f->bias - 1);
    uint64_t magnitude = (field << f->man_bits) + kept;
    if (f->specials == DTI_SPECIALS_SCALE)
        magnitude -= 1;

    unsigned flags = cut.half || cut.rest ? DTI_FLAG_INEXACT : 0;
    if (unsigned_negative && magnitude != 0)
        encode_unsigned_negative(f, policy, false, ret);
    else if (magnitude > max_code)
        encode_overflow(f, value->negative, policy, ret);
    else {
        if (flags && (!has_normals || magnitude < smallest_normal))
            flags |= DTI_FLAG_UNDERFLOW;
        store(ret, signed_code(f, value->negative, magnitude), flags);
    }
}

static void encode_float(const struct dti_format *f, const struct dti_value *value,
                         const struct dti_policy *policy, uint64_t index, struct dti_outcome *ret)
{
    switch (value->kind) {
    case DTI_CLASS_NAN:
        encode_nan(f, value, policy, ret);
        return;
    case DTI_CLASS_INF:
        encode_infinity(f, value->negative, policy, ret);
        return;
    case DTI_CLASS_ZERO:
        if (f->specials == DTI_SPECIALS_SCALE)
            store(ret, 0, DTI_FLAG_INEXACT | DTI_FLAG_UNDERFLOW);
        else
            store(ret, signed_code(f, value->negative, 0), 0);
        return;
    case DTI_CLASS_FINITE:
        if (dti_format_is_tapered(f))
            encode_finite_tapered(f, value, policy, index, ret);
        else
            encode_finite_float(f, value, policy, index, ret);
        return;
    }
}

static void encode_integer(const struct dti_format *f, const struct dti_value *value,
                           const struct dti_policy *policy, uint64_t index, struct dti_outcome *ret)
{
    unsigned out_of_range = DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT;
    uint64_t mask = dti_low_bits(f->width);
    bool wrap = policy->overflow == DTI_OVERFLOW_WRAP;
    switch (value->kind) {
    case DTI_CLASS_ZERO:
        store(ret, 0, 0);
        return;
    case DTI_CLASS_NAN:
        store(ret, 0, DTI_FLAG_INVALID | DTI_FLAG_INEXACT);
        return;
    case DTI_CLASS_INF:
        if (wrap)
            store(ret, 0, out_of_range | DTI_FLAG_INVALID);
        else
            store_limit(f, value->negative, out_of_range | DTI_FLAG_INVALID | DTI_FLAG_SATURATED,
                        ret);
        return;
    case DTI_CLASS_FINITE:
        break;
    }

    struct cut cut = cut_at(value, 0);
    bool away = rounds_away(&cut, (cut.kept & 1) != 0, value->negative, policy, index);
    uint64_t magnitude = cut.kept + away;
    uint64_t limit = dti_low_bits(f->width);
    if (f->kind == DTI_KIND_INT)
        limit = dti_low_bits(f->width - 1u) + value->negative;
    else if (value->negative)
        limit = 0;
    bool beyond = value->exponent >= 64 || magnitude < cut.kept || magnitude > limit;
    if (beyond && !wrap) {
        store_limit(f, value->negative, out_of_range | DTI_FLAG_SATURATED, ret);
        return;
    }
    uint64_t code = (value->negative ? UINT64_C(0) - magnitude : magnitude) & mask;
    store(ret, code, beyond ? out_of_range : cut.half || cut.rest ? DTI_FLAG_INEXACT : 0);
}

static void encode_bool(const struct dti_value *value, struct dti_outcome *ret)
{
    bool one = value->kind == DTI_CLASS_FINITE && value->exponent == 0 && !value->negative &&
               value->hi == UINT64_C(1) << 63 && value->lo == 0 && !value->sticky;
    bool zero = value->kind == DTI_CLASS_ZERO;
    store(ret, !zero, zero || one ? 0 : DTI_FLAG_INEXACT);
}

/* Fast path if only rounding can happen: a signed float with mantissa bits, and a number that
 * stays normal and below the binade of the largest numbers even if rounded up. The code is
 * exponent field and mantissa as one number, so that a carry propagates. */
bool dti_encode_ordinary(const struct dti_format *f, const struct dti_value *value,
                         const struct dti_policy *policy, struct dti_outcome *ret_outcome,
                         struct dti_value *ret_stored)
{
    const uint32_t field = (uint32_t)(value->exponent + f->bias); /* before rounding */
    const uint32_t fields = UINT32_C(1) << (f->exp_bits & 31);
    if (value->kind != DTI_CLASS_FINITE || policy->round != DTI_ROUND_NEAREST_EVEN ||
        f->kind != DTI_KIND_FLOAT || f->man_bits == 0 || f->exp_bits < 2 ||
        dti_format_is_tapered(f) || field - 1 >= fields - 3)
        return false;
    const unsigned drop = 63 - (unsigned)f->man_bits;
    const uint64_t unit = UINT64_C(1) << drop, half = unit / 2;
    const uint64_t rest = value->hi & (unit - 1), kept = value->hi >> drop;
    const bool more = value->lo != 0 || value->sticky;
    const bool away = rest > half || (rest == half && (more || (kept & 1)));
    const uint64_t rounded = kept + away; /* has its leading one, or one bit more */
    const uint64_t magnitude = ((uint64_t)(field - 1) << f->man_bits) + rounded;
    const unsigned carried = (unsigned)(rounded >> (f->man_bits + 1));
    ret_outcome->code = magnitude | (uint64_t)value->negative << (f->width - 1);
    ret_outcome->flags = rest != 0 || more ? DTI_FLAG_INEXACT : 0;
    ret_stored->kind = DTI_CLASS_FINITE;
    ret_stored->negative = value->negative;
    ret_stored->sticky = false;
    ret_stored->exponent = value->exponent + (int32_t)carried;
    ret_stored->hi = rounded << (drop - carried);
    ret_stored->lo = 0;
    return true;
}

void dti_encode(const struct dti_format *format, const struct dti_value *value,
                const struct dti_policy *policy, uint64_t index, struct dti_outcome *ret_outcome)
{
    struct dti_value stored;
    if (dti_encode_ordinary(format, value, policy, ret_outcome, &stored))
        return;
    if (dti_format_is_float(format))
        encode_float(format, value, policy, index, ret_outcome);
    else if (format->kind == DTI_KIND_BOOL)
        encode_bool(value, ret_outcome);
    else
        encode_integer(format, value, policy, index, ret_outcome);
}
