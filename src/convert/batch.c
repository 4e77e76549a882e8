/* SPDX-License-Identifier: MIT
 *
 * Batch casts: checks everything that can be checked in advance, groups parts and cuts them into
 * blocks, and allocates buffers per thread. Then each block is read, cast and written. */
#include "convert/batch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/block_queue.h"
#include "convert/chunk_order.h"
#include "convert/plan_parts.h"
#include "convert/runner_parts.h"
#include "io/window.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

enum { CACHE_LINE = 64 };

/* Per-thread state. */
struct batch_member {
    unsigned char *memory, *scratch;
    struct dti_window window;
    bool heeds_sigpipe;
    struct dti_loss loss;
};

/* The queue's parts are groups: one part of the batch cut into blocks, or several small parts,
 * contiguous in input and output, as one block. Both are counted in bytes of input. */
struct batch_job {
    const struct dti_batch_part *parts;
    const struct dti_batch_options *options;
    size_t count;
    size_t group_count;
    struct dti_queue_part *groups;
    size_t *firsts;                                   /* first part of each group, then count */
    size_t member_count, member_bytes, scratch_bytes; /* scratch: the end of member_bytes */
    struct batch_member *members;
    bool any_pipe;             /* an output is a pipe */
    struct dti_runner *runner; /* of the first plan that has one, or NULL */
    pthread_mutex_t merging;   /* held while a loss is added to a part's loss */
};

/* Bits per element in input and output. */
struct batch_widths {
    unsigned src, dst;
};

static struct batch_widths widths_of(const struct dti_batch_part *part)
{
    if (!part->plan)
        return (struct batch_widths){8, 8};
    const struct dti_request *const request = dti_plan_request(part->plan);
    return (struct batch_widths){
        .src = dti_format_stored_bits(&request->src, &request->src_layout),
        .dst = dti_format_stored_bits(&request->cast.dst, &request->dst_layout),
    };
}

/* Bytes of n elements in input and output; the part was checked before. */
struct batch_sizes {
    uint64_t src, dst;
};

static struct batch_sizes sizes_of(const struct dti_batch_part *part, uint64_t n)
{
    const struct batch_widths bits = widths_of(part);
    return (struct batch_sizes){dti_array_bytes(n, bits.src), dti_array_bytes(n, bits.dst)};
}

/* Bytes a member needs for a block of these sizes. */
static uint64_t member_bytes(uint64_t src, uint64_t dst)
{
    return src + dst + UINT64_C(3) * CACHE_LINE;
}

/* Whether its output is written sequentially. */
static bool is_piped(const struct dti_batch_part *part)
{
    return part->output && !dti_output_seekable(part->output);
}

enum {
    MEMORY = 16 << 20,           /* all threads together */
    DEVICE_MEMORY = 64 << 20,    /* all threads together, if a device does the work of many */
    BLOCK_BYTES = 2 << 20,       /* of the larger side */
    BLOCK_BYTES_MIN = 256 << 10, /* smaller blocks waste time in system calls and small pages */
};

static enum dti_status check_input(const struct dti_batch_part *part, struct dti_error *reterr)
{
    const struct dti_input *const input = part->input;
    const char *const units = part->plan ? dti_plan_request(part->plan)->src.name : "bytes";
    char label[DTI_QUOTE_SIZE];
    if (!input->seekable)
        return dti_fail(reterr, DTI_BUG, "%s is not a regular file", dti_input_label(input, label));
    if (part->output && input->inode != 0 &&
        dti_output_is_file(part->output, input->device, input->inode))
        return dti_fail(reterr, DTI_USAGE, "%s is also the output; name another file",
                        dti_input_label(input, label));
    const uint64_t offset = part->input_offset;
    const uint64_t there = offset < input->size ? input->size - offset : 0;
    uint64_t needed = part->elements;
    if ((part->plan && !dti_plan_src_bytes(part->plan, part->elements, &needed)) || needed > there)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: %llu bytes are too few for %llu %s",
                        dti_input_label(input, label), (unsigned long long)there,
                        (unsigned long long)part->elements, units);
    return DTI_OK;
}

