/* SPDX-License-Identifier: MIT
 *
 * The measurement of casts on a device, which its test makes without one. */
#ifndef BENCH_WORKLOADS_CAST_PARTS_H
#define BENCH_WORKLOADS_CAST_PARTS_H

#include "bench/measure/frame.h"
#include "convert/resident.h"

/* The number of elements in the requested bytes. */
struct dti_cast_sizes {
    size_t elements, src_bytes, dst_bytes;
};

/* The state on a device. */
struct dti_bench_cast_device {
    struct dti_frame frame;
    struct dti_plan *plan, *judge; /* on the device, and on the CPU alone */
    struct dti_resident *resident;
    dti_gpu_address there, back; /* memory for transfers */
    struct dti_cast_sizes sizes;
    size_t sets;
    unsigned char *src, *dst; /* pinned memory of the host */
    struct dti_bench_cast_way {
        struct dti_bench_cast_device *device;
        bool loss;
    } ways[2]; /* without its loss report and with it */
};
/* Casts once more in both ways, and compares all of the results with the CPU's; DTI_BUG if they
 * differ. */
enum dti_status dti_bench_cast_device_verify(struct dti_frame *frame, struct dti_error *reterr);

#endif
