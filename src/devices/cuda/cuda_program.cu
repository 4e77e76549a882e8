/* SPDX-License-Identifier: MIT
 *
 * The entries of the program: one a row of gpu_kernels.def, dti_gpu_<name>. */
#include "devices/cuda/cuda_bodies.h"

#define GPU_CAST(id, name, ...) GPU_OTHER(id, name, dti_gpu_cast_args)
#define GPU_OTHER(id, name, type)                                               \
    extern "C" __global__ void dti_gpu_##name(const struct type args);          \
    extern "C" __global__ void dti_gpu_##name(const struct type args)           \
    {                                                                           \
        const struct dti_thread thread = dti_thread_here();                     \
        dti_body_##name(&args, &thread);                                        \
    }
#include "devices/gpu/gpu_kernels.def"
