/* SPDX-License-Identifier: MIT
 *
 * The kernels for a run of elements, one after another in a stream: where their arrays are in a
 * slot, and their order. */
#include "convert/device_parts.h"

enum { LINE = 256, LOSS_LANES = 16 };

static uint64_t add_area(uint64_t *size, uint64_t bytes)
{
    const uint64_t begin = *size;
    *size += (bytes + LINE - 1) / LINE * LINE;
    return begin;
}

/* Tiles are at most as many as a slot holds, far from overflow. */
void dti_device_areas_init(struct dti_device_areas *ret, const struct dti_device_plan *plan,
                           uint64_t tiles, bool with_loss)
{
    const uint64_t bit = tiles * (DTI_TILE / 8); /* bytes that a bit of each element takes */
    uint64_t size = 0;
    *ret = (struct dti_device_areas){.src = add_area(&size, bit * plan->src_bits)};
    ret->dst = add_area(&size, bit * plan->dst_bits);
    for (size_t i = 0; i < 2; i++)
        ret->between[i] = add_area(&size, bit * plan->between_bits[with_loss][i]);
    if (with_loss) {
        const bool numbers = plan->source.count > 0;
        const bool codes = plan->core.count > 0 && plan->store.count > 0;
        const bool stored = plan->stored.count > 0;
        ret->numbers = add_area(&size, numbers ? bit * plan->number_bits : 0);
        ret->codes = add_area(&size, codes ? bit * plan->code_bits : 0);
        ret->stored = add_area(&size, stored ? bit * plan->number_bits : 0);
        ret->lanes = add_area(&size, tiles * LOSS_LANES * sizeof(struct dti_gpu_loss_lane));
        ret->tiles = add_area(&size, tiles * sizeof(struct dti_gpu_loss_tile));
    }
    ret->size = size;
}

/* What the launches of one run share. */
struct launching {
    const struct dti_slot *slot;
    const struct dti_device_areas *areas;
    size_t n;
    uint64_t index;
};

static enum dti_status launch_one(const struct launching *run,
                                  const struct dti_device_launch *launch, dti_gpu_address dst,
                                  dti_gpu_address src, struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = run->slot->stream;
    if (launch->kernel == DTI_GPU_KERNEL_COUNT) {
        return dti_gpu_copy(stream, dst, src, (size_t)dti_array_bytes(run->n, launch->src_bits),
                            reterr);
    }
    struct dti_gpu_cast_args args = launch->args;
    args.src = src;
    args.dst = dst;
    args.n = run->n;
    args.index = run->index;
    return dti_gpu_launch(stream, launch->kernel, &args, sizeof args,
                          dti_gpu_cast_items(launch->kernel, run->n), reterr);
}

/* At least one launch. */
static enum dti_status launch_chain(const struct launching *run,
                                    const struct dti_device_chain *chain, dti_gpu_address dst,
                                    dti_gpu_address src, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < chain->count && status == DTI_OK; i++) {
        const bool last = i + 1 == chain->count;
        const dti_gpu_address to = last ? dst : run->slot->memory + run->areas->between[i % 2];
        status = launch_one(run, &chain->launch[i], to, src, reterr);
        src = to;
    }
    return status;
}

static enum dti_status launch_loss(const struct launching *run, const struct dti_device_plan *plan,
                                   dti_gpu_address numbers, dti_gpu_address stored,
                                   struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = run->slot->stream;
    const uint64_t tiles = dti_device_tiles(run->n);
    struct dti_gpu_loss_args args = plan->loss_args;
    args.x = numbers;
    args.y = stored;
    args.n = run->n;
    args.index = run->index;
    args.lanes = run->slot->memory + run->areas->lanes;
    args.tiles = run->slot->memory + run->areas->tiles;
    const enum dti_status status =
        dti_gpu_launch(stream, plan->loss_kernel, &args, sizeof args, tiles * LOSS_LANES, reterr);
    if (status != DTI_OK)
        return status;
    return dti_gpu_launch(stream, DTI_GPU_LOSS_FOLD, &args, sizeof args, tiles, reterr);
}

/* The cast and its loss, from numbers that both use. Where a chain is empty its end is its
 * beginning; what makes the destination's codes last puts them into the destination. */
static enum dti_status launch_counted(const struct launching *run,
                                      const struct dti_device_plan *plan, struct dti_error *reterr)
{
    const struct dti_device_areas *const areas = run->areas;
    const dti_gpu_address memory = run->slot->memory, src = memory + areas->src,
                          dst = memory + areas->dst;
    dti_gpu_address numbers = src, codes = src, stored;
    enum dti_status status = DTI_OK;
    if (plan->source.count > 0) {
        const bool all = plan->core_from_numbers && plan->core.count == 0 && plan->store.count == 0;
        numbers = all ? dst : memory + areas->numbers;
        status = launch_chain(run, &plan->source, numbers, src, reterr);
        if (plan->core_from_numbers)
            codes = numbers;
    }
    if (status == DTI_OK && plan->core.count > 0) {
        const dti_gpu_address to = plan->store.count == 0 ? dst : memory + areas->codes;
        status = launch_chain(run, &plan->core, to, codes, reterr);
        codes = to;
    }
    stored = plan->copies ? numbers : codes;
    if (status == DTI_OK && plan->stored.count > 0) {
        stored = memory + areas->stored;
        status = launch_chain(run, &plan->stored, stored, codes, reterr);
    }
    if (status == DTI_OK && plan->store.count > 0)
        status = launch_chain(run, &plan->store, dst, codes, reterr);
    return status == DTI_OK ? launch_loss(run, plan, numbers, stored, reterr) : status;
}

enum dti_status dti_device_launch(const struct dti_device_plan *plan, const struct dti_slot *slot,
                                  const struct dti_device_areas *areas, size_t n, uint64_t index,
                                  bool with_loss, struct dti_error *reterr)
{
    const struct launching run = {.slot = slot, .areas = areas, .n = n, .index = index};
    if (with_loss)
        return launch_counted(&run, plan, reterr);
    return launch_chain(&run, &plan->cast, slot->memory + areas->dst, slot->memory + areas->src,
                        reterr);
}
