/* SPDX-License-Identifier: MIT
 *
 * Blocks of a piece, which lie side by side along the last axis, or across rows. */
#include "convert/quant_plan_parts.h"

/* n elements at `at`, which begin a block; all blocks but the last are whole, which is filled up
 * with zeros if `pad`. */
static void run_run(const struct dti_quant_job *job, size_t at, size_t n, bool pad)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    const struct dti_block_args args = dti_quant_block_args(job, false);
    const size_t group = (size_t)plan->group, tail = pad ? n % group : 0, straight = n - tail;
    unsigned char *const codes = job->codes + dti_quant_block_offset(plan, job->first, at);
    unsigned char *const scales =
        job->scales + dti_quant_scale_place(plan, job->first, at) * plan->scale_bytes;
    for (size_t done = 0, part; done < straight; done += part) {
        part = plan->plain || straight - done < DTI_QUANT_TILE ? straight - done : DTI_QUANT_TILE;
        const float *const x = dti_quant_load(plan, job->numbers, at + done, part, scratch->x);
        plan->blocks->run.blocks(&args, codes + done / group * plan->block_bytes,
                                 scales + done / group * plan->scale_bytes, x, part, job->count);
    }
    if (tail == 0)
        return;
    const float *const x = dti_quant_load(plan, job->numbers, at + straight, tail, scratch->x);
    memcpy(scratch->y, x, tail * sizeof(float));
    memset(scratch->y + tail, 0, (group - tail) * sizeof(float));
    plan->blocks->run.blocks(&args, codes + straight / group * plan->block_bytes,
                             scales + straight / group * plan->scale_bytes, scratch->y, group,
                             job->count);
}

static void run_last_axis(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length;
    if (plan->whole) {
        run_run(job, 0, job->n, false);
        return;
    }
    for (size_t at = 0, part; at < job->n; at += part) {
        const uint64_t left = length - (job->first + at) % length;
        part = job->n - at < left ? job->n - at : (size_t)left;
        run_run(job, at, part, plan->places > length);
    }
}

/* `columns` blocks of `rows` elements each, `inner` apart: gathered, and their codes scattered. */
static void run_columns(const struct dti_quant_job *job, size_t at, size_t rows, size_t columns,
                        size_t places)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    const size_t inner = (size_t)plan->request.inner, group = (size_t)plan->group;
    const struct dti_block_args args = dti_quant_block_args(job, true);
    unsigned char *const scales =
        job->scales + dti_quant_scale_place(plan, job->first, at) * plan->scale_bytes;
    memset(scratch->y, 0, columns * group * sizeof(float));
    for (size_t r = 0; r < rows; r++) {
        const float *const x =
            dti_quant_load(plan, job->numbers, at + r * inner, columns, scratch->x);
        for (size_t c = 0; c < columns; c++)
            memcpy(&scratch->y[c * group + r], (const unsigned char *)x + 4 * c, sizeof(float));
    }
    if (places == group)
        plan->bytes->run.blocks(&args, scratch->codes, scales, scratch->y, columns * group,
                                job->count);
    for (size_t c = 0; c < columns && places < group; c++) /* short blocks have none after them */
        plan->bytes->run.blocks(&args, scratch->codes + c * group, scales + c * plan->scale_bytes,
                                scratch->y + c * group, places, job->count);
    const uint64_t place = dti_quant_code_place(plan, job->first, at);
    for (size_t r = 0; r < places; r++) {
        for (size_t c = 0; c < columns; c++)
            scratch->bytes[c] = scratch->codes[c * group + r];
        dti_quant_put(plan, job->codes, place + r * inner, scratch->bytes, columns, true);
    }
}

static void run_other_axis(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length, group = plan->group;
    const size_t inner = (size_t)plan->request.inner;
    const size_t columns = DTI_QUANT_TILE / (size_t)group;
    for (size_t at = 0, rows; at < job->n; at += rows * inner) {
        const uint64_t a = (job->first + at) / inner % length;
        rows = (size_t)(length - a < group ? length - a : group);
        const size_t places = plan->places > length ? (size_t)group : rows;
        for (size_t c = 0; c < inner; c += columns)
            run_columns(job, at + c, rows, inner - c < columns ? inner - c : columns, places);
    }
}

void dti_quant_run_blocks(const struct dti_quant_job *job)
{
    if (job->plan->request.inner == 1) {
        run_last_axis(job);
        return;
    }
    dti_quant_clear(job);
    run_other_axis(job);
}
