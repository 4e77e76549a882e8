/* SPDX-License-Identifier: MIT
 *
 * Shared declarations of check_device: comparisons of casts on a device with the same casts on the
 * CPU. */
#ifndef DTINFO_TESTS_GPU_CHECK_DEVICE_H
#define DTINFO_TESTS_GPU_CHECK_DEVICE_H

#include "../kernels/check.h"
#include "convert/resident.h"
#include "convert/runner.h"
#include "devices/gpu/gpu.h"

struct device_check {
    struct check check; /* its level is the highest available one */
    struct dti_runner *runner;
    struct dti_team *team; /* for the casts on the CPU */
    uint64_t plans, left;  /* casts compared; casts without a device kernel */
};

/* Runs one cast on the device and on the CPU, with and without its loss, and compares bytes and
 * losses. src holds n elements in the layout of the request. False on a difference. */
bool device_compare(struct device_check *gpu, const struct dti_request *request, const void *src,
                    size_t n, uint64_t index);

/* Every pair of formats, under some or all policies. Sources of up to 16 bits: all codes; wider
 * ones: the critical codes. */
bool device_check_pairs(struct device_check *gpu);
/* Packed and byte-swapped layouts, casts through other dtypes, odd lengths. */
bool device_check_layouts(struct device_check *gpu);
/* Every fp32 code for the main pairs, or a sample. */
bool device_check_all_fp32(struct device_check *gpu);
/* A thousand casts must not leak device memory. */
bool device_check_memory(struct device_check *gpu);

#endif
