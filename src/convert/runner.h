/* SPDX-License-Identifier: MIT
 *
 * Where plans run: on the CPU, or on a CUDA device with the CPU as fallback. A plan with a
 * runner passes its blocks to it; results and losses are identical. With `auto`, a device that
 * fails is abandoned, and the current and all later blocks are cast on the CPU; the device has
 * confirmed all earlier blocks. With `cuda` a failure is an error. */
#ifndef CONVERT_RUNNER_H
#define CONVERT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/plan.h"
#include "devices/device.h"

struct dti_runner; /* NULL: the CPU, in all functions below */

/* Opens a runner. *ret is NULL for the CPU. `auto` without a working device gives a runner on
 * the CPU with a reason. Fails for `cuda` as dti_gpu_open() does, and for `all`, which is not
 * for casts, with DTI_USAGE. */
enum dti_status dti_runner_open(struct dti_runner **ret, const struct dti_device_choice *choice,
                                struct dti_error *reterr);
void dti_runner_close(struct dti_runner *runner); /* after its plans and memory */

/* "cuda:0", or "cpu", also after the device was abandoned. */
const char *dti_runner_device(const struct dti_runner *runner);
/* Why it uses the CPU although a device was requested or used at first: "libcuda.so.1: not
 * found"; "cuda:0: cuStreamQuery: CUDA error 700 (illegal address); the rest was cast on the
 * CPU". Empty if there is no reason. Safe for a terminal. */
const char *dti_runner_reason(const struct dti_runner *runner);
/* The number of threads that should feed blocks, given `cpus` CPUs: reading, device work and
 * writing overlap. */
size_t dti_runner_threads(const struct dti_runner *runner, size_t cpus);

/* Host memory for blocks, pinned for direct device access if possible; on the CPU like
 * dti_malloc(). NULL if memory ran out. */
void *dti_runner_alloc(struct dti_runner *runner, size_t size);
void dti_runner_free(struct dti_runner *runner, void *memory);

/* Attaches the plan to a runner, before it runs. The plan does not own the runner and must be
 * freed before it is closed. *ret_why: NULL if the plan runs on the device, or why it stays on
 * the CPU ("no CUDA kernel for e15m48 to bf16"; valid as long as the plan and the runner). With
 * a `cuda` runner the latter fails with DTI_UNAVAILABLE. */
enum dti_status dti_plan_set_runner(struct dti_plan *plan, struct dti_runner *runner,
                                    const char **ret_why, struct dti_error *reterr);
struct dti_runner *dti_plan_runner(const struct dti_plan *plan);
/* Names of the kernels that a plan's runner launches, like dti_plan_describe(); without a
 * device, those of the plan. */
const char *dti_plan_describe_device(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE]);

#endif
