/* SPDX-License-Identifier: MIT
 *
 * Where plans run: on the CPU, or on a CUDA device with the CPU as fallback. A plan that is given a
 * runner hands its blocks to it; results and losses are the same bytes. With `auto` a device that
 * fails is abandoned, and the current and all later blocks are cast on the CPU; what had been
 * finished before was confirmed by the device. With `cuda` a failure is an error. */
#ifndef CONVERT_RUNNER_H
#define CONVERT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/plan.h"
#include "devices/device.h"

struct dti_runner; /* NULL: the CPU, everywhere below */

/* *ret is NULL for the CPU. For `auto` without a working device it is a runner on the CPU that
 * knows why. Fails for `cuda` as dti_gpu_open() does. `all` is not for casts: DTI_USAGE. */
enum dti_status dti_runner_open(struct dti_runner **ret, const struct dti_device_choice *choice,
                                struct dti_error *reterr);
void dti_runner_close(struct dti_runner *runner); /* after its plans and its memory */

/* "cuda:0", or "cpu", also after the device was left. */
const char *dti_runner_device(const struct dti_runner *runner);
/* Why it is the CPU though a device was requested or used at first: "libcuda.so.1: not found";
 * "cuda:0: cuStreamQuery: CUDA error 700 (illegal address); the rest was cast on the CPU". Empty
 * when there is nothing to say. Safe for a terminal. */
const char *dti_runner_reason(const struct dti_runner *runner);
/* How many threads should bring blocks, for `cpus` CPUs: reading, the device's work and writing go
 * on at the same time. */
size_t dti_runner_threads(const struct dti_runner *runner, size_t cpus);

/* Blocks of host memory that the device reaches by itself; on the CPU as malloc() would. NULL when
 * memory ran out. */
void *dti_runner_alloc(struct dti_runner *runner, size_t size);
void dti_runner_free(struct dti_runner *runner, void *memory);

/* The plan's blocks go to the runner from now on (before any runs; the plan does not own it, and is
 * freed before it is closed). Whether it does that plan on the device: *ret_why is NULL, or why it
 * stays on the CPU ("no CUDA kernel for e15m48 to bf16"; as long as the plan or the runner lives).
 * A runner for `cuda` fails then, with DTI_UNAVAILABLE. */
enum dti_status dti_plan_set_runner(struct dti_plan *plan, struct dti_runner *runner,
                                    const char **ret_why, struct dti_error *reterr);
struct dti_runner *dti_plan_runner(const struct dti_plan *plan);
/* The kernels that a plan's runner launches, as dti_plan_describe(); that of the plan without. */
const char *dti_plan_describe_device(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE]);

#endif
