/* SPDX-License-Identifier: MIT
 *
 * bench copy: the speed of copying, reading, writing and allocating memory; allocating means
 * mapping it and touching each page, which is when the system provides and clears it. On a
 * device: methods to move data to, from and within it, their verification, and notes: the time
 * to the first result, and the peak rates of the link and of device memory. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include <string.h>
#include <sys/mman.h>

#include "bench/measure/frame.h"
#include "bench/measure/splitmix.h"
#include "kernels/kernel.h"
#include "util/run/clock.h"

enum { OPERANDS = 2, WORD = 8, PAGE = 4096, POISON = 0x5A, FILLED = 0x3C };

static void set_limit(struct dti_bench_table *table)
{
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < table->count; i++) {
        struct dti_bench_item *const item = &table->items[i];
        const char *const role = strcmp(item->role, "first touch") == 0 ? "write" : item->role;
        const size_t best = dti_bench_fastest(table, role, DTI_BENCH_ON_CPU, place);
        item->limit_item = best < table->count ? best : SIZE_MAX;
    }
}

/* Fills memory with bytes that a faulty copy cannot produce by accident. */
static void make_pattern(unsigned char *memory, size_t size, uint64_t seed)
{
    for (size_t at = 0; at < size; at += sizeof seed) {
        const uint64_t word = dti_splitmix(&seed);
        memcpy(memory + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

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
    /* the allocated memory comes on top */
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

/* Within each role, in table order. */
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

/* Compares each item with the fastest of its role, and allocation with writing. */
/* Repeats the copies and compares. */
static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    const struct copying *const copying = (const struct copying *)frame;
    const size_t bytes = (size_t)frame->request->n;
    unsigned char *const src = dti_bench_memory_at(&copying->memory, 0, 0);
    unsigned char *const dst = dti_bench_memory_at(&copying->memory, 0, 1);
    if (atomic_load(&frame->failed))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory during the measurement");
    make_pattern(src, bytes, frame->request->seed);
    for (size_t i = 0; i < frame->table->count; i++) {
        if (strcmp(frame->table->items[i].role, "copy") != 0)
            continue;
        memset(dst, POISON, bytes);
        dti_frame_again(frame, i);
        if (memcmp(src, dst, bytes) != 0)
            return dti_fail(reterr, DTI_BUG, "%s does not copy; please report it",
                            frame->table->items[i].kernel);
    }
    set_limit(frame->table);
    return DTI_OK;
}

static void end(struct dti_frame *frame)
{
    dti_bench_memory_free(&((struct copying *)frame)->memory);
}

static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct copying, check, prepare, verify, end);

/* On a device. */

struct copy_device {
    struct dti_frame frame;
    struct dti_gpu_event *other;
    struct dti_device_pairs pairs;
    unsigned char *pinned[OPERANDS];
    struct dti_bench_memory pageable;
};

static size_t bytes_of(const struct copy_device *device)
{
    return (size_t)device->frame.request->n;
}

static enum dti_status upload(struct copy_device *device, const void *from, size_t set,
                              struct dti_error *reterr)
{
    return dti_gpu_upload(device->frame.streams[0], dti_device_pairs_at(&device->pairs, set, 0),
                          from, bytes_of(device), reterr);
}

static enum dti_status download(struct copy_device *device, size_t stream, void *to, size_t set,
                                struct dti_error *reterr)
{
    return dti_gpu_download(device->frame.streams[stream], to,
                            dti_device_pairs_at(&device->pairs, set, 1), bytes_of(device), reterr);
}

static enum dti_status upload_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return upload(device, device->pinned[0], set, reterr);
}

static enum dti_status download_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return download(device, 0, device->pinned[1], set, reterr);
}

static enum dti_status upload_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return upload(device, dti_bench_memory_at(&device->pageable, 0, 0), set, reterr);
}

static enum dti_status download_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return download(device, 0, dti_bench_memory_at(&device->pageable, 0, 1), set, reterr);
}

