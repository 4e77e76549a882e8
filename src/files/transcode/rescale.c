/* SPDX-License-Identifier: MIT
 *
 * Codes of fp8_e4m3fn times a ratio: see rescale.h.
 *
 * A product m 2^e n / d is compared with a code's number m' 2^e' by integers: m n 2^e with m' d
 * 2^e', which have at most 29 bits each. The neighbour above m' 2^e' is (m' + 1) 2^e', so the
 * middle between the two is (2 m' + 1) 2^(e' - 1). */
#include "files/transcode/rescale.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/wide.h"

enum {
    NAN_CODE = 0x7f, /* without a sign, as all codes here */
    DIGITS = 3,
    BIAS = 7,
    FLOAT_DIGITS = 23,
    FLOAT_BIAS = 127,
};

/* An integer times a power of two. */
struct scaled {
    uint64_t digits;
    int exponent;
};

static struct scaled of_code(unsigned code)
{
    const unsigned field = code >> DIGITS, fraction = code & ((1U << DIGITS) - 1);
    return (struct scaled){.digits = field > 0 ? fraction | 1U << DIGITS : fraction,
                           .exponent = (int)(field > 0 ? field : 1) - BIAS - DIGITS};
}

static struct scaled of_float(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    const uint32_t field = bits >> FLOAT_DIGITS & 0xff, fraction = bits & 0x7fffff;
    return (struct scaled){.digits = field > 0 ? fraction | 1U << FLOAT_DIGITS : fraction,
                           .exponent = (int)(field > 0 ? field : 1) - FLOAT_BIAS - FLOAT_DIGITS};
}

static struct scaled times(struct scaled a, struct scaled b)
{
    return (struct scaled){a.digits * b.digits, a.exponent + b.exponent};
}

/* Moves the highest bit to the top, so that exponents decide unless they are equal. */
static struct scaled normal(struct scaled a)
{
    const unsigned up = a.digits > 0 ? dti_leading_zeros(a.digits) : 0;
    return (struct scaled){a.digits << up, a.exponent - (int)up};
}

/* Negative, 0 or positive, as a is less than b, equal, or more. */
static int compare(struct scaled a, struct scaled b)
{
    a = normal(a);
    b = normal(b);
    if (a.digits == 0 || b.digits == 0)
        return (a.digits > 0) - (b.digits > 0);
    if (a.exponent != b.exponent)
        return a.exponent < b.exponent ? -1 : 1;
    return (a.digits > b.digits) - (a.digits < b.digits);
}

static struct scaled middle_above(unsigned code)
{
    const struct scaled own = of_code(code);
    return (struct scaled){2 * own.digits + 1, own.exponent - 1};
}

/* Both have 28 bits or less, and neither is more than twice the other: the difference is exact. */
static double error_of(struct scaled old, struct scaled new)
{
    const double a = (double)old.digits;
    const double b = ldexp((double)new.digits, new.exponent - old.exponent);
    return fabs(b - a) / a;
}

void dti_rescale_make(struct dti_rescale *ret, float numerator, float denominator)
{
    const struct scaled n = of_float(numerator), d = of_float(denominator);
    unsigned to = 0; /* grows with the code */
    memset(ret, 0, sizeof *ret);
    for (unsigned code = 1; code < NAN_CODE; code++) {
        const struct scaled product = times(of_code(code), n);
        int side = compare(product, times(middle_above(to), d));
        while (side > 0 || (side == 0 && (to & 1) != 0)) {
            to++;
            side = compare(product, times(middle_above(to), d));
        }
        const struct scaled new = times(of_code(to), d);
        const double error = to == 0 ? 1 : compare(product, new) == 0 ? 0 : error_of(product, new);
        ret->to[code] = (unsigned char)to;
        ret->error[code] = error;
    }
    ret->to[NAN_CODE] = NAN_CODE;
    for (unsigned code = 0; code < 0x80; code++) {
        ret->to[code | 0x80] = (unsigned char)(ret->to[code] | 0x80);
        ret->error[code | 0x80] = ret->error[code];
    }
}

struct dti_rescaled dti_rescale_count(const struct dti_rescale *rescale, const uint64_t counts[256])
{
    struct dti_rescaled ret = {.codes = 0};
    for (unsigned code = 0; code < 256; code++) {
        const double error = rescale->error[code];
        ret.codes += counts[code];
        ret.same += error > 0 ? 0 : counts[code];
        if (counts[code] > 0 && error > ret.worst)
            ret.worst = error;
    }
    return ret;
}
