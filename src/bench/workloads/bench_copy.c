/* SPDX-License-Identifier: MIT
 *
 * bench copy: the speed of copying, reading, writing and creating memory; creating means mapping it
 * and touching each page, which is when the system provides and clears it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include <string.h>
#include <sys/mman.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/copy_device.h"
#include "dtinfo/kernel.h"

enum { OPERANDS = 2, PAGE = 4096, POISON = 0x5A };
#define HUGE_PAGE ((size_t)2 << 20)

struct copying {
    struct dti_frame frame;
    struct dti_bench_memory memory; /* source and destination */
    struct making {
        struct dti_frame *frame;
        bool huge_pages;
    } makings[2];
};

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    /* the created memory is additional */
    return dti_bench_memory_check(dti_bench_alike(OPERANDS + 1, request->n, request->cache),
                                  reterr);
}

static void make_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct making *const making = context;
    struct dti_frame *const frame = making->frame;
    (void)set;
    const struct dti_share share = dti_share_of((size_t)frame->request->n, PAGE, member, size);
    if (share.count == 0)
        return;
    unsigned char *const mapping = mmap(NULL, share.count + HUGE_PAGE, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        atomic_store(&frame->failed, true);
        return;
    }
    const size_t over = (size_t)((uintptr_t)mapping % HUGE_PAGE);
    unsigned char *const data = mapping + (over > 0 ? HUGE_PAGE - over : 0);
#ifdef MADV_HUGEPAGE
    (void)madvise(data, share.count, making->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    for (size_t at = 0; at < share.count; at += PAGE)
        ((volatile unsigned char *)data)[at] = 1;
    (void)munmap(mapping, share.count + HUGE_PAGE);
}

static void add_making(struct copying *copying, bool huge_pages)
{
    struct making *const making = &copying->makings[huge_pages];
    *making = (struct making){&copying->frame, huge_pages};
    (void)dti_frame_add(&copying->frame, &(struct dti_bench_entry){
                                             .role = "first touch",
                                             .engine = huge_pages ? "huge pages" : "4 KiB pages",
                                             .kernel = "mapped, touched, unmapped",
                                             .bytes_written = copying->frame.request->n,
                                             .run = make_pass,
                                             .context = making,
                                             .sets = copying->memory.sets});
}

/* In their rows' order within each role. */
static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    static const char *const roles[] = {"copy", "read", "write"};
    struct copying *const copying = (struct copying *)frame;
    const struct dti_bench_request *const request = frame->request;
    const enum dti_status status = dti_bench_memory_new(
        &copying->memory, dti_bench_alike(OPERANDS, request->n, request->cache), frame->team,
        reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_memory_describe(&copying->memory, frame->table);
    for (int role = 0; role < 3; role++) {
        for (size_t i = 0; i < dti_copy_count; i++) {
            const struct dti_copy *const copy = &dti_copies[i];
            const int own = copy->exact                       ? 0
                            : copy->in == 1 && copy->out == 0 ? 1
                            : copy->in == 0 && copy->out == 1 ? 2
                                                              : 3;
            if (own == role && dti_copy_competes(copy, request->level))
                (void)dti_frame_add_moving(frame, copy, roles[role], false, &copying->memory, 0, 1,
                                           (size_t)request->n);
        }
    }
    add_making(copying, false);
#ifdef MADV_HUGEPAGE
    if (request->n / frame->threads >= HUGE_PAGE)
        add_making(copying, true);
#endif
    return DTI_OK;
}

void dti_copy_set_beside(struct dti_bench_table *table)
{
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < table->count; i++) {
        struct dti_bench_item *const item = &table->items[i];
        const char *const role = strcmp(item->role, "first touch") == 0 ? "write" : item->role;
        const size_t best = dti_bench_fastest(table, role, DTI_BENCH_ON_CPU, place);
        item->beside = best < table->count ? best : SIZE_MAX;
    }
}

void dti_copy_make_pattern(unsigned char *memory, size_t size, uint64_t seed)
{
    for (size_t at = 0; at < size; at += sizeof seed) {
        const uint64_t word = dti_splitmix(&seed);
        memcpy(memory + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

/* Copies once more and compares. */
static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    const struct copying *const copying = (const struct copying *)frame;
    const size_t bytes = (size_t)frame->request->n;
    unsigned char *const src = dti_bench_memory_at(&copying->memory, 0, 0);
    unsigned char *const dst = dti_bench_memory_at(&copying->memory, 0, 1);
    if (atomic_load(&frame->failed))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory during the measurement");
    dti_copy_make_pattern(src, bytes, frame->request->seed);
    for (size_t i = 0; i < frame->table->count; i++) {
        if (strcmp(frame->table->items[i].role, "copy") != 0)
            continue;
        memset(dst, POISON, bytes);
        dti_frame_again(frame, i);
        if (memcmp(src, dst, bytes) != 0)
            return dti_fail(reterr, DTI_BUG, "%s does not copy; please report it",
                            frame->table->items[i].kernel);
    }
    dti_copy_set_beside(frame->table);
    return DTI_OK;
}

static void end(struct dti_frame *frame)
{
    dti_bench_memory_free(&((struct copying *)frame)->memory);
}

static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct copying, check, prepare, verify, end);

const struct dti_bench_kind dti_bench_kind_copy = {
    .name = "copy",
    .summary = "copying, reading, writing and making memory",
    .sizes = "1MiB,64MiB,1GiB",
    .dtypes = "",
    .size_is = DTI_BENCH_BYTES,
    .cpu = &on_cpu,
    .device = &dti_copy_on_device,
};
