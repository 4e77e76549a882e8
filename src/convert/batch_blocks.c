/* SPDX-License-Identifier: MIT
 *
 * One block of a batch: it is read, cast and written, in the memory of one thread. */
#include <string.h>

#include "convert/batch_job.h"
#include "convert/chunk_order.h"
#include "convert/plan_parts.h"
#include "convert/runner_parts.h"

struct dti_batch_widths dti_batch_widths(const struct dti_batch_part *part)
{
    if (!part->plan)
        return (struct dti_batch_widths){8, 8};
    const struct dti_request *const request = dti_plan_request(part->plan);
    return (struct dti_batch_widths){
        .src = dti_format_stored_bits(&request->src, &request->src_layout),
        .dst = dti_format_stored_bits(&request->cast.dst, &request->dst_layout),
    };
}

struct dti_batch_sizes dti_batch_sizes(const struct dti_batch_part *part, uint64_t n)
{
    const struct dti_batch_widths bits = dti_batch_widths(part);
    return (struct dti_batch_sizes){dti_array_bytes(n, bits.src), dti_array_bytes(n, bits.dst)};
}

/* Elements of a part, and where they are. */
struct batch_chunk {
    const struct dti_batch_part *part;
    uint64_t index; /* of the first; whole tiles are before it */
    size_t n;
    uint64_t input_offset, output_offset;
    size_t src_size, dst_size;
};

static struct batch_chunk piece_of(const struct dti_batch_part *part, uint64_t first, size_t size)
{
    const struct dti_batch_widths bits = dti_batch_widths(part);
    const uint64_t index = first / bits.src * 8, left = part->elements - index;
    const uint64_t fits = (uint64_t)size * 8 / bits.src; /* the last byte may hold padding */
    const uint64_t n = fits < left ? fits : left;
    return (struct batch_chunk){
        .part = part,
        .index = index,
        .n = (size_t)n,
        .input_offset = part->input_offset + first,
        .output_offset = part->output_offset + index / 8 * bits.dst,
        .src_size = size,
        .dst_size = (size_t)dti_array_bytes(n, bits.dst),
    };
}

/* Where a block is read to, or seen in a window, and written from. Kernels take any alignment, but
 * the system copies faster between places that are equally far from a line's begin. */
struct batch_buffers {
    unsigned char *src, *dst;
    const unsigned char *from; /* src, or in a window; once it was read */
};

static struct batch_buffers buffers_of(const struct dti_batch_job *job, size_t member,
                                       const struct batch_chunk *first, size_t src_size)
{
    const size_t line = DTI_BATCH_LINE;
    const size_t size = (src_size + line - 1) / line * line;
    unsigned char *const memory = job->members[member].memory;
    const struct dti_input *const input = first->part->input;
    const uint64_t from = (input ? input->start : 0) + first->input_offset;
    return (struct batch_buffers){
        .src = memory + from % line,
        .dst = memory + line + size + first->output_offset % line,
    };
}

static enum dti_status read_piece(const struct dti_batch_job *job, size_t member,
                                  const struct batch_chunk *piece, size_t size,
                                  struct batch_buffers *buffers, struct dti_error *reterr)
{
    const struct dti_batch_part *const part = piece->part;
    const struct dti_batch_source *const source = part->source;
    struct dti_batch_member *const mine = &job->members[member];
    const void *bytes = buffers->src;
    enum dti_status status;
    if (source)
        status = source->read(source->context, buffers->src, size, piece->input_offset,
                              &mine->window, mine->scratch, reterr);
    else if (!part->plan || dti_runner_is_on(job->runner)) /* system calls and drivers copy it */
        status = dti_input_read_at(part->input, buffers->src, size, piece->input_offset, reterr);
    else
        status = dti_window_look(&mine->window, part->input, buffers->src, size,
                                 piece->input_offset, &bytes, reterr);
    buffers->from = bytes;
    return status;
}

static enum dti_status write_piece(const struct batch_chunk *piece, size_t size,
                                   const struct batch_buffers *buffers, struct dti_error *reterr)
{
    return dti_output_write_at(piece->part->output, buffers->dst, size, piece->output_offset,
                               reterr);
}

