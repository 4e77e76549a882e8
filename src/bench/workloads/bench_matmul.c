/* SPDX-License-Identifier: MIT
 *
 * bench matmul: products of matrices, beside what the machine can multiply and add in registers
 * alone, or can read where that takes longer. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/arena.h"
#include "bench/workloads/matmul_parts.h"
#include "dtinfo/checked.h"

static enum dti_status check(const struct dti_bench_request *request, size_t threads,
                             struct dti_error *reterr)
{
    uint64_t all = 0;
    (void)threads;
    if (request->m == 0 || request->n == 0 || request->k == 0)
        return dti_fail(reterr, DTI_USAGE, "a product of matrices needs m, n and k above 0");
    if (request->gpu)
        return dti_matmuls_check_device(request, reterr);
    for (size_t i = 0; i < request->dtype_count; i++) {
        struct dti_matrices matrices;
        const char *why;
        if (!dti_matmul_find(request->dtypes[i], request->level, &why))
            continue;
        const enum dti_status status = dti_matrices_init(&matrices, request->dtypes[i], request->m,
                                                         request->n, request->k, reterr);
        if (status != DTI_OK)
            return status;
        const uint64_t needed[] = {matrices.bytes, dti_matmul_numbers_bytes(&matrices)};
        for (size_t part = 0; part < sizeof needed / sizeof *needed; part++) {
            uint64_t sets = 1, bytes;
            if (request->cache == DTI_BENCH_COLD && needed[part] > 0)
                sets = 2 * (uint64_t)dti_last_cache_bytes() / needed[part] + 1;
            if (!dti_mul_u64(sets, needed[part], &bytes) || !dti_add_u64(all, bytes, &all))
                all = UINT64_MAX;
        }
    }
    return dti_arena_check(all, reterr);
}

/* The engines that are there; a note for those that are not. */
static void open_engines(struct dti_matmuls *all)
{
    static enum dti_status (*const openers[DTI_MATMUL_ENGINES])(
        struct dti_engine *, struct dti_error *) = {dti_engine_onednn, dti_engine_openblas};
    static const char *const names[DTI_MATMUL_ENGINES] = {"onednn", "openblas"};
    for (size_t i = 0; i < DTI_MATMUL_ENGINES; i++) {
        struct dti_error error = {.text = ""};
        if (!dti_matmuls_want(all->request, names[i]))
            continue;
        if (openers[i](&all->engines[all->engine_count], &error) == DTI_OK)
            all->engine_count++;
        else
            dti_bench_add_note(all->table, "%s: %s", names[i], error.text);
    }
}

static bool engine_has(const struct dti_matmuls *all, enum dti_dtype dtype)
{
    for (size_t i = 0; i < all->engine_count; i++) {
        if (all->engines[i].function(&all->engines[i], dtype))
            return true;
    }
    return false;
}

/* The same matrices in all sets. */
static enum dti_status fill(struct dti_matmul_product *product, struct dti_error *reterr)
{
    unsigned char *const first = dti_bench_memory_at(product->memory, 0, 0);
    const enum dti_status status =
        dti_matrices_fill(&product->matrices, first, product->all->request->seed, reterr);
    for (size_t set = 1; set < dti_bench_memory_sets(product->memory) && status == DTI_OK; set++)
        memcpy(dti_bench_memory_at(product->memory, set, 0), first, (size_t)product->matrices.c_at);
    return status;
}

static enum dti_status add_dtype(struct dti_matmuls *all, enum dti_dtype dtype,
                                 struct dti_team *team, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = all->request;
    const char *why = "";
    const bool own = dti_matmuls_want(request, "dtinfo");
    const struct dti_matmul_kernel *const kernel = dti_matmul_find(dtype, request->level, &why);
    if ((!own || !kernel) && !engine_has(all, dtype)) {
        dti_bench_add_note(all->table, "%s: %s", dti_format_get(dtype)->name,
                           !own ? "this engine has no such product" : why);
        return DTI_OK;
    }
    if (own && !kernel)
        dti_bench_add_note(all->table, "%s: dtinfo: %s", dti_format_get(dtype)->name, why);
    struct dti_matmul_product *const product = &all->products[all->product_count++];
    *product = (struct dti_matmul_product){.all = all, .kernel = kernel, .peak = SIZE_MAX};
    enum dti_status status =
        dti_matrices_init(&product->matrices, dtype, request->m, request->n, request->k, reterr);
    if (status == DTI_OK)
        status = dti_bench_memory_new(&product->memory, 1, product->matrices.bytes, request->cache,
                                      team, reterr);
    if (status == DTI_OK)
        status = fill(product, reterr);
    if (status == DTI_OK && !all->truth)
        status = dti_matmul_truth_new(&all->truth, request->m, request->n, request->k,
                                      request->seed, reterr);
    if (status == DTI_OK && own && kernel)
        status = dti_matmul_new(&product->own, kernel, request->m, request->n, request->k,
                                all->threads, reterr);
    if (status == DTI_OK)
        dti_matmul_add_passes(product);
    return status == DTI_OK ? dti_matmul_add_quantizing(product, team, reterr) : status;
}

