/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver: its functions and error messages. */
#ifndef DEVICES_GPU_CUDA_DRIVER_H
#define DEVICES_GPU_CUDA_DRIVER_H

#include <stdbool.h>

#include "devices/device.h"
#include "devices/gpu/cuda_types.h"
#include "dtinfo/error.h"

struct dti_cuda {
#define CUDA_SYMBOL(need, name, parameters) CUresult(*name) parameters;
#include "devices/gpu/cuda_symbols.def"
#undef CUDA_SYMBOL
    unsigned version;  /* that the driver is for: 13020 is CUDA 13.2 */
    unsigned devices;  /* how many there are */
    char library[320]; /* safe for a terminal */
};

/* Loads and initialises the driver once for the process; a failure is tried again. May hang: call
 * it from a service (gpu_service.h). Fails with DTI_UNAVAILABLE; *ret_version is the version that
 * was found then, or 0. */
enum dti_status dti_cuda_load(const struct dti_cuda **ret, unsigned *ret_version,
                              struct dti_error *reterr);

/* A call of the driver that failed. */
struct dti_cuda_failure {
    CUresult code;        /* CUDA_SUCCESS: none failed */
    const char *function; /* "cuMemAlloc_v2" */
    char name[48];        /* "illegal address"; empty when the driver has no name for it */
};

/* Keeps the first failure; whether this call was one. */
bool dti_cuda_failed(const struct dti_cuda *cuda, struct dti_cuda_failure *failure,
                     const char *function, CUresult code);
#define DTI_CUDA_FAILED(cuda, failure, function, ...) \
    dti_cuda_failed(cuda, failure, #function, (cuda)->function(__VA_ARGS__))

/* Whether nothing can be done any more in the context that reports this error. */
bool dti_cuda_ends_context(CUresult code);

/* "cuMemAlloc_v2: CUDA error 700 (illegal address)". Returns buffer. */
enum { DTI_CUDA_WORDS_SIZE = 128 };
const char *dti_cuda_words(char buffer[DTI_CUDA_WORDS_SIZE],
                           const struct dti_cuda_failure *failure);

/* What is known about device `number`, which is there. */
void dti_cuda_facts(const struct dti_cuda *cuda, CUdevice device, unsigned number,
                    struct dti_gpu_facts *ret);

#endif
