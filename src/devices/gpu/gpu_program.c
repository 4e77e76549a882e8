/* SPDX-License-Identifier: MIT
 *
 * The kernels as PTX, which the driver compiles for its device: one text for all, of the oldest
 * compute capability that the kernels need, in the oldest version of PTX that has it. It is a
 * quarter of the program as text, so it is stored compressed and unpacked when a device asks. */
#include "devices/gpu/gpu_kernels.h"

#ifdef DTI_HAVE_PTX
#include <pthread.h>
#include <zlib.h>

#include "cuda_program.h" /* made by the build: cuda_packed[], and what it needs */

static char cuda_text[CUDA_PROGRAM_SIZE];
static bool cuda_unpacked;

static void unpack(void)
{
    uLongf size = sizeof cuda_text;
    cuda_unpacked = uncompress((Bytef *)cuda_text, &size, cuda_packed, sizeof cuda_packed) == Z_OK;
}

static const char *program_text(const char **ret_why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, unpack) == 0 && cuda_unpacked)
        return cuda_text;
    *ret_why = "no memory to unpack the kernels";
    return NULL;
}
#else
#define CUDA_PROGRAM_CAPABILITY 75
#define CUDA_PROGRAM_DRIVER     10000

static const char *program_text(const char **ret_why)
{
    *ret_why = "built without CUDA kernels; rebuild with clang or nvcc installed";
    return NULL;
}
#endif

/* NULL where this device and driver can run it. */
static const char *refusal(unsigned major, unsigned minor, unsigned cuda_version)
{
    if (major == 0)
        return "the driver does not report its compute capability";
    if (major < CUDA_PROGRAM_CAPABILITY / 10 ||
        (major == CUDA_PROGRAM_CAPABILITY / 10 && minor < CUDA_PROGRAM_CAPABILITY % 10))
        return "the kernels need compute capability 7.5 or later";
    return cuda_version < CUDA_PROGRAM_DRIVER ? "the kernels need a driver of CUDA 10.0 or later"
                                              : NULL;
}

const char *dti_gpu_program(unsigned major, unsigned minor, unsigned cuda_version,
                            const char **ret_why)
{
    const char *const text = program_text(ret_why);
    const char *const why = text ? refusal(major, minor, cuda_version) : NULL;
    if (why)
        *ret_why = why;
    return why ? NULL : text;
}
