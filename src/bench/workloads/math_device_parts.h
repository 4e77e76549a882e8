/* SPDX-License-Identifier: MIT
 *
 * What the measurements of computations on a device consist of. */
#ifndef DTINFO_BENCH_MATH_DEVICE_PARTS_H
#define DTINFO_BENCH_MATH_DEVICE_PARTS_H

#include "bench/measure/device_clock.h"
#include "bench/workloads/math_device.h"

/* Device code takes chunks of 16 bytes. */
enum { DTI_MATH_OPERANDS = 2, DTI_MATH_CHUNK = 16 };

struct dti_math_device;

/* A dtype's operands, and what is done with them. */
struct dti_math_device_data {
    struct dti_math_device *device;
    enum dti_dtype dtype;
    size_t width;
    uint64_t bytes, stride; /* of an operand; from one to the next */
    dti_gpu_address memory, sums;
    size_t sets;
    uint32_t parts;
    size_t item;
};

struct dti_math_device {
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    enum dti_gpu_kernel kernel;
    struct dti_device_clock clock;
    struct dti_math_device_data data[DTI_MATH_DTYPES_MAX];
    size_t data_count;
};

static inline bool dti_math_is_dot(const struct dti_math_device *device)
{
    return device->kernel == DTI_GPU_DOT;
}

static inline dti_gpu_address dti_math_operand_at(const struct dti_math_device_data *data,
                                                  size_t set, size_t operand)
{
    return data->memory + (set * DTI_MATH_OPERANDS + operand) * data->stride;
}

/* Queues one pass of the kernel that is measured; of a struct dti_math_device_data. */
enum dti_status dti_math_kernel_pass(void *data, size_t set, struct dti_error *reterr);
/* math_device_verify.c: computes once more and compares; sets the item's figures. DTI_BUG when they
 * are worse than promised. */
enum dti_status dti_math_device_verify(struct dti_math_device_data *data, struct dti_error *reterr);

#endif
