/* SPDX-License-Identifier: MIT
 *
 * A transfer: counts elements, chooses the block size, allocates memory; then each thread takes
 * a block, reads, casts and writes it. Files are read and written at any offset in any order;
 * pipes are read by one thread at a time and written in turn, while others cast. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/chunk_order.h"
#include "convert/convert.h"
#include "convert/plan_parts.h"
#include "convert/runner_parts.h"
#include "io/window.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

/* Per-thread state. */
struct dti_transfer_member {
    void *memory;
    unsigned char *src, *dst; /* one block each, in memory */
    struct dti_window window; /* of an input file */
    const void *from;         /* the block: src, or in the window */
    struct dti_loss loss;
};

/* Blocks are numbered in the order of the array. */
struct dti_transfer_job {
    const struct dti_plan *plan;
    const struct dti_transfer *transfer;
    bool parallel_read, parallel_write; /* any block at any time; otherwise in order */
    bool with_loss;
    uint64_t elements;           /* may be DTI_UNTIL_END unless parallel_read */
    uint64_t block_elements;     /* a multiple of DTI_TILE */
    size_t block_src, block_dst; /* bytes */
    unsigned src_bits, dst_bits; /* bits per element */
    size_t member_count;
    struct dti_transfer_member *members;

    pthread_mutex_t reading; /* held while taking the next block, and reading it from a pipe */
    bool at_end;
    uint64_t next_block;
    struct dti_chunk_order order;
};

struct transfer_chunk {
    uint64_t number;
    size_t n; /* elements */
};

enum dti_status dti_transfer_elements(const struct dti_plan *plan, uint64_t bytes,
                                      const char *label, uint64_t *ret_elements,
                                      unsigned *ret_padding, struct dti_error *reterr)
{
    const struct dti_request *const request = dti_plan_request(plan);
    const unsigned bits = dti_format_stored_bits(&request->src, &request->src_layout);
    unsigned padding;
    const enum dti_status status =
        dti_storage_count(&request->src, bits, bytes, label, ret_elements, &padding, reterr);
    if (status == DTI_OK && ret_padding)
        *ret_padding = padding;
    return status;
}

/* A multiple of a tile ends at a whole byte. Cannot overflow: the array's size in bits was
 * checked, or is bounded by what a pipe can deliver. */
static uint64_t offset_of(uint64_t first, unsigned bits)
{
    return first / 8 * bits;
}

static bool take_from_file(struct dti_transfer_job *job, struct dti_transfer_member *member,
                           struct transfer_chunk *ret)
{
    pthread_mutex_lock(&job->reading);
    const uint64_t number = job->next_block;
    const uint64_t blocks =
        job->elements / job->block_elements + (job->elements % job->block_elements != 0);
    const bool any = !dti_chunk_order_stopped(&job->order) && number < blocks;
    job->next_block += any;
    pthread_mutex_unlock(&job->reading);
    if (!any)
        return false;

    const uint64_t first = number * job->block_elements;
    const uint64_t left = job->elements - first;
    const uint64_t n = left < job->block_elements ? left : job->block_elements;
    struct dti_error error;
    const enum dti_status status = dti_window_look(
        &member->window, job->transfer->input, member->src,
        (size_t)dti_array_bytes(n, job->src_bits),
        job->transfer->input_offset + offset_of(first, job->src_bits), &member->from, &error);
    if (status != DTI_OK) {
        dti_chunk_order_fail(&job->order, number, status, &error);
        return false;
    }
    *ret = (struct transfer_chunk){.number = number, .n = (size_t)n};
    return true;
}

/* Counts the elements in the short last block of a pipe. */
static enum dti_status count_rest(const struct dti_transfer_job *job, uint64_t first,
                                  const unsigned char *data, size_t bytes, uint64_t *ret_n,
                                  struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_input_label(job->transfer->input, label);
    const uint64_t total = offset_of(first, job->src_bits) + bytes;
    if (job->elements != DTI_UNTIL_END)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s ended after %llu bytes, too few for %llu %s",
                        label, (unsigned long long)total, (unsigned long long)job->elements,
                        dti_plan_request(job->plan)->src.name);
    uint64_t elements;
    unsigned padding;
    const struct dti_request *const request = dti_plan_request(job->plan);
    enum dti_status status =
        dti_transfer_elements(job->plan, total, label, &elements, &padding, reterr);
    if (status == DTI_OK && padding > 0)
        status = dti_storage_check_padding(&request->src, &request->src_layout, data[bytes - 1],
                                           padding, label, reterr);
    if (status == DTI_OK)
        *ret_n = elements - first;
    return status;
}

