/* SPDX-License-Identifier: MIT
 *
 * Quotients that give the codes of true division, without a division. With r = 1 / s, rounded, a
 * product and two fused operations give
 *
 *   p = x r    e = x - p s    q = p + e r, each rounded once
 *
 * q is not always Q, the rounded x / s. But codes change only at limits h = H 2^i with an odd H of
 * at most 10 bits (halves between integers below 512, midpoints of small floats), at most 2^60 and
 * at least 2^-40 in magnitude. There q and Q give the same code unless the last bits of s are next
 * to zeros. For, let u be the last place of Q, s = B 2^i and x = A 2^j with significands of 24
 * bits, and s so far from the ends of the exponents that nothing underflows near a limit:
 *
 * - p is within 2 u of x / s: r and p have relative errors of 2^-24, and x / s is below 2^24 u.
 *   e and r have such errors too, so q is the rounding of a y within 2^-22 u of x / s.
 * - If the codes differ, a limit h is between q and Q or one of them. It is an fp32 number with an
 *   even significand. So the midpoint m of h and a neighbour is between y and x / s or one of them,
 *   and x / s is within 2^-22 u of it: m 2^k = M = H 2^T +- 1, of 25 bits, T >= 15.
 * - |x / s - m| = |D| / (2 B) u with the integer D = A 2^n - M B, n > 22; so |D| <= 8. But D is B
 *   or -B modulo 2^15. For a multiple B of 2^15 that leaves D = 0, A 2^n = M B, impossible for an
 *   odd M of 25 bits; otherwise the last 15 bits of B are those of a number from -8 to 8. */
#ifndef KERNELS_X86_QUANT_QUANT_REFINED_H
#define KERNELS_X86_QUANT_QUANT_REFINED_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
/* Whether refined quotients by these divisors give the codes of true division; zeros may be among
 * them. */
DTI_INLINE bool may_refine(floats by)
{
    const uint32_t least = 0x21800000, most = 0x5d800000;     /* 2^-60, 2^60 */
    const vector bits = as_bits(by), last = lanes_of(0x7fff); /* 15 bits */
    const vector near = VECTOR_WHOLE(and)(VECTOR_BITS(add_epi32)(bits, lanes_of(8)), last);
    const unsigned next_to_zeros =
        numbers_that_differ(VECTOR_BITS(max_epu32)(near, lanes_of(17)), near);
    const unsigned zeros =
        ~numbers_that_differ(VECTOR_WHOLE(and)(bits, last), VECTOR_WHOLE(setzero)());
    return (next_to_zeros & ~zeros) == 0 && all_ordinary(bits, least, most);
}

/* q, which is +0 if x is -0 and else has its sign, and may be a NaN where x / by overflows or x is
 * not finite.
 * inverse: 1 / by, rounded to nearest. */
DTI_INLINE floats refined_quotient(floats x, floats by, floats inverse)
{
    const floats near = VECTOR_BITS(mul_ps)(x, inverse);
    const floats rest = VECTOR_BITS(fnmadd_ps)(near, by, x);
    return VECTOR_BITS(fmadd_ps)(rest, inverse, near);
}

#endif

#endif