/* The second stream copies back; the first waits for it at the end. */
static enum dti_status both_ways(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    enum dti_status status = dti_gpu_record(device->frame.streams[0], device->other, reterr);
    if (status == DTI_OK)
        status = dti_gpu_wait(device->frame.streams[1], device->other, reterr);
    if (status == DTI_OK)
        status = upload_pinned(device, set, reterr);
    if (status == DTI_OK)
        status = download(device, 1, device->pinned[1], set, reterr);
    if (status == DTI_OK)
        status = dti_gpu_record(device->frame.streams[1], device->other, reterr);
    if (status == DTI_OK)
        status = dti_gpu_wait(device->frame.streams[0], device->other, reterr);
    return status;
}

static enum dti_status copy_by_engine(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_copy(device->frame.streams[0], dti_device_pairs_at(&device->pairs, set, 1),
                        dti_device_pairs_at(&device->pairs, set, 0), bytes_of(device), reterr);
}

/* The kernel copies whole words; the rest is neither copied nor counted. */
static enum dti_status copy_by_kernel(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    struct dti_gpu_cast_args args;
    memset(&args, 0, sizeof args);
    args.src = dti_device_pairs_at(&device->pairs, set, 0);
    args.dst = dti_device_pairs_at(&device->pairs, set, 1);
    args.n = bytes_of(device) / WORD;
    args.bits = WORD;
    return dti_gpu_launch(device->frame.streams[0], DTI_GPU_COPY, &args, sizeof args,
                          dti_gpu_cast_items(DTI_GPU_COPY, args.n), reterr);
}

static enum dti_status fill_on_device(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_fill(device->frame.streams[0], dti_device_pairs_at(&device->pairs, set, 1),
                        FILLED, bytes_of(device), reterr);
}

static enum dti_status fill_on_host(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    memset(dti_bench_memory_at(&device->pageable, 0, 0), FILLED, bytes_of(device));
    return upload_pageable(device, set, reterr);
}

/* Bytes read and written on both sides together; for allocations, the allocated bytes. */
static const struct way {
    const char *role, *engine, *kernel;
    dti_bench_pass_fn *run;
    unsigned read, written; /* multiples of the size */
    bool host_works;
} ways[] = {
    {"host to device", "pinned", "cuMemcpyHtoDAsync", upload_pinned, 1, 0, false},
    {"host to device", "pageable", "cuMemcpyHtoDAsync", upload_pageable, 1, 0, true},
    {"device to host", "pinned", "cuMemcpyDtoHAsync", download_pinned, 1, 0, false},
    {"device to host", "pageable", "cuMemcpyDtoHAsync", download_pageable, 1, 0, true},
    {"both directions", "pinned", "on two streams", both_ways, 2, 0, false},
    {"device to device", "copy engine", "cuMemcpyDtoDAsync", copy_by_engine, 1, 1, false},
    {"device to device", "kernel", "dti_gpu_copy", copy_by_kernel, 1, 1, false},
    {"creation", "on the device", "cuMemsetD8Async", fill_on_device, 0, 1, false},
    {"creation", "on the host", "memset, cuMemcpyHtoDAsync", fill_on_host, 0, 1, true},
};

/* Sets everything but the memory, and returns the bytes needed on the device and on the host. */
static enum dti_status lay_out(struct dti_device_pairs *pairs,
                               const struct dti_bench_request *request, uint64_t *ret_device,
                               uint64_t *ret_host, struct dti_error *reterr)
{
    if (!dti_device_pairs_lay_out(pairs, request, request->n, ret_device))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes exceed the address space",
                        (unsigned long long)request->n);
    *ret_host = UINT64_C(2) * OPERANDS * pairs->stride; /* pinned and pageable */
    return DTI_OK;
}

static enum dti_status check_on_device(const struct dti_bench_request *request,
                                       struct dti_error *reterr)
{
    struct dti_device_pairs pairs;
    uint64_t on_device = 0, on_host = 0;
    enum dti_status status = lay_out(&pairs, request, &on_device, &on_host, reterr);
    if (status == DTI_OK)
        status = dti_host_has_memory(on_host, reterr);
    return status == DTI_OK ? dti_device_has_memory(request->gpu, on_device, reterr) : status;
}

