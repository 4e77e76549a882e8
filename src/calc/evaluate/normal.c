/* SPDX-License-Identifier: MIT
 *
 * Normal random numbers by the Box-Muller transform (1958): sqrt(-2 ln u) cos(2 pi v) and
 * sqrt(-2 ln u) sin(2 pi v) for two uniform 60-bit numbers, computed with 128-bit integers. The
 * result is the same on every machine and accurate to about 60 bits, so one rounding to fp32 or
 * less is nearly always correct. */
#include "calc/evaluate/evaluate.h"
#include "core/wide.h"

enum { BITS = 60, OCTANT_BITS = BITS - 3 };

/* A fixed-point number (high:low) / 2^127 in [0, 2). */
struct fixed_point {
    uint64_t high, low;
};

/* Coefficients of ln((1 + s)/(1 - s)) / (2 s), sin(x)/x and cos(x) as series in the square, and
 * two constants, all truncated: 1/(2k + 1), 1/(2k + 1)!, 1/(2k)!, ln(2), pi/4. */
/* clang-format off */
static const struct fixed_point log_terms[] = {
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x2aaaaaaaaaaaaaaa), UINT64_C(0xaaaaaaaaaaaaaaaa)},
    {UINT64_C(0x1999999999999999), UINT64_C(0x9999999999999999)},
    {UINT64_C(0x1249249249249249), UINT64_C(0x2492492492492492)},
    {UINT64_C(0x0e38e38e38e38e38), UINT64_C(0xe38e38e38e38e38e)},
    {UINT64_C(0x0ba2e8ba2e8ba2e8), UINT64_C(0xba2e8ba2e8ba2e8b)},
    {UINT64_C(0x09d89d89d89d89d8), UINT64_C(0x9d89d89d89d89d89)},
    {UINT64_C(0x0888888888888888), UINT64_C(0x8888888888888888)},
    {UINT64_C(0x0787878787878787), UINT64_C(0x8787878787878787)},
    {UINT64_C(0x06bca1af286bca1a), UINT64_C(0xf286bca1af286bca)},
    {UINT64_C(0x0618618618618618), UINT64_C(0x6186186186186186)},
    {UINT64_C(0x0590b21642c8590b), UINT64_C(0x21642c8590b21642)},
    {UINT64_C(0x051eb851eb851eb8), UINT64_C(0x51eb851eb851eb85)},
    {UINT64_C(0x04bda12f684bda12), UINT64_C(0xf684bda12f684bda)},
    {UINT64_C(0x0469ee58469ee584), UINT64_C(0x69ee58469ee58469)},
};
static const struct fixed_point sin_terms[] = {
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x1555555555555555), UINT64_C(0x5555555555555555)},
    {UINT64_C(0x0111111111111111), UINT64_C(0x1111111111111111)},
    {UINT64_C(0x0006806806806806), UINT64_C(0x8068068068068068)},
    {UINT64_C(0x0000171de3a556c7), UINT64_C(0x338faac1c88e5001)},
    {UINT64_C(0x00000035cc8acfea), UINT64_C(0x89c71fce8fc9706f)},
    {UINT64_C(0x000000005849184e), UINT64_C(0xa1b425f28e0cc748)},
    {UINT64_C(0x00000000006b9fcf), UINT64_C(0x9ccee07c476195ac)},
    {UINT64_C(0x000000000000654b), UINT64_C(0x1dc0c2b529ac9814)},
    {UINT64_C(0x000000000000004b), UINT64_C(0xd26d1a05055c9328)},
    {UINT64_C(0x0000000000000000), UINT64_C(0x2e371dedb9eae317)},
};
static const struct fixed_point cos_terms[] = {
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x4000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x0555555555555555), UINT64_C(0x5555555555555555)},
    {UINT64_C(0x002d82d82d82d82d), UINT64_C(0x82d82d82d82d82d8)},
    {UINT64_C(0x0000d00d00d00d00), UINT64_C(0xd00d00d00d00d00d)},
    {UINT64_C(0x0000024fc9f6ef13), UINT64_C(0xeb8e5de02da7d4cc)},
    {UINT64_C(0x000000047bb63bfe), UINT64_C(0x3625ed5136a61eb3)},
    {UINT64_C(0x00000000064e5d2a), UINT64_C(0x301f27482eb7c517)},
    {UINT64_C(0x000000000006b9fc), UINT64_C(0xf9ccee07c476195a)},
    {UINT64_C(0x00000000000005a0), UINT64_C(0x9e18ee5f65deec01)},
    {UINT64_C(0x0000000000000003), UINT64_C(0xca8574804044a0f5)},
    {UINT64_C(0x0000000000000000), UINT64_C(0x0219c72db6ff0a52)},
};
static const struct fixed_point log_2 = {UINT64_C(0x58b90bfbe8e7bcd5), UINT64_C(0xe4f1d9cc01f97b57)} , quarter_pi = {UINT64_C(0x6487ed5110b4611a), UINT64_C(0x62633145c06e0e68)} ;
/* clang-format on */

