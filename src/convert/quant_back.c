/* SPDX-License-Identifier: MIT
 *
 * Dequantization of any run of elements of a piece, and of a whole piece. */
#include <assert.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"

/* One kernel call, or one per tile for packed codes. */
static void dequantize(const struct dti_quant_job *job, const struct dti_quant_kernel *kernel,
                       const struct dti_affine_args *args, uint64_t place, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    unsigned char *const bytes = job->scratch->codes;
    struct dti_affine_args part_args = *args;
    if (plan->code_bits >= 8) {
        kernel->run.affine_back(args, y, job->codes + place * plan->container, n);
        return;
    }
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < DTI_QUANT_TILE ? n - done : DTI_QUANT_TILE;
        if (args->scales) {
            part_args.scales = args->scales + done;
            part_args.inverses = args->inverses + done;
            part_args.zero_points = args->zero_points + done;
        }
        dti_quant_get(plan, bytes, job->codes, place + done, part);
        kernel->run.affine_back(&part_args, (float *)(void *)((unsigned char *)y + 4 * done), bytes,
                                part);
    }
}

static float *after(float *y, size_t n)
{
    return (float *)(void *)((unsigned char *)y + n * sizeof(float));
}

static void back_columns(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_scales *const known = job->known;
    const size_t places = known->count * known->repeats;
    struct dti_affine_args args = job->plan->affine_args;
    size_t place = (size_t)((job->first + at) % known->count);
    args.stream = job->stream;
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < places - place ? n - done : places - place;
        args.scales = known->scale + place;
        args.inverses = known->inverse + place;
        args.zero_points = known->zero_point + place;
        dequantize(job, job->plan->columns_back, &args, at + done, part, after(y, done));
        place = place + part == places ? 0 : place + part;
    }
}

static void back_channels(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const uint64_t inner = job->plan->request.inner;
    for (size_t done = 0, part; done < n; done += part) {
        if (inner < DTI_QUANT_RUN_LEAST) {
            part = n - done < DTI_QUANT_TILE ? n - done : DTI_QUANT_TILE;
            dti_quant_spread(job, at + done, part);
            const struct dti_affine_args args = dti_quant_spread_args(job);
            dequantize(job, job->plan->columns_back, &args, at + done, part, after(y, done));
            continue;
        }
        const uint64_t e = job->first + at + done, left = inner - e % inner;
        const struct dti_affine_args args =
            dti_quant_channel_args(job, (size_t)(e / inner % job->known->count));
        part = n - done < left ? n - done : (size_t)left;
        dequantize(job, job->plan->affine_back, &args, at + done, part, after(y, done));
    }
}

/* Loads the scale of a group. */
static struct dti_affine_scale scale_at(const struct dti_quant_job *job, uint64_t place)
{
    struct dti_affine_scale scale = {.zero_point = job->plan->choice.zero_point};
    memcpy(&scale.scale, job->scales + place * sizeof(float), sizeof(float));
    if (job->zero_points)
        scale.zero_point = job->zero_points[place];
    return scale;
}

/* Groups along the last axis: a run of elements shares one scale. */
static void back_groups(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length, group = plan->group;
    uint64_t a = (job->first + at) % length, within = a % group;
    uint64_t code = dti_quant_code_place(plan, job->first, at);
    uint64_t place = dti_quant_scale_place(plan, job->first, at);
    for (size_t done = 0, part; done < n; done += part) {
        const uint64_t in_row = length - a, in_group = group - within;
        const uint64_t left = in_row < in_group ? in_row : in_group;
        const struct dti_affine_scale scale = scale_at(job, place);
        const struct dti_affine_args args = dti_quant_affine_args(job, &scale);
        part = n - done < left ? n - done : (size_t)left;
        dequantize(job, plan->affine_back, &args, code, part, after(y, done));
        code += part;
        if (part == in_row) /* skip the row's padding */
            code += plan->places - length;
        a = part == in_row ? 0 : a + part;
        within = 0;
        place++;
    }
}

/* Groups across rows: a run within a row has a run of scales. */
static void back_rows(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t inner = plan->request.inner;
    for (size_t done = 0, part; done < n; done += part) {
        const uint64_t left = inner - (job->first + at + done) % inner;
        const uint64_t place = dti_quant_scale_place(plan, job->first, at + done);
        part = n - done < left ? n - done : (size_t)left;
        part = part < DTI_QUANT_TILE ? part : DTI_QUANT_TILE;
        for (size_t i = 0; i < part; i++) {
            const struct dti_affine_scale scale = scale_at(job, place + i);
            job->scratch->scale[i] = dti_quant_float(scale.scale);
            job->scratch->inverse[i] = 0; /* not used for dequantization */
            job->scratch->zero_point[i] = scale.zero_point;
        }
        const struct dti_affine_args args = dti_quant_spread_args(job);
        dequantize(job, plan->columns_back, &args,
                   dti_quant_code_place(plan, job->first, at + done), part, after(y, done));
    }
}