/* Requires `reading` to be held. */
static bool take_in_order(struct dti_transfer_job *job, struct dti_transfer_member *member,
                          struct transfer_chunk *ret)
{
    if (job->at_end || dti_chunk_order_stopped(&job->order))
        return false;
    const uint64_t number = job->next_block;
    const uint64_t first = number * job->block_elements;
    uint64_t n = job->block_elements;
    if (job->elements != DTI_UNTIL_END && job->elements - first < n)
        n = job->elements - first;
    const size_t want = (size_t)dti_array_bytes(n, job->src_bits);
    size_t got = 0;
    struct dti_error error;
    enum dti_status status = dti_input_read(job->transfer->input, member->src, want, &got, &error);
    if (status == DTI_OK && got < want && dti_chunk_order_stopped(&job->order))
        return false; /* aborted, not at the end */
    if (status == DTI_OK && got < want)
        status = count_rest(job, first, member->src, got, &n, &error);
    job->at_end = status != DTI_OK || got < want || n == 0 ||
                  (job->elements != DTI_UNTIL_END && job->elements - first == n);
    if (status != DTI_OK)
        dti_chunk_order_fail(&job->order, number, status, &error);
    if (status != DTI_OK || n == 0)
        return false;
    job->next_block++;
    member->from = member->src;
    *ret = (struct transfer_chunk){.number = number, .n = (size_t)n};
    return true;
}

static bool take_chunk(struct dti_transfer_job *job, struct dti_transfer_member *member,
                       struct transfer_chunk *ret)
{
    dti_chunk_order_look(&job->order);
    if (job->parallel_read)
        return take_from_file(job, member, ret);
    dti_chunk_order_lock(&job->order, &job->reading);
    const bool any = take_in_order(job, member, ret);
    pthread_mutex_unlock(&job->reading);
    return any;
}

static bool put(struct dti_transfer_job *job, const struct dti_transfer_member *member,
                const struct transfer_chunk *block)
{
    struct dti_output_file *const output = job->transfer->output;
    const size_t size = (size_t)dti_array_bytes(block->n, job->dst_bits);
    struct dti_error error;
    enum dti_status status;
    if (job->parallel_write) {
        const uint64_t first = block->number * job->block_elements;
        status = dti_output_write_at(output, member->dst, size,
                                     job->transfer->output_offset + offset_of(first, job->dst_bits),
                                     &error);
    } else {
        if (!dti_chunk_order_await(&job->order, block->number))
            return false;
        status = dti_output_write(output, member->dst, size, &error);
    }
    if (status != DTI_OK)
        dti_chunk_order_fail(&job->order, block->number, status, &error);
    return status == DTI_OK;
}

/* Callback for dti_team_run(): the work of one member; context is the job. */
static void transfer_work(void *context, size_t member, size_t size)
{
    struct dti_transfer_job *const job = context;
    (void)size;
    if (member >= job->member_count)
        return;
    if (!job->parallel_write && member > 0)
        dti_chunk_order_heed_sigpipe();
    struct dti_transfer_member *const mine = &job->members[member];
    struct transfer_chunk block;
    while (take_chunk(job, mine, &block)) {
        struct dti_error error;
        enum dti_status status = dti_plan_run(job->plan, mine->dst, mine->from, block.n,
                                              block.number * job->block_elements, DTI_STORES_CACHED,
                                              job->with_loss ? &mine->loss : NULL, &error);
        status = dti_window_done(&mine->window, status, &error);
        if (status != DTI_OK) {
            dti_chunk_order_fail(&job->order, block.number, status, &error);
            return;
        }
        if (!put(job, mine, &block))
            return;
        dti_chunk_order_done(&job->order, block.number, block.n, !job->parallel_write);
    }
}