static struct fixed_point add_fixed(struct fixed_point a, struct fixed_point b)
{
    const unsigned carry = dti_wide_add(&a.low, b.low, 0);
    (void)dti_wide_add(&a.high, b.high, carry);
    return a;
}

static struct fixed_point subtract(struct fixed_point a, struct fixed_point b)
{
    const unsigned borrow = dti_wide_sub(&a.low, b.low, 0);
    (void)dti_wide_sub(&a.high, b.high, borrow);
    return a;
}

/* The product without that of the low halves: off by a unit or two in the last place. */
static struct fixed_point multiply(struct fixed_point a, struct fixed_point b)
{
    uint64_t high, middle, ignored;
    (void)dti_wide_mul_add(a.high, b.low, 0, 0, &middle);
    (void)dti_wide_mul_add(a.low, b.high, 0, 0, &ignored);
    uint64_t low = dti_wide_mul_add(a.high, b.high, middle, ignored, &high);
    return (struct fixed_point){.high = high << 1 | low >> 63, .low = low << 1};
}

/* The sum of terms[k] square^k; every second term is subtracted if `alternates`. */
static struct fixed_point series(const struct fixed_point *terms, size_t count,
                                 struct fixed_point square, bool alternates)
{
    struct fixed_point sum = terms[count - 1];
    for (size_t k = count - 1; k-- > 0;) {
        const struct fixed_point rest = multiply(sum, square);
        sum = alternates ? subtract(terms[k], rest) : add_fixed(terms[k], rest);
    }
    return sum;
}

/* The leading 64 bits, times 2^exponent. */
static void to_value(struct dti_value *ret, bool negative, struct fixed_point x, int64_t exponent)
{
    if (x.high == 0) {
        dti_value_set(ret, negative, x.low, exponent - 127);
        return;
    }
    const unsigned shift = dti_leading_zeros(x.high);
    const uint64_t top = shift ? x.high << shift | x.low >> (64 - shift) : x.high;
    dti_value_set(ret, negative, top, exponent - 63 - shift);
}

/* floor(sqrt(high:low)), where one of the two top bits is set: Newton's iteration from an upper
 * bound, (1 + x)/2 for sqrt(x). 64 bits are enough here, which makes it faster than
 * dti_value_sqrt(). */
static uint64_t root(uint64_t high, uint64_t low)
{
    uint64_t x = high / 2 + (UINT64_C(1) << 63), rest;
    while (high < x) {
        const uint64_t quotient = dti_wide_div(high, low, x, &rest);
        if (quotient >= x)
            break;
        x = quotient + (x - quotient) / 2;
    }
    return x;
}

