/* SPDX-License-Identifier: MIT
 *
 * Reads elements of tensors as numbers, manages the buffers, and runs scans. */
#include "files/scan/scan_side.h"

#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_tensor.h"
#include "files/dequant/file_dequant.h"
#include "kernels/cpu.h"
#include "kernels/fp64.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

enum {
    MEMORY = 16 << 20,       /* all threads together */
    BLOCK_LEAST = 256 << 10, /* of less, reads cost up to a fifth more */
    BLOCK_UNKNOWN = 1 << 20,
    BLOCK_MOST = 2 << 20, /* more only takes memory */
    LINE = 64,
};

/* The bytes of all sides of a block: what a core's L2 cache holds. Between these limits times
 * differ by less than a repetition does, whether the other cores are idle or use the last cache; a
 * smaller block takes less memory. Writers have larger ones, of which file systems make larger
 * folios. */
static size_t block_bytes(void)
{
    const size_t cache = dti_cache_bytes(2);
    if (cache == 0)
        return BLOCK_UNKNOWN;
    return cache < BLOCK_LEAST  ? (size_t)BLOCK_LEAST
           : cache > BLOCK_MOST ? (size_t)BLOCK_MOST
                                : cache;
}

struct dti_scan_plan {
    struct dti_scan_plan *next;
    struct dti_plan *plan;
};

static bool is_for(const struct dti_plan *plan, const struct dti_format *format,
                   const struct dti_layout *layout, const struct dti_format *hub)
{
    const struct dti_request *const request = dti_plan_request(plan);
    return request->cast.dst.id == hub->id && request->src_layout.packing == layout->packing &&
           request->src_layout.swapped == layout->swapped &&
           strcmp(request->src.name, format->name) == 0;
}

static enum dti_status find_plan(struct dti_scan_plans *plans, const struct dti_format *format,
                                 const struct dti_layout *layout, const struct dti_format *hub,
                                 const struct dti_plan **ret_plan, struct dti_error *reterr)
{
    for (const struct dti_scan_plan *at = plans->first; at; at = at->next) {
        if (is_for(at->plan, format, layout, hub)) {
            *ret_plan = at->plan;
            return DTI_OK;
        }
    }
    struct dti_scan_plan *const row = dti_malloc(sizeof *row);
    if (!row)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const struct dti_request request = {
        .src = *format,
        .src_layout = *layout,
        .dst_layout = {.packing = DTI_PACKING_BYTES},
        .cast = {.dst = *hub, .policy = {.round = DTI_ROUND_NEAREST_EVEN}, .round_given = true},
    };
    const enum dti_status status = dti_plan_new(&row->plan, &request, plans->level, reterr);
    if (status != DTI_OK) {
        dti_free(row);
        return status;
    }
    row->next = plans->first;
    plans->first = row;
    *ret_plan = row->plan;
    return DTI_OK;
}

const struct dti_format *dti_scan_format(const struct dti_tensor *tensor)
{
    return tensor->format->kind == DTI_KIND_COMPLEX ? dti_format_get(tensor->format->component)
                                                    : tensor->format;
}

enum dti_status dti_scan_side_init(struct dti_scan_side *ret, struct dti_container *container,
                                   size_t tensor, const struct dti_format *hub,
                                   struct dti_scan *scan, struct dti_error *reterr)
{
    const struct dti_tensor *const t = &container->tensors[tensor];
    const struct dti_format *const format = dti_scan_format(t);
    struct dti_scan_side side = {
        .format = format,
        .layout = t->layout,
        .bits = dti_format_stored_bits(format, &t->layout),
        .wide = !hub,
        .single = hub && hub->id == DTI_FP32,
    };
    uint64_t bits;
    if (!dti_mul_u64(t->elements, format == t->format ? 1 : 2, &side.elements) ||
        !dti_mul_u64(side.elements, side.bits, &bits))
        return dti_fail(reterr, DTI_BAD_INPUT, "a tensor of %llu elements is too large",
                        (unsigned long long)t->elements);
    enum dti_status status = DTI_OK;
    if (dti_tensor_form(t)) {
        struct dti_dequant_tensor *const how = dti_form_how(dti_tensor_form(t));
        side.source = dti_dequant_source(how);
        if (scan->scratch_bytes < side.source.scratch_bytes)
            scan->scratch_bytes = side.source.scratch_bytes;
        status = dti_dequant_open(how, reterr);
    } else {
        status = dti_container_data(container, tensor, &side.input, &side.offset, reterr);
    }
    if (status == DTI_OK && hub && (format->id != hub->id || t->layout.swapped))
        status = find_plan(&scan->plans, format, &t->layout, hub, &side.plan, reterr);
    if (status == DTI_OK)
        *ret = side;
    return status;
}

