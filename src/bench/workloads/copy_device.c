/* SPDX-License-Identifier: MIT
 *
 * Memory and streams for the measurement of a device's copies, and what is to be known beside it:
 * how long the first result takes, and what link and memory can carry. */
#include "bench/workloads/copy_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/arena.h"
#include "dtinfo/clock.h"

enum { POISON = 0xA5 };

/* Everything but the memory; how much of the device's and of the host's there must be. */
static enum dti_status lay_out(struct dti_copy_device *device, uint64_t *ret_device,
                               uint64_t *ret_host, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->request;
    if (!dti_device_lay_out(request, request->n, &device->stride, &device->sets))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes are more than there can be here",
                        (unsigned long long)request->n);
    const uint64_t both = DTI_COPY_OPERANDS * device->stride;
    *ret_device = device->sets * both;
    *ret_host = 2 * both; /* pinned and pageable */
    return DTI_OK;
}

enum dti_status dti_copy_device_check(const struct dti_bench_request *request,
                                      struct dti_error *reterr)
{
    struct dti_copy_device device = {.request = request};
    uint64_t on_device = 0, on_host = 0;
    enum dti_status status = lay_out(&device, &on_device, &on_host, reterr);
    if (status == DTI_OK)
        status = dti_arena_check(on_host, reterr);
    return status == DTI_OK ? dti_device_has_memory(request->gpu, on_device, reterr) : status;
}

static enum dti_status take_memory(struct dti_copy_device *device, struct dti_error *reterr)
{
    struct dti_gpu *const gpu = device->request->gpu;
    const size_t bytes = (size_t)device->request->n;
    uint64_t on_device = 0, on_host = 0;
    enum dti_status status = lay_out(device, &on_device, &on_host, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(gpu, on_device, &device->memory, reterr);
    for (size_t i = 0; i < DTI_COPY_OPERANDS && status == DTI_OK; i++) {
        void *pinned = NULL;
        status = dti_gpu_host_alloc(gpu, bytes, &pinned, reterr);
        if (status == DTI_OK)
            memset(pinned, POISON, bytes);
        device->pinned[i] = pinned;
    }
    if (status == DTI_OK)
        status = dti_bench_memory_new(&device->pageable, DTI_COPY_OPERANDS, bytes, DTI_BENCH_HOT,
                                      NULL, reterr);
    if (status == DTI_OK)
        device->table->memory = on_device + on_host;
    return status;
}

static enum dti_status make_streams(struct dti_copy_device *device, struct dti_error *reterr)
{
    struct dti_gpu *const gpu = device->request->gpu;
    enum dti_status status = dti_device_clock_open(&device->clock, gpu, NULL, reterr);
    if (status == DTI_OK)
        status = dti_gpu_stream_new(gpu, &device->second, reterr);
    if (status == DTI_OK)
        status = dti_gpu_event_new(gpu, &device->other, reterr);
    return status;
}

/* The first launch of this process, as far as this is its first use of the device. */
static enum dti_status first_result(struct dti_copy_device *device, struct dti_error *reterr)
{
    double seconds;
    struct dti_gpu_cast_args args;
    enum dti_status status = dti_gpu_load(device->request->gpu, &seconds, reterr);
    if (status != DTI_OK)
        return status;
    memset(&args, 0, sizeof args);
    args.src = dti_copy_device_at(device, 0, 0);
    args.dst = dti_copy_device_at(device, 0, 1);
    args.n = 1;
    args.bits = 8;
    const uint64_t start = dti_clock_now();
    if (device->request->n >= args.bits)
        status = dti_gpu_launch(device->clock.stream, DTI_GPU_COPY, &args, sizeof args, 1, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    const uint64_t launched = dti_clock_now() - start;
    if (status == DTI_OK && seconds > 0)
        dti_bench_add_note(device->table,
                           "first result: the driver made the kernels ready in %llu us, the first "
                           "launch took %llu us",
                           (unsigned long long)(seconds * 1e6),
                           (unsigned long long)(launched / 1000));
    return status;
}

static enum dti_status measure(struct dti_copy_device *device, struct dti_error *reterr)
{
    struct dti_bench_table *const table = device->table;
    enum dti_status status = take_memory(device, reterr);
    if (status == DTI_OK)
        status = make_streams(device, reterr);
    if (status == DTI_OK)
        status = first_result(device, reterr);
    if (status != DTI_OK)
        return status;
    table->sets = device->sets;
    dti_copy_device_add_passes(device);
    status = dti_device_bench_run(&device->clock, table, &device->request->options, reterr);
    if (status == DTI_OK)
        status = dti_copy_device_verify(device, reterr);
    if (status == DTI_OK)
        dti_copy_device_note_limits(device);
    return status;
}

static void give_back(struct dti_copy_device *device)
{
    struct dti_gpu *const gpu = device->request->gpu;
    dti_gpu_event_free(device->other);
    dti_gpu_stream_free(device->second);
    dti_device_clock_close(&device->clock);
    for (size_t i = 0; i < DTI_COPY_OPERANDS; i++)
        dti_gpu_host_free(gpu, device->pinned[i]);
    dti_gpu_free(gpu, device->memory);
    if (!dti_gpu_hangs()) /* else it may still be written to */
        dti_bench_memory_free(device->pageable);
}

enum dti_status dti_copy_device_run(struct dti_bench_table *ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr)
{
    struct dti_copy_device *const device = calloc(1, sizeof *device);
    if (!device)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    device->request = request;
    device->table = ret;
    const enum dti_status status = measure(device, reterr);
    give_back(device);
    free(device);
    return status;
}

/* Megabytes a second of a lane in one direction, of PCI Express generations 1 to 6. */
static uint64_t lane_rate(uint64_t generation)
{
    static const uint64_t rates[] = {0, 250, 500, 985, 1969, 3938, 7563};
    return generation < sizeof rates / sizeof *rates ? rates[generation] : 0;
}

void dti_copy_device_note_limits(struct dti_copy_device *device)
{
    const struct dti_gpu_facts *const facts = dti_gpu_facts(device->request->gpu);
    const uint64_t lane = facts->pci_generation == DTI_UNKNOWN || facts->pci_width == DTI_UNKNOWN
                              ? 0
                              : lane_rate(facts->pci_generation);
    if (lane > 0 && facts->pci_width <= 32) {
        const uint64_t rate = lane * facts->pci_width;
        dti_bench_add_note(
            device->table,
            "link: PCIe generation %llu x%llu carries at most %llu.%llu GB/s in each "
            "direction",
            (unsigned long long)facts->pci_generation, (unsigned long long)facts->pci_width,
            (unsigned long long)(rate / 1000), (unsigned long long)(rate % 1000 / 100));
    } else {
        dti_bench_add_note(device->table, "link: nobody tells its generation and width");
    }
    if (facts->peak_bytes_per_second != DTI_UNKNOWN)
        dti_bench_add_note(device->table,
                           "memory: at most %llu GB/s by its clock and the width of its bus",
                           (unsigned long long)(facts->peak_bytes_per_second / 1000000000));
}
