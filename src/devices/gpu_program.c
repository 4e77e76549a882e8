/* SPDX-License-Identifier: MIT
 *
 * The kernels as PTX, which the driver compiles for its device: one text for all, of the oldest
 * compute capability that the kernels need, in the oldest version of PTX that has it. */
#include "dtinfo/gpu_kernels.h"

#ifdef DTI_HAVE_PTX
#include "cuda_program.h" /* made by the build: cuda_text[], and what it needs */
static const char *const cuda_program = cuda_text;
#else
static const char *const cuda_program;
#define CUDA_PROGRAM_CAPABILITY 75
#define CUDA_PROGRAM_DRIVER     10000
#endif

const char *dti_gpu_program(unsigned major, unsigned minor, unsigned cuda_version,
                            const char **ret_why)
{
    const char *why = NULL;
    if (!cuda_program)
        why = "built without CUDA kernels; rebuild with clang or nvcc installed";
    else if (major == 0)
        why = "the driver does not report its compute capability";
    else if (major < CUDA_PROGRAM_CAPABILITY / 10 ||
             (major == CUDA_PROGRAM_CAPABILITY / 10 && minor < CUDA_PROGRAM_CAPABILITY % 10))
        why = "the kernels need compute capability 7.5 or later";
    else if (cuda_version < CUDA_PROGRAM_DRIVER)
        why = "the kernels need a driver of CUDA 10.0 or later";
    if (!why)
        return cuda_program;
    *ret_why = why;
    return NULL;
}