static enum dti_status take_memory(struct copy_device *device, struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    const size_t bytes = bytes_of(device);
    uint64_t on_device = 0, on_host = 0;
    enum dti_status status = lay_out(&device->pairs, frame->request, &on_device, &on_host, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(frame->gpu, on_device, &device->pairs.memory, reterr);
    for (size_t i = 0; i < OPERANDS && status == DTI_OK; i++) {
        void *pinned = NULL;
        status = dti_gpu_host_alloc(frame->gpu, bytes, &pinned, reterr);
        if (status == DTI_OK)
            memset(pinned, POISON, bytes);
        device->pinned[i] = pinned;
    }
    if (status == DTI_OK)
        status = dti_bench_memory_new(
            &device->pageable, dti_bench_alike(OPERANDS, bytes, DTI_BENCH_HOT), NULL, reterr);
    frame->table->memory = on_device + on_host;
    frame->table->sets = device->pairs.sets;
    return status;
}

/* Times the first launch in this process, if the device was not used before. */
static enum dti_status first_result(struct copy_device *device, struct dti_error *reterr)
{
    double seconds;
    struct dti_gpu_cast_args args;
    enum dti_status status = dti_gpu_load(device->frame.gpu, &seconds, reterr);
    if (status != DTI_OK)
        return status;
    memset(&args, 0, sizeof args);
    args.src = dti_device_pairs_at(&device->pairs, 0, 0);
    args.dst = dti_device_pairs_at(&device->pairs, 0, 1);
    args.n = 1;
    args.bits = 8;
    const uint64_t start = dti_clock_now();
    if (bytes_of(device) >= args.bits)
        status =
            dti_gpu_launch(device->frame.streams[0], DTI_GPU_COPY, &args, sizeof args, 1, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->frame.streams[0], reterr);
    const uint64_t launched = dti_clock_now() - start;
    if (status == DTI_OK && seconds > 0)
        dti_bench_add_note(device->frame.table,
                           "first result: the driver made the kernels ready in %llu us, the first "
                           "launch took %llu us",
                           (unsigned long long)(seconds * 1e6),
                           (unsigned long long)(launched / 1000));
    return status;
}

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    struct copy_device *const device = (struct copy_device *)frame;
    enum dti_status status = take_memory(device, reterr);
    if (status == DTI_OK)
        status = dti_frame_open(frame, 2, reterr);
    if (status == DTI_OK)
        status = dti_gpu_event_new(frame->gpu, &device->other, reterr);
    if (status == DTI_OK)
        status = first_result(device, reterr);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && status == DTI_OK; i++) {
        const struct way *const way = &ways[i];
        const uint64_t n = frame->request->n;
        const uint64_t bytes = way->run == copy_by_kernel ? n / WORD * WORD : n;
        if (bytes > 0)
            (void)dti_frame_add(frame,
                                &(struct dti_bench_entry){.role = way->role,
                                                          .engine = way->engine,
                                                          .kernel = way->kernel,
                                                          .bytes_read = way->read * bytes,
                                                          .bytes_written = way->written * bytes,
                                                          .pass = way->run,
                                                          .by_events = !way->host_works,
                                                          .context = device,
                                                          .sets = device->pairs.sets});
    }
    return status;
}

/* Copies up by one method, across by another and down by a third. */
static enum dti_status round_trip(struct copy_device *device, dti_bench_pass_fn *up,
                                  dti_bench_pass_fn *across, dti_bench_pass_fn *down,
                                  const unsigned char *sent, unsigned char *got, size_t size,
                                  struct dti_error *reterr)
{
    memset(got, POISON, bytes_of(device));
    enum dti_status status = up(device, 0, reterr);
    if (status == DTI_OK)
        status = across(device, 0, reterr);
    if (status == DTI_OK)
        status = down(device, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->frame.streams[0], reterr);
    if (status != DTI_OK || memcmp(sent, got, size) == 0)
        return status;
    return dti_fail(reterr, DTI_BUG, "data changed on the way through %s; please report it",
                    dti_gpu_facts(device->frame.gpu)->id);
}

