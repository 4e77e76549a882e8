/* SPDX-License-Identifier: MIT
 *
 * a b + c for lane functions: rounded once if the machine has an instruction for it that the
 * compiler may use, otherwise twice. */
#ifndef KERNELS_LANES_FUSED_H
#define KERNELS_LANES_FUSED_H

#include <math.h>

#include "kernels/lanes.h"

#ifndef DTI_LANE_FUSED
#if defined __CUDACC__ || defined __FMA__ || defined __ARM_FEATURE_FMA || \
    (defined FP_FAST_FMA && defined FP_FAST_FMAF)
#define DTI_LANE_FUSED 1
#else
#define DTI_LANE_FUSED 0
#endif
#endif

DTI_LANE float dti_lane_fma_f32(float a, float b, float c)
{
#if DTI_LANE_FUSED
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

DTI_LANE double dti_lane_fma_f64(double a, double b, double c)
{
#if DTI_LANE_FUSED
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

#endif