static enum dti_status cast_piece(struct dti_batch_job *job, size_t member,
                                  const struct batch_chunk *piece,
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

/* A copy is written from where it was read to. */
static struct batch_buffers buffers_of_piece(const struct dti_batch_job *job, size_t member,
                                             const struct batch_chunk *piece)
{
    struct batch_buffers buffers = buffers_of(job, member, piece, piece->src_size);
    if (!piece->part->plan)
        buffers.dst = buffers.src;
    return buffers;
}

static enum dti_status do_piece(struct dti_batch_job *job, size_t member,
                                const struct batch_chunk *piece, struct dti_error *reterr)
{
    struct batch_buffers buffers = buffers_of_piece(job, member, piece);
    enum dti_status status = read_piece(job, member, piece, piece->src_size, &buffers, reterr);
    if (status == DTI_OK && piece->part->plan) {
        status = cast_piece(job, member, piece, &buffers, reterr);
        status = dti_window_done(&job->members[member].window, status, reterr);
    }
    if (status == DTI_OK && piece->part->output && !dti_batch_is_piped(piece->part))
        status = write_piece(piece, piece->dst_size, &buffers, reterr);
    return status;
}

/* Several whole parts with one read and one write. */
static enum dti_status do_parts(struct dti_batch_job *job, size_t member, size_t begin, size_t end,
                                size_t size, struct dti_error *reterr)
{
    const struct batch_chunk first = piece_of(&job->parts[begin], 0, 0);
    struct batch_buffers buffers = buffers_of(job, member, &first, size);
    enum dti_status status = read_piece(job, member, &first, size, &buffers, reterr);
    if (status != DTI_OK)
        return status;
    struct batch_buffers at = buffers;
    for (size_t i = begin; i < end && status == DTI_OK; i++) {
        const struct dti_batch_part *const part = &job->parts[i];
        const struct dti_batch_sizes sizes = dti_batch_sizes(part, part->elements);
        const struct batch_chunk piece = piece_of(part, 0, (size_t)sizes.src);
        status = cast_piece(job, member, &piece, &at, reterr);
        at.from += piece.src_size;
        at.dst += piece.dst_size;
    }
    status = dti_window_done(&job->members[member].window, status, reterr);
    if (status == DTI_OK && first.part->output)
        status = write_piece(&first, (size_t)(at.dst - buffers.dst), &buffers, reterr);
    return status;
}

enum dti_status dti_batch_block(void *context, size_t member, size_t group, uint64_t first,
                                size_t size, struct dti_error *reterr)
{
    struct dti_batch_job *const job = context;
    const size_t begin = job->firsts[group], end = job->firsts[group + 1];
    if (end - begin == 1) {
        const struct batch_chunk piece = piece_of(&job->parts[begin], first, size);
        return do_piece(job, member, &piece, reterr);
    }
    const enum dti_status failed = do_parts(job, member, begin, end, size, reterr);
    /* Again one by one: of several errors the first is reported. Losses no longer matter. */
    for (size_t i = begin; i < end && failed != DTI_OK; i++) {
        const struct dti_batch_part *const part = &job->parts[i];
        const struct dti_batch_sizes sizes = dti_batch_sizes(part, part->elements);
        const struct batch_chunk piece = piece_of(part, 0, (size_t)sizes.src);
        const enum dti_status status = do_piece(job, member, &piece, reterr);
        if (status != DTI_OK)
            return status;
    }
    return failed;
}

enum dti_status dti_batch_put(void *context, size_t member, size_t group, uint64_t first,
                              size_t size, struct dti_error *reterr)
{
    struct dti_batch_job *const job = context;
    struct dti_batch_member *const mine = &job->members[member];
    const struct dti_batch_part *const part = &job->parts[job->firsts[group]];
    if (!dti_batch_is_piped(part))
        return DTI_OK;
    if (member > 0 && !mine->heeds_sigpipe) {
        dti_chunk_order_heed_sigpipe();
        mine->heeds_sigpipe = true;
    }
    const struct batch_chunk piece = piece_of(part, first, size);
    const struct batch_buffers buffers = buffers_of_piece(job, member, &piece);
    return dti_output_write(part->output, buffers.dst, piece.dst_size, reterr);
}
