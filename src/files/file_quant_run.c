/* SPDX-License-Identifier: MIT
 *
 * Doing a file's quantization: heads are written, then tensors in groups, first their ranges, then
 * their codes: what was read for the ranges is then mostly still in memory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/batch.h"
#include "dtinfo/block_queue.h"
#include "files/file_quant_parts.h"
#include "util/pages.h"

enum {
    MEMORY = 16 << 20,    /* of all threads */
    PIECE_MOST = 1 << 20, /* bytes of input */
    PIECE_LEAST = 64 << 10,
    GROUP_BYTES = 256 << 20, /* of tensors that are read twice, unless it is one */
};

static size_t bytes_of(const struct dti_quant_needs *needs)
{
    return dti_pages_round(needs->input) + dti_pages_round(needs->codes) +
           dti_pages_round(needs->words) + dti_pages_round(needs->scales) +
           dti_pages_round(needs->zero_points) + dti_pages_round(needs->scratch);
}

static bool is_quantized(const struct dti_file_quant *quant, size_t at)
{
    return quant->tensors[at].fate == DTI_QUANT_FATE_QUANTIZED;
}

/* How large pieces are, how many threads have memory for them, and what they need. */
static void choose_pieces(struct dti_file_quant_job *job)
{
    const struct dti_file_quant *const quant = job->quant;
    const struct dti_file_quant_options *const options = job->options;
    const uint64_t memory = options->max_memory ? options->max_memory : MEMORY;
    size_t members = options->team ? dti_team_size(options->team) : 1;
    uint64_t piece = PIECE_MOST;
    while (piece > PIECE_LEAST && piece > quant->quantized_input / members / 4)
        piece /= 2;
    for (;;) {
        memset(&job->needs, 0, sizeof job->needs);
        for (size_t i = 0; i < quant->tensor_count; i++) {
            struct dti_quant_task task;
            if (!is_quantized(quant, i))
                continue;
            dti_quant_task_init(&task, job->quant, i, piece);
            dti_quant_task_needs(&task, &job->needs);
        }
        const bool fits = members * bytes_of(&job->needs) <= memory;
        if (fits || (piece == PIECE_LEAST && members == 1))
            break;
        if (piece > PIECE_LEAST)
            piece /= 2;
        else
            members--;
    }
    job->piece_bytes = piece;
    job->member_count = members;
}

/* Before the threads start: their own malloc() would take address space for an arena each. When
 * memory is short, fewer members will do. */
static enum dti_status add_members(struct dti_file_quant_job *job, struct dti_error *reterr)
{
    const struct dti_quant_needs *const needs = &job->needs;
    const size_t too_much = DTI_QUANT_NEEDS_MAX;
    if (needs->input >= too_much || needs->codes >= too_much || needs->words >= too_much ||
        needs->scales >= too_much || needs->zero_points >= too_much)
        return dti_file_quant_no_memory(reterr);
    const size_t size = bytes_of(needs) > 0 ? bytes_of(needs) : DTI_PAGE;
    size_t made = 0;
    job->members = calloc(job->member_count, sizeof *job->members);
    for (; job->members && made < job->member_count; made++) {
        struct dti_quant_member *const member = &job->members[made];
        member->memory = dti_pages_alloc(size, true);
        if (!member->memory)
            break;
        member->input = member->memory;
        member->codes = member->input + dti_pages_round(needs->input);
        member->words = member->codes + dti_pages_round(needs->codes);
        member->scales = member->words + dti_pages_round(needs->words);
        member->scratch = member->scales + dti_pages_round(needs->scales);
        member->zero_points =
            (int32_t *)(void *)(member->scratch + dti_pages_round(needs->scratch));
    }
    job->member_count = made;
    return made > 0 ? DTI_OK : dti_file_quant_no_memory(reterr);
}

static void show_progress(void *context, uint64_t done)
{
    const struct dti_file_quant_job *const job = context;
    if (job->options->progress)
        job->options->progress(job->options->progress_context, job->done + done);
}

/* Pieces of all tasks, or of those that need a range. */
static enum dti_status run_queue(struct dti_file_quant_job *job, bool ranges,
                                 struct dti_error *reterr)
{
    struct dti_queue_part parts[DTI_QUANT_TASKS];
    size_t queued[DTI_QUANT_TASKS];
    uint64_t bytes = 0;
    struct dti_queue queue = {
        .parts = parts,
        .members = job->member_count,
        .work = ranges ? dti_quant_piece_range : dti_quant_piece,
        .context = job,
        .progress = show_progress,
        .progress_context = job,
    };
    for (size_t i = 0; i < job->task_count; i++) {
        const struct dti_quant_task *const task = &job->tasks[i];
        if (ranges && !task->ranges)
            continue;
        parts[queue.count] = (struct dti_queue_part){.elements = task->sizes.elements * task->item,
                                                     .block = task->piece * task->item};
        bytes += parts[queue.count].elements;
        queued[queue.count++] = i;
    }
    job->queued = queued;
    enum dti_status status = dti_queue_run(&queue, job->options->team, reterr);
    for (size_t i = 0; i < job->member_count; i++)
        dti_quant_piece_flush(job, &job->members[i]);
    job->queued = NULL;
    job->done += bytes;
    return status;
}

