/* SPDX-License-Identifier: MIT
 *
 * The pieces of tensors: read, scanned or quantized, and written, by any thread. */
#include <string.h>

#include "convert/block_queue.h"
#include "files/rewrite/quantize.h"

/* Reads `bytes` bytes of a task's tensor, starting at an element. */
static enum dti_status look(const struct dti_quant_task *task, struct dti_quant_member *member,
                            uint64_t first, size_t bytes, const void **ret_numbers,
                            struct dti_error *reterr)
{
    return dti_window_look(&member->window, task->input.input, member->buffer[DTI_QUANT_INPUT],
                           bytes, task->input.offset + first * task->item, ret_numbers, reterr);
}

/* The numbers of a piece, rotated: *numbers is replaced. */
static enum dti_status rotate(const struct dti_quant_task *task, struct dti_quant_member *member,
                              size_t n, const void **numbers, struct dti_error *reterr)
{
    float *const from = (float *)(void *)member->buffer[DTI_QUANT_FP32];
    float *const to = (float *)(void *)member->buffer[DTI_QUANT_TURNED];
    const unsigned group = task->stored.rotation;
    if (group == 0)
        return DTI_OK;
    const enum dti_status status =
        dti_plan_run(task->to_fp32, from, *numbers, n, 0, DTI_STORES_CACHED, NULL, reterr);
    if (status == DTI_OK)
        task->rotate->run.rotate(to, from, n / group, group);
    *numbers = to;
    return status;
}

static void flush(struct dti_quantize_job *job, struct dti_quant_member *member)
{
    if (!member->ranges)
        return;
    pthread_mutex_lock(&job->merging);
    dti_quant_ranges_merge(member->ranges_of->ranges, member->ranges);
    pthread_mutex_unlock(&job->merging);
    dti_quant_ranges_free(member->ranges);
    member->ranges = NULL;
}

static enum dti_status find_range(void *context, size_t member, size_t part, uint64_t first,
                                  size_t size, struct dti_error *reterr)
{
    struct dti_quantize_job *const job = context;
    struct dti_quant_member *const own = &job->members[member];
    struct dti_quant_task *const task = job->queued[part];
    const bool whole = size / task->item == task->sizes.elements; /* no other piece has a part */
    enum dti_status status = DTI_OK;
    if (own->ranges && own->ranges_of != task)
        flush(job, own);
    if (!own->ranges && !whole) {
        own->ranges_of = task;
        status = dti_quant_ranges_new(&own->ranges, task->plan, reterr);
    }
    const void *numbers;
    if (status == DTI_OK)
        status = look(task, own, first / task->item, size, &numbers, reterr);
    if (status != DTI_OK)
        return status;
    status = rotate(task, own, size / task->item, &numbers, reterr);
    if (status != DTI_OK)
        return dti_window_done(&own->window, status, reterr);
    dti_quant_range(task->plan, whole ? task->ranges : own->ranges, first / task->item, numbers,
                    size / task->item);
    return dti_window_done(&own->window, DTI_OK, reterr);
}

/* A piece's position in elements, in code bytes of the plan, and in scales. */
struct quant_chunk {
    uint64_t number, first, code, scale;
    size_t elements, codes, scales;
};

static struct quant_chunk place_piece(const struct dti_quant_task *task, uint64_t first,
                                      size_t elements)
{
    const struct dti_quant_sizes *const sizes = &task->sizes;
    const uint64_t grain = first / sizes->grain, grains = task->piece / sizes->grain;
    const bool last = first + elements == sizes->elements;
    struct quant_chunk piece = {
        .number = first / task->piece,
        .first = first,
        .code = grain * sizes->grain_code_bytes,
        .scale = grain * sizes->grain_scales,
        .elements = elements,
    };
    piece.codes =
        (size_t)(last ? sizes->code_bytes - piece.code : grains * sizes->grain_code_bytes);
    if (sizes->grain_scales > 0)
        piece.scales = (size_t)(last ? sizes->scales - piece.scale : grains * sizes->grain_scales);
    return piece;
}

static uint32_t get_word(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    dti_quant_little(&word, sizeof word, 1);
    return word;
}

/* Packs rows that may end within a word. Words shared with neighbouring pieces are saved in
 * task->borders. */
static enum dti_status write_words(struct dti_quant_task *task, struct dti_quant_member *member,
                                   const struct quant_chunk *piece, struct dti_error *reterr)
{
    const uint64_t columns = task->columns, end = piece->code + piece->codes;
    const unsigned in_word = 32 / task->bits;
    const size_t words =
        dti_quant_pack_words(member->buffer[DTI_QUANT_PACKED], member->buffer[DTI_QUANT_CODES],
                             piece->code, piece->codes, columns, task->bits, task->flips);
    const bool head = piece->code % columns % in_word != 0;
    const bool tail = end % columns % in_word != 0;
    if (head)
        task->borders[2 * piece->number] = get_word(member->buffer[DTI_QUANT_PACKED]);
    if (tail)
        task->borders[2 * piece->number + 1] =
            get_word(member->buffer[DTI_QUANT_PACKED] + 4 * (words - 1));
    const uint64_t first = dti_quant_word_of(piece->code, columns, task->bits) + head;
    return dti_quant_task_write(task, DTI_PART_CODES,
                                member->buffer[DTI_QUANT_PACKED] + 4 * (size_t)head,
                                4 * (words - head - tail), 4 * first, reterr);
}