/* Checks all that can be known before anything is written. */
static enum dti_status check_part(const struct dti_batch_part *part, struct dti_error *reterr)
{
    const enum dti_status status = part->source.read ? DTI_OK : check_input(part, reterr);
    if (status != DTI_OK)
        return status;
    char label[DTI_QUOTE_SIZE] = "a tensor";
    uint64_t made = part->elements;
    if ((!part->plan || dti_plan_dst_bytes(part->plan, part->elements, &made)) &&
        dti_add_u64(made, part->output_offset, &made) && made <= INT64_MAX)
        return DTI_OK;
    if (part->input)
        dti_input_label(part->input, label);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: %llu %s are too many for a file", label,
                    (unsigned long long)part->elements,
                    part->plan ? dti_plan_request(part->plan)->src.name : "bytes");
}

static enum dti_status check_parts(struct batch_job *job, uint64_t *ret_total,
                                   struct dti_error *reterr)
{
    const struct dti_input *last = NULL;
    uint64_t total = 0;
    for (size_t i = 0; i < job->count; i++) {
        const struct dti_batch_part *const part = &job->parts[i];
        const struct dti_input *const input = part->input;
        const enum dti_status status = check_part(part, reterr);
        if (status != DTI_OK)
            return status;
        if (!dti_add_u64(total, sizes_of(part, part->elements).src, &total))
            total = UINT64_MAX; /* the same range many times */
        job->any_pipe = job->any_pipe || is_piped(part);
        if (part->plan && !job->runner)
            job->runner = dti_plan_runner(part->plan);
        if (part->source.read && part->source.scratch_bytes > job->scratch_bytes)
            job->scratch_bytes = part->source.scratch_bytes;
        if (input && input != last)
            (void)posix_fadvise(input->fd, (off_t)input->start, (off_t)input->size,
                                POSIX_FADV_SEQUENTIAL);
        last = input ? input : last;
    }
    *ret_total = total;
    return DTI_OK;
}

/* Limits on the size of a block. */
struct limits {
    uint64_t side; /* bytes of input, and of output */
    uint64_t both;
};

static bool fits(const struct limits *limits, uint64_t src, uint64_t dst)
{
    return src <= limits->side && dst <= limits->side && member_bytes(src, dst) <= limits->both;
}

/* Block size of a part that must be cut: whole tiles, at least one. */
static uint64_t choose_block(const struct dti_batch_part *part, const struct limits *limits)
{
    const struct batch_sizes tile = sizes_of(part, DTI_TILE);
    const uint64_t larger = tile.src > tile.dst ? tile.src : tile.dst;
    uint64_t tiles = limits->side / larger;
    const uint64_t fixed = member_bytes(0, 0);
    const uint64_t there = limits->both > fixed ? limits->both - fixed : 0;
    if (tiles > there / (tile.src + tile.dst))
        tiles = there / (tile.src + tile.dst);
    return (tiles > 0 ? tiles : 1) * tile.src;
}

/* Whether `next` directly follows `part`, of this size, in the output. */
static bool follows(const struct dti_batch_part *part, uint64_t dst,
                    const struct dti_batch_part *next)
{
    return next->output == part->output && next->output_offset == part->output_offset + dst &&
           !is_piped(part) && !is_piped(next);
}

/* Whether it does so in the input too, of a file. */
static bool is_read_with(const struct dti_batch_part *part, uint64_t src,
                         const struct dti_batch_part *next)
{
    return next->input == part->input && !part->source.read && !next->source.read &&
           next->input_offset == part->input_offset + src;
}

/* Merges small parts that follow each other in the output into one block. A system call per part
 * would be slow, and small writes make the page cache use small folios. */