static enum dti_status run_tasks(struct dti_file_quant_job *job, struct dti_error *reterr)
{
    enum dti_status status = run_queue(job, true, reterr);
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++)
        status = dti_quant_task_scales(&job->tasks[i], reterr);
    if (status == DTI_OK)
        status = run_queue(job, false, reterr);
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++)
        status = dti_quant_task_end(&job->tasks[i], reterr);
    return status;
}

/* A tensor that is kept, as its file has it or in another byte order. */
static enum dti_status run_copy(struct dti_file_quant_job *job, size_t at, struct dti_error *reterr)
{
    struct dti_file_quant *const quant = job->quant;
    const struct dti_file_quant_tensor *const tensor = &quant->tensors[at];
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    const struct dti_file_quant_part *const place = &tensor->part[DTI_PART_CODES];
    const bool complex = source->format->kind == DTI_KIND_COMPLEX;
    struct dti_batch_part part = {
        .plan = tensor->copy,
        .elements = !tensor->copy ? source->bytes : (complex ? 2 : 1) * source->elements,
        .output = quant->files.list[place->file].output,
        .output_offset = place->offset,
    };
    const struct dti_batch_options options = {
        .max_memory = job->options->max_memory, .progress = show_progress, .progress_context = job};
    struct dti_input reordered;
    enum dti_status status = dti_container_data(quant->container, tensor->source, &part.input,
                                                &part.input_offset, reterr);
    if (status == DTI_OK && source->fortran) {
        status = dti_tensor_reorder(source, part.input, part.input_offset, options.max_memory,
                                    &reordered, reterr);
        part.input = &reordered;
        part.input_offset = 0;
    }
    if (status != DTI_OK)
        return status;
    status = dti_batch_run(&part, 1, job->options->team, &options, reterr);
    if (source->fortran)
        dti_input_close(&reordered);
    job->done += source->bytes;
    return status;
}

/* Opens the tensors of a group, whose first is *at, which moves behind the last; those that are
 * kept are copied on the way. A group ends after a tensor that had to be brought into another
 * order, which takes disk space. */
static enum dti_status open_group(struct dti_file_quant_job *job, size_t *at,
                                  struct dti_error *reterr)
{
    struct dti_file_quant *const quant = job->quant;
    enum dti_status status = DTI_OK;
    uint64_t bytes = 0;
    bool reordered = false;
    for (job->task_count = 0; *at < quant->tensor_count && job->task_count < DTI_QUANT_TASKS &&
                              status == DTI_OK && !reordered;
         (*at)++) {
        if (!is_quantized(quant, *at)) {
            status = run_copy(job, *at, reterr);
            continue;
        }
        struct dti_quant_task *const task = &job->tasks[job->task_count];
        const uint64_t more = dti_file_quant_source(quant, *at)->bytes;
        if (job->task_count > 0 && more > GROUP_BYTES - bytes)
            break;
        dti_quant_task_init(task, quant, *at, job->piece_bytes);
        job->task_count++; /* to be closed, whatever comes */
        status = dti_quant_task_open(task, job->options->max_memory, reterr);
        reordered = task->is_reordered;
        bytes = more > GROUP_BYTES - bytes ? GROUP_BYTES : bytes + more;
    }
    return status;
}

static void advise(const struct dti_container *container)
{
    for (size_t i = 0; i < container->file_count; i++) {
        const struct dti_input *const input = &container->files[i].input;
        (void)posix_fadvise(input->fd, (off_t)input->start, (off_t)input->size,
                            POSIX_FADV_SEQUENTIAL);
    }
}

static enum dti_status run(struct dti_file_quant_job *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < job->quant->tensor_count && status == DTI_OK;) {
        status = open_group(job, &at, reterr);
        if (status == DTI_OK)
            status = run_tasks(job, reterr);
        for (size_t i = 0; i < job->task_count; i++)
            dti_quant_task_close(&job->tasks[i]);
    }
    return status;
}

enum dti_status dti_file_quant_run(struct dti_file_quant *quant,
                                   const struct dti_file_quant_options *options,
                                   struct dti_error *reterr)
{
    struct dti_file_quant_job *const job = calloc(1, sizeof *job);
    if (!job)
        return dti_file_quant_no_memory(reterr);
    job->quant = quant;
    job->options = options;
    pthread_mutex_init(&job->merging, NULL);
    advise(quant->container);
    enum dti_status status = dti_new_files_write_heads(&quant->files, reterr);
    if (status == DTI_OK) {
        choose_pieces(job);
        status = add_members(job, reterr);
    }
    if (status == DTI_OK)
        status = run(job, reterr);
    for (size_t i = 0; job->members && i < job->member_count; i++)
        free(job->members[i].memory);
    free(job->members);
    pthread_mutex_destroy(&job->merging);
    free(job);
    return status;
}