enum {
    BLOCK_BYTES = 2 << 20,       /* larger side */
    BLOCK_BYTES_MIN = 256 << 10, /* smaller blocks waste time in system calls and small pages */
    BUFFERS_MAX = 32 << 20, /* all threads together, unless blocks would be below the minimum */
    TILES_PER_PAGE = 16,    /* this many tiles of any width are whole pages */
};

/* The elements of a file: the requested number, which must exist, or else all. */
static enum dti_status count_file(struct dti_transfer_job *job, struct dti_error *reterr)
{
    const struct dti_transfer *const transfer = job->transfer;
    const struct dti_input *const input = transfer->input;
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    const uint64_t offset = transfer->input_offset;
    const uint64_t there = offset < input->size ? input->size - offset : 0;
    if (job->elements != DTI_UNTIL_END) {
        uint64_t needed;
        if (!dti_plan_src_bytes(job->plan, job->elements, &needed) || needed > there)
            return dti_fail(reterr, DTI_BAD_INPUT, "%s: %llu bytes are too few for %llu %s", label,
                            (unsigned long long)there, (unsigned long long)job->elements,
                            dti_plan_request(job->plan)->src.name);
        return DTI_OK;
    }
    unsigned padding;
    enum dti_status status =
        dti_transfer_elements(job->plan, there, label, &job->elements, &padding, reterr);
    if (status != DTI_OK || padding == 0)
        return status;
    unsigned char last;
    status = dti_input_read_at(input, &last, 1, offset + there - 1, reterr);
    const struct dti_request *const request = dti_plan_request(job->plan);
    if (status == DTI_OK)
        status = dti_storage_check_padding(&request->src, &request->src_layout, last, padding,
                                           label, reterr);
    return status;
}

/* The number of tiles per block. The result of the transfer does not depend on it. */
static uint64_t choose_tiles(const struct dti_transfer_job *job, uint64_t block_bytes,
                             size_t threads)
{
    const uint64_t tile_src = (uint64_t)DTI_TILE / 8 * job->src_bits;
    const uint64_t tile_dst = (uint64_t)DTI_TILE / 8 * job->dst_bits;
    const uint64_t tile = tile_src > tile_dst ? tile_src : tile_dst;
    uint64_t tiles;
    if (block_bytes > 0) {
        tiles = (block_bytes < BUFFERS_MAX ? block_bytes : BUFFERS_MAX) / tile_src;
    } else {
        uint64_t bytes = BUFFERS_MAX / 2 / threads;
        if (bytes > BLOCK_BYTES)
            bytes = BLOCK_BYTES;
        if (bytes < BLOCK_BYTES_MIN)
            bytes = BLOCK_BYTES_MIN;
        tiles = bytes / tile;
        if (job->elements != DTI_UNTIL_END) {
            /* work for every member, but no tiny blocks */
            const uint64_t share = job->elements / DTI_TILE / threads + 1;
            const uint64_t least = BLOCK_BYTES_MIN / tile;
            if (share < tiles)
                tiles = share > least ? share : least;
        }
        if (tiles > TILES_PER_PAGE)
            tiles -= tiles % TILES_PER_PAGE;
    }
    if (job->elements != DTI_UNTIL_END && tiles > job->elements / DTI_TILE + 1)
        tiles = job->elements / DTI_TILE + 1;
    return tiles > 0 ? tiles : 1;
}

/* Allocates before the threads start: malloc() in a thread would reserve address space for an
 * arena each. */
static bool add_member(struct dti_transfer_job *job)
{
    const size_t src_size = dti_pages_round(job->block_src);
    const size_t size = dti_pages_round(src_size + job->block_dst);
    struct dti_transfer_member *const member = &job->members[job->member_count];
    struct dti_runner *const runner = dti_plan_runner(job->plan);
    void *const memory =
        runner ? dti_runner_alloc(runner, size) : dti_pages_alloc(size, job->parallel_read);
    if (!memory)
        return false;
    member->memory = memory;
    member->src = memory;
    member->dst = member->src + src_size;
    if (dti_runner_is_on(runner)) /* drivers copy it */
        member->window.way = DTI_WINDOW_COPY;
    dti_loss_init(&member->loss);
    job->member_count++;
    return true;
}

