/* SPDX-License-Identifier: MIT
 *
 * The measurement of casts on a device, shared with its test, which needs no device. */
#ifndef BENCH_WORKLOADS_CAST_PARTS_H
#define BENCH_WORKLOADS_CAST_PARTS_H

#include "bench/measure/frame.h"
#include "convert/resident.h"

/* The number of elements, and bytes, for the requested size. */
struct dti_cast_sizes {
    size_t elements, src_bytes, dst_bytes;
};

/* The state of a measurement on a device. */
struct dti_bench_cast_device {
    struct dti_frame frame;
    struct dti_plan *plan, *judge; /* for the device, and for the CPU as the reference */
    struct dti_resident *resident;
    dti_gpu_address there, back; /* device memory for transfers */
    struct dti_cast_sizes sizes;
    size_t sets;
    unsigned char *src, *dst; /* pinned host memory */
    struct dti_bench_cast_way {
        struct dti_bench_cast_device *device;
        bool loss;
    } ways[2]; /* without and with the loss report */
};
/* Repeats the cast in both ways and compares all results with the CPU's; DTI_BUG if they differ. */
enum dti_status dti_bench_cast_device_verify(struct dti_frame *frame, struct dti_error *reterr);

#endif
