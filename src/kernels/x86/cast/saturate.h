/* SPDX-License-Identifier: MIT
 *
 * Clamps fp32 numbers to the range of a narrower format before they are encoded. */
#ifndef KERNELS_X86_CAST_SATURATE_H
#define KERNELS_X86_CAST_SATURATE_H

#include <math.h>

#include "kernels/kernel.h"
#include "kernels/x86/vector.h"

struct saturation {
    vector_ps most, kept; /* infinities stay where their magnitude equals `kept` */
};

DTI_INLINE struct saturation saturation_init(const struct dti_kernel_args *args, float most)
{
    const bool finite = args->encoder->policy.overflow == DTI_OVERFLOW_SATURATE_FINITE;
    return (struct saturation){VECTOR_BITS(set1_ps)(most),
                               VECTOR_BITS(set1_ps)(finite ? INFINITY : NAN)};
}

/* NaNs stay, because both instructions return their second operand. */
DTI_INLINE vector_ps saturated(const struct saturation *c, vector_ps x)
{
    const vector_ps least = VECTOR_BITS(sub_ps)(VECTOR_BITS(setzero_ps)(), c->most);
    const vector_ps y = VECTOR_BITS(min_ps)(c->most, VECTOR_BITS(max_ps)(least, x));
    const vector size = VECTOR_WHOLE(and)((vector)x, VECTOR_BITS(set1_epi32)(INT32_MAX));
#ifdef __AVX512BW__
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask((__m512)size, c->kept, _CMP_EQ_OQ), x);
#else
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps((__m256)size, c->kept, _CMP_EQ_OQ));
#endif
}

#endif
