/* SPDX-License-Identifier: MIT
 *
 * The kernels of CUDA devices, compiled for the host, as rows that the parts of checkkern can
 * judge. */
#ifndef DTINFO_TESTS_KERNELS_CHECK_GPU_H
#define DTINFO_TESTS_KERNELS_CHECK_GPU_H

#include "check.h"
#include "devices/gpu/gpu_kernels.h"

/* The row as one of the CPU's; its function launches the kernel on the host, in grids of various
 * sizes. Good until the next call. For pairs args has what both operations need. */
const struct dti_kernel *gpu_as_kernel(enum dti_gpu_kernel kernel);
const struct dti_loss_kernel *gpu_as_loss_kernel(enum dti_gpu_kernel kernel);

/* False when it failed. */
bool check_gpu_pair(struct check *check, enum dti_gpu_kernel kernel);
bool check_gpu_losses(struct check *check); /* runs of many tiles */
bool check_gpu_math(struct check *check);
bool check_gpu_find(struct check *check); /* whatever a plan may ask has a row */
bool check_gpu_all(struct check *check);  /* all fp32 codes, the formats that matter most */
bool check_gpu_selftest(struct check *check);

#endif
