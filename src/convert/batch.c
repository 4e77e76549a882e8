/* SPDX-License-Identifier: MIT
 *
 * Prepares a batch: checks everything that can be checked in advance, groups parts and cuts them
 * into blocks, and allocates memory for each thread. */
#include <fcntl.h>
#include <stdlib.h>

#include "convert/batch_job.h"
#include "convert/runner_parts.h"
#include "dtinfo/checked.h"
#include "util/pages.h"

enum {
    MEMORY = 16 << 20,           /* all threads together */
    DEVICE_MEMORY = 64 << 20,    /* the same, where a device does the work of many */
    BLOCK_BYTES = 2 << 20,       /* of the larger side */
    BLOCK_BYTES_MIN = 256 << 10, /* below it system calls and small pages cost */
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

/* What can be known before anything is written. */
static enum dti_status check_part(const struct dti_batch_part *part, struct dti_error *reterr)
{
    const enum dti_status status = part->source ? DTI_OK : check_input(part, reterr);
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

static enum dti_status check_parts(struct dti_batch_job *job, uint64_t *ret_total,
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
        if (!dti_add_u64(total, dti_batch_sizes(part, part->elements).src, &total))
            total = UINT64_MAX; /* of one range many times */
        job->any_pipe = job->any_pipe || dti_batch_is_piped(part);
        if (part->plan && !job->runner)
            job->runner = dti_plan_runner(part->plan);
        if (part->source && part->source->scratch_bytes > job->scratch_bytes)
            job->scratch_bytes = part->source->scratch_bytes;
        if (input && input != last)
            (void)posix_fadvise(input->fd, (off_t)input->start, (off_t)input->size,
                                POSIX_FADV_SEQUENTIAL);
        last = input;
    }
    *ret_total = total;
    return DTI_OK;
}

/* How large a block may be. */
struct limits {
    uint64_t side; /* bytes of input, and of output */
    uint64_t both;
};

static bool fits(const struct limits *limits, uint64_t src, uint64_t dst)
{
    return src <= limits->side && dst <= limits->side &&
           dti_batch_member_bytes(src, dst) <= limits->both;
}

/* A part that is cut. Whole tiles, at least one. */
static uint64_t choose_block(const struct dti_batch_part *part, const struct limits *limits)
{
    const struct dti_batch_sizes tile = dti_batch_sizes(part, DTI_TILE);
    const uint64_t larger = tile.src > tile.dst ? tile.src : tile.dst;
    uint64_t tiles = limits->side / larger;
    const uint64_t fixed = dti_batch_member_bytes(0, 0);
    const uint64_t there = limits->both > fixed ? limits->both - fixed : 0;
    if (tiles > there / (tile.src + tile.dst))
        tiles = there / (tile.src + tile.dst);
    return (tiles > 0 ? tiles : 1) * tile.src;
}

/* Whether `next` directly follows `part`, whose sizes are given, on both sides. */
static bool follows(const struct dti_batch_part *part, const struct dti_batch_sizes *sizes,
                    const struct dti_batch_part *next)
{
    return next->input == part->input && next->output == part->output && !part->source &&
           !next->source && next->input_offset == part->input_offset + sizes->src &&
           next->output_offset == part->output_offset + sizes->dst && !dti_batch_is_piped(part);
}

/* Small parts that follow each other become one block; a system call for each would cost, and so
 * would the small pieces of memory that the system makes of small writes. */
static void make_groups(struct dti_batch_job *job, const struct limits *limits)
{
    uint64_t most = 0;
    size_t group = 0;
    for (size_t i = 0; i < job->count; group++) {
        const struct dti_batch_part *const first = &job->parts[i];
        struct dti_batch_sizes last = dti_batch_sizes(first, first->elements), all = last;
        job->firsts[group] = i++;
        struct dti_queue_part *const blocks = &job->groups[group];
        if (!fits(limits, all.src, all.dst)) {
            *blocks = (struct dti_queue_part){all.src, choose_block(first, limits)};
            all = dti_batch_sizes(first, blocks->block / dti_batch_widths(first).src * 8);
        } else {
            for (; i < job->count && follows(&job->parts[i - 1], &last, &job->parts[i]); i++) {
                last = dti_batch_sizes(&job->parts[i], job->parts[i].elements);
                if (!fits(limits, all.src + last.src, all.dst + last.dst))
                    break;
                all.src += last.src;
                all.dst += last.dst;
            }
            *blocks = (struct dti_queue_part){all.src, all.src > 0 ? all.src : 1};
        }
        if (dti_batch_member_bytes(all.src, all.dst) > most)
            most = dti_batch_member_bytes(all.src, all.dst);
    }
    job->firsts[group] = job->count;
    job->group_count = group;
    job->scratch_bytes =
        (job->scratch_bytes + DTI_BATCH_LINE - 1) / DTI_BATCH_LINE * DTI_BATCH_LINE;
    job->member_bytes = dti_pages_round((size_t)most + job->scratch_bytes);
}

/* How many threads there are memory for, and how large blocks are in it. Whatever comes out, the
 * result of the batch is the same. */
static void choose_blocks(struct dti_batch_job *job, uint64_t total, uint64_t memory,
                          size_t threads)
{
    uint64_t members = memory / BLOCK_BYTES_MIN;
    if (members > threads)
        members = threads;
    if (members < 1)
        members = 1;
    job->member_count = (size_t)members;
    /* something for everyone, but not too little */
    uint64_t side = total / members / 2;
    if (side < BLOCK_BYTES_MIN)
        side = BLOCK_BYTES_MIN;
    if (side > BLOCK_BYTES)
        side = BLOCK_BYTES;
    const struct limits limits = {.side = side, .both = memory / members};
    make_groups(job, &limits);
}

/* Before the threads start: their own malloc() would take address space for an arena each. When
 * memory is short, fewer members will do. */
static enum dti_status add_members(struct dti_batch_job *job, struct dti_error *reterr)
{
    job->members = calloc(job->member_count, sizeof *job->members);
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

static enum dti_status run(struct dti_batch_job *job, struct dti_team *team,
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
        .work = dti_batch_block,
        .finish = job->any_pipe ? dti_batch_put : NULL,
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
    struct dti_batch_job job = {
        .parts = parts, .options = options ? options : &none, .count = count};
    enum dti_status status;
    job.groups = calloc(count + 1, sizeof *job.groups);
    job.firsts = calloc(count + 1, sizeof *job.firsts);
    if (job.groups && job.firsts)
        status = run(&job, team, reterr);
    else
        status = dti_no_memory(reterr);
    for (size_t i = 0; job.members && i < job.member_count; i++) {
        dti_window_free(&job.members[i].window);
        dti_runner_free(job.runner, job.members[i].memory);
    }
    free(job.members);
    free(job.firsts);
    free(job.groups);
    return status;
}
