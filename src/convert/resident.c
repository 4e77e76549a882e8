/* SPDX-License-Identifier: MIT
 *
 * Device-resident arrays of a plan, one allocation per set: the areas of a slot, then the two
 * halves of a copy. */
#include "convert/resident.h"

#include <stdlib.h>

#include "convert/device_parts.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum { LINE = 256 };

struct dti_resident {
    const struct dti_plan *plan;
    struct dti_gpu_stream *stream;
    size_t n, sets;
    uint64_t src_bytes, dst_bytes;
    struct dti_device_areas areas[2]; /* [with loss] */
    uint64_t copy_first, copy_bytes;  /* offset of the copy's source in a set, and its size */
    dti_gpu_address *memory;          /* one per set */
};

struct dti_gpu *dti_runner_gpu(const struct dti_runner *runner)
{
    return dti_runner_is_on(runner) ? runner->gpu : NULL;
}

bool dti_resident_possible(const struct dti_plan *plan)
{
    return plan->device && dti_runner_is_on(plan->runner);
}

bool dti_resident_counts(const struct dti_plan *plan)
{
    return plan->device && plan->device->counts;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Lays out a set; returns its size, or UINT64_MAX. */
static uint64_t lay_out(struct dti_resident *resident, const struct dti_plan *plan, size_t n,
                        bool loss)
{
    const uint64_t tiles = dti_device_tiles(n);
    uint64_t both;
    *resident = (struct dti_resident){.plan = plan, .n = n};
    if (tiles > UINT32_MAX || !dti_plan_src_bytes(plan, n, &resident->src_bytes) ||
        !dti_plan_dst_bytes(plan, n, &resident->dst_bytes) ||
        !dti_add_u64(resident->src_bytes, resident->dst_bytes, &both))
        return UINT64_MAX;
    dti_device_areas_init(&resident->areas[0], plan->device, tiles, false);
    dti_device_areas_init(&resident->areas[1], plan->device, tiles, loss && plan->device->counts);
    const uint64_t areas = resident->areas[0].size > resident->areas[1].size
                               ? resident->areas[0].size
                               : resident->areas[1].size;
    resident->copy_first = round_up(areas);
    resident->copy_bytes = both / 2;
    return resident->copy_first + 2 * round_up(both / 2);
}

uint64_t dti_resident_bytes(const struct dti_plan *plan, size_t n, size_t sets, bool loss)
{
    struct dti_resident resident;
    uint64_t bytes;
    return dti_mul_u64(lay_out(&resident, plan, n, loss), sets, &bytes) ? bytes : UINT64_MAX;
}

enum dti_status dti_resident_new(struct dti_resident **ret, const struct dti_plan *plan, size_t n,
                                 size_t sets, bool loss, struct dti_error *reterr)
{
    struct dti_gpu *const gpu = dti_runner_gpu(plan->runner);
    if (!dti_resident_possible(plan))
        return dti_fail(reterr, DTI_UNAVAILABLE, "the device does not do this cast");
    struct dti_resident *const resident = dti_malloc(sizeof *resident);
    if (!resident)
        return dti_no_memory(reterr);
    const uint64_t size = lay_out(resident, plan, n, loss);
    resident->memory = dti_calloc(sets, sizeof *resident->memory);
    enum dti_status status = DTI_OK;
    if (!resident->memory || size == UINT64_MAX)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_gpu_stream_new(gpu, &resident->stream, reterr);
    while (status == DTI_OK && resident->sets < sets) {
        status = dti_gpu_alloc(gpu, size, &resident->memory[resident->sets], reterr);
        resident->sets += status == DTI_OK;
    }
    if (status == DTI_OK)
        *ret = resident;
    else
        dti_resident_free(resident);
    return status;
}

void dti_resident_free(struct dti_resident *resident)
{
    if (!resident)
        return;
    /* use the GPU directly: the runner may have abandoned it */
    struct dti_gpu *const gpu = resident->plan->runner->gpu;
    dti_gpu_stream_free(resident->stream);
    for (size_t i = 0; i < resident->sets; i++)
        dti_gpu_free(gpu, resident->memory[i]);
    dti_free(resident->memory);
    dti_free(resident);
}

struct dti_gpu_stream *dti_resident_stream(const struct dti_resident *resident)
{
    return resident->stream;
}

enum dti_status dti_resident_put(struct dti_resident *resident, size_t set, const void *src,
                                 struct dti_error *reterr)
{
    return dti_gpu_upload(resident->stream, resident->memory[set] + resident->areas[0].src, src,
                          (size_t)resident->src_bytes, reterr);
}

enum dti_status dti_resident_cast(struct dti_resident *resident, size_t set, bool loss,
                                  struct dti_error *reterr)
{
    const struct dti_slot slot = {.stream = resident->stream, .memory = resident->memory[set]};
    return dti_device_launch(resident->plan->device, &slot, &resident->areas[loss], resident->n, 0,
                             loss, reterr);
}

enum dti_status dti_resident_get(struct dti_resident *resident, size_t set, void *dst,
                                 struct dti_error *reterr)
{
    return dti_gpu_download(resident->stream, dst, resident->memory[set] + resident->areas[0].dst,
                            (size_t)resident->dst_bytes, reterr);
}

enum dti_status dti_resident_copy(struct dti_resident *resident, size_t set,
                                  struct dti_error *reterr)
{
    const dti_gpu_address from = resident->memory[set] + resident->copy_first;
    return dti_gpu_copy(resident->stream, from + round_up(resident->copy_bytes), from,
                        (size_t)resident->copy_bytes, reterr);
}

enum dti_status dti_resident_poison(struct dti_resident *resident, size_t set, uint8_t byte,
                                    struct dti_error *reterr)
{
    return dti_gpu_fill(resident->stream, resident->memory[set] + resident->areas[0].dst, byte,
                        (size_t)resident->dst_bytes, reterr);
}
