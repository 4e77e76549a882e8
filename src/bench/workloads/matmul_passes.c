/* SPDX-License-Identifier: MIT
 *
 * Matrix products on the CPU: our own, those of other engines, and the limits that they have: the
 * most multiplications and additions that registers alone allow, and reading B. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads/matmul_parts.h"

enum {
    PEAK_COUNT = 168 * 1000, /* a multiple of all the sums that peaks have */
    GRAIN = 16,              /* of rows or columns that go to one member */
    MEMORY_BOUND = 64,       /* operations on a byte, below which reading may be the limit */
    POISON = 0xA5,
};

bool dti_matmuls_want(const struct dti_bench_request *request, const char *engine)
{
    return !request->engine || strcmp(request->engine, engine) == 0;
}

static unsigned char *operand(const struct dti_matmul_product *product, size_t set)
{
    return dti_bench_memory_at(product->memory, set, 0);
}

static void own_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_matmul_pass *const pass = context;
    const struct dti_matmul_product *const product = pass->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = operand(product, set);
    (void)size;
    dti_matmul_run(product->own, memory + matrices->c_at, memory + matrices->a_at, memory, member);
}

/* A member has some rows of C, or columns where those are more. */
static void engine_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_matmul_pass *const pass = context;
    const struct dti_matmul_product *const product = pass->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = operand(product, set);
    const bool by_rows = matrices->m >= matrices->n;
    size_t first, count;
    dti_bench_part(by_rows ? matrices->m : matrices->n, GRAIN, member, size, &first, &count);
    if (count == 0)
        return;
    const size_t row = by_rows ? first : 0, column = by_rows ? 0 : first;
    const struct dti_engine_product part = {
        .c = memory + matrices->c_at + (row * matrices->n + column) * matrices->result_element,
        .a = memory + matrices->a_at + row * matrices->k * matrices->element,
        .b = memory + column * matrices->element,
        .m = by_rows ? (int)count : (int)matrices->m,
        .n = by_rows ? (int)matrices->n : (int)count,
        .k = (int)matrices->k,
        .c_stride = (int)matrices->n,
        .a_stride = (int)matrices->k,
        .b_stride = (int)matrices->n,
    };
    if (!pass->engine->multiply(pass->engine, matrices->dtype, &part))
        atomic_store(&product->all->refused, true);
}

static void peak_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_matmul_pass *const pass = context;
    (void)set, (void)member, (void)size;
    (void)pass->product->kernel->peak(PEAK_COUNT);
}

static struct dti_bench_item *add(struct dti_matmul_product *product, const char *role,
                                  dti_bench_fn *run, const struct dti_engine *engine)
{
    struct dti_matmuls *const all = product->all;
    const size_t at = all->table->count;
    struct dti_bench_item *const item = dti_bench_add_item(all->table, role, "cpu");
    if (!item)
        return NULL;
    (void)snprintf(item->dtype, sizeof item->dtype, "%s",
                   dti_format_get(product->matrices.dtype)->name);
    (void)snprintf(item->engine, sizeof item->engine, "%s", engine ? engine->title : "dtinfo");
    all->passes[at] = (struct dti_matmul_pass){.product = product, .engine = engine};
    all->candidates[at] = (struct dti_bench_candidate){
        .run = run,
        .context = &all->passes[at],
        .sets = dti_bench_memory_sets(product->memory),
    };
    return item;
}

static void add_product(struct dti_matmul_product *product, const struct dti_engine *engine)
{
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_bench_item *const item =
        add(product, "matmul", engine ? engine_pass : own_pass, engine);
    if (!item)
        return;
    product->all->candidates[product->all->table->count - 1].subject = true;
    item->bytes_read = matrices->a_bytes + matrices->b_bytes;
    item->bytes_written = matrices->c_bytes;
    item->operations = 2 * (double)matrices->m * (double)matrices->n * (double)matrices->k;
    if (engine) {
        (void)snprintf(item->kernel, sizeof item->kernel, "%s%s%s",
                       engine->function(engine, matrices->dtype),
                       engine->processor[0] != '\0' ? " for " : "", engine->processor);
        return;
    }
    const struct dti_matmul_kernel *const kernel = product->kernel;
    (void)snprintf(item->kernel, sizeof item->kernel, "%s, %ux%u, %s", kernel->name, kernel->rows,
                   kernel->columns, kernel->instruction);
    (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s",
                   matrices->dtype == DTI_INT8   ? "int32, exact"
                   : matrices->dtype == DTI_BF16 ? "fp32 sums of exact products, subnormals as 0"
                   : matrices->dtype == DTI_FP64 ? "fp64, fused multiply-add"
                                                 : "fp32, fused multiply-add");
}

