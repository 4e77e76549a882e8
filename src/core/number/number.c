/* SPDX-License-Identifier: MIT
 *
 * A number from text: its exact expansion, its integer part, and its one rounding, to 128 bits
 * and a sticky bit. Fast path: few digits and a small exponent of ten need one exact product or
 * division; nearly all numbers take it. Otherwise the leading digits times a 192-bit power of
 * five give an interval; if its ends have the same 128 leading bits, they are the result,
 * however long the text. Else long integers decide exactly. */
#include "core/number/number.h"

#include <stdlib.h>
#include <string.h>

#include "core/number/decimal.h"
#include "core/number/number_terms.h"
#include "core/wide.h"
#include "util/run/allocate.h"

/* floor(2^(127 + bits) / d) for d = 5^k, where bits is the length of d: high, low. */
static const uint64_t reciprocals[DTI_POW5_SMALL_MAX + 1][2] = {
    [1] = {UINT64_C(0xCCCCCCCCCCCCCCCC), UINT64_C(0xCCCCCCCCCCCCCCCC)},
    [2] = {UINT64_C(0xA3D70A3D70A3D70A), UINT64_C(0x3D70A3D70A3D70A3)},
    [3] = {UINT64_C(0x83126E978D4FDF3B), UINT64_C(0x645A1CAC083126E9)},
    [4] = {UINT64_C(0xD1B71758E219652B), UINT64_C(0xD3C36113404EA4A8)},
    [5] = {UINT64_C(0xA7C5AC471B478423), UINT64_C(0x0FCF80DC33721D53)},
    [6] = {UINT64_C(0x8637BD05AF6C69B5), UINT64_C(0xA63F9A49C2C1B10F)},
    [7] = {UINT64_C(0xD6BF94D5E57A42BC), UINT64_C(0x3D32907604691B4C)},
    [8] = {UINT64_C(0xABCC77118461CEFC), UINT64_C(0xFDC20D2B36BA7C3D)},
    [9] = {UINT64_C(0x89705F4136B4A597), UINT64_C(0x31680A88F8953030)},
    [10] = {UINT64_C(0xDBE6FECEBDEDD5BE), UINT64_C(0xB573440E5A884D1B)},
    [11] = {UINT64_C(0xAFEBFF0BCB24AAFE), UINT64_C(0xF78F69A51539D748)},
    [12] = {UINT64_C(0x8CBCCC096F5088CB), UINT64_C(0xF93F87B7442E45D3)},
    [13] = {UINT64_C(0xE12E13424BB40E13), UINT64_C(0x2865A5F206B06FB9)},
    [14] = {UINT64_C(0xB424DC35095CD80F), UINT64_C(0x538484C19EF38C94)},
    [15] = {UINT64_C(0x901D7CF73AB0ACD9), UINT64_C(0x0F9D37014BF60A10)},
    [16] = {UINT64_C(0xE69594BEC44DE15B), UINT64_C(0x4C2EBE687989A9B3)},
    [17] = {UINT64_C(0xB877AA3236A4B449), UINT64_C(0x09BEFEB9FAD487C2)},
    [18] = {UINT64_C(0x9392EE8E921D5D07), UINT64_C(0x3AFF322E62439FCF)},
    [19] = {UINT64_C(0xEC1E4A7DB69561A5), UINT64_C(0x2B31E9E3D06C32E5)},
    [20] = {UINT64_C(0xBCE5086492111AEA), UINT64_C(0x88F4BB1CA6BCF584)},
    [21] = {UINT64_C(0x971DA05074DA7BEE), UINT64_C(0xD3F6FC16EBCA5E03)},
    [22] = {UINT64_C(0xF1C90080BAF72CB1), UINT64_C(0x5324C68B12DD6338)},
    [23] = {UINT64_C(0xC16D9A0095928A27), UINT64_C(0x75B7053C0F178293)},
    [24] = {UINT64_C(0x9ABE14CD44753B52), UINT64_C(0xC4926A9672793542)},
    [25] = {UINT64_C(0xF79687AED3EEC551), UINT64_C(0x3A83DDBD83F52204)},
    [26] = {UINT64_C(0xC612062576589DDA), UINT64_C(0x95364AFE032A819D)},
    [27] = {UINT64_C(0x9E74D1B791E07E48), UINT64_C(0x775EA264CF55347D)},
};

