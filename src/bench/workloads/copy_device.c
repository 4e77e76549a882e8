/* SPDX-License-Identifier: MIT
 *
 * bench copy on a device: methods of moving data to, from and on it, their verification, and notes:
 * the time to the first result, and the peak rates of link and memory. */
#include "bench/workloads/copy_device.h"

#include <string.h>

#include "dtinfo/clock.h"

enum { OPERANDS = 2, WORD = 8, POISON = 0x5A, FILLED = 0x3C };

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

static enum dti_status upload_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_upload(device->frame.streams[0], dti_device_pairs_at(&device->pairs, set, 0),
                          device->pinned[0], bytes_of(device), reterr);
}

static enum dti_status download_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_download(device->frame.streams[0], device->pinned[1],
                            dti_device_pairs_at(&device->pairs, set, 1), bytes_of(device), reterr);
}

static enum dti_status upload_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_upload(device->frame.streams[0], dti_device_pairs_at(&device->pairs, set, 0),
                          dti_bench_memory_at(&device->pageable, 0, 0), bytes_of(device), reterr);
}

static enum dti_status download_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    return dti_gpu_download(device->frame.streams[0], dti_bench_memory_at(&device->pageable, 0, 1),
                            dti_device_pairs_at(&device->pairs, set, 1), bytes_of(device), reterr);
}

/* The second stream copies back; the first one waits for it at the end. */
static enum dti_status both_ways(void *context, size_t set, struct dti_error *reterr)
{
    struct copy_device *const device = context;
    enum dti_status status = dti_gpu_record(device->frame.streams[0], device->other, reterr);
    if (status == DTI_OK)
        status = dti_gpu_wait(device->frame.streams[1], device->other, reterr);
    if (status == DTI_OK)
        status = upload_pinned(device, set, reterr);
    if (status == DTI_OK)
        status =
            dti_gpu_download(device->frame.streams[1], device->pinned[1],
                             dti_device_pairs_at(&device->pairs, set, 1), bytes_of(device), reterr);
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

/* The kernel copies whole words: the rest is neither copied nor counted. */
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

/* Bytes read and written on either side; for creation the created bytes. */
static const struct way {
    const char *role, *engine, *kernel;
    dti_bench_pass_fn *run;
    unsigned read, written; /* times the size */
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

/* Everything but the memory; the bytes needed on the device and on the host. */
static enum dti_status lay_out(struct dti_device_pairs *pairs,
                               const struct dti_bench_request *request, uint64_t *ret_device,
                               uint64_t *ret_host, struct dti_error *reterr)
{
    if (!dti_device_pairs_lay_out(pairs, request, request->n, ret_device))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes exceed the address space",
                        (unsigned long long)request->n);
    *ret_host = 2 * OPERANDS * pairs->stride; /* pinned and pageable */
    return DTI_OK;
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
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

/* The first launch of this process, if this is its first use of the device. */
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

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
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

/* Up by one method, across by another, down by a third. */
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

/* The peak rates of the link to the device and of its memory. */
static void note_limits(const struct dti_frame *frame)
{
    /* megabytes a second of a lane in one direction, of PCI Express generations 1 to 6 */
    static const uint64_t rates[] = {0, 250, 500, 985, 1969, 3938, 7563};
    const struct dti_gpu_facts *const facts = dti_gpu_facts(frame->gpu);
    const bool known =
        facts->pci_generation < sizeof rates / sizeof *rates; /* DTI_UNKNOWN is not one */
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

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct copy_device *const device = (struct copy_device *)frame;
    const size_t size = bytes_of(device);
    unsigned char *const page_src = dti_bench_memory_at(&device->pageable, 0, 0);
    unsigned char *const page_dst = dti_bench_memory_at(&device->pageable, 0, 1);
    dti_copy_make_pattern(device->pinned[0], size, frame->request->seed);
    dti_copy_make_pattern(page_src, size, frame->request->seed + 1);
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
    dti_copy_set_beside(frame->table);
    return DTI_OK;
}

static void end(struct dti_frame *frame)
{
    struct copy_device *const device = (struct copy_device *)frame;
    dti_gpu_event_free(device->other);
    for (size_t i = 0; i < OPERANDS; i++)
        dti_gpu_host_free(frame->gpu, device->pinned[i]);
    dti_gpu_free(frame->gpu, device->pairs.memory);
    if (!dti_gpu_hangs()) /* else it may still be written to */
        dti_bench_memory_free(&device->pageable);
}

const struct dti_bench_workload dti_copy_on_device =
    DTI_WORKLOAD(NULL, struct copy_device, check, prepare, verify, end);
