/* SPDX-License-Identifier: MIT
 *
 * The measurement of copies to, from and on a CUDA device. */
#ifndef DTINFO_BENCH_COPY_DEVICE_H
#define DTINFO_BENCH_COPY_DEVICE_H

#include "bench/measure/device_clock.h"

/* Whether the device and the host have the memory. */
enum dti_status dti_copy_device_check(const struct dti_bench_request *request,
                                      struct dti_error *reterr);
enum dti_status dti_copy_device_run(struct dti_bench_table *ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr);

enum { DTI_COPY_OPERANDS = 2 };

struct dti_copy_device {
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    struct dti_device_clock clock; /* of the first stream */
    struct dti_gpu_stream *second;
    struct dti_gpu_event *other;
    dti_gpu_address memory;
    uint64_t stride; /* from an operand on the device to the next */
    size_t sets;
    unsigned char *pinned[DTI_COPY_OPERANDS];
    struct dti_bench_memory *pageable;
};

static inline dti_gpu_address dti_copy_device_at(const struct dti_copy_device *device, size_t set,
                                                 size_t operand)
{
    return device->memory + (set * DTI_COPY_OPERANDS + operand) * device->stride;
}

/* copy_device_passes.c: adds every way of moving data as a candidate. */
void dti_copy_device_add_passes(struct dti_copy_device *device);
/* Sends a pattern each way, and there and back; DTI_BUG when it comes back changed. */
enum dti_status dti_copy_device_verify(struct dti_copy_device *device, struct dti_error *reterr);
/* Notes: what the link to the device and its memory can carry at most. */
void dti_copy_device_note_limits(struct dti_copy_device *device);

#endif