/* digits / 5^power, power > 0. The quotient from the reciprocal is right or one too small; the
 * remainder, less than twice the divisor, decides. */
static void set_quotient(struct dti_value *ret, bool negative, uint64_t digits, unsigned power,
                         int64_t exponent)
{
    const uint64_t divisor = dti_pow5_small[power];
    const unsigned zeros = dti_leading_zeros(digits), bits = 64 - dti_leading_zeros(divisor);
    uint64_t high, low, carry;
    (void)dti_wide_mul_add(digits << zeros, reciprocals[power][1], 0, 0, &carry);
    low = dti_wide_mul_add(digits << zeros, reciprocals[power][0], carry, 0, &high);
    uint64_t rest = 0 - low * divisor; /* the dividend is a multiple of 2^64 */
    const uint64_t more = rest >= divisor;
    rest -= divisor & (0 - more);
    low += more;
    high += low < more;
    /* Add one more bit if the top one is clear. */
    const unsigned shift = 1 - (unsigned)(high >> 63);
    const uint64_t bit = 2 * rest >= divisor;
    high = high << shift | (low >> 63 & shift);
    low = low << shift | (bit & shift);
    ret->kind = DTI_CLASS_FINITE;
    ret->negative = negative;
    ret->sticky = rest != 0;
    ret->exponent = (int32_t)(exponent + 64 - bits - zeros - shift);
    ret->hi = high;
    ret->lo = low;
}

bool dti_value_set_decimal(struct dti_value *ret_value, bool negative, uint64_t digits,
                           int64_t exponent)
{
    uint64_t high, low;
    if (exponent < -DTI_POW5_SMALL_MAX || exponent > DTI_POW5_SMALL_MAX)
        return false;
    if (exponent >= 0) {
        low = dti_wide_mul_add(digits, dti_pow5_small[exponent], 0, 0, &high);
        dti_value_set_wide(ret_value, negative, high, low, false, exponent);
        return true;
    }
    set_quotient(ret_value, negative, digits, (unsigned)-exponent, exponent);
    return true;
}

enum {
    DECIMAL_PREFIX = 57,  /* 10^57 < 2^192 */
    HEX_PREFIX = 48,      /* 16^48 = 2^192 */
    POWER_BITS = 23,      /* rows of each sign in number_powers.def */
    EXACT_POWERS = 5,     /* 5^(2^5) has 75 bits: exact up to here */
    ORDINARY = 100000,    /* digits and exponents up to this stay far from the limits */
    SHORT_EXPONENT = 400, /* up to this power of ten a quotient is computed exactly at once */
};

/* The true value is between limb x 2^exponent and (limb + error) x 2^exponent; the top bit is
 * set. */
struct interval {
    uint64_t limb[3]; /* little-endian */
    uint64_t error;   /* 0: exact */
    int64_t exponent;
};

struct number_power {
    uint64_t high, middle, low;
    int32_t exponent;
};

static const struct number_power positive_powers[POWER_BITS] = {
#define POWER_POSITIVE(k, h, m, l, e) \
    [k] = {.high = UINT64_C(h), .middle = UINT64_C(m), .low = UINT64_C(l), .exponent = (e)},
#define POWER_NEGATIVE(k, h, m, l, e)
#define POWER(sign, k, h, m, l, e) POWER_##sign(k, h, m, l, e)
#include "core/number/number_powers.def"
#undef POWER_POSITIVE
#undef POWER_NEGATIVE
};

static const struct number_power negative_powers[POWER_BITS] = {
#define POWER_POSITIVE(k, h, m, l, e)
#define POWER_NEGATIVE(k, h, m, l, e) \
    [k] = {.high = UINT64_C(h), .middle = UINT64_C(m), .low = UINT64_C(l), .exponent = (e)},
#include "core/number/number_powers.def"
#undef POWER
#undef POWER_POSITIVE
#undef POWER_NEGATIVE
};

static void normalise(struct interval *x)
{
    while (x->limb[2] == 0) {
        x->limb[2] = x->limb[1];
        x->limb[1] = x->limb[0];
        x->limb[0] = 0;
        x->exponent -= 64;
    }
    const unsigned shift = dti_leading_zeros(x->limb[2]);
    if (shift > 0) {
        x->limb[2] = x->limb[2] << shift | x->limb[1] >> (64 - shift);
        x->limb[1] = x->limb[1] << shift | x->limb[0] >> (64 - shift);
        x->limb[0] <<= shift;
        x->error <<= shift;
        x->exponent -= shift;
    }
}

