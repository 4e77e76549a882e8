/* SPDX-License-Identifier: MIT
 *
 * The measurement of a cast on a device: its candidates and what they share. */
#ifndef DTINFO_BENCH_CAST_DEVICE_H
#define DTINFO_BENCH_CAST_DEVICE_H

#include "bench/measure/device_clock.h"
#include "bench/workloads/cast_buffers.h"
#include "dtinfo/resident.h"

enum { DTI_DEVICE_ROWS = 6 };

struct dti_device_measurement {
    const struct dti_bench_cast *request;
    struct dti_gpu *gpu;
    struct dti_plan *plan, *judge; /* on the device, and on the CPU alone */
    struct dti_resident *resident;
    struct dti_gpu_stream *streams[2]; /* of the way there and back */
    struct dti_device_clock clock;     /* of what is in its memory */
    dti_gpu_address there, back;       /* memory for that way */
    size_t elements, src_bytes, dst_bytes, sets;
    unsigned char *src, *dst; /* pinned memory of the host */
};

struct dti_device_pass {
    struct dti_device_measurement *m;
    bool loss;
};

/* As `timed` of a candidate; context: a struct dti_device_pass. */
double dti_device_time_cast(void *context, size_t set, uint64_t passes);
double dti_device_time_copy(void *context, size_t set, uint64_t passes);
double dti_device_time_whole(void *context, size_t set, uint64_t passes);
double dti_device_time_link(void *context, size_t set, uint64_t passes);

/* Casts once more in both ways, and compares all of the results with the CPU's; DTI_BUG when they
 * differ. */
enum dti_status dti_device_verify(struct dti_device_measurement *m, struct dti_error *reterr);

/* Instead of the candidates on the CPU. */
enum dti_status dti_bench_cast_device(struct dti_bench_cast_result *result,
                                      const struct dti_bench_cast *request,
                                      struct dti_error *reterr);
enum dti_status dti_bench_cast_device_check(const struct dti_bench_cast *request,
                                            struct dti_error *reterr);

#endif
