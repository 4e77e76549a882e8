/* SPDX-License-Identifier: MIT
 *
 * A plan's work on arrays that stay in its device's memory, for measurements: what the kernels cost
 * without copies to and from the device. */
#ifndef CONVERT_RESIDENT_H
#define CONVERT_RESIDENT_H

#include "convert/runner.h"
#include "devices/gpu/gpu.h"

struct dti_resident;

/* The device of a runner; NULL when it is the CPU. */
struct dti_gpu *dti_runner_gpu(const struct dti_runner *runner);

/* Whether the plan has a runner whose device does it; the functions below are for such plans. */
bool dti_resident_possible(const struct dti_plan *plan);

/* Bytes of the device's memory that `sets` sets of arrays of n elements take; UINT64_MAX when that
 * overflows. */
uint64_t dti_resident_bytes(const struct dti_plan *plan, size_t n, size_t sets, bool loss);
/* Whether the device counts what is lost. */
bool dti_resident_counts(const struct dti_plan *plan);

/* loss: there is room for counting it, too. The plan and its runner must live longer. Fails as
 * dti_gpu_alloc() does. */
enum dti_status dti_resident_new(struct dti_resident **ret, const struct dti_plan *plan, size_t n,
                                 size_t sets, bool loss, struct dti_error *reterr);
void dti_resident_free(struct dti_resident *resident); /* NULL is fine */
struct dti_gpu_stream *dti_resident_stream(const struct dti_resident *resident);

/* Queued in that stream: the source of a set from the host, the cast, its result to the host. */
enum dti_status dti_resident_put(struct dti_resident *resident, size_t set, const void *src,
                                 struct dti_error *reterr);
enum dti_status dti_resident_cast(struct dti_resident *resident, size_t set, bool loss,
                                  struct dti_error *reterr);
enum dti_status dti_resident_get(struct dti_resident *resident, size_t set, void *dst,
                                 struct dti_error *reterr);
/* A copy within the device of as many bytes, half of them read and half of them written, in
 * addition to the arrays of the set. */
enum dti_status dti_resident_copy(struct dti_resident *resident, size_t set,
                                  struct dti_error *reterr);
/* The byte is written over the set's result. */
enum dti_status dti_resident_poison(struct dti_resident *resident, size_t set, uint8_t byte,
                                    struct dti_error *reterr);

#endif