static void make_groups(struct batch_job *job, const struct limits *limits)
{
    uint64_t most = 0;
    size_t group = 0;
    for (size_t i = 0; i < job->count; group++) {
        const struct dti_batch_part *const first = &job->parts[i];
        struct batch_sizes last = sizes_of(first, first->elements), all = last;
        job->firsts[group] = i++;
        struct dti_queue_part *const blocks = &job->groups[group];
        if (!fits(limits, all.src, all.dst)) {
            *blocks = (struct dti_queue_part){all.src, choose_block(first, limits)};
            all = sizes_of(first, blocks->block / widths_of(first).src * 8);
        } else {
            for (; i < job->count && follows(&job->parts[i - 1], last.dst, &job->parts[i]); i++) {
                last = sizes_of(&job->parts[i], job->parts[i].elements);
                if (!fits(limits, all.src + last.src, all.dst + last.dst))
                    break;
                all.src += last.src;
                all.dst += last.dst;
            }
            *blocks = (struct dti_queue_part){all.src, all.src > 0 ? all.src : 1};
        }
        if (member_bytes(all.src, all.dst) > most)
            most = member_bytes(all.src, all.dst);
    }
    job->firsts[group] = job->count;
    job->group_count = group;
    job->scratch_bytes = (job->scratch_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    job->member_bytes = dti_pages_round((size_t)most + job->scratch_bytes);
}

/* Chooses the number of threads that fit in memory, and the block sizes. The result of the batch
 * does not depend on them. */
static void choose_blocks(struct batch_job *job, uint64_t total, uint64_t memory, size_t threads)
{
    uint64_t members = memory / BLOCK_BYTES_MIN;
    if (members > threads)
        members = threads;
    if (members < 1)
        members = 1;
    job->member_count = (size_t)members;
    /* work for every member, but no tiny blocks */
    uint64_t side = total / members / 2;
    if (side < BLOCK_BYTES_MIN)
        side = BLOCK_BYTES_MIN;
    if (side > BLOCK_BYTES)
        side = BLOCK_BYTES;
    const struct limits limits = {.side = side, .both = memory / members};
    make_groups(job, &limits);
}

/* Allocates before the threads start: malloc() in a thread would reserve address space for an
 * arena each. If memory is short, uses fewer members. */
static enum dti_status add_members(struct batch_job *job, struct dti_error *reterr)
{
    job->members = dti_calloc(job->member_count, sizeof *job->members);
    size_t made = 0;
    while (job->members && made < job->member_count) {
        void *const memory = dti_runner_alloc(job->runner, job->member_bytes);
        if (!memory)
            break;
        job->members[made].scratch =
            (unsigned char *)memory + (job->member_bytes - job->scratch_bytes);
        job->members[made++].memory = memory;
    }
    job->member_count = made;
    return made > 0 ? DTI_OK : dti_no_memory(reterr);
}

/* Some elements of a part, and where they are. */
struct batch_piece {
    const struct dti_batch_part *part;
    uint64_t index; /* of the first element; only whole tiles precede it */
    size_t n;
    uint64_t input_offset, output_offset;
    size_t src_size, dst_size;
};

static struct batch_piece piece_of(const struct dti_batch_part *part, uint64_t first, size_t size)
{
    const struct batch_widths bits = widths_of(part);
    const uint64_t index = first / bits.src * 8, left = part->elements - index;
    const uint64_t fits = (uint64_t)size * 8 / bits.src; /* the last byte may contain padding */
    const uint64_t n = fits < left ? fits : left;
    return (struct batch_piece){
        .part = part,
        .index = index,
        .n = (size_t)n,
        .input_offset = part->input_offset + first,
        .output_offset = part->output_offset + index / 8 * bits.dst,
        .src_size = size,
        .dst_size = (size_t)dti_array_bytes(n, bits.dst),
    };
}

/* Where a block is read to (or mapped) and written from. Kernels accept any alignment, but the
 * kernel's copies are faster if both addresses have the same offset in a cache line. */
struct batch_buffers {
    unsigned char *src, *dst;
    const unsigned char *from; /* src, or in the window; valid once it was read */
};

static struct batch_buffers buffers_of(const struct batch_job *job, size_t member,
                                       const struct batch_piece *first, size_t src_size)
{
    const size_t line = CACHE_LINE;
    const size_t size = (src_size + line - 1) / line * line;
    unsigned char *const memory = job->members[member].memory;
    const struct dti_input *const input = first->part->input;
    const uint64_t from = (input ? input->start : 0) + first->input_offset;
    return (struct batch_buffers){
        .src = memory + from % line,
        .dst = memory + line + size + first->output_offset % line,
    };
}

static enum dti_status read_piece(const struct batch_job *job, size_t member,
                                  const struct batch_piece *piece, size_t size,
                                  struct batch_buffers *buffers, struct dti_error *reterr)
{
    const struct dti_batch_part *const part = piece->part;
    const struct dti_batch_source *const source = &part->source;
    struct batch_member *const mine = &job->members[member];
    const void *bytes = buffers->src;
    enum dti_status status;
    if (source->read)
        status = source->read(source->context, buffers->src, size, piece->input_offset,
                              &mine->window, mine->scratch, reterr);
    else if (!part->plan || dti_runner_is_on(job->runner)) /* system calls and drivers copy it */
        status = dti_window_copy(&mine->window, part->input, buffers->src, size,
                                 piece->input_offset, reterr);
    else
        status = dti_window_look(&mine->window, part->input, buffers->src, size,
                                 piece->input_offset, &bytes, reterr);
    buffers->from = bytes;
    return status;
}

static enum dti_status write_piece(const struct batch_piece *piece, size_t size,
                                   const struct batch_buffers *buffers, struct dti_error *reterr)
{
    return dti_output_write_at(piece->part->output, buffers->dst, size, piece->output_offset,
                               reterr);
}

static enum dti_status cast_piece(struct batch_job *job, size_t member,
                                  const struct batch_piece *piece,
                                  const struct batch_buffers *buffers, struct dti_error *reterr)
{
    const struct dti_batch_part *const part = piece->part;
    struct dti_loss *const loss = part->loss ? &job->members[member].loss : NULL;
    if (!part->plan) {
        memcpy(buffers->dst, buffers->from, piece->src_size);
        return DTI_OK;
    }
    if (loss)
        dti_loss_init(loss);
    const enum dti_status status = dti_plan_run(part->plan, buffers->dst, buffers->from, piece->n,
                                                piece->index, DTI_STORES_CACHED, loss, reterr);
    if (status == DTI_OK && loss) {
        pthread_mutex_lock(&job->merging);
        dti_loss_merge(part->loss, loss);
        pthread_mutex_unlock(&job->merging);
    }
    if (status != DTI_OK && job->options->place)
        job->options->place(job->options->place_context, (size_t)(part - job->parts), reterr);
    return status;
}

/* A copy is written from the buffer it was read into. */
static struct batch_buffers buffers_of_piece(const struct batch_job *job, size_t member,
                                             const struct batch_piece *piece)
{
    struct batch_buffers buffers = buffers_of(job, member, piece, piece->src_size);
    if (!piece->part->plan)
        buffers.dst = buffers.src;
    return buffers;
}

static enum dti_status do_piece(struct batch_job *job, size_t member,
                                const struct batch_piece *piece, struct dti_error *reterr)
{
    struct batch_buffers buffers = buffers_of_piece(job, member, piece);
    enum dti_status status = read_piece(job, member, piece, piece->src_size, &buffers, reterr);
    if (status == DTI_OK && piece->part->plan) {
        status = cast_piece(job, member, piece, &buffers, reterr);
        status = dti_window_done(&job->members[member].window, status, reterr);
    }
    if (status == DTI_OK && piece->part->output && !is_piped(piece->part))
        status = write_piece(piece, piece->dst_size, &buffers, reterr);
    return status;
}

/* The end of the parts from `begin` on that follow each other in the input. */
static size_t run_end(const struct batch_job *job, size_t begin, size_t end, size_t *ret_size)
{
    uint64_t size = sizes_of(&job->parts[begin], job->parts[begin].elements).src, last = size;
    size_t at = begin + 1;
    for (; at < end && is_read_with(&job->parts[at - 1], last, &job->parts[at]); at++) {
        last = sizes_of(&job->parts[at], job->parts[at].elements).src;
        size += last;
    }
    *ret_size = (size_t)size; /* that of a block */
    return at;
}

/* Casts whole parts that are read at once to *ret_dst, and moves that to their end. */
static enum dti_status do_run(struct batch_job *job, size_t member, size_t begin, size_t end,
                              size_t size, unsigned char **ret_dst, struct dti_error *reterr)
{
    const struct batch_piece first = piece_of(&job->parts[begin], 0, 0);
    struct batch_buffers at = buffers_of(job, member, &first, size);
    enum dti_status status = read_piece(job, member, &first, size, &at, reterr);
    if (status != DTI_OK)
        return status;
    at.dst = *ret_dst;
    for (size_t i = begin; i < end && status == DTI_OK; i++) {
        const struct dti_batch_part *const part = &job->parts[i];
        const struct batch_sizes sizes = sizes_of(part, part->elements);
        const struct batch_piece piece = piece_of(part, 0, (size_t)sizes.src);
        status = cast_piece(job, member, &piece, &at, reterr);
        at.from += piece.src_size;
        at.dst += piece.dst_size;
    }
    *ret_dst = at.dst;
    return dti_window_done(&job->members[member].window, status, reterr);
}

/* Casts several whole parts with few reads and one write. */
static enum dti_status do_parts(struct batch_job *job, size_t member, size_t begin, size_t end,
                                size_t size, struct dti_error *reterr)
{
    const struct batch_piece first = piece_of(&job->parts[begin], 0, 0);
    const struct batch_buffers buffers = buffers_of(job, member, &first, size);
    unsigned char *dst = buffers.dst;
    enum dti_status status = DTI_OK;
    for (size_t at = begin, next; at < end && status == DTI_OK; at = next) {
        size_t some;
        next = run_end(job, at, end, &some);
        status = do_run(job, member, at, next, some, &dst, reterr);
    }
    if (status == DTI_OK && first.part->output)
        status = write_piece(&first, (size_t)(dst - buffers.dst), &buffers, reterr);
    return status;
}

static enum dti_status do_block(void *context, size_t member, size_t group, uint64_t first,
                                size_t size, struct dti_error *reterr)
{
    struct batch_job *const job = context;
    const size_t begin = job->firsts[group], end = job->firsts[group + 1];
    if (end - begin == 1) {
        const struct batch_piece piece = piece_of(&job->parts[begin], first, size);
        return do_piece(job, member, &piece, reterr);
    }
    const enum dti_status failed = do_parts(job, member, begin, end, size, reterr);
    /* Repeat them one by one to report the error that comes first. Losses no longer matter. */
    for (size_t i = begin; i < end && failed != DTI_OK; i++) {
        const struct dti_batch_part *const part = &job->parts[i];
        const struct batch_sizes sizes = sizes_of(part, part->elements);
        const struct batch_piece piece = piece_of(part, 0, (size_t)sizes.src);
        const enum dti_status status = do_piece(job, member, &piece, reterr);
        if (status != DTI_OK)
            return status;
    }
    return failed;
}

/* Writes a block to a pipe: the queue's `finish` callback. */
static enum dti_status put_block(void *context, size_t member, size_t group, uint64_t first,
                                 size_t size, struct dti_error *reterr)
{
    struct batch_job *const job = context;
    struct batch_member *const mine = &job->members[member];
    const struct dti_batch_part *const part = &job->parts[job->firsts[group]];
    if (!is_piped(part))
        return DTI_OK;
    if (member > 0 && !mine->heeds_sigpipe) {
        dti_chunk_order_heed_sigpipe();
        mine->heeds_sigpipe = true;
    }
    const struct batch_piece piece = piece_of(part, first, size);
    const struct batch_buffers buffers = buffers_of_piece(job, member, &piece);
    return dti_output_write(part->output, buffers.dst, piece.dst_size, reterr);
}

static enum dti_status run_batch(struct batch_job *job, struct dti_team *team,
                                 struct dti_error *reterr)
{
    const struct dti_batch_options *const options = job->options;
    uint64_t total;
    enum dti_status status = check_parts(job, &total, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t memory = dti_runner_is_on(job->runner) ? DEVICE_MEMORY : MEMORY;
    choose_blocks(job, total, options->max_memory ? options->max_memory : memory,
                  team ? dti_team_size(team) : 1);
    status = add_members(job, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_queue queue = {
        .parts = job->groups,
        .count = job->group_count,
        .members = job->member_count,
        .work = do_block,
        .finish = job->any_pipe ? put_block : NULL,
        .context = job,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    pthread_mutex_init(&job->merging, NULL);
    status = dti_queue_run(&queue, team, reterr);
    pthread_mutex_destroy(&job->merging);
    return status;
}

enum dti_status dti_batch_run(const struct dti_batch_part *parts, size_t count,
                              struct dti_team *team, const struct dti_batch_options *options,
                              struct dti_error *reterr)
{
    static const struct dti_batch_options none = {0};
    struct batch_job job = {.parts = parts, .options = options ? options : &none, .count = count};
    enum dti_status status;
    job.groups = dti_calloc(count + 1, sizeof *job.groups);
    job.firsts = dti_calloc(count + 1, sizeof *job.firsts);
    if (job.groups && job.firsts)
        status = run_batch(&job, team, reterr);
    else
        status = dti_no_memory(reterr);
    for (size_t i = 0; job.members && i < job.member_count; i++) {
        dti_window_free(&job.members[i].window);
        dti_runner_free(job.runner, job.members[i].memory);
    }
    dti_free(job.members);
    dti_free(job.firsts);
    dti_free(job.groups);
    return status;
}