/* Allocates buffers for as many members as have work; fewer if memory is short. */
static enum dti_status add_members(struct dti_transfer_job *job, size_t threads,
                                   struct dti_error *reterr)
{
    size_t members = threads;
    if (job->elements != DTI_UNTIL_END && job->elements / job->block_elements < threads)
        members = (size_t)(job->elements / job->block_elements) + 1;
    job->members = dti_calloc(members, sizeof *job->members);
    while (job->members && job->member_count < members && add_member(job))
        continue;
    if (job->member_count == 0)
        return dti_no_memory(reterr);
    return DTI_OK;
}

static enum dti_status prepare(struct dti_transfer_job *job, uint64_t block_bytes, size_t threads,
                               struct dti_error *reterr)
{
    const struct dti_transfer *const transfer = job->transfer;
    const struct dti_request *const request = dti_plan_request(job->plan);
    const struct dti_input *const input = transfer->input;
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    if (input->inode != 0 && dti_output_is_file(transfer->output, input->device, input->inode))
        return dti_fail(reterr, DTI_USAGE, "%s is also the output; name another file", label);

    job->src_bits = dti_format_stored_bits(&request->src, &request->src_layout);
    job->dst_bits = dti_format_stored_bits(&request->cast.dst, &request->dst_layout);
    job->parallel_read = input->seekable;
    job->parallel_write = dti_output_seekable(transfer->output);
    if (input->seekable) {
        const enum dti_status status = count_file(job, reterr);
        if (status != DTI_OK)
            return status;
    }
    uint64_t bytes;
    const bool counted = job->elements != DTI_UNTIL_END;
    if (counted && (!dti_plan_src_bytes(job->plan, job->elements, &bytes) ||
                    !dti_plan_dst_bytes(job->plan, job->elements, &bytes) ||
                    !dti_add_u64(bytes, transfer->output_offset, &bytes) || bytes > INT64_MAX))
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: %llu elements are too many for a file", label,
                        (unsigned long long)job->elements);
    const uint64_t tiles = choose_tiles(job, block_bytes, threads);
    job->block_elements = tiles * DTI_TILE;
    job->block_src = (size_t)(job->block_elements / 8 * job->src_bits);
    job->block_dst = (size_t)(job->block_elements / 8 * job->dst_bits);
    return add_members(job, threads, reterr);
}

static void advise(const struct dti_transfer_job *job)
{
    if (!job->parallel_read)
        return;
    const struct dti_input *const input = job->transfer->input;
    (void)posix_fadvise(input->fd, (off_t)input->start, (off_t)input->size, POSIX_FADV_SEQUENTIAL);
}

static enum dti_status work(struct dti_transfer_job *job, struct dti_team *team,
                            struct dti_error *reterr)
{
    struct dti_input *const input = job->transfer->input;
    advise(job);
    pthread_mutex_init(&job->reading, NULL);
    dti_chunk_order_init(&job->order, job->transfer->progress, job->transfer->progress_context);
    if (job->member_count == 1) {
        transfer_work(job, 0, 1);
    } else {
        const atomic_bool *const stop = input->stop;
        input->stop = &job->order.stop;
        dti_team_run(team, transfer_work, job);
        input->stop = stop;
    }
    pthread_mutex_destroy(&job->reading);
    return dti_chunk_order_end(&job->order, reterr);
}

enum dti_status dti_transfer_run(const struct dti_plan *plan, struct dti_team *team,
                                 const struct dti_transfer *transfer,
                                 const struct dti_transfer_options *options, struct dti_loss *loss,
                                 uint64_t *ret_elements, struct dti_error *reterr)
{
    struct dti_transfer_job job = {
        .plan = plan,
        .transfer = transfer,
        .with_loss = loss != NULL,
        .elements = transfer->elements,
    };
    const size_t threads = team ? dti_team_size(team) : 1;
    enum dti_status status = prepare(&job, options ? options->block_bytes : 0, threads, reterr);
    if (status == DTI_OK)
        status = work(&job, team, reterr);
    for (size_t i = 0; i < job.member_count; i++) {
        if (status == DTI_OK && loss)
            dti_loss_merge(loss, &job.members[i].loss);
        dti_window_free(&job.members[i].window);
        dti_runner_free(dti_plan_runner(plan), job.members[i].memory);
    }
    dti_free(job.members);
    if (status == DTI_OK)
        *ret_elements = job.order.done;
    return status;
}