/* sqrt(-2 ln(u / 2^BITS)), 1 <= u <= 2^BITS. */
static void radius(struct dti_value *ret, uint64_t u)
{
    const uint64_t root_of_2 = UINT64_C(0xB504F333); /* sqrt(2) 2^31 */
    const uint64_t one = UINT64_C(1) << BITS;
    const unsigned shift = dti_leading_zeros(u) - (63 - BITS); /* u 2^shift is in [1, 2) 2^BITS */
    const uint64_t f = u << shift;
    const bool halves = f >> (BITS - 31) > root_of_2; /* f/2 < 1 is closer to 1 */
    const uint64_t base = halves ? 2 * one : one;
    const uint64_t num = halves ? base - f : f - base, den = f + base;
    uint64_t rest;
    struct fixed_point s = {.high = dti_wide_div(num, 0, den, &rest)};
    s.low = dti_wide_div(rest, 0, den, &rest);
    s = (struct fixed_point){.high = s.high >> 1, .low = s.low >> 1 | s.high << 63};
    const size_t terms = sizeof log_terms / sizeof log_terms[0];
    struct fixed_point part = multiply(s, series(log_terms, terms, multiply(s, s), false));
    /* -ln(u) is the shift times ln(2), minus ln(f); all terms are scaled by 2^-6, and ln(f) = 2
     * part. If f is halved there was a shift, because u is at most 1. */
    part = (struct fixed_point){.high = part.high >> 5, .low = part.low >> 5 | part.high << 59};
    struct fixed_point sum = {.high = log_2.high >> 6, .low = log_2.low >> 6 | log_2.high << 58};
    const uint64_t twos = halves ? shift - 1 : shift;
    uint64_t carry;
    sum.low = dti_wide_mul_add(sum.low, twos, 0, 0, &carry);
    sum.high = sum.high * twos + carry;
    sum = halves ? add_fixed(sum, part) : subtract(sum, part);
    struct dti_value twice;
    to_value(&twice, false, sum, 7);
    if (twice.kind == DTI_CLASS_ZERO) {
        *ret = twice;
        return;
    }
    const bool odd = twice.exponent & 1;
    dti_value_set(ret, false, root(odd ? twice.hi : twice.hi >> 1, odd ? 0 : twice.hi << 63),
                  (twice.exponent - odd) / 2 - 63);
}

/* cos(2 pi v / 2^BITS), v < 2^BITS: in each octant, the cosine or sine of the distance to its
 * start or end. */
static void cosine(struct dti_value *ret, uint64_t v)
{
    const unsigned octant = (unsigned)(v >> OCTANT_BITS);
    const uint64_t inside = v & ((UINT64_C(1) << OCTANT_BITS) - 1);
    const uint64_t share = octant & 1 ? (UINT64_C(1) << OCTANT_BITS) - inside : inside;
    const bool is_sine = ((octant + 1) & 3) >= 2, negative = octant >= 2 && octant <= 5;
    const struct fixed_point t = {.high = share << (63 - OCTANT_BITS)};
    const struct fixed_point x = multiply(t, quarter_pi), square = multiply(x, x);
    struct fixed_point result;
    if (is_sine)
        result =
            multiply(x, series(sin_terms, sizeof sin_terms / sizeof sin_terms[0], square, true));
    else
        result = series(cos_terms, sizeof cos_terms / sizeof cos_terms[0], square, true);
    to_value(ret, negative, result, 0);
}

/* Streams separate from those of roundings, which count up from 0. */
static const uint32_t first_stream = UINT32_C(0x80000000);

uint32_t dti_generate_stream(size_t generator)
{
    return first_stream + (uint32_t)generator;
}

uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index)
{
    const uint32_t stream = dti_generate_stream(generator);
    return (uint64_t)dti_random_bits(seed, stream, 2 * index) << 32 |
           dti_random_bits(seed, stream, 2 * index + 1);
}

void dti_generate_normal(struct dti_value *ret, uint64_t seed, size_t generator, uint64_t index)
{
    const uint64_t mask = (UINT64_C(1) << BITS) - 1, quarter = UINT64_C(1) << (BITS - 2);
    const uint64_t pair = index / 2;
    const uint64_t u = dti_generate_bits(seed, generator, 2 * pair) >> (64 - BITS);
    const uint64_t v = dti_generate_bits(seed, generator, 2 * pair + 1) >> (64 - BITS);
    struct dti_value r, c;
    radius(&r, u + 1);
    cosine(&c, index % 2 == 0 ? v : (v - quarter) & mask); /* sin(x) is cos(x - pi/2) */
    (void)dti_value_multiply(ret, &r, &c);
}