/* The digits of a term without its exponent of ten; *ret_ten receives that exponent, corrected
 * for omitted digits. */
static void interval_of_term(struct interval *ret, const struct dti_term *term, int64_t *ret_ten)
{
    const size_t prefix = term->hexadecimal ? HEX_PREFIX : DECIMAL_PREFIX;
    const size_t count = term->count < prefix ? term->count : prefix;
    const int64_t rest = (int64_t)(term->count - count);
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < count;) {
        uint64_t chunk = 0, scale = 1, carry = 0;
        for (size_t in = 0; in < (term->hexadecimal ? 15 : 19) && i < count; in++, i++) {
            const uint64_t base = term->hexadecimal ? 16 : 10;
            chunk = chunk * base + dti_hex_digit(term->digits[i]);
            scale *= base;
        }
        carry = chunk;
        for (size_t j = 0; j < 3; j++)
            ret->limb[j] = dti_wide_mul_add(ret->limb[j], scale, carry, 0, &carry);
    }
    ret->error = rest > 0;
    if (term->hexadecimal)
        ret->exponent = term->exponent + 4 * rest;
    *ret_ten = term->hexadecimal ? 0 : term->exponent + rest;
    normalise(ret); /* a full prefix needs little shift: the error stays small */
}

/* x *= power; the power has an error of one unit unless it is exact. */
static void multiply(struct interval *x, const struct number_power *power, bool exact)
{
    const uint64_t factor[3] = {power->low, power->middle, power->high};
    uint64_t product[6] = {0};
    for (size_t j = 0; j < 3; j++) {
        uint64_t carry = 0;
        for (size_t i = 0; i < 3; i++)
            product[i + j] = dti_wide_mul_add(x->limb[i], factor[j], product[i + j], carry, &carry);
        product[j + 3] = carry;
    }
    const bool doubled = product[5] >> 63 == 0;
    if (doubled) {
        for (size_t i = 5; i > 0; i--)
            product[i] = product[i] << 1 | product[i - 1] >> 63;
        product[0] <<= 1;
    }
    const bool inexact = (product[0] | product[1] | product[2]) != 0;
    memcpy(x->limb, product + 3, sizeof x->limb);
    /* Both factors are below 2^192 units, so each error grows by less than the other factor; the
     * product of the errors and the truncation are less than one unit each. */
    x->error += exact ? 0 : 1;
    if (x->error > 0)
        x->error = (x->error + 1) << doubled;
    x->error += inexact;
    x->exponent += power->exponent + 192 - doubled;
}

static void multiply_power_of_ten(struct interval *x, int64_t ten)
{
    const struct number_power *const powers = ten < 0 ? negative_powers : positive_powers;
    const uint32_t size = (uint32_t)(ten < 0 ? -ten : ten);
    for (unsigned k = 0; size >> k; k++) {
        if (size >> k & 1)
            multiply(x, &powers[k], ten > 0 && k <= EXACT_POWERS);
    }
    x->exponent += ten;
}

/* Writes the value and returns true if the whole interval rounds to it. */
static bool settle(const struct interval *x, bool negative, struct dti_value *ret_value)
{
    const bool same = x->error == 0 || (x->limb[0] > 0 && x->limb[0] <= UINT64_MAX - x->error);
    if (same)
        dti_value_set_wide(ret_value, negative, x->limb[2], x->limb[1], x->limb[0] != 0,
                           x->exponent + 64);
    return same;
}

/* The lower end of the interval, or with its error added, the upper end. */
static void big_of_interval(struct dti_big *ret, const struct interval *x, uint64_t error)
{
    if (!dti_big_reserve(ret, 4))
        return;
    memcpy(ret->limb, x->limb, sizeof x->limb);
    ret->count = 3;
    dti_big_mul_add(ret, 1, error);
}

