/* SPDX-License-Identifier: MIT
 *
 * Runs a block on a device, in pieces that fit a slot: while one piece is computed and copied
 * out, the next is copied in. Results count only once the device has confirmed them. They reach
 * the caller's memory through the slot's staging buffer, unless a failure is fatal anyway: an
 * abandoned copy could resume long after the CPU has redone the block. */
#include <string.h>

#include "convert/device_parts.h"

enum { LINE = 256, LOSS_LANES = 16 };

static uint64_t add_area(uint64_t *size, uint64_t bytes)
{
    const uint64_t begin = *size;
    *size += (bytes + LINE - 1) / LINE * LINE;
    return begin;
}

/* Cannot overflow: at most as many tiles as a slot holds. */
void dti_device_areas_init(struct dti_device_areas *ret, const struct dti_device_plan *plan,
                           uint64_t tiles, bool with_loss)
{
    const uint64_t bit = tiles * (DTI_TILE / 8); /* bytes for one bit of each element */
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

/* Arguments shared by the launches of one run. */
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

/* Requires at least one launch. */
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

/* Launches the cast and its loss, which share the source's numbers. The result of an empty chain
 * is its input; the last chain that makes the destination's codes writes them to the
 * destination. */
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

enum {
    SLOT_BYTES = 8 << 20,   /* larger side of a piece */
    SLOT_MEMORY = 64 << 20, /* device memory for all arrays of a piece */
    PIECE_BYTES = 1 << 20,  /* larger side of a piece: less is not worth overlapping */
    PIECES = 4,             /* pieces per block, if they are that large */
};

struct device_chunk {
    bool busy;
    size_t at, n; /* elements */
};

struct device_run {
    const struct dti_plan *plan;
    const struct dti_device_plan *device;
    struct dti_runner *runner;
    unsigned char *dst;
    const unsigned char *src;
    size_t n;
    uint64_t index;
    struct dti_loss *loss; /* NULL: not counted */
    bool with_loss;        /* counted by the device */
    bool src_direct, dst_direct;
    uint64_t tiles; /* per piece */
    struct dti_device_areas areas;
    size_t host_out, host_tiles,
        host_size; /* slot's staging memory, which starts with the source */
    struct dti_lane *lane;
    size_t slots;
    struct device_chunk piece[DTI_LANE_SLOTS];
};

/* The number of tiles in a piece. */
static uint64_t choose_tiles(const struct device_run *run)
{
    const struct dti_device_plan *const device = run->device;
    const unsigned bits = device->src_bits > device->dst_bits ? device->src_bits : device->dst_bits;
    const uint64_t side = (uint64_t)DTI_TILE / 8 * bits, all = dti_device_tiles(run->n);
    struct dti_device_areas tile;
    dti_device_areas_init(&tile, device, 1, run->with_loss);
    uint64_t tiles = SLOT_BYTES / side;
    if (tiles > SLOT_MEMORY / tile.size)
        tiles = SLOT_MEMORY / tile.size;
    uint64_t share = (all + PIECES - 1) / PIECES;
    if (share < PIECE_BYTES / side)
        share = PIECE_BYTES / side;
    if (tiles > share)
        tiles = share;
    return tiles < all ? tiles : all;
}

static void lay_out(struct device_run *run, uint64_t tiles)
{
    const size_t n = (size_t)tiles * DTI_TILE;
    run->tiles = tiles;
    dti_device_areas_init(&run->areas, run->device, tiles, run->with_loss);
    run->host_out = run->src_direct ? 0 : dti_tile_bytes(n, run->device->src_bits);
    run->host_tiles =
        run->host_out + (run->dst_direct ? 0 : dti_tile_bytes(n, run->device->dst_bits));
    run->host_size = run->host_tiles;
    if (run->with_loss)
        run->host_size += (size_t)tiles * sizeof(struct dti_gpu_loss_tile);
}

static uint64_t slot_limit(struct dti_runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    const uint64_t limit = runner->slot_size;
    pthread_mutex_unlock(&runner->lock);
    return limit;
}

static void lower_slot_limit(struct dti_runner *runner, uint64_t size)
{
    pthread_mutex_lock(&runner->lock);
    if (size < runner->slot_size)
        runner->slot_size = size;
    pthread_mutex_unlock(&runner->lock);
}

static enum dti_status prepare_slot(const struct device_run *run, size_t slot,
                                    struct dti_error *reterr)
{
    return dti_slot_prepare(run->runner, &run->lane->slot[slot], run->areas.size, run->host_size,
                            reterr);
}

/* Allocates memory for the pieces; halves them, down to one tile, if there is not enough. */
static enum dti_status prepare_lane(struct device_run *run, struct dti_error *reterr)
{
    const uint64_t wanted = choose_tiles(run), limit = slot_limit(run->runner);
    enum dti_status status;
    lay_out(run, wanted);
    while (run->tiles > 1 && run->areas.size > limit)
        lay_out(run, run->tiles / 2);
    while ((status = prepare_slot(run, 0, reterr)) == DTI_NO_MEMORY && run->tiles > 1)
        lay_out(run, run->tiles / 2);
    if (status != DTI_OK)
        return status;
    if (run->tiles < wanted)
        lower_slot_limit(run->runner, run->areas.size);
    run->slots = 1;
    if (run->tiles < dti_device_tiles(run->n)) {
        status = prepare_slot(run, 1, reterr);
        run->slots += status == DTI_OK;
    }
    return status == DTI_NO_MEMORY ? DTI_OK : status;
}

/* Takes a lane and allocates its memory. If memory is short, drops lanes and waits for one that
 * has some. */
static enum dti_status take_lane(struct device_run *run, struct dti_error *reterr)
{
    enum dti_status status;
    for (;;) {
        status = dti_lane_take(run->runner, &run->lane, reterr);
        if (status != DTI_OK)
            return status;
        status = prepare_lane(run, reterr);
        if (status == DTI_OK)
            return status;
        if (status != DTI_NO_MEMORY || !dti_lane_drop(run->runner, run->lane))
            break;
    }
    dti_lane_give(run->runner, run->lane);
    if (status == DTI_NO_MEMORY)
        return dti_fail_remedy(reterr, status,
                               run->runner->demanded ? DTI_REMEDY_USE_CPU : DTI_REMEDY_NONE,
                               "%s: out of memory: cannot allocate the %llu bytes of a tile",
                               run->runner->id, (unsigned long long)run->areas.size);
    return status;
}

static enum dti_status queue_piece(const struct device_run *run, size_t at,
                                   const struct device_chunk *piece, struct dti_error *reterr)
{
    const struct dti_device_plan *const device = run->device;
    const struct dti_slot *const slot = &run->lane->slot[at];
    const struct dti_device_areas *const areas = &run->areas;
    const unsigned char *src = run->src + dti_tile_bytes(piece->at, device->src_bits);
    unsigned char *const dst = run->dst_direct
                                   ? run->dst + dti_tile_bytes(piece->at, device->dst_bits)
                                   : slot->host + run->host_out;
    const size_t size = (size_t)dti_array_bytes(piece->n, device->src_bits);
    if (!run->src_direct) {
        memcpy(slot->host, src, size);
        src = slot->host;
    }
    enum dti_status status =
        dti_gpu_upload(slot->stream, slot->memory + areas->src, src, size, reterr);
    if (status == DTI_OK)
        status = dti_device_launch(device, slot, areas, piece->n, run->index + piece->at,
                                   run->with_loss, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(slot->stream, dst, slot->memory + areas->dst,
                                  (size_t)dti_array_bytes(piece->n, device->dst_bits), reterr);
    if (status == DTI_OK && run->with_loss)
        status = dti_gpu_download(
            slot->stream, slot->host + run->host_tiles, slot->memory + areas->tiles,
            (size_t)dti_device_tiles(piece->n) * sizeof(struct dti_gpu_loss_tile), reterr);
    return status;
}

/* Counts the loss of a tile on the CPU, which casts it again. */
static void count_tile(const struct device_run *run, size_t at, size_t n)
{
    uint64_t buffer[DTI_TILE];
    (void)dti_plan_run_loss(run->plan, buffer, run->src + dti_tile_bytes(at, run->device->src_bits),
                            n, run->index + at, false, run->loss, NULL);
}

static void add_losses(const struct device_run *run, const struct device_chunk *piece,
                       const unsigned char *tiles)
{
    const struct dti_request *const request = &run->plan->request;
    for (size_t at = 0; at < piece->n; at += DTI_TILE) {
        const size_t n = piece->n - at < DTI_TILE ? piece->n - at : DTI_TILE;
        const size_t begin = piece->at + at;
        struct dti_gpu_loss_tile tile;
        if (run->with_loss)
            memcpy(&tile, tiles + at / DTI_TILE * sizeof tile, sizeof tile);
        if (run->with_loss && dti_gpu_loss_add(run->loss, &tile, n))
            run->loss->stray +=
                dti_storage_stray(&request->src, &request->src_layout,
                                  run->src + dti_tile_bytes(begin, run->device->src_bits), n);
        else
            count_tile(run, begin, n);
    }
}

/* Zeroes the padding in the last byte of packed codes that were copied. */
static void clear_padding(const struct device_run *run, const struct device_chunk *piece,
                          unsigned char *dst)
{
    const struct dti_layout *const layout = &run->plan->request.dst_layout;
    const unsigned bits = run->device->dst_bits, used = (unsigned)(piece->n % 8) * bits % 8;
    if (bits >= 8 || used == 0)
        return;
    const bool high = layout->packing == DTI_PACKING_HIGH;
    dst[(size_t)dti_array_bytes(piece->n, bits) - 1] &=
        (unsigned char)(high ? 0xff << (8 - used) : 0xff >> (8 - used));
}

/* Waits for a piece and collects its results. */
static enum dti_status take_piece(struct device_run *run, size_t at, struct dti_error *reterr)
{
    struct device_chunk *const piece = &run->piece[at];
    const struct dti_slot *const slot = &run->lane->slot[at];
    const unsigned bits = run->device->dst_bits;
    unsigned char *const dst = run->dst + dti_tile_bytes(piece->at, bits);
    const enum dti_status status = dti_gpu_finish(slot->stream, reterr);
    piece->busy = false;
    if (status != DTI_OK)
        return status;
    if (!run->dst_direct)
        memcpy(dst, slot->host + run->host_out, (size_t)dti_array_bytes(piece->n, bits));
    clear_padding(run, piece, dst);
    if (run->loss)
        add_losses(run, piece, run->with_loss ? slot->host + run->host_tiles : NULL);
    return DTI_OK;
}

static enum dti_status run_pieces(struct device_run *run, struct dti_error *reterr)
{
    const size_t most = (size_t)run->tiles * DTI_TILE;
    enum dti_status status = DTI_OK;
    size_t next = 0, slot = 0;
    while (next < run->n && status == DTI_OK) {
        struct device_chunk *const piece = &run->piece[slot];
        if (piece->busy)
            status = take_piece(run, slot, reterr);
        if (status != DTI_OK)
            break;
        const size_t left = run->n - next;
        *piece = (struct device_chunk){.busy = true, .at = next, .n = left < most ? left : most};
        status = queue_piece(run, slot, piece, reterr);
        next += piece->n;
        slot = (slot + 1) % run->slots;
    }
    for (size_t i = 0; i < run->slots; i++, slot = (slot + 1) % run->slots) {
        if (run->piece[slot].busy && status == DTI_OK)
            status = take_piece(run, slot, reterr);
        else if (run->piece[slot].busy)
            (void)dti_gpu_finish(run->lane->slot[slot].stream, NULL);
    }
    return status;
}

bool dti_device_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                    uint64_t index, struct dti_loss *loss, enum dti_status *ret_status,
                    struct dti_error *reterr)
{
    struct dti_runner *const runner = plan->runner;
    struct dti_error error;
    struct dti_loss part;
    struct device_run run = {
        .plan = plan,
        .device = plan->device,
        .runner = runner,
        .dst = dst,
        .src = src,
        .n = n,
        .index = index,
        .loss = loss ? &part : NULL,
        .with_loss = loss && plan->device->counts,
        .src_direct =
            dti_runner_reaches(runner, src, (size_t)dti_array_bytes(n, plan->device->src_bits)),
        .dst_direct =
            runner->demanded &&
            dti_runner_reaches(runner, dst, (size_t)dti_array_bytes(n, plan->device->dst_bits)),
    };
    if (!dti_runner_is_on(runner))
        return false;
    dti_loss_init(&part);
    enum dti_status status = take_lane(&run, &error);
    if (status == DTI_OK) {
        status = run_pieces(&run, &error);
        dti_lane_give(runner, run.lane);
    }
    if (status != DTI_OK && !runner->demanded) {
        dti_runner_leave(runner, &error);
        return false;
    }
    if (status == DTI_OK && loss)
        dti_loss_merge(loss, &part);
    else if (status != DTI_OK && reterr)
        *reterr = error;
    *ret_status = status;
    return true;
}
