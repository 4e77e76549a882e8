/* SPDX-License-Identifier: MIT
 *
 * The ways of moving data to, from and on a device, and the proof that they move it. */
#include <stdio.h>
#include <string.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/copy_device.h"

enum { WORD = 8, POISON = 0x5A, FILLED = 0x3C };

static size_t bytes_of(const struct dti_copy_device *device)
{
    return (size_t)device->request->n;
}

static enum dti_status upload_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_upload(device->clock.stream, dti_copy_device_at(device, set, 0),
                          device->pinned[0], bytes_of(device), reterr);
}

static enum dti_status download_pinned(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_download(device->clock.stream, device->pinned[1],
                            dti_copy_device_at(device, set, 1), bytes_of(device), reterr);
}

static enum dti_status upload_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_upload(device->clock.stream, dti_copy_device_at(device, set, 0),
                          dti_bench_memory_at(device->pageable, 0, 0), bytes_of(device), reterr);
}

static enum dti_status download_pageable(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_download(device->clock.stream, dti_bench_memory_at(device->pageable, 0, 1),
                            dti_copy_device_at(device, set, 1), bytes_of(device), reterr);
}

/* The second stream takes the way back; the first one waits for it at the end. */
static enum dti_status both_ways(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    enum dti_status status = dti_gpu_record(device->clock.stream, device->other, reterr);
    if (status == DTI_OK)
        status = dti_gpu_wait(device->second, device->other, reterr);
    if (status == DTI_OK)
        status = upload_pinned(device, set, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(device->second, device->pinned[1],
                                  dti_copy_device_at(device, set, 1), bytes_of(device), reterr);
    if (status == DTI_OK)
        status = dti_gpu_record(device->second, device->other, reterr);
    if (status == DTI_OK)
        status = dti_gpu_wait(device->clock.stream, device->other, reterr);
    return status;
}

static enum dti_status copy_by_engine(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_copy(device->clock.stream, dti_copy_device_at(device, set, 1),
                        dti_copy_device_at(device, set, 0), bytes_of(device), reterr);
}

/* The kernel takes whole words: what is left is not copied, nor counted. */
static enum dti_status copy_by_kernel(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    struct dti_gpu_cast_args args;
    memset(&args, 0, sizeof args);
    args.src = dti_copy_device_at(device, set, 0);
    args.dst = dti_copy_device_at(device, set, 1);
    args.n = device->request->n / WORD;
    args.bits = WORD;
    return dti_gpu_launch(device->clock.stream, DTI_GPU_COPY, &args, sizeof args,
                          dti_gpu_cast_items(DTI_GPU_COPY, args.n), reterr);
}

static enum dti_status fill_on_device(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    return dti_gpu_fill(device->clock.stream, dti_copy_device_at(device, set, 1), FILLED,
                        bytes_of(device), reterr);
}

static enum dti_status fill_on_host(void *context, size_t set, struct dti_error *reterr)
{
    struct dti_copy_device *const device = context;
    memset(dti_bench_memory_at(device->pageable, 0, 0), FILLED, bytes_of(device));
    return upload_pageable(device, set, reterr);
}

/* Bytes are those that memory on either side is read and written; of creation what comes to be. */
static const struct way {
    const char *role, *engine, *kernel;
    dti_device_pass_fn *run;
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

void dti_copy_device_add_passes(struct dti_copy_device *device)
{
    const uint64_t n = device->request->n;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct way *const way = &ways[i];
        const uint64_t bytes = way->run == copy_by_kernel ? n / WORD * WORD : n;
        const struct dti_device_work work = {.pass = way->run,
                                             .context = device,
                                             .sets = device->sets,
                                             .host_works = way->host_works};
        struct dti_bench_item *const item =
            bytes > 0 ? dti_device_add(&device->clock, device->table, way->role,
                                       device->request->gpu, &work, false)
                      : NULL;
        if (!item)
            continue;
        (void)snprintf(item->engine, sizeof item->engine, "%s", way->engine);
        (void)snprintf(item->kernel, sizeof item->kernel, "%s", way->kernel);
        item->bytes_read = way->read * bytes;
        item->bytes_written = way->written * bytes;
    }
}

static void make_pattern(unsigned char *memory, size_t size, uint64_t seed)
{
    for (size_t at = 0; at < size; at += WORD) {
        const uint64_t word = dti_splitmix(&seed);
        memcpy(memory + at, &word, size - at < WORD ? size - at : WORD);
    }
}

/* Up by one way, across by another, down by a third. */
static enum dti_status round_trip(struct dti_copy_device *device, dti_device_pass_fn *up,
                                  dti_device_pass_fn *across, dti_device_pass_fn *down,
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
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status != DTI_OK || memcmp(sent, got, size) == 0)
        return status;
    return dti_fail(reterr, DTI_BUG, "data came back from %s changed; please report it",
                    dti_gpu_facts(device->request->gpu)->id);
}

static bool holds_only(const unsigned char *memory, size_t size, unsigned char byte)
{
    return memory[0] == byte && memcmp(memory, memory + 1, size - 1) == 0;
}

enum dti_status dti_copy_device_verify(struct dti_copy_device *device, struct dti_error *reterr)
{
    const size_t size = bytes_of(device);
    unsigned char *const page_src = dti_bench_memory_at(device->pageable, 0, 0);
    unsigned char *const page_dst = dti_bench_memory_at(device->pageable, 0, 1);
    make_pattern(device->pinned[0], size, device->request->seed);
    make_pattern(page_src, size, device->request->seed + 1);
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
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status == DTI_OK && !holds_only(device->pinned[1], size, FILLED))
        status = dti_fail(reterr, DTI_BUG, "%s did not fill its memory; please report it",
                          dti_gpu_facts(device->request->gpu)->id);
    return status;
}
