/* SPDX-License-Identifier: MIT
 *
 * Converts quotients to codes of the nf4 and bnb_fp4 tables, for the portable kernels: the code
 * is determined by the number of limits below the quotient. Takes fp32 quotients of a block, or
 * one exact quotient in fp64. A quotient A / B of 24-bit integers that is not equal to a limit,
 * which has at most 26 bits, differs from it by more than 2^-50 of it, so rounding to fp64
 * leaves it on the same side. */
#ifndef KERNELS_QUANT_QUANT_LANES_TABLE_H
#define KERNELS_QUANT_QUANT_LANES_TABLE_H

#include "kernels/quant/quant_lanes.h"

/* The midpoint of two adjacent entries of nf4's table, exact in fp64. */
DTI_LANE double dti_lane_nf4_middle(unsigned place)
{
    const double low = (double)dti_lane_f32(dti_nf4_table[place]);
    return (low + (double)dti_lane_f32(dti_nf4_table[place + 1])) / 2;
}

/* An fp32 quotient is above a midpoint if it is above the largest fp32 number that is not above
 * it. */
DTI_LANE void dti_lane_nf4(unsigned char *codes, const float *q, size_t length)
{
    uint32_t above[DTI_BLOCK_LENGTH_MAX] = {0};
    for (unsigned k = 0; k < 15; k++) {
        const double middle = dti_lane_nf4_middle(k);
        const uint32_t bits = dti_lane_bits_f32((float)middle);
        const bool beyond = (double)dti_lane_f32(bits) > middle;
        const float limit = dti_lane_f32(bits - (beyond ? (middle > 0 ? 1U : ~0U) : 0U));
        for (size_t i = 0; i < DTI_BLOCK_LENGTH_MAX; i++)
            above[i] += q[i] > limit;
    }
    for (size_t i = 0; i < length; i++)
        codes[i] = (unsigned char)above[i];
}

DTI_LANE unsigned char dti_lane_nf4_of(double quotient)
{
    unsigned above = 0;
    for (unsigned k = 0; k < 15; k++)
        above += quotient > dti_lane_nf4_middle(k);
    return (unsigned char)above;
}

/* The limits apply to magnitudes; the sign is the highest bit of the code. */
DTI_LANE void dti_lane_bnb_fp4(unsigned char *codes, const float *q, size_t length)
{
    uint32_t above[DTI_BLOCK_LENGTH_MAX] = {0};
    for (unsigned k = 0; k < DTI_BNB_FP4_LIMITS; k++) {
        const uint32_t limit = dti_bnb_fp4_limits[k];
        for (size_t i = 0; i < DTI_BLOCK_LENGTH_MAX; i++)
            above[i] += dti_lane_magnitude_f32(q[i]) > limit;
    }
    for (size_t i = 0; i < length; i++)
        codes[i] = (unsigned char)(dti_bnb_fp4_order[above[i]] | (q[i] < 0 ? 8U : 0U));
}

DTI_LANE unsigned char dti_lane_bnb_fp4_of(double quotient)
{
    const double magnitude = quotient < 0 ? -quotient : quotient;
    unsigned above = 0;
    for (unsigned k = 0; k < DTI_BNB_FP4_LIMITS; k++)
        above += magnitude > (double)dti_lane_f32(dti_bnb_fp4_limits[k]);
    return (unsigned char)(dti_bnb_fp4_order[above] | (quotient < 0 ? 8U : 0U));
}

#endif
