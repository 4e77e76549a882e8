/* SPDX-License-Identifier: MIT
 *
 * Matrix products on a CUDA device: what the measurement consists of. */
#ifndef DTINFO_BENCH_MATMUL_DEVICE_H
#define DTINFO_BENCH_MATMUL_DEVICE_H

#include "bench/engines/engine_cublaslt.h"
#include "bench/measure/device_clock.h"
#include "bench/workloads/matmul_parts.h"

enum { DTI_MATMUL_LARGE = 4096 };
#define DTI_MATMUL_WORKSPACE_BYTES (UINT64_C(32) << 20)

struct dti_matmul_device;

/* A product of a dtype and of a size, with its matrices in the device's memory. */
struct dti_matmul_planned {
    struct dti_matmul_device *device;
    struct dti_matrices matrices;
    struct dti_cublaslt_plan *plan;
    dti_gpu_address memory, copied; /* sets of matrices; what B is copied to, or 0 */
    dti_gpu_address scales;         /* of A and of B, or 0 */
    size_t sets;
    size_t peak, copy; /* items; SIZE_MAX */
};

struct dti_matmul_device {
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    struct dti_cublaslt *cublaslt;
    struct dti_device_clock clock;
    dti_gpu_address workspace;
    struct dti_matmul_planned products[2 * DTI_MATMUL_DTYPES]; /* and those of the limits */
    size_t count;
    struct dti_matmul_truth *truth;
    struct dti_matmul_planned *of_item[DTI_BENCH_ITEMS_MAX];
};

/* Whether the product is itself as large as those that are limits. */
bool dti_matmul_is_large(const struct dti_bench_request *request);
size_t dti_matmul_device_sets(const struct dti_bench_request *request,
                              const struct dti_matrices *matrices);
/* Plans a product, as it was asked for or a large one, and takes and fills its memory. Fails with
 * DTI_UNAVAILABLE when the engine has none such. */
enum dti_status dti_matmul_planned_new(struct dti_matmul_planned **ret,
                                       struct dti_matmul_device *device, enum dti_dtype dtype,
                                       bool large, struct dti_error *reterr);
void dti_matmul_planned_end(struct dti_matmul_planned *product);
/* Queues a struct dti_matmul_planned over the matrices number `set`. */
enum dti_status dti_matmul_planned_run(void *product, size_t set, struct dti_error *reterr);
/* Multiplies once more and judges what comes back; sets the item's figures. */
enum dti_status dti_matmul_planned_verify(struct dti_matmul_planned *product,
                                          struct dti_bench_item *item, struct dti_error *reterr);

#endif
