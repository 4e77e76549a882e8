/* SPDX-License-Identifier: MIT
 *
 * What the measurements of exp(sin x) and of dot products share on the CPU: two operands for each
 * dtype, the machine's limits for as many bytes, and the peak of its arithmetic. */
#ifndef DTINFO_BENCH_MATH_BENCH_H
#define DTINFO_BENCH_MATH_BENCH_H

#include <stdatomic.h>

#include "dtinfo/bench_table.h"
#include "dtinfo/dot.h"
#include "dtinfo/expsin.h"

/* POOL elements are made, and repeated. */
enum { DTI_MATH_DTYPES_MAX = 5, DTI_MATH_ROWS_MAX = 8, DTI_MATH_POOL = 1 << 17 };

struct dti_math_bench;

/* The operands of a dtype, n elements each. */
struct dti_math_data {
    enum dti_dtype dtype;
    size_t width; /* bytes of an element */
    uint64_t bytes;
    struct dti_bench_memory *memory;
    bool source; /* not measured: the numbers that others are quantized from */
};

/* A kernel that is measured: of one kind or of the other. */
struct dti_math_row {
    struct dti_math_bench *bench;
    const struct dti_expsin_kernel *expsin;
    const struct dti_dot_kernel *dot;
    const struct dti_math_data *data;
    size_t item;
    double *sums; /* dot: of each member, DTI_MATH_STRIDE from each other */
};
enum { DTI_MATH_STRIDE = 8 };

/* As many multiply-adds as keep a core busy. */
struct dti_math_peak {
    double (*run)(uint64_t count);
    uint64_t count;
    _Atomic double sink; /* so that nothing is left out */
};

struct dti_math_bench {
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    const struct dti_math_work *work;
    struct dti_bench_candidate candidates[DTI_BENCH_ITEMS_MAX];
    struct dti_math_data data[DTI_MATH_DTYPES_MAX];
    size_t data_count;
    struct dti_math_row rows[DTI_MATH_ROWS_MAX];
    size_t row_count;
    struct dti_bench_limit limits[DTI_MATH_DTYPES_MAX][DTI_BENCH_LIMITS_MAX];
    struct dti_math_peak peaks[3];
    atomic_bool failed; /* memory ran out in a pass */
};

/* Whether there is memory for it: the `check` of both. */
enum dti_status dti_math_check(const struct dti_bench_request *request, size_t threads,
                               struct dti_error *reterr);

/* Makes a pool of DTI_MATH_POOL elements of a dtype, of which the first n are used: all of them, or
 * as many as operands have. */
typedef void dti_math_pool_fn(void *pool, enum dti_dtype dtype, size_t n, uint64_t seed);
size_t dti_math_pool_used(const struct dti_bench_request *request);
/* Takes the operands of all dtypes (and of fp32, where one of them is quantized) and fills both
 * with the pool. dti_math_close() afterwards in any case. */
enum dti_status dti_math_open(struct dti_math_bench *bench, struct dti_team *team,
                              struct dti_error *reterr);
void dti_math_close(struct dti_math_bench *bench);

/* Adds a row as candidate and item; NULL when there is no more room. */
struct dti_bench_item *dti_math_add_row(struct dti_math_bench *bench,
                                        const struct dti_math_data *data, const char *kernel,
                                        const char *arithmetic, dti_bench_fn *run);
/* Adds what memory and arithmetic can do at all. */
void dti_math_add_limits(struct dti_math_bench *bench, struct dti_team *team);
/* After measuring: each row beside the limit that it comes nearest to. */
void dti_math_set_beside(struct dti_math_bench *bench);

/* The whole of a measurement, on request->gpu if there is one. */
struct dti_math_work {
    const char *role;  /* of its rows */
    const char *limit; /* of memory: "copy" or "read" */
    enum dti_gpu_kernel kernel;
    dti_math_pool_fn *make_pool;
    /* On the CPU: fills bench->table. */
    enum dti_status (*measure)(struct dti_math_bench *bench, struct dti_team *team,
                               struct dti_error *reterr);
};
enum dti_status dti_math_run(struct dti_bench_table *ret, const struct dti_math_work *work,
                             const struct dti_bench_request *request, struct dti_team *team,
                             struct dti_error *reterr);

#endif
