/* SPDX-License-Identifier: MIT
 *
 * Reduction of arguments of any size, after Payne and Hanek: only x / pi modulo 2 matters, so
 * only the bits of 1/pi that contribute to it are multiplied.
 *
 *   |x| = m 2^e, m an integer of 53 bits
 *   1/pi = 0.|----- even multiples of pi ----|-- 128 bits: q --|-- too small --
 *                                           2^-e
 *   m q modulo 2^128 is x / pi modulo 2, times 2^127 */
#include "kernels/math/expsin_far.h"

#include "core/wide.h"
#include "kernels/fp64.h"
#include "kernels/math/lanes_expsin.h"

static const uint64_t inverse_pi[] = DTI_EXPSIN_INVERSE_PI;
enum { WORDS = sizeof inverse_pi / sizeof inverse_pi[0] };

static uint64_t word_at(int64_t word)
{
    return word >= 0 && word < WORDS ? inverse_pi[word] : 0;
}

/* 64 bits of 1/pi; the first has weight 2^-(first + 1). Bits before the point are zeros. */
static uint64_t bits_at(int64_t first)
{
    const int64_t word = (first + 64) / 64 - 1; /* rounds down: first >= -64 */
    const unsigned shift = (unsigned)(first - 64 * word);
    return shift ? word_at(word) << shift | word_at(word + 1) >> (64 - shift) : word_at(word);
}

double dti_expsin_far(double x)
{
    const uint64_t bits = dti_fp64_bits(x);
    const int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1075;
    const uint64_t m = (bits & dti_low_bits(52)) | UINT64_C(1) << 52;
    if (dti_lane_expsin_takes(x))
        return dti_lane_expsin_f64(x);
    if (!isfinite(x))
        return NAN;
    const uint64_t high = bits_at(exponent - 1), low = bits_at(exponent + 63); /* exponent > -53 */
    uint64_t turns;
    (void)dti_wide_mul_add(m, low, 0, 0, &turns);
    turns += m * high; /* x / pi modulo 2, times 2^63 */

    const uint64_t half = UINT64_C(1) << 62;
    const uint64_t odd = (turns + half) >> 63;
    const uint64_t rest = turns - (odd << 63); /* two's complement, at most 2^62 */
    const bool below = rest > half;
    const double r = (double)(below ? 0 - rest : rest) * 0x1p-63 * 0x1.921fb54442d18p+1;
    return dti_lane_expsin_reduced_f64(dti_lane_flip_f64(r, odd ^ below ^ bits >> 63));
}