static enum dti_status write_codes(struct dti_quant_task *task, struct dti_quant_member *member,
                                   const struct quant_chunk *piece, struct dti_error *reterr)
{
    if (task->columns > 0)
        return write_words(task, member, piece, reterr);
    if (dti_quant_is_flat(task->stored.row))
        dti_quant_task_fill(task, member->buffer[DTI_QUANT_CODES], piece->first + piece->elements,
                            piece->codes);
    if (task->bits > 8)
        dti_quant_little(member->buffer[DTI_QUANT_CODES], 2, piece->codes / 2);
    else if (task->flips)
        dti_quant_flip(member->buffer[DTI_QUANT_CODES], piece->codes, task->bits);
    return dti_quant_task_write(task, DTI_PART_CODES, member->buffer[DTI_QUANT_CODES], piece->codes,
                                piece->code, reterr);
}

static enum dti_status write_scales(struct dti_quantize_job *job, struct dti_quant_task *task,
                                    struct dti_quant_member *member,
                                    const struct quant_chunk *piece, struct dti_error *reterr)
{
    const struct dti_quant_sizes *const sizes = &task->sizes;
    if (piece->scales == 0)
        return DTI_OK;
    if (task->stored.nested)
        return dti_quant_task_nest(task, (float *)(void *)member->buffer[DTI_QUANT_SCALES],
                                   (float *)(void *)member->buffer[DTI_QUANT_ZERO_POINTS],
                                   piece->scale, piece->scales, reterr);
    if ((task->stored.row->flags & DTI_QUANT_TILED) != 0)
        return dti_quant_task_tiles(task, &job->merging, member->buffer[DTI_QUANT_SCALES],
                                    piece->scale, piece->scales, member->buffer[DTI_QUANT_PACKED],
                                    reterr);
    if (task->stored.biases)
        return dti_quant_task_biased(task, (float *)(void *)member->buffer[DTI_QUANT_SCALES],
                                     (float *)(void *)member->buffer[DTI_QUANT_ZERO_POINTS],
                                     piece->scale, piece->scales, reterr);
    const size_t item = (size_t)(sizes->scale_bytes / sizes->scales);
    if (!task->stored.row->block) /* block scales are in file order */
        dti_quant_little(member->buffer[DTI_QUANT_SCALES], item, piece->scales);
    enum dti_status status =
        dti_quant_task_write(task, DTI_PART_SCALE, member->buffer[DTI_QUANT_SCALES],
                             piece->scales * item, piece->scale * item, reterr);
    if (status == DTI_OK && task->stored.zero_points)
        status = dti_quant_task_zero_points(
            task, (int32_t *)(void *)member->buffer[DTI_QUANT_ZERO_POINTS], piece->scale,
            piece->scales, reterr);
    return status;
}

static enum dti_status quantize(void *context, size_t member, size_t part, uint64_t first,
                                size_t size, struct dti_error *reterr)
{
    struct dti_quantize_job *const job = context;
    struct dti_quant_member *const own = &job->members[member];
    struct dti_quant_task *const task = job->queued[part];
    const struct quant_chunk piece = place_piece(task, first / task->item, size / task->item);
    struct dti_quant_report report;
    const void *numbers;
    enum dti_status status = look(task, own, piece.first, size, &numbers, reterr);
    if (status != DTI_OK)
        return status;
    status = rotate(task, own, piece.elements, &numbers, reterr);
    if (status != DTI_OK)
        return dti_window_done(&own->window, status, reterr);
    const bool counted = job->run->rewrite->request.counted;
    const bool whole = piece.elements == task->sizes.elements; /* no other piece reports on it */
    if (counted && !whole) {
        dti_quant_report_init(&report);
        report.watch = task->report.watch;
        report.watched = task->report.watched;
    }
    dti_quant_run(task->plan, task->scales, piece.first, numbers, piece.elements,
                  own->buffer[DTI_QUANT_CODES], own->buffer[DTI_QUANT_SCALES],
                  (int32_t *)(void *)own->buffer[DTI_QUANT_ZERO_POINTS], DTI_STORES_CACHED,
                  counted ? (whole ? &task->report : &report) : NULL,
                  own->buffer[DTI_QUANT_SCRATCH]);
    status = dti_window_done(&own->window, DTI_OK, reterr);
    if (status == DTI_OK)
        status = write_codes(task, own, &piece, reterr);
    if (status == DTI_OK)
        status = write_scales(job, task, own, &piece, reterr);
    if (!counted || whole)
        return status;
    pthread_mutex_lock(&job->merging);
    dti_quant_report_merge(&task->report, &report);
    pthread_mutex_unlock(&job->merging);
    return status;
}

enum dti_status dti_quant_run_pieces(struct dti_quantize_job *job, struct dti_quant_task *tasks,
                                     size_t count, bool ranges, struct dti_error *reterr)
{
    struct dti_queue_part parts[DTI_QUANT_TASKS];
    struct dti_quant_task *queued[DTI_QUANT_TASKS];
    const bool own = tasks == job->tasks;
    uint64_t bytes = 0;
    struct dti_queue queue = {
        .parts = parts,
        .members = job->member_count,
        .work = ranges ? find_range : quantize,
        .context = job,
        .progress = own ? dti_rewrite_progress : NULL,
        .progress_context = job->run,
    };
    for (size_t i = 0; i < count; i++) {
        struct dti_quant_task *const task = &tasks[i];
        const uint64_t size = task->sizes.elements * task->item;
        if (!ranges || dti_quant_plan_needs_range(task->plan))
            bytes += size; /* also if the range is already known */
        if (ranges && !task->ranges)
            continue;
        parts[queue.count] =
            (struct dti_queue_part){.elements = size, .block = task->piece * task->item};
        queued[queue.count++] = task;
    }
    job->queued = queued;
    enum dti_status status = dti_queue_run(&queue, job->run->options->team, reterr);
    for (size_t i = 0; i < job->member_count; i++) {
        flush(job, &job->members[i]);
        dti_window_free(&job->members[i].window);
    }
    job->queued = NULL;
    job->run->done += own ? bytes : 0;
    return status;
}
