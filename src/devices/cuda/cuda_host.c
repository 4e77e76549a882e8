/* SPDX-License-Identifier: MIT
 *
 * The device code compiled for the host, for tests and the mock driver: runs the threads of a
 * grid one after the other. */
#include "devices/cuda/cuda_bodies.h"

#define GPU_CAST(id, name, ...) GPU_OTHER(id, name, dti_gpu_cast_args)
#define GPU_OTHER(id, name, type)                                             \
    static void run_##name(const void *args, const struct dti_thread *thread) \
    {                                                                         \
        dti_body_##name((const struct type *)args, thread);                   \
    }
#include "devices/gpu/gpu_kernels.def"
#undef GPU_CAST
#undef GPU_OTHER

void dti_gpu_host_run(enum dti_gpu_kernel kernel, const void *args, uint64_t size)
{
    typedef void run_fn(const void *args, const struct dti_thread *thread);
    static run_fn *const runs[DTI_GPU_KERNEL_COUNT] = {
#define GPU_CAST(id, name, ...)   [DTI_GPU_##id] = run_##name,
#define GPU_OTHER(id, name, type) [DTI_GPU_##id] = run_##name,
#include "devices/gpu/gpu_kernels.def"
#undef GPU_CAST
#undef GPU_OTHER
    };
    struct dti_thread thread = {.count = size, .block_size = 1};
    for (thread.index = 0; thread.index < size; thread.index++)
        runs[kernel](args, &thread);
}
