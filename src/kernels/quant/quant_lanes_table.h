/* SPDX-License-Identifier: MIT
 *
 * Quotients to codes of the tables of nf4 and bnb_fp4, for the portable kernels: how many limits
 * are below says which code. Quotients of one block in fp32, or one exact quotient in fp64: of
 * 24-bit integers A / B, one that is not the limit, of 26 bits at most, differs from it by more
 * than 2^-50 of it, so that its rounding in fp64 is on the same side. */
#ifndef KERNELS_QUANT_QUANT_LANES_TABLE_H
#define KERNELS_QUANT_QUANT_LANES_TABLE_H

#include "kernels/quant/quant_lanes.h"

/* The midpoint of two neighbours of nf4's table, exact in fp64. */
DTI_LANE double dti_lane_nf4_middle(unsigned place)
{
    const double low = (double)dti_lane_f32(dti_nf4_table[place]);
    return (low + (double)dti_lane_f32(dti_nf4_table[place + 1])) / 2;
}

/* A quotient in fp32 is above a midpoint if it is above the largest fp32 number that is not. */
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

/* The limits are those of magnitudes; the sign is the highest bit of the code. */
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
