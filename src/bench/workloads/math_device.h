/* SPDX-License-Identifier: MIT
 *
 * The measurements of exp(sin x) and of dot products on a device, and what both sides judge by. */
#ifndef DTINFO_BENCH_MATH_DEVICE_H
#define DTINFO_BENCH_MATH_DEVICE_H

#include "bench/workloads/math_bench.h"

/* Whether the operands have room on request->gpu. */
enum dti_status dti_math_device_check(const struct dti_bench_request *request,
                                      struct dti_error *reterr);
/* kernel: DTI_GPU_EXPSIN or DTI_GPU_DOT. Fills the table and verifies the results. */
enum dti_status dti_math_device_run(struct dti_bench_table *ret,
                                    const struct dti_bench_request *request,
                                    enum dti_gpu_kernel kernel, dti_math_pool_fn *make_pool,
                                    struct dti_error *reterr);

/* bench_expsin.c: whether this machine's C library computes in more precision than the dtype has;
 * the largest error of results, in units of their last place (NaN: one is none). */
bool dti_expsin_can_judge(enum dti_dtype dtype);
double dti_expsin_largest_error(enum dti_dtype dtype, const unsigned char *arguments,
                                const unsigned char *results, uint64_t n);
/* bench_dot.c: what a dot product came to, beside the exact one; what is worth a note. DTI_BUG when
 * the difference is more than rounding explains. */
enum dti_status dti_dot_judge(struct dti_bench_table *table, struct dti_bench_item *item,
                              enum dti_dtype dtype, double sum, double exact,
                              const struct dti_bench_request *request, struct dti_error *reterr);

#endif