/* The row that takes the place of row i. */
static uint64_t row_at(const struct dti_scan_change *change, uint64_t row)
{
    const uint64_t rows = change->head_rows, at = row % rows, half = rows / 2;
    return change->from_gguf ? row - at + at % half * 2 + at / half
                             : row - at + at % 2 * half + at / 2;
}

/* Gathers elements whose rows are in another order; those are whole bytes. */
static enum dti_status look_at_rows(const struct dti_scan_side *side, struct dti_window *window,
                                    unsigned char *buffer, uint64_t first, size_t n, void *scratch,
                                    struct dti_error *reterr)
{
    const unsigned size = side->bits / 8;
    enum dti_status status = DTI_OK;
    for (size_t done = 0, some; done < n && status == DTI_OK; done += some) {
        const uint64_t at = first + done, skip = at % side->row, left = side->row - skip;
        const uint64_t from = (row_at(&side->change, at / side->row) * side->row + skip) * size;
        some = n - done < left ? n - done : (size_t)left;
        status = side->source.read
                     ? side->source.read(side->source.context, buffer + done * size, some * size,
                                         from, window, scratch, reterr)
                     : dti_input_read_once_at(side->input, buffer + done * size, some * size,
                                              side->offset + from, reterr);
    }
    return status;
}

enum dti_status dti_scan_look(const struct dti_scan_side *side, struct dti_window *window,
                              void *buffer, uint64_t first, size_t n, void *scratch,
                              const void **ret_raw, struct dti_error *reterr)
{
    const uint64_t offset = first / 8 * side->bits;
    if (side->change.head_rows > 0) {
        *ret_raw = buffer;
        return look_at_rows(side, window, buffer, first, n, scratch, reterr);
    }
    if (!side->source.read)
        return dti_window_look(window, side->input, buffer, dti_scan_bytes(side, n),
                               side->offset + offset, ret_raw, reterr);
    const enum dti_status status = side->source.read(
        side->source.context, buffer, dti_scan_bytes(side, n), offset, window, scratch, reterr);
    if (status == DTI_OK)
        *ret_raw = buffer;
    return status;
}

/* 1 + number, rounded once to fp16 or fp32. */
static float one_more(const struct dti_scan_side *side, float number)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *const half = dti_format_get(DTI_FP16);
    const float sum = number + 1.0F;
    struct dti_value value;
    struct dti_outcome outcome;
    uint32_t code;
    if (side->format->id != DTI_FP16)
        return sum;
    memcpy(&code, &sum, sizeof code);
    dti_decode(dti_format_get(DTI_FP32), code, &value);
    dti_encode(half, &value, &nearest, 0, &outcome);
    dti_decode(half, outcome.code, &value);
    return (float)dti_fp64_from_value(&value);
}

/* From fp32 or fp64, the numbers of the hub, to the buffer, which they may be in. */
static void add_one(const struct dti_scan_side *side, const void *numbers, void *buffer, size_t n)
{
    const size_t size = side->single ? sizeof(float) : sizeof(double);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *const from = (const unsigned char *)numbers + i * size;
        unsigned char *const to = (unsigned char *)buffer + i * size;
        double number;
        float narrow;
        if (!side->single) {
            memcpy(&number, from, sizeof number);
            narrow = (float)number; /* the converter reads fp64 as fp32 */
        } else {
            memcpy(&narrow, from, sizeof narrow);
        }
        narrow = one_more(side, narrow);
        number = (double)narrow;
        memcpy(to, side->single ? (const void *)&narrow : (const void *)&number, size);
    }
}

