/* SPDX-License-Identifier: MIT
 *
 * The CUDA kernels, compiled for the host, presented as kernel rows that checkkern can test. */
#ifndef DTINFO_TESTS_KERNELS_CHECK_GPU_H
#define DTINFO_TESTS_KERNELS_CHECK_GPU_H

#include "check.h"
#include "devices/gpu/gpu_kernels.h"

/* Presents a device kernel as a row of the CPU table. Its function launches the kernel on the host,
 * in grids of various sizes. Valid until the next call. For fused pairs, args holds the parameters
 * of both operations. */
const struct dti_kernel *gpu_as_kernel(enum dti_gpu_kernel kernel);
const struct dti_loss_kernel *gpu_as_loss_kernel(enum dti_gpu_kernel kernel);

/* False on failure. */
bool check_gpu_pair(struct check *check, enum dti_gpu_kernel kernel);
bool check_gpu_losses(struct check *check); /* runs of many tiles */
bool check_gpu_math(struct check *check);
bool check_gpu_find(struct check *check); /* every kernel that a plan can request has a row */
bool check_gpu_all(struct check *check);  /* all fp32 codes, into the most important formats */
bool check_gpu_selftest(struct check *check);

#endif