/* Like settle(), for a / b. */
static bool settle_quotient(const struct interval *a, const struct interval *b, bool negative,
                            struct dti_value *ret_value)
{
    struct dti_value least, most;
    struct dti_big num, den;
    const int64_t exponent = a->exponent - b->exponent;
    dti_big_init(&num);
    dti_big_init(&den);
    big_of_interval(&num, a, 0);
    big_of_interval(&den, b, b->error);
    bool same = dti_big_ratio(&least, negative, &num, &den, exponent) && least.sticky;
    if (same) {
        big_of_interval(&num, a, a->error);
        big_of_interval(&den, b, 0);
        same = dti_big_ratio(&most, negative, &num, &den, exponent) && least.hi == most.hi &&
               least.lo == most.lo && least.exponent == most.exponent;
    }
    if (same)
        *ret_value = least;
    dti_big_free(&num);
    dti_big_free(&den);
    return same;
}

/* The significant digits of a term as an integer, without its exponent. */
static void term_digits(const struct dti_term *term, size_t count, struct dti_big *ret)
{
    if (!term->hexadecimal) {
        dti_big_from_digits(ret, term->digits, count);
        return;
    }
    const size_t limbs = count / 16 + 1;
    if (!dti_big_reserve(ret, limbs))
        return;
    memset(ret->limb, 0, limbs * sizeof *ret->limb);
    for (size_t i = 0; i < count; i++)
        ret->limb[i / 16] |= (uint64_t)dti_hex_digit(term->digits[count - 1 - i]) << (i % 16 * 4);
    ret->count = limbs;
    dti_big_trim(ret);
}

/* The exponents of ten and of two of num / den. */
static void exponents(const struct dti_number *number, int64_t *ret_ten, int64_t *ret_two)
{
    const struct dti_term *const num = &number->num, *const den = &number->den;
    *ret_ten = num->hexadecimal ? 0 : num->exponent;
    *ret_two = num->hexadecimal ? num->exponent : 0;
    if (number->quotient) {
        *ret_ten -= den->hexadecimal ? 0 : den->exponent;
        *ret_two -= den->hexadecimal ? den->exponent : 0;
    }
}

void dti_fraction_init(struct dti_fraction *fraction, const struct dti_number *number)
{
    int64_t ten, two;
    exponents(number, &ten, &two);
    fraction->two = two + ten;
    fraction->five = ten;
    dti_big_init(&fraction->num);
    dti_big_init(&fraction->den);
    term_digits(&number->num, number->num.count, &fraction->num);
    term_digits(&number->den, number->den.count, &fraction->den);
}

void dti_fraction_free(struct dti_fraction *fraction)
{
    dti_big_free(&fraction->num);
    dti_big_free(&fraction->den);
}

enum dti_magnitude dti_number_magnitude(const struct dti_number *number)
{
    const struct dti_term *const num = &number->num, *const den = &number->den;
    int64_t ten, two;
    if (!number->quotient && num->exponent < ORDINARY && num->exponent > -ORDINARY &&
        num->count < ORDINARY)
        return DTI_MAGNITUDE_ORDINARY;
    exponents(number, &ten, &two);
    if (num->hexadecimal)
        two += 4 * (int64_t)num->count;
    else
        ten += (int64_t)num->count;
    if (number->quotient) {
        if (den->hexadecimal)
            two -= 4 * (int64_t)den->count;
        else
            ten -= (int64_t)den->count;
    }
    /* log2(10) is 3.3219; 3.322 errs by less than a ten-thousandth. The digit counts err by up
     * to four bits each. */
    const int64_t estimate = two + ten * 3322 / 1000;
    const int64_t slack = 16 + (ten < 0 ? -ten : ten) / 1000;
    if (estimate - slack > DTI_EXPONENT_LIMIT)
        return DTI_MAGNITUDE_HUGE;
    if (estimate + slack < -DTI_EXPONENT_LIMIT)
        return DTI_MAGNITUDE_TINY;
    const int64_t longest = (INT64_C(1) << POWER_BITS) - INT64_C(2) * DECIMAL_PREFIX;
    return ten > longest || ten < -longest ? DTI_MAGNITUDE_TANGLED : DTI_MAGNITUDE_ORDINARY;
}

/* How many of a decimal's digits matter. All values with 128 significant bits at this magnitude
 * are multiples of 2^-k, hence of 10^-k: anything after k decimals only makes the value sticky. */
static size_t digits_that_matter(const struct dti_term *term, int64_t top_exponent)
{
    const int64_t decimals = top_exponent > 128 ? 0 : 128 - top_exponent;
    const int64_t count = (int64_t)term->count + term->exponent + decimals;
    if (count >= (int64_t)term->count)
        return term->count;
    return count > 0 ? (size_t)count : 0;
}

