/* SPDX-License-Identifier: MIT
 *
 * Shared by measurements of casts on the CPU and on a device. */
#ifndef DTINFO_BENCH_CAST_PARTS_H
#define DTINFO_BENCH_CAST_PARTS_H

#include "bench/measure/frame.h"
#include "dtinfo/resident.h"

/* The number of elements in the requested bytes. */
struct dti_cast_sizes {
    size_t elements, src_bytes, dst_bytes;
};
enum dti_status dti_cast_sizes_find(struct dti_cast_sizes *ret,
                                    const struct dti_bench_request *request,
                                    const struct dti_plan *plan, struct dti_error *reterr);
enum dti_status dti_cast_plan_new(struct dti_plan **ret, const struct dti_bench_cast *cast,
                                  enum dti_level level, struct dti_error *reterr);
/* Random elements, to be repeated; NULL when out of memory. free() it. */
unsigned char *dti_cast_pool_new(const struct dti_bench_request *request,
                                 const struct dti_plan *plan, size_t *ret_bytes);

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
extern const struct dti_bench_workload dti_cast_on_device;
/* Casts once more in both ways, and compares all of the results with the CPU's; DTI_BUG if they
 * differ. */
enum dti_status dti_bench_cast_device_verify(struct dti_frame *frame, struct dti_error *reterr);

#endif