/* Of all products together. */
static void describe(const struct dti_matmuls *all)
{
    struct dti_bench_table *const table = all->table;
    struct dti_bench_table sum = {.in_cache = true};
    for (size_t i = 0; i < all->product_count; i++) {
        dti_bench_memory_describe(all->products[i].memory, table);
        sum.sets = table->sets > sum.sets ? table->sets : sum.sets;
        sum.memory += table->memory;
        sum.huge_page_bytes += table->huge_page_bytes;
        sum.in_cache = sum.in_cache && table->in_cache;
    }
    table->sets = sum.sets;
    table->memory = sum.memory;
    table->huge_page_bytes = sum.huge_page_bytes;
    table->in_cache = sum.in_cache && all->product_count > 0;
}

/* Seconds that a product takes by a limit; 0 when that is not known. */
static double least_seconds(const struct dti_bench_table *table, size_t product, size_t limit)
{
    const struct dti_bench_item *const own = &table->items[product], *other = &table->items[limit];
    struct dti_bench_figure time;
    dti_bench_time(&time, &table->bench, limit, dti_bench_main_place(&table->bench));
    if (time.samples == 0)
        return 0;
    return other->operations > 0
               ? time.median * own->operations / other->operations
               : time.median * (double)own->bytes_read / (double)other->bytes_read;
}

/* Beside the limit that asks for more time, reading at its best. */
static void set_beside(struct dti_matmuls *all)
{
    struct dti_bench_table *const table = all->table;
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_matmul_product *const product = all->passes[i].product;
        if (table->items[i].limit || dti_quantizing_is(&table->items[i]))
            continue;
        size_t reading = SIZE_MAX;
        double seconds = 0;
        for (size_t j = product->first_limit; j < product->end_limit; j++) {
            const double own = least_seconds(table, i, j);
            if (own > 0 && (reading == SIZE_MAX || own < seconds)) {
                reading = j;
                seconds = own;
            }
        }
        const bool multiplying =
            product->peak != SIZE_MAX && least_seconds(table, i, product->peak) >= seconds;
        table->items[i].beside = multiplying ? product->peak : reading;
    }
}

static enum dti_status measure(struct dti_matmuls *all, struct dti_team *team,
                               struct dti_error *reterr)
{
    const struct dti_bench_request *const request = all->request;
    enum dti_status status = DTI_OK;
    open_engines(all);
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        if (all->product_count < DTI_MATMUL_DTYPES)
            status = add_dtype(all, request->dtypes[i], team, reterr);
    }
    if (status != DTI_OK)
        return status;
    describe(all);
    if (request->with_alloc)
        dti_bench_add_note(all->table, "memory is taken before the clock starts");
    if (all->table->count == 0)
        return DTI_OK;
    status = dti_bench_run(&all->table->bench, all->candidates, all->table->count, team,
                           &request->options, reterr);
    for (size_t i = 0; i < all->product_count; i++) {
        if (all->products[i].numbers)
            status = dti_quantizing_status(&all->products[i].quantizing, status, reterr);
        if (status == DTI_OK)
            status = dti_matmul_verify_quantizing(&all->products[i], reterr);
    }
    if (status == DTI_OK)
        status = dti_matmuls_verify(all, team, reterr);
    if (status == DTI_OK)
        set_beside(all);
    return status;
}

static enum dti_status run(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr)
{
    if (request->gpu)
        return dti_matmuls_run_device(ret, request, reterr);
    struct dti_matmuls *const all = calloc(1, sizeof *all);
    if (!all)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    memset(ret, 0, sizeof *ret);
    all->request = request;
    all->table = ret;
    all->threads = team ? dti_team_size(team) : 1;
    atomic_init(&all->refused, false);
    const enum dti_status status = measure(all, team, reterr);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    for (size_t i = 0; i < all->product_count; i++) {
        dti_matmul_free(all->products[i].own);
        dti_quantizing_end(&all->products[i].quantizing);
        dti_bench_memory_free(all->products[i].numbers);
        dti_bench_memory_free(all->products[i].memory);
    }
    dti_matmul_truth_free(all->truth);
    for (size_t i = 0; i < all->engine_count; i++)
        dti_engine_close(&all->engines[i]);
    free(all);
    return status;
}

const struct dti_bench_kind dti_bench_kind_matmul = {
    .name = "matmul",
    .summary = "products of matrices, by every engine there is",
    .sizes = "1000,1x2048x1024,2048",
    .dtypes = "fp32,bf16,int8,fp64,fp16,tf32,fp8_e4m3fn",
    .size_is = DTI_BENCH_PRODUCT,
    .check = check,
    .run = run,
};