void dti_quant_back_affine(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    assert(job->known || plan->group > 0); /* groups have scales next to their codes */
    if (plan->group > 0) {
        (plan->request.inner == 1 ? back_groups : back_rows)(job, at, n, y);
    } else if (plan->request.scheme.per == DTI_PER_TENSOR) {
        const struct dti_affine_args args = dti_quant_channel_args(job, 0);
        dequantize(job, plan->affine_back, &args, at, n, y);
    } else if (plan->request.inner == 1) {
        back_columns(job, at, n, y);
    } else {
        back_channels(job, at, n, y);
    }
}

/* n elements at `at`, the start of a block, within one run of blocks. */
static void back_run(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    const struct dti_block_args args = dti_quant_block_args(job, false);
    plan->blocks_back->run.blocks_back(
        &args, y, job->codes + dti_quant_block_offset(plan, job->first, at),
        job->scales + dti_quant_scale_place(plan, job->first, at) * plan->scale_bytes, n);
}

/* Blocks along the last axis. A range that starts inside a block is decoded from the block's
 * start. */
static void back_last_axis(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length;
    for (size_t done = 0, part; done < n; done += part) {
        const uint64_t e = job->first + at + done;
        const uint64_t left = plan->whole ? n : length - e % length;
        const size_t before = (size_t)((plan->whole ? at + done : e % length) % plan->group);
        part = n - done < left ? n - done : (size_t)left;
        if (before == 0) {
            back_run(job, at + done, part, after(y, done));
            continue;
        }
        part = part < DTI_QUANT_TILE ? part : DTI_QUANT_TILE;
        back_run(job, at + done - before, part + before, job->scratch->x);
        memcpy(after(y, done), job->scratch->x + before, part * sizeof(float));
    }
}

/* Blocks across rows: each element uses the scale of its column. */
static void back_columns_of_blocks(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    const struct dti_block_args args = dti_quant_block_args(job, true);
    const uint64_t inner = plan->request.inner;
    for (size_t done = 0, part; done < n; done += part) {
        const uint64_t left = inner - (job->first + at + done) % inner;
        const uint64_t place = dti_quant_scale_place(plan, job->first, at + done);
        part = n - done < left ? n - done : (size_t)left;
        part = part < DTI_QUANT_TILE ? part : DTI_QUANT_TILE;
        dti_block_scales_load(&args, job->scales + place * plan->scale_bytes, part, scratch->scale);
        dti_quant_get(plan, scratch->codes, job->codes,
                      dti_quant_code_place(plan, job->first, at + done), part);
        for (size_t i = 0; i < part; i++) {
            const float x = plan->shared->parts.numbers[scratch->codes[i]] * scratch->scale[i];
            const uint32_t bits = dti_quant_bits(x); /* canonicalize NaNs */
            const bool nan = (bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000);
            scratch->x[i] = dti_quant_float(nan ? UINT32_C(0x7fc00000) : bits);
        }
        memcpy(after(y, done), scratch->x, part * sizeof(float));
    }
}

void dti_quant_back_blocks(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    if (job->plan->request.inner == 1)
        back_last_axis(job, at, n, y);
    else
        back_columns_of_blocks(job, at, n, y);
}

void dti_quant_back(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                    uint64_t first, void *numbers, size_t n, const void *codes, const void *scales,
                    const int32_t *zero_points, enum dti_stores stores, void *scratch)
{
    /* job's codes and scales are written only when quantizing */
    struct dti_quant_job job = {.plan = plan,
                                .known = known,
                                .recipe = plan->request.scheme.blocks,
                                .first = first,
                                .n = n,
                                .codes = (unsigned char *)(uintptr_t)codes,
                                .scales = (unsigned char *)(uintptr_t)scales,
                                .zero_points = (int32_t *)(uintptr_t)zero_points,
                                .stream = plan->plain ? dti_quant_streaming(plan, stores, n) : NULL,
                                .scratch = scratch};
    job.recipe.tensor_scale = dti_quant_bits(known ? known->tensor_scale : 1);
    job.recipe.tensor_divisor = dti_quant_bits(known ? known->tensor_divisor : 0);
    const size_t tile = plan->plain ? n : DTI_QUANT_TILE;
    for (size_t at = 0; at < n; at += tile) {
        const size_t part = n - at < tile ? n - at : tile;
        float *const y = plan->plain ? numbers : job.scratch->y;
        if (plan->request.scheme.block)
            dti_quant_back_blocks(&job, at, part, y);
        else if (plan->biased)
            dti_quant_back_biased(&job, at, part, y);
        else
            dti_quant_back_affine(&job, at, part, y);
        if (!plan->plain)
            dti_quant_store(plan, numbers, at, y, part, job.scratch->bytes);
    }
    if (job.stream)
        dti_stores_order();
}
