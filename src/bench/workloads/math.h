/* SPDX-License-Identifier: MIT
 *
 * Shared by the measurements of exp(sin x) and of dot products: two operands per dtype, the
 * memory limits for the same number of bytes, and the peak arithmetic rate. */
#ifndef BENCH_WORKLOADS_MATH_H
#define BENCH_WORKLOADS_MATH_H

#include "bench/measure/frame.h"
#include "bench/workloads/quantizing.h"
#include "kernels/math/dot.h"
#include "kernels/math/expsin.h"

/* POOL elements are generated and repeated. */
enum { DTI_MATH_DTYPES_MAX = 5, DTI_MATH_ROWS_MAX = 8, DTI_MATH_POOL = 1 << 17 };

/* Describes one of the two computations. */
struct dti_math_work {
    const char *role; /* role of its items */
    bool dot;         /* a dot product, limited by reading; otherwise by copying */
    enum dti_gpu_kernel kernel;
    /* Generates a pool of DTI_MATH_POOL elements of a dtype. Only the first n are used: all of
     * them, or as many as the operands have. */
    void (*make_pool)(void *pool, enum dti_dtype dtype, size_t n, uint64_t seed);
};
/* The contents of an operand (0, 1) of a request in a dtype: a pool to repeat, or all of a
 * file's data. The caller frees it. */
enum dti_status dti_math_operand(unsigned char **ret, size_t *ret_bytes,
                                 const struct dti_math_work *work,
                                 const struct dti_bench_request *request, enum dti_dtype dtype,
                                 size_t operand, struct dti_error *reterr);
float dti_math_scale(const struct dti_bench_operand *operand, enum dti_dtype dtype);
size_t dti_math_pool_used(const struct dti_bench_request *request);

/* The operands of a dtype, n elements each. */
struct dti_math_data {
    enum dti_dtype dtype;
    size_t width; /* bytes of an element */
    uint64_t bytes;
    struct dti_bench_memory memory;
    bool source; /* not measured: only the source of quantized operands */
};

/* One measured kernel. */
struct dti_math_row {
    struct dti_math *math;
    const struct dti_expsin_kernel *expsin;
    const struct dti_dot_kernel *dot;
    const struct dti_math_data *data;
    size_t item;
    double *sums; /* dot: one partial sum per member, DTI_MATH_STRIDE apart */
};
enum { DTI_MATH_STRIDE = 8 };

/* The state of either measurement on the CPU. */
struct dti_math {
    struct dti_frame frame;
    const struct dti_math_work *work;
    bool with_alloc; /* expsin: allocate the results in each pass */
    struct dti_math_data data[DTI_MATH_DTYPES_MAX];
    size_t data_count;
    struct dti_math_row rows[DTI_MATH_ROWS_MAX];
    size_t row_count;
    struct dti_quantizing quantizing; /* dot */
};

/* The `check` callback of both: is there enough memory? */
enum dti_status dti_math_check(const struct dti_bench_request *request, struct dti_error *reterr);
/* Allocates the operands of all dtypes (and of fp32 if one is quantized) and fills both with the
 * pool. */
enum dti_status dti_math_open(struct dti_math *math, const struct dti_math_work *work,
                              struct dti_error *reterr);
void dti_math_end(struct dti_frame *frame);
/* Adds a row; the caller sets its kernel. NULL if there is no more room. */
struct dti_math_row *dti_math_add_row(struct dti_math *math, const struct dti_math_data *data,
                                      const char *kernel, const char *arithmetic, double operations,
                                      dti_bench_fn *run);
/* Adds the memory and arithmetic limits. */
void dti_math_add_limits(struct dti_math *math);
/* After measuring: compares each row with the limit it comes closest to. */
void dti_math_set_limit(struct dti_math *math);

/* math_device.c: the same computations on a device; the workload's `own` selects one. */
extern const struct dti_bench_workload dti_expsin_on_device, dti_dot_on_device;
extern const struct dti_math_work dti_expsin_work, dti_dot_work;

/* bench_expsin.c: compares results with those of the C library in higher precision, if
 * available. DTI_BUG if the error exceeds a kernel's bound. where: "" or " on cuda:0". */
enum dti_status dti_expsin_judge(struct dti_bench_item *item, const struct dti_math_data *data,
                                 const struct dti_expsin_kernel *promise, const char *name,
                                 const char *where, const unsigned char *arguments,
                                 const unsigned char *results, struct dti_error *reterr);
/* bench_dot.c: compares the dot product of item `at` with the exact one and adds notes. DTI_BUG if
 * the difference exceeds the rounding error bound. */
enum dti_status dti_dot_judge(struct dti_frame *frame, size_t at, enum dti_dtype dtype, double sum,
                              double exact, struct dti_error *reterr);

#endif