static void add_peak(struct dti_matmul_product *product)
{
    const struct dti_matmul_kernel *const kernel = product->kernel;
    struct dti_bench_item *const item = add(product, "peak", peak_pass, NULL);
    if (!item)
        return;
    item->limit = true;
    item->operations = (double)PEAK_COUNT * kernel->per_instruction * (double)product->all->threads;
    (void)snprintf(item->kernel, sizeof item->kernel, "%s, registers alone", kernel->instruction);
    product->peak = product->all->table->count - 1;
}

/* Reading B, where it may take longer than multiplying. */
static void add_reading(struct dti_matmul_product *product)
{
    struct dti_matmuls *const all = product->all;
    const struct dti_matrices *const matrices = &product->matrices;
    const double bytes = (double)matrices->a_bytes + (double)matrices->b_bytes;
    const double operations = 2 * (double)matrices->m * (double)matrices->n * (double)matrices->k;
    if (operations > MEMORY_BOUND * bytes)
        return;
    size_t count = all->table->count;
    product->first_limit = count;
    dti_bench_add_limits(all->table, all->candidates, &count, product->limits, product->memory, 1,
                         matrices->b_bytes, false, all->request->level);
    product->end_limit = count;
    for (size_t i = product->first_limit; i < count; i++)
        (void)snprintf(all->table->items[i].dtype, sizeof all->table->items[i].dtype, "%s",
                       dti_format_get(matrices->dtype)->name);
}

static bool fits_engines(const struct dti_matrices *matrices)
{
    return matrices->m <= INT_MAX && matrices->n <= INT_MAX && matrices->k <= INT_MAX;
}

void dti_matmul_add_passes(struct dti_matmul_product *product)
{
    const struct dti_matmuls *const all = product->all;
    if (product->own)
        add_product(product, NULL);
    for (size_t i = 0; i < all->engine_count && fits_engines(&product->matrices); i++) {
        if (all->engines[i].function(&all->engines[i], product->matrices.dtype))
            add_product(product, &all->engines[i]);
    }
    if (product->kernel)
        add_peak(product);
    add_reading(product);
}

struct once {
    struct dti_bench_candidate *candidate;
};

static void once_job(void *context, size_t member, size_t size)
{
    const struct once *const once = context;
    once->candidate->run(once->candidate->context, 0, member, size);
}

enum dti_status dti_matmuls_verify(struct dti_matmuls *all, struct dti_team *team,
                                   struct dti_error *reterr)
{
    for (size_t i = 0; i < all->table->count; i++) {
        struct dti_bench_item *const item = &all->table->items[i];
        if (item->limit || dti_quantizing_is(item))
            continue;
        const struct dti_matmul_pass *const pass = &all->passes[i];
        const struct dti_matrices *const matrices = &pass->product->matrices;
        unsigned char *const memory = operand(pass->product, 0);
        struct once once = {.candidate = &all->candidates[i]};
        struct dti_matmul_errors errors;
        memset(memory + matrices->c_at, POISON, (size_t)matrices->c_bytes);
        if (team)
            dti_team_run(team, once_job, &once);
        else
            once_job(&once, 0, 1);
        if (atomic_load(&all->refused))
            return dti_fail(reterr, DTI_UNAVAILABLE, "%s would not multiply %s matrices",
                            item->engine, item->dtype);
        dti_matrices_judge(&errors, matrices, memory, false, all->request->seed);
        if (errors.wrong)
            return dti_fail(reterr, pass->engine ? DTI_UNAVAILABLE : DTI_BUG,
                            "the product of %s matrices by %s is wrong at %llu,%llu", item->dtype,
                            item->engine, (unsigned long long)errors.row,
                            (unsigned long long)errors.column);
        item->has_sum = true;
        item->sum = errors.got;
        item->exact = errors.exact;
        item->error = errors.error;
        item->relative_error = errors.relative;
        dti_matmul_truth_compare(all->truth, item, matrices, memory);
    }
    return DTI_OK;
}
