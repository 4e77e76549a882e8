/* SPDX-License-Identifier: MIT
 *
 * Matrix products on the CPU: our own, those of other engines, and their limits: the peak of
 * multiplications and additions in registers, and reading B. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/matmul_parts.h"

enum {
    PEAK_COUNT = 168 * 1000, /* a multiple of the number of sums of every peak */
    GRAIN = 16,              /* of rows or columns that go to one member */
    MEMORY_BOUND = 64,
};

bool dti_matmul_wants(const struct dti_bench_request *request, const char *engine)
{
    return !request->engine || strcmp(request->engine, engine) == 0;
}

struct dti_bench_entry dti_matmul_entry(const struct dti_matrices *matrices)
{
    return (struct dti_bench_entry){.role = "matmul",
                                    .dtype = dti_format_get(matrices->dtype)->name,
                                    .bytes_read = matrices->a_bytes + matrices->b_bytes,
                                    .bytes_written = matrices->c_bytes,
                                    .operations = 2 * (double)matrices->m * (double)matrices->n *
                                                  (double)matrices->k};
}

bool dti_matmul_is_memory_bound(const struct dti_matrices *matrices)
{
    const double bytes = (double)matrices->a_bytes + (double)matrices->b_bytes;
    return dti_matmul_entry(matrices).operations <= MEMORY_BOUND * bytes;
}

void dti_matmul_set_beside(struct dti_bench_table *table, size_t at, size_t memory, size_t peak)
{
    table->items[at].beside =
        dti_bench_least_seconds(table, at, memory) > dti_bench_least_seconds(table, at, peak)
            ? memory
            : peak;
}

static void own_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_matmul_product *const product = ((struct dti_matmul_pass *)context)->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = dti_bench_memory_at(&product->memory, set, 0);
    (void)size;
    dti_matmul_run(product->own, memory + matrices->c_at, memory + matrices->a_at, memory, member);
}

/* A member has some rows of C, or columns if there are more columns. */
static void engine_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_matmul_pass *const pass = context;
    const struct dti_matmul_product *const product = pass->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = dti_bench_memory_at(&product->memory, set, 0);
    const bool by_rows = matrices->m >= matrices->n;
    const struct dti_share share =
        dti_share_of((size_t)(by_rows ? matrices->m : matrices->n), GRAIN, member, size);
    if (share.count == 0)
        return;
    const size_t row = by_rows ? share.first : 0, column = by_rows ? 0 : share.first;
    const struct dti_engine_product part = {
        .c = memory + matrices->c_at + (row * matrices->n + column) * matrices->result_element,
        .a = memory + matrices->a_at + row * matrices->k * matrices->element,
        .b = memory + column * matrices->element,
        .m = by_rows ? (int)share.count : (int)matrices->m,
        .n = by_rows ? (int)matrices->n : (int)share.count,
        .k = (int)matrices->k,
        .c_stride = (int)matrices->n,
        .a_stride = (int)matrices->k,
        .b_stride = (int)matrices->n,
    };
    if (!pass->engine->multiply(pass->engine, matrices->dtype, &part))
        atomic_store(&product->all->frame.failed, true);
}

static void add_product(struct dti_matmul_product *product, const struct dti_engine *engine)
{
    struct dti_matmuls *const all = product->all;
    const struct dti_matmul_kernel *const kernel = product->kernel;
    const enum dti_dtype dtype = product->matrices.dtype;
    const size_t at = all->frame.table->count;
    struct dti_bench_entry entry = dti_matmul_entry(&product->matrices);
    char title[DTI_BENCH_WORDS];
    if (engine) {
        (void)snprintf(title, sizeof title, "%s%s%s", dti_engine_function(engine, dtype),
                       engine->processor[0] != '\0' ? " for " : "", engine->processor);
    } else {
        (void)snprintf(title, sizeof title, "%s, %ux%u, %s", kernel->name, kernel->rows,
                       kernel->columns, kernel->instruction);
        entry.arithmetic = dtype == DTI_INT8   ? "int32, exact"
                           : dtype == DTI_BF16 ? "fp32 sums of exact products, subnormals as 0"
                           : dtype == DTI_FP16 ? "fp32 sums of exact products"
                           : dtype == DTI_FP64 ? "fp64, fused multiply-add"
                                               : "fp32, fused multiply-add";
    }
    entry.engine = engine ? engine->title : "dtinfo";
    entry.kernel = title;
    entry.run = engine ? engine_pass : own_pass;
    entry.context = &all->passes[at];
    entry.sets = product->memory.sets;
    if (dti_frame_add(&all->frame, &entry))
        all->passes[at] = (struct dti_matmul_pass){.product = product, .engine = engine};
}

static bool fits_engines(const struct dti_matrices *matrices)
{
    return matrices->m <= INT_MAX && matrices->n <= INT_MAX && matrices->k <= INT_MAX;
}

void dti_matmul_add_passes(struct dti_matmul_product *product)
{
    struct dti_matmuls *const all = product->all;
    const struct dti_matrices *const matrices = &product->matrices;
    const char *const name = dti_format_get(matrices->dtype)->name;
    if (product->own)
        add_product(product, NULL);
    for (size_t i = 0; i < all->engine_count && fits_engines(matrices); i++) {
        if (dti_engine_function(&all->engines[i], matrices->dtype))
            add_product(product, &all->engines[i]);
    }
    product->first_limit = all->frame.table->count;
    if (product->kernel &&
        dti_frame_add_peak(&all->frame, product->kernel, name, ", registers alone", PEAK_COUNT))
        product->peak = product->first_limit++;
    /* reading B, where it may take longer than multiplying */
    if (dti_matmul_is_memory_bound(matrices))
        dti_frame_add_limits(&all->frame, &product->memory, 1, matrices->b_bytes, false, name);
    product->end_limit = all->frame.table->count;
}
