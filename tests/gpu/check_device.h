/* SPDX-License-Identifier: MIT
 *
 * What the parts of check_device share: casts on a device beside the same casts on the CPU. */
#ifndef DTINFO_TESTS_GPU_CHECK_DEVICE_H
#define DTINFO_TESTS_GPU_CHECK_DEVICE_H

#include "../kernels/check.h"
#include "convert/resident.h"
#include "convert/runner.h"
#include "devices/gpu/gpu.h"

struct device_check {
    struct check check; /* its level is the highest that is present */
    struct dti_runner *runner;
    struct dti_team *team; /* of the CPU's side */
    uint64_t plans, left;  /* casts compared; casts that the device has no kernel for */
};

/* One cast in both ways, with its loss and without: the same bytes, the same loss. src holds n
 * elements as the request says. False when something was wrong. */
bool device_compare(struct device_check *gpu, const struct dti_request *request, const void *src,
                    size_t n, uint64_t index);

/* Every pair of formats, under some or all policies: all codes of sources of up to 16 bits, what is
 * interesting in others. */
bool device_check_pairs(struct device_check *gpu);
/* Packed, swapped, through other dtypes on the way, at odd lengths. */
bool device_check_layouts(struct device_check *gpu);
/* Every fp32 there is, for the main pairs; or a sample of them. */
bool device_check_all_fp32(struct device_check *gpu);
/* A thousand casts leave the device's memory as it was. */
bool device_check_memory(struct device_check *gpu);

#endif
