/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of at most 8 bits with AVX-512 VBMI and VNNI, to nearest even. */
#include "kernels/kernels.h"
#include "kernels/x86/cast/small_vector.h"

void dti_fp32_to_small_avx512vbmi(const struct dti_kernel_args *args, void *restrict dst,
                                  const void *restrict src, size_t n)
{
    struct small_encode c;
    small_init(args->encoder, &c);
    small_run(&c, dst, src, n, args->stream);
}