static bool round_exactly(const struct dti_number *number, int64_t top_exponent,
                          struct dti_value *ret_value)
{
    struct dti_big num, den;
    int64_t ten, two;
    size_t count = number->num.count;
    exponents(number, &ten, &two);
    if (!number->quotient && !number->num.hexadecimal) {
        count = digits_that_matter(&number->num, top_exponent);
        ten += (int64_t)(number->num.count - count);
    }
    dti_big_init(&num);
    dti_big_init(&den);
    term_digits(&number->num, count, &num);
    term_digits(&number->den, number->den.count, &den);
    dti_big_mul_pow5(ten >= 0 ? &num : &den, (uint32_t)(ten >= 0 ? ten : -ten));
    const bool ok = dti_big_ratio(ret_value, number->negative, &num, &den, two + ten);
    if (ok)
        ret_value->sticky |= count < number->num.count;
    dti_big_free(&num);
    dti_big_free(&den);
    return ok;
}

/* Fast path for few digits, as nearly all numbers have. */
static bool round_short(const struct dti_number *number, struct dti_value *ret_value)
{
    const struct dti_term *const term = &number->num;
    uint64_t digits = 0;
    if (number->quotient || term->hexadecimal || term->count > DTI_SHORT_DECIMAL)
        return false;
    for (size_t i = 0; i < term->count; i++)
        digits = digits * 10 + (uint64_t)(term->digits[i] - '0');
    return dti_value_set_decimal(ret_value, number->negative, digits, term->exponent);
}

static bool round_finite(const struct dti_number *number, struct dti_value *ret_value)
{
    struct interval num, den;
    int64_t ten, den_ten;
    interval_of_term(&num, &number->num, &ten);
    if (number->quotient) {
        interval_of_term(&den, &number->den, &den_ten);
        ten -= den_ten;
        if (num.error == 0 && den.error == 0 && ten <= SHORT_EXPONENT && ten >= -SHORT_EXPONENT)
            return round_exactly(number, 0, ret_value);
    }
    multiply_power_of_ten(&num, ten);
    if (number->quotient ? settle_quotient(&num, &den, number->negative, ret_value)
                         : settle(&num, number->negative, ret_value))
        return true;
    return round_exactly(number, num.exponent + 191, ret_value);
}

bool dti_number_value(const struct dti_number *number, struct dti_value *ret_value)
{
    if (number->kind == DTI_CLASS_FINITE) {
        if (round_short(number, ret_value))
            return true;
        const enum dti_magnitude magnitude = dti_number_magnitude(number);
        if (magnitude == DTI_MAGNITUDE_ORDINARY)
            return round_finite(number, ret_value);
        const bool huge = magnitude == DTI_MAGNITUDE_HUGE;
        dti_value_set_wide(ret_value, number->negative, UINT64_C(1) << 63, 0, true,
                           huge ? 2 * DTI_EXPONENT_LIMIT : -2 * DTI_EXPONENT_LIMIT);
        return true;
    }
    *ret_value = (struct dti_value){.kind = number->kind, .negative = number->negative};
    if (number->kind == DTI_CLASS_NAN)
        ret_value->hi = UINT64_C(1) << (number->signaling ? 62 : 63);
    return true;
}

/* Common factors are not searched in quotients of longer terms: that takes quadratic time. */
enum { REDUCIBLE_DIGITS = 20000 };

void dti_number_free(struct dti_number *number)
{
    struct dti_term *const terms[2] = {&number->num, &number->den};
    for (size_t i = 0; i < 2; i++) {
        if (terms[i]->digits != terms[i]->own)
            dti_free(terms[i]->digits);
        terms[i]->digits = terms[i]->own;
        terms[i]->count = 0;
    }
}

/* Divides by `factor` while there is no remainder; returns the number of divisions. */
static int64_t take_out(struct dti_big *b, uint64_t factor)
{
    struct dti_big quotient;
    int64_t times = 0;
    dti_big_init(&quotient);
    for (dti_big_copy(&quotient, b); dti_big_div_small(&quotient, factor) == 0 && b->count > 0;
         times++)
        dti_big_copy(b, &quotient);
    dti_big_free(&quotient);
    return times;
}

static size_t trailing_zero_bits(const struct dti_big *b) /* b != 0 */
{
    size_t zeros = 0;
    while (b->limb[zeros] == 0)
        zeros++;
    return zeros * 64 + dti_trailing_zeros(b->limb[zeros]);
}

