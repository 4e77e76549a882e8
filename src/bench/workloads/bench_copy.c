/* SPDX-License-Identifier: MIT
 *
 * bench copy: how fast memory is copied, read, written and made. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/copy_device.h"
#include "bench/workloads/copy_passes.h"

enum { OPERANDS = 2 };

static enum dti_status check(const struct dti_bench_request *request, size_t threads,
                             struct dti_error *reterr)
{
    (void)threads;
    if (request->gpu)
        return dti_copy_device_check(request, reterr);
    /* the memory that is made comes on top */
    return dti_bench_memory_check(OPERANDS + 1, request->n, request->cache, reterr);
}

/* Everything is beside the fastest of its sort; making memory beside writing it. */
static void set_beside(struct dti_bench_table *table)
{
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < table->count; i++) {
        struct dti_bench_item *const item = &table->items[i];
        const char *const role = strcmp(item->role, "first touch") == 0 ? "write" : item->role;
        double least = 0;
        for (size_t j = 0; j < table->count; j++) {
            struct dti_bench_figure time;
            if (strcmp(table->items[j].role, role) != 0)
                continue;
            dti_bench_time(&time, &table->bench, j, place);
            if (time.samples > 0 && (item->beside == SIZE_MAX || time.median < least)) {
                item->beside = j;
                least = time.median;
            }
        }
    }
}

static enum dti_status measure(struct dti_copying *copying, struct dti_team *team,
                               struct dti_error *reterr)
{
    const struct dti_bench_request *const request = copying->request;
    struct dti_bench_table *const table = copying->table;
    enum dti_status status =
        dti_bench_memory_new(&copying->memory, OPERANDS, request->n, request->cache, team, reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_memory_describe(copying->memory, table);
    dti_copying_add_passes(copying, team ? dti_team_size(team) : 1);
    status = dti_bench_run(&table->bench, copying->candidates, table->count, team,
                           &request->options, reterr);
    if (status == DTI_OK)
        status = dti_copying_verify(copying, team, reterr);
    dti_bench_memory_free(copying->memory);
    return status;
}

static enum dti_status run_on_cpu(struct dti_bench_table *ret,
                                  const struct dti_bench_request *request, struct dti_team *team,
                                  struct dti_error *reterr)
{
    struct dti_copying *const copying = calloc(1, sizeof *copying);
    if (!copying)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    copying->request = request;
    copying->table = ret;
    atomic_init(&copying->failed, false);
    const enum dti_status status = measure(copying, team, reterr);
    free(copying);
    return status;
}

static enum dti_status run(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    const enum dti_status status = request->gpu ? dti_copy_device_run(ret, request, reterr)
                                                : run_on_cpu(ret, request, team, reterr);
    if (status == DTI_OK)
        set_beside(ret);
    else
        dti_bench_table_free(ret);
    return status;
}

const struct dti_bench_kind dti_bench_kind_copy = {
    .name = "copy",
    .summary = "copying, reading, writing and making memory",
    .sizes = "1MiB,64MiB,1GiB",
    .dtypes = "",
    .size_is = DTI_BENCH_BYTES,
    .check = check,
    .run = run,
};
