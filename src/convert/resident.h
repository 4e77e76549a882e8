/* SPDX-License-Identifier: MIT
 *
 * Runs a plan on arrays that stay in device memory, for benchmarks: measures kernels without
 * copies to and from the device. */
#ifndef CONVERT_RESIDENT_H
#define CONVERT_RESIDENT_H

#include "convert/runner.h"
#include "devices/gpu/gpu.h"

struct dti_resident;

/* The device of a runner; NULL if it is the CPU. */
struct dti_gpu *dti_runner_gpu(const struct dti_runner *runner);

/* Whether the plan runs on a device; the functions below require that. */
bool dti_resident_possible(const struct dti_plan *plan);

/* Bytes of device memory for `sets` sets of arrays of n elements; UINT64_MAX on overflow. */
uint64_t dti_resident_bytes(const struct dti_plan *plan, size_t n, size_t sets, bool loss);
/* Whether the device counts the loss. */
bool dti_resident_counts(const struct dti_plan *plan);

/* loss: reserves memory to count it, too. The plan and its runner must outlive it. Fails as
 * dti_gpu_alloc() does. */
enum dti_status dti_resident_new(struct dti_resident **ret, const struct dti_plan *plan, size_t n,
                                 size_t sets, bool loss, struct dti_error *reterr);
void dti_resident_free(struct dti_resident *resident); /* NULL is fine */
struct dti_gpu_stream *dti_resident_stream(const struct dti_resident *resident);

/* Enqueue in that stream: upload a set's source, cast it, download its result. */
enum dti_status dti_resident_put(struct dti_resident *resident, size_t set, const void *src,
                                 struct dti_error *reterr);
enum dti_status dti_resident_cast(struct dti_resident *resident, size_t set, bool loss,
                                  struct dti_error *reterr);
enum dti_status dti_resident_get(struct dti_resident *resident, size_t set, void *dst,
                                 struct dti_error *reterr);
/* Enqueues a copy within the device, in memory next to the set's arrays: reads half as many
 * bytes as the arrays have, and writes as many. */
enum dti_status dti_resident_copy(struct dti_resident *resident, size_t set,
                                  struct dti_error *reterr);
/* Fills the set's result with the byte. */
enum dti_status dti_resident_poison(struct dti_resident *resident, size_t set, uint8_t byte,
                                    struct dti_error *reterr);

#endif