bool dti_fraction_reduce(struct dti_fraction *fraction)
{
    struct dti_big *const den = &fraction->den;
    struct dti_big quotient, remainder;
    if (fraction->num.failed || den->failed)
        return false;
    if (den->count == 1 && den->limb[0] == 1)
        return true;
    const size_t twos = trailing_zero_bits(den);
    (void)dti_big_shift_right(den, twos);
    fraction->two -= (int64_t)twos;
    fraction->five -= take_out(den, dti_pow5_small[DTI_POW5_SMALL_MAX]) * DTI_POW5_SMALL_MAX;
    fraction->five -= take_out(den, 5);
    if (den->count == 1 && den->limb[0] == 1)
        return true;

    dti_big_init(&quotient);
    dti_big_init(&remainder);
    dti_big_divide(&quotient, &remainder, &fraction->num, den);
    const bool finite =
        !den->failed && !quotient.failed && !remainder.failed && remainder.count == 0;
    if (finite) {
        dti_big_move(&fraction->num, &quotient);
        dti_big_set(den, 1);
    } else if (quotient.failed || remainder.failed) {
        dti_big_fail(&fraction->num);
    }
    dti_big_free(&quotient);
    dti_big_free(&remainder);
    return finite;
}

bool dti_number_is_reducible(const struct dti_number *number)
{
    return !number->quotient ||
           (number->num.count <= REDUCIBLE_DIGITS && number->den.count <= REDUCIBLE_DIGITS);
}

bool dti_append_decimal(struct dti_buffer *buffer, bool negative, const char *digits, size_t count,
                        int64_t exponent)
{
    if (exponent > DTI_EXACT_MAX || exponent < -DTI_EXACT_MAX || count > DTI_EXACT_MAX)
        return false;
    const int64_t whole = (int64_t)count + exponent; /* digits before the point */
    const size_t zeros = (size_t)(exponent > 0 ? exponent : whole < 0 ? -whole : 0);
    const size_t point = exponent >= 0 ? 0 : whole > 0 ? 1 : 2;
    if (negative + point + zeros + count > DTI_EXACT_MAX)
        return false;
    if (!dti_buffer_reserve(buffer, negative + point + zeros + count))
        return false;
    char *end = buffer->data + buffer->length;
    *end = '-';
    end += negative;
    if (exponent >= 0) {
        end = dti_digits_put(end, digits, count);
        end = dti_digits_put_zeros(end, zeros);
    } else if (whole > 0) {
        end = dti_digits_put(end, digits, (size_t)whole);
        *end++ = '.';
        end = dti_digits_put(end, digits + whole, count - (size_t)whole);
    } else {
        end = dti_digits_put_zeros(dti_digits_put(end, "0.", 2), zeros);
        end = dti_digits_put(end, digits, count);
    }
    *end = '\0';
    buffer->length = (size_t)(end - buffer->data);
    return true;
}

bool dti_append_product(struct dti_buffer *buffer, bool negative, const struct dti_big *integer,
                        int64_t two, int64_t five)
{
    char own[128];
    struct dti_big product;
    if (integer->failed) {
        buffer->failed = true;
        return false;
    }
    if (integer->count == 0) {
        dti_buffer_append(buffer, "0", 1);
        return true;
    }
    /* An odd number divided by 2^n has exactly n decimals; powers of ten alone are not expanded. */
    if (two < five && -(two + (int64_t)trailing_zero_bits(integer)) > DTI_EXACT_BINARY_MAX - 2)
        return false;
    /* 2^two 5^five = 2^(two - ten) 5^(five - ten) 10^ten; this leaves no fraction. */
    int64_t ten = two < five ? two : five;
    two -= ten;
    five -= ten;
    /* A digit has at most 3.33 bits, a factor of five more than 2. */
    const int64_t bits_max = INT64_C(10) * DTI_EXACT_BINARY_MAX / 3;
    if (two > bits_max || five > bits_max ||
        (int64_t)dti_big_bits(integer) + two + five * 2 > bits_max)
        return false;
    dti_big_init(&product);
    dti_big_copy(&product, integer);
    dti_big_mul_pow5(&product, (uint32_t)five);
    dti_big_shift_left(&product, (size_t)two);
    size_t count;
    char *const digits = dti_big_to_digits(&product, own, sizeof own, &count);
    dti_big_free(&product);
    if (!digits) {
        buffer->failed = true;
        return false;
    }
    for (; count > 1 && digits[count - 1] == '0'; count--)
        ten++;
    const bool done = dti_append_decimal(buffer, negative, digits, count, ten);
    if (digits != own)
        dti_free(digits);
    return done;
}

