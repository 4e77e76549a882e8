/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver: its functions and error messages. */
#ifndef DEVICES_GPU_CUDA_DRIVER_H
#define DEVICES_GPU_CUDA_DRIVER_H

#include <stdbool.h>

#include "devices/device.h"
#include "devices/gpu/cuda_types.h"
#include "util/error.h"

struct dti_cuda {
#define CUDA_SYMBOL(need, name, parameters) CUresult(*name) parameters;
#include "devices/gpu/cuda_symbols.def"
#undef CUDA_SYMBOL
    unsigned version;  /* supported by the driver: 13020 is CUDA 13.2 */
    unsigned devices;  /* number of devices */
    char library[320]; /* safe for a terminal */
};

/* Loads and initializes the driver once per process; retries after a failure. May hang: call it
 * from a service (gpu_service.h). Fails with DTI_UNAVAILABLE; *ret_version is then the version
 * found, or 0. */
enum dti_status dti_cuda_load(const struct dti_cuda **ret, unsigned *ret_version,
                              struct dti_error *reterr);

/* A failed driver call. */
struct dti_cuda_failure {
    CUresult code;        /* CUDA_SUCCESS: no failure */
    const char *function; /* "cuMemAlloc_v2" */
    char name[48];        /* "illegal address"; empty if the driver has no name for it */
};

/* Records the first failure; returns whether this call failed. */
bool dti_cuda_failed(const struct dti_cuda *cuda, struct dti_cuda_failure *failure,
                     const char *function, CUresult code);
#define DTI_CUDA_FAILED(cuda, failure, function, ...) \
    dti_cuda_failed(cuda, failure, #function, (cuda)->function(__VA_ARGS__))

/* Whether the error makes its context unusable. */
bool dti_cuda_ends_context(CUresult code);

/* "cuMemAlloc_v2: CUDA error 700 (illegal address)". Returns buffer. */
enum { DTI_CUDA_WORDS_SIZE = 128 };
const char *dti_cuda_words(char buffer[DTI_CUDA_WORDS_SIZE],
                           const struct dti_cuda_failure *failure);

/* Queries the facts about device `number`, which must exist. */
void dti_cuda_facts(const struct dti_cuda *cuda, CUdevice device, unsigned number,
                    struct dti_gpu_facts *ret);

#endif
