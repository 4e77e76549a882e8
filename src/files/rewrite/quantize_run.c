/* SPDX-License-Identifier: MIT
 *
 * Quantizes tensors to codes and scales in groups: first the ranges, then the codes, so that data
 * read for the ranges are mostly still cached. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

enum {
    MEMORY = 16 << 20,    /* all threads together */
    PIECE_MOST = 1 << 20, /* bytes of input */
    PIECE_LEAST = 64 << 10,
    GROUP_BYTES = 256 << 20, /* of tensors that are read twice, except for a single one */
};

static size_t bytes_of(const struct dti_quant_needs *needs)
{
    size_t bytes = 0;
    for (size_t i = 0; i < DTI_QUANT_BUFFERS; i++)
        bytes += dti_pages_round(needs->bytes[i]);
    return bytes;
}

/* Chooses the piece size, the number of threads with memory for it, and their buffers. */
static void choose_pieces(struct dti_quantize_job *job)
{
    struct dti_rewrite *const rewrite = job->run->rewrite;
    const struct dti_rewrite_options *const options = job->run->options;
    const uint64_t memory = options->max_memory ? options->max_memory : MEMORY;
    size_t members = options->team ? dti_team_size(options->team) : 1;
    uint64_t piece = PIECE_MOST;
    while (piece > PIECE_LEAST && piece > rewrite->changed_input / members / 4)
        piece /= 2;
    for (;;) {
        memset(&job->needs, 0, sizeof job->needs);
        for (size_t i = 0; i < rewrite->quant_plan_count; i++) {
            struct dti_quant_task task; /* the same for all tensors of a plan */
            dti_quant_task_init(&task, rewrite, rewrite->quant_firsts[i], piece);
            dti_quant_task_needs(&task, &job->needs);
        }
        if (rewrite->fused && job->needs.bytes[DTI_QUANT_INPUT] < PIECE_LEAST)
            job->needs.bytes[DTI_QUANT_INPUT] = PIECE_LEAST; /* for members without a task */
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

/* Allocates before the threads start, because malloc() in threads would reserve address space for
 * an arena each. If memory is short, uses fewer threads. */
static enum dti_status add_members(struct dti_quantize_job *job, struct dti_error *reterr)
{
    const struct dti_quant_needs *const needs = &job->needs;
    for (size_t i = 0; i < DTI_QUANT_BUFFERS; i++) {
        if (i != DTI_QUANT_SCRATCH && needs->bytes[i] >= DTI_QUANT_NEEDS_MAX)
            return dti_no_memory(reterr);
    }
    const size_t size = bytes_of(needs) > 0 ? bytes_of(needs) : DTI_PAGE;
    size_t made = 0;
    job->members = dti_calloc(job->member_count, sizeof *job->members);
    for (; job->members && made < job->member_count; made++) {
        struct dti_quant_member *const member = &job->members[made];
        member->memory = dti_pages_alloc(size, true);
        if (!member->memory)
            break;
        unsigned char *at = member->memory;
        for (size_t i = 0; i < DTI_QUANT_BUFFERS; i++) {
            member->buffer[i] = at;
            at += dti_pages_round(needs->bytes[i]);
        }
    }
    job->member_count = made;
    return made > 0 ? DTI_OK : dti_no_memory(reterr);
}

static void close_tasks(struct dti_quantize_job *job)
{
    for (size_t i = 0; i < job->task_count; i++)
        dti_quant_task_close(&job->tasks[i]);
    job->task_count = 0;
    job->task_bytes = 0;
}

enum dti_status dti_quantize_job_run(struct dti_quantize_job *job, struct dti_error *reterr)
{
    dti_quant_gather(job);
    enum dti_status status = dti_quant_run_pieces(job, job->tasks, job->task_count, true, reterr);
    if (status == DTI_OK && job->run->rewrite->fused)
        status = dti_quant_fuse(job, reterr);
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++)
        status = dti_quant_task_scales(&job->tasks[i], reterr);
    if (status == DTI_OK)
        status = dti_quant_run_pieces(job, job->tasks, job->task_count, false, reterr);
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++)
        status = dti_quant_task_end(&job->tasks[i], reterr);
    if (status == DTI_OK)
        status = dti_quant_write_gathered(job, reterr);
    close_tasks(job);
    return status;
}

bool dti_quantize_job_has_room(const struct dti_quantize_job *job, uint64_t bytes)
{
    return job->task_count == 0 ||
           (job->task_count < DTI_QUANT_TASKS && job->task_bytes <= GROUP_BYTES &&
            bytes <= GROUP_BYTES - job->task_bytes);
}

enum dti_status dti_quantize_job_add(struct dti_quantize_job *job, size_t at, bool *ret_last,
                                     struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = job->run->rewrite;
    struct dti_quant_task *const task = &job->tasks[job->task_count++];
    dti_quant_task_init(task, rewrite, at, job->piece_bytes);
    job->task_bytes += dti_rewrite_source(rewrite, at)->bytes;
    const enum dti_status status = dti_quant_task_open(task, job->run->options->max_memory, reterr);
    if (status == DTI_OK)
        *ret_last = task->input.is_reordered;
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

enum dti_status dti_quantize_job_new(struct dti_quantize_job **ret, struct dti_rewrite_run *run,
                                     struct dti_error *reterr)
{
    struct dti_quantize_job *const job = dti_calloc(1, sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    job->run = run;
    pthread_mutex_init(&job->merging, NULL);
    advise(run->rewrite->container);
    choose_pieces(job);
    const enum dti_status status = add_members(job, reterr);
    if (status == DTI_OK)
        *ret = job;
    else
        dti_quantize_job_free(job);
    return status;
}

void dti_quantize_job_free(struct dti_quantize_job *job)
{
    if (!job)
        return;
    close_tasks(job);
    for (size_t i = 0; job->members && i < job->member_count; i++)
        dti_free(job->members[i].memory);
    dti_free(job->members);
    dti_free(job->gather);
    pthread_mutex_destroy(&job->merging);
    dti_free(job);
}
