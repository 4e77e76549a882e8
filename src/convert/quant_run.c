/* SPDX-License-Identifier: MIT
 *
 * Quantizes one piece of an array, with or without measuring the error. */
#include <assert.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"
#include "dtinfo/little_endian.h"
#include "dtinfo/nested_scales.h"

/* Elements that are quantized before they are compared, and bytes that are fetched at most while a
 * grain is. */
enum { REPORTED = 4 * DTI_QUANT_TILE, PREFETCHED = 1 << 15 };

/* What the report of a piece is made of: each tile as it comes back, against its source. */
static void compare(const struct dti_quant_job *job, struct dti_loss *loss)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    for (size_t at = 0; at < job->n; at += DTI_QUANT_TILE) {
        const size_t part = job->n - at < DTI_QUANT_TILE ? job->n - at : DTI_QUANT_TILE;
        if (plan->request.scheme.block)
            dti_quant_back_blocks(job, at, part, scratch->y);
        else
            dti_quant_back_affine(job, at, part, scratch->y);
        /* after that, which needs the room as well */
        const float *source = dti_quant_load(plan, job->numbers, at, part, scratch->x);
        if ((uintptr_t)source % sizeof(float) != 0) {
            memcpy(scratch->x, source, part * sizeof(float));
            source = scratch->x;
        }
        plan->loss->run(&plan->shared->loss_rule, source, scratch->y, part, job->first + at, loss);
    }
}

/* The scales of a grain as they come back when they are nested, in scratch. Those of blocks are
 * little-endian. */
static unsigned char *nest(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const struct dti_block_args args = dti_quant_block_args(job, false);
    const size_t count = (job->n + (size_t)plan->group - 1) / (size_t)plan->group;
    unsigned char *const stored = (unsigned char *)job->scratch->inverse;
    float *const scales = job->scratch->scale;
    float map[DTI_NESTED_CODES];
    assert(count <= DTI_QUANT_TILE);
    dti_nested_map(map);
    dti_block_scales_load(&args, job->scales, count, scales);
    for (size_t at = 0; at < count; at += DTI_NESTED_BLOCK) {
        unsigned char codes[DTI_NESTED_BLOCK];
        const size_t n = count - at < DTI_NESTED_BLOCK ? count - at : DTI_NESTED_BLOCK;
        const float scale = dti_nested_quantize(scales + at, n, job->known->offset, codes);
        for (size_t i = 0; i < n; i++) {
            const float back = dti_nested_back(map[codes[i]], scale, job->known->offset);
            dti_little_put(stored + (at + i) * sizeof back, sizeof back, dti_quant_bits(back));
        }
    }
    return stored;
}

static size_t number_bytes_of(const struct dti_quant_plan *plan, size_t n)
{
    return plan->number_bits < 8 ? n / 8 * plan->number_bits : n * (plan->number_bits / 8);
}

/* Codes and scales of the next piece, so many whole grains after this one. */
static void next_codes(struct dti_quant_job *job, size_t grains)
{
    const struct dti_quant_plan *const plan = job->plan;
    job->codes += grains * plan->sizes.grain_code_bytes;
    if (job->scales)
        job->scales += grains * plan->sizes.grain_scales * plan->scale_bytes;
    if (job->zero_points)
        job->zero_points += grains * plan->sizes.grain_scales;
}

/* Grain by grain, so that tiles are the same however an array is cut. Meanwhile some of the `more`
 * elements after the piece are fetched. */
static void compare_grains(const struct dti_quant_job *job, size_t grain, size_t number_bytes,
                           size_t more, struct dti_loss *loss)
{
    struct dti_quant_job part = *job;
    const unsigned char *next =
        (const unsigned char *)job->numbers + number_bytes_of(job->plan, job->n);
    for (size_t at = 0; at < job->n; at += grain) {
        part.first = job->first + at;
        part.n = job->n - at < grain ? job->n - at : grain;
        const size_t ahead = number_bytes_of(job->plan, more < part.n ? more : part.n);
        dti_prefetch(next, ahead < PREFETCHED ? ahead : PREFETCHED);
        struct dti_quant_job stored = part;
        if (job->plan->request.scheme.nested)
            stored.scales = nest(&part);
        compare(&stored, loss);
        next += ahead;
        more -= more < part.n ? more : part.n;
        part.numbers = (const unsigned char *)part.numbers + number_bytes;
        next_codes(&part, 1);
    }
}

static void run(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    if (plan->request.scheme.block)
        dti_quant_run_blocks(job);
    else if (plan->group > 0)
        dti_quant_run_groups(job);
    else
        dti_quant_run_known(job);
}

void dti_quant_run(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                   uint64_t first, const void *numbers, size_t n, void *codes, void *scales,
                   int32_t *zero_points, enum dti_stores stores, struct dti_quant_report *report,
                   void *scratch)
{
    const struct dti_quant_sizes *const sizes = &plan->sizes;
    const struct dti_streaming *const stream = report ? NULL : dti_quant_streaming(plan, stores, n);
    struct dti_quant_count unwanted = {.clipped = 0};
    struct dti_quant_job job = {.plan = plan,
                                .known = known,
                                .recipe = plan->request.scheme.blocks,
                                .first = first,
                                .n = n,
                                .numbers = numbers,
                                .codes = codes,
                                .scales = scales,
                                .zero_points = zero_points,
                                .stream = stream,
                                .count = report ? &report->count : &unwanted,
                                .scratch = scratch};
    job.recipe.tensor_scale = dti_quant_bits(known ? known->tensor_scale : 1);
    job.recipe.tensor_divisor = dti_quant_bits(known ? known->tensor_divisor : 0);
    if (n == 0)
        return;
    if (!report) {
        run(&job);
        if (stream)
            dti_stores_order();
        return;
    }
    /* Some grains at a time, which stay near. */
    const size_t grain = sizes->grain < n ? (size_t)sizes->grain : n;
    const size_t grains = grain < REPORTED ? REPORTED / grain * grain : grain;
    const size_t number_bytes = number_bytes_of(plan, grain);
    for (size_t at = 0; at < n; at += grains) {
        job.first = first + at;
        job.n = n - at < grains ? n - at : grains;
        run(&job);
        compare_grains(&job, grain, number_bytes, n - at - job.n, &report->loss);
        job.numbers = (const unsigned char *)job.numbers + grains / grain * number_bytes;
        next_codes(&job, grains / grain);
    }
}

void dti_quant_report_init(struct dti_quant_report *ret)
{
    memset(&ret->count, 0, sizeof ret->count);
    dti_loss_init(&ret->loss);
}

void dti_quant_report_merge(struct dti_quant_report *report, const struct dti_quant_report *part)
{
    report->count.clipped += part->count.clipped;
    report->count.blocks += part->count.blocks;
    report->count.special += part->count.special;
    dti_loss_merge(&report->loss, &part->loss);
}