static bool holds_only(const unsigned char *memory, size_t size, unsigned char byte)
{
    return memory[0] == byte && memcmp(memory, memory + 1, size - 1) == 0;
}

/* Adds notes on the peak rates of the link and of device memory. */
static void note_limits(const struct dti_frame *frame)
{
    /* MB/s per lane and direction, for PCI Express generations 1 to 6 */
    static const uint64_t rates[] = {0, 250, 500, 985, 1969, 3938, 7563};
    const struct dti_gpu_facts *const facts = dti_gpu_facts(frame->gpu);
    const bool known =
        facts->pci_generation < sizeof rates / sizeof *rates; /* rejects DTI_UNKNOWN as well */
    const uint64_t lane = known ? rates[facts->pci_generation] : 0;
    if (lane > 0 && facts->pci_width <= 32) {
        const uint64_t rate = lane * facts->pci_width;
        dti_bench_add_note(
            frame->table,
            "link: PCIe generation %llu x%llu carries at most %llu.%llu GB/s in each "
            "direction",
            (unsigned long long)facts->pci_generation, (unsigned long long)facts->pci_width,
            (unsigned long long)(rate / 1000), (unsigned long long)(rate % 1000 / 100));
    } else {
        dti_bench_add_note(frame->table, "link: generation and width unknown");
    }
    if (facts->peak_bytes_per_second != DTI_UNKNOWN)
        dti_bench_add_note(frame->table,
                           "memory: at most %llu GB/s by its clock and the width of its bus",
                           (unsigned long long)(facts->peak_bytes_per_second / 1000000000));
}

static enum dti_status verify_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    struct copy_device *const device = (struct copy_device *)frame;
    const size_t size = bytes_of(device);
    unsigned char *const page_src = dti_bench_memory_at(&device->pageable, 0, 0);
    unsigned char *const page_dst = dti_bench_memory_at(&device->pageable, 0, 1);
    make_pattern(device->pinned[0], size, frame->request->seed);
    make_pattern(page_src, size, frame->request->seed + 1);
    enum dti_status status = round_trip(device, upload_pinned, copy_by_engine, download_pageable,
                                        device->pinned[0], page_dst, size, reterr);
    if (status == DTI_OK && size >= WORD)
        status = round_trip(device, upload_pageable, copy_by_kernel, download_pinned, page_src,
                            device->pinned[1], size / WORD * WORD, reterr);
    if (status == DTI_OK)
        status = fill_on_device(device, 0, reterr);
    if (status == DTI_OK)
        status = download_pinned(device, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(frame->streams[0], reterr);
    if (status == DTI_OK && !holds_only(device->pinned[1], size, FILLED))
        status = dti_fail(reterr, DTI_BUG, "%s did not fill its memory; please report it",
                          dti_gpu_facts(frame->gpu)->id);
    if (status != DTI_OK)
        return status;
    note_limits(frame);
    set_limit(frame->table);
    return DTI_OK;
}

static void end_on_device(struct dti_frame *frame)
{
    struct copy_device *const device = (struct copy_device *)frame;
    dti_gpu_event_free(device->other);
    for (size_t i = 0; i < OPERANDS; i++)
        dti_gpu_host_free(frame->gpu, device->pinned[i]);
    dti_gpu_free(frame->gpu, device->pairs.memory);
    if (!dti_gpu_hangs()) /* a hung device may still write to it */
        dti_bench_memory_free(&device->pageable);
}

static const struct dti_bench_workload copy_on_device = DTI_WORKLOAD(
    NULL, struct copy_device, check_on_device, prepare_on_device, verify_on_device, end_on_device);

const struct dti_bench_kind dti_bench_kind_copy = {
    .name = "copy",
    .summary = "copying, reading, writing and making memory",
    .sizes = "1MiB,64MiB,1GiB",
    .dtypes = "",
    .size_is = DTI_BENCH_BYTES,
    .cpu = &on_cpu,
    .device = &copy_on_device,
};