bool dti_number_exact(const struct dti_number *number, struct dti_buffer *buffer)
{
    static const char *const words[] = {
        [DTI_CLASS_ZERO] = "-0", [DTI_CLASS_INF] = "-inf", [DTI_CLASS_NAN] = "-nan"};
    if (number->kind != DTI_CLASS_FINITE) {
        const bool sign = number->negative && number->kind != DTI_CLASS_NAN;
        dti_buffer_puts(buffer, words[number->kind] + !sign);
        return true;
    }
    if (!number->quotient && !number->num.hexadecimal)
        return dti_append_decimal(buffer, number->negative, number->num.digits, number->num.count,
                                  number->num.exponent);
    if (!dti_number_is_reducible(number))
        return false;
    struct dti_fraction fraction;
    dti_fraction_init(&fraction, number);
    const bool done =
        dti_fraction_reduce(&fraction) &&
        dti_append_product(buffer, number->negative, &fraction.num, fraction.two, fraction.five);
    if (fraction.num.failed || fraction.den.failed)
        buffer->failed = true;
    dti_fraction_free(&fraction);
    return done;
}

/* Arithmetic modulo 2^64: multiples of 10^64 and 2^64 vanish. */
static uint64_t low_bits_of_decimal(const struct dti_term *term)
{
    uint64_t bits = 0;
    if (term->exponent >= 64)
        return 0;
    for (size_t i = 0; i < term->count; i++)
        bits = bits * 10 + dti_hex_digit(term->digits[i]);
    for (int64_t i = 0; i < term->exponent; i++)
        bits *= 10;
    return bits;
}

static uint64_t low_bits_of_hexadecimal(const struct dti_term *term)
{
    uint64_t bits = 0;
    if (term->exponent >= 64)
        return 0;
    for (size_t i = 0; i < term->count; i++)
        bits = bits << 4 | dti_hex_digit(term->digits[i]);
    return bits << term->exponent;
}

/* The low bits of the integer part and the fraction, by long division. */
static bool divide_out(const struct dti_number *number, uint64_t *ret_bits,
                       struct dti_value *ret_fraction)
{
    struct dti_fraction f;
    *ret_bits = 0;
    dti_value_set(ret_fraction, false, 0, 0);
    if (dti_number_magnitude(number) != DTI_MAGNITUDE_ORDINARY)
        return true;
    dti_fraction_init(&f, number);
    dti_big_mul_pow5(f.five > 0 ? &f.num : &f.den, (uint32_t)(f.five > 0 ? f.five : -f.five));
    dti_big_shift_left(f.two > 0 ? &f.num : &f.den, (size_t)(f.two > 0 ? f.two : -f.two));
    struct dti_big quotient, rest;
    dti_big_init(&quotient);
    dti_big_init(&rest);
    bool ok = !f.num.failed && !f.den.failed;
    if (ok)
        dti_big_divide(&quotient, &rest, &f.num, &f.den);
    ok = ok && !quotient.failed && !rest.failed &&
         dti_big_ratio(ret_fraction, false, &rest, &f.den, 0);
    if (ok && quotient.count > 0)
        *ret_bits = quotient.limb[0];
    dti_big_free(&quotient);
    dti_big_free(&rest);
    dti_fraction_free(&f);
    return ok;
}

bool dti_number_low_bits(const struct dti_number *number, uint64_t *ret_bits,
                         struct dti_value *ret_fraction)
{
    uint64_t bits = 0;
    struct dti_value fraction;
    dti_value_set(&fraction, false, 0, 0);
    if (number->kind == DTI_CLASS_FINITE) {
        if (number->quotient || number->num.exponent < 0) {
            if (!divide_out(number, &bits, &fraction))
                return false;
        } else {
            bits = number->num.hexadecimal ? low_bits_of_hexadecimal(&number->num)
                                           : low_bits_of_decimal(&number->num);
        }
    }
    *ret_bits = bits;
    *ret_fraction = fraction;
    return true;
}