enum dti_status dti_scan_numbers(const struct dti_scan_side *side, const void *raw, void *buffer,
                                 size_t n, uint64_t index, const void **ret_numbers,
                                 struct dti_error *reterr)
{
    if (side->plan) {
        const enum dti_status status =
            dti_plan_run(side->plan, buffer, raw, n, index, DTI_STORES_CACHED, NULL, reterr);
        if (status != DTI_OK)
            return status;
    } else if (side->wide) {
        uint64_t *const codes = buffer;
        for (size_t i = 0; i < n; i++)
            codes[i] = dti_storage_get(side->format, &side->layout, raw, i);
    }
    *ret_numbers = side->plan || side->wide ? buffer : raw;
    if (side->change.plus_one) {
        add_one(side, *ret_numbers, buffer, n);
        *ret_numbers = buffer;
    }
    return DTI_OK;
}

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Allocates per-thread memory: a block with all its sides, and two tiles of numbers. */
static enum dti_status make_buffers(struct dti_scan *scan, size_t members, struct dti_error *reterr)
{
    const uint64_t max = scan->options->max_memory;
    const uint64_t share = (max > 0 ? max : MEMORY) / members;
    const size_t numbers = 2 * (size_t)DTI_SCAN_NUMBERS, limit = block_bytes();
    uint64_t most = 8, largest = 0, bytes;
    for (size_t i = 0; i < scan->count; i++) {
        const struct dti_queue_part *const part = &scan->parts[i];
        most = part->block > most ? part->block : most;
        if (!dti_mul_u64(part->elements / 8 + 1, part->block, &bytes) || bytes > limit)
            bytes = limit;
        largest = bytes > largest ? bytes : largest;
    }
    const size_t tile = DTI_TILE / 8 * (size_t)most;
    size_t block = tile;
    if (share > numbers + tile)
        block = share - numbers < largest ? (size_t)(share - numbers) : (size_t)largest;
    if (block < tile)
        block = tile;
    for (size_t i = 0; i < scan->count; i++) {
        const uint64_t tiles = block / (DTI_TILE / 8 * scan->parts[i].block);
        scan->parts[i].block = (tiles > 0 ? tiles : 1) * DTI_TILE;
    }
    /* one more cache line per side, so that both are aligned */
    scan->scratch_at = numbers + lines(block) + 2 * (size_t)LINE;
    scan->buffer_bytes = scan->scratch_at + lines(scan->scratch_bytes);
    if (dti_mul_u64(scan->buffer_bytes, members, &bytes) && bytes <= SIZE_MAX)
        scan->memory = dti_pages_alloc((size_t)bytes, true);
    scan->members = dti_calloc(members, scan->member_bytes);
    scan->windows = dti_calloc(members, 2 * sizeof *scan->windows);
    return scan->memory && scan->members && scan->windows ? DTI_OK : dti_no_memory(reterr);
}

static void tell_progress(void *context, uint64_t done)
{
    struct dti_scan *const scan = context;
    (void)done; /* elements, which differ in size */
    scan->options->progress(scan->options->progress_context, atomic_load(&scan->bytes));
}

enum dti_status dti_scan_init(struct dti_scan *scan, size_t count,
                              const struct dti_scan_options *options, struct dti_error *reterr)
{
    scan->options = options;
    scan->plans.level = options->level;
    scan->count = count;
    scan->parts = dti_calloc(count, sizeof *scan->parts);
    return scan->parts ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

enum dti_status dti_scan_run(struct dti_scan *scan, struct dti_error *reterr)
{
    const size_t members = scan->options->team ? dti_team_size(scan->options->team) : 1;
    enum dti_status status = make_buffers(scan, members, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_queue queue = {
        .parts = scan->parts,
        .count = scan->count,
        .work = scan->work,
        .context = scan->context,
        .progress = scan->options->progress ? tell_progress : NULL,
        .progress_context = scan,
    };
    pthread_mutex_init(&scan->lock, NULL);
    status = dti_queue_run(&queue, scan->options->team, reterr);
    for (size_t i = 0; i < members; i++) {
        scan->flush(scan->context, i);
        dti_window_free(&scan->windows[2 * i]);
        dti_window_free(&scan->windows[2 * i + 1]);
    }
    pthread_mutex_destroy(&scan->lock);
    return status;
}

void dti_scan_free(struct dti_scan *scan)
{
    struct dti_scan_plan *next;
    for (struct dti_scan_plan *at = scan->plans.first; at; at = next) {
        next = at->next;
        dti_plan_free(at->plan);
        dti_free(at);
    }
    dti_free(scan->windows);
    dti_free(scan->members);
    dti_free(scan->memory);
    dti_free(scan->parts);
}

struct dti_scan_buffers dti_scan_buffers(const struct dti_scan *scan, size_t member)
{
    unsigned char *const own = scan->memory + member * scan->buffer_bytes;
    return (struct dti_scan_buffers){
        .numbers = {own, own + DTI_SCAN_NUMBERS},
        .raw = own + 2 * (size_t)DTI_SCAN_NUMBERS,
        .scratch = own + scan->scratch_at,
        .windows = &scan->windows[2 * member],
    };
}
