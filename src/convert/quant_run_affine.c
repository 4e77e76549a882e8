/* SPDX-License-Identifier: MIT
 *
 * Affine codes of a piece: scales known before, or chosen group by group. */
#include "convert/quant_plan_parts.h"

/* One call of a kernel, or one a tile where numbers or codes need another step. Codes have the
 * place `at`, numbers of the piece too. */
static void quantize(const struct dti_quant_job *job, const struct dti_quant_kernel *kernel,
                     const struct dti_affine_args *args, size_t at, size_t n, uint64_t place,
                     bool among)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    const bool packed = plan->code_bits < 8, direct = plan->plain && !packed;
    struct dti_affine_args part_args = *args;
    if (packed)
        part_args.stream = NULL;
    for (size_t done = 0, part; done < n; done += part) {
        part = direct || n - done < DTI_QUANT_TILE ? n - done : DTI_QUANT_TILE;
        const float *const x = dti_quant_load(plan, job->numbers, at + done, part, scratch->x);
        if (args->scales) {
            part_args.scales = args->scales + done;
            part_args.inverses = args->inverses + done;
            part_args.zero_points = args->zero_points + done;
        }
        if (packed) {
            kernel->run.affine(&part_args, scratch->codes, x, part, job->count);
            dti_quant_put(plan, job->codes, place + done, scratch->codes, part, among);
        } else {
            kernel->run.affine(&part_args, job->codes + (place + done) * plan->container, x, part,
                               job->count);
        }
    }
}

/* Channels are neighbours: a run of elements has a run of scales. */
static void run_columns(const struct dti_quant_job *job)
{
    const struct dti_quant_scales *const known = job->known;
    const size_t places = known->count * known->repeats;
    struct dti_affine_args args = job->plan->affine_args;
    size_t place = (size_t)(job->first % known->count);
    args.stream = job->stream;
    for (size_t at = 0, part; at < job->n; at += part) {
        part = job->n - at < places - place ? job->n - at : places - place;
        args.scales = known->scale + place;
        args.inverses = known->inverse + place;
        args.zero_points = known->zero_point + place;
        quantize(job, job->plan->columns, &args, at, part, at, false);
        place = place + part == places ? 0 : place + part;
    }
}

static void run_short_channels(const struct dti_quant_job *job)
{
    const struct dti_affine_args args = dti_quant_spread_args(job);
    for (size_t at = 0, part; at < job->n; at += part) {
        part = job->n - at < DTI_QUANT_TILE ? job->n - at : DTI_QUANT_TILE;
        dti_quant_spread(job, at, part);
        quantize(job, job->plan->columns, &args, at, part, at, false);
    }
}

static void run_long_channels(const struct dti_quant_job *job)
{
    const uint64_t inner = job->plan->request.inner;
    for (size_t at = 0, part; at < job->n; at += part) {
        const uint64_t e = job->first + at, left = inner - e % inner;
        const struct dti_affine_args args =
            dti_quant_channel_args(job, (size_t)(e / inner % job->known->count));
        part = job->n - at < left ? job->n - at : (size_t)left;
        quantize(job, job->plan->affine, &args, at, part, at, false);
    }
}

void dti_quant_run_known(const struct dti_quant_job *job)
{
    if (job->plan->request.scheme.per == DTI_PER_TENSOR) {
        const struct dti_affine_args args = dti_quant_channel_args(job, 0);
        quantize(job, job->plan->affine, &args, 0, job->n, 0, false);
    } else if (job->plan->request.inner == 1) {
        run_columns(job);
    } else if (job->plan->request.inner < DTI_QUANT_RUN_LEAST) {
        run_short_channels(job);
    } else {
        run_long_channels(job);
    }
}

static void save_scale(const struct dti_quant_job *job, uint64_t place,
                       const struct dti_affine_scale *scale)
{
    memcpy(job->scales + place * sizeof(float), &scale->scale, sizeof(float));
    if (job->zero_points)
        job->zero_points[place] = scale->zero_point;
}

/* The zeros that fill up a group. */
static void run_pad(const struct dti_quant_job *job, const struct dti_affine_args *args,
                    uint64_t code, uint64_t pad)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    memset(scratch->x, 0, sizeof scratch->x);
    for (uint64_t done = 0, part; done < pad; done += part) {
        part = pad - done < DTI_QUANT_TILE ? pad - done : DTI_QUANT_TILE;
        plan->affine->run.affine(args, scratch->codes, scratch->x, (size_t)part, job->count);
        dti_quant_put(plan, job->codes, code + done, scratch->codes, (size_t)part, false);
    }
}

/* A group that lies in one run: its range, its scale, its codes. */
static void run_group(const struct dti_quant_job *job, size_t at, size_t n, uint64_t code,
                      uint64_t place, uint64_t pad)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_range range;
    dti_range_init(&range);
    for (size_t done = 0, part; done < n && !plan->request.scheme.fixed; done += part) {
        part = plan->plain || n - done < DTI_QUANT_TILE ? n - done : DTI_QUANT_TILE;
        plan->range->run.range(dti_quant_load(plan, job->numbers, at + done, part, job->scratch->x),
                               part, &range);
    }
    const struct dti_affine_scale scale = dti_quant_choose(plan, &range);
    const struct dti_affine_args args = dti_quant_affine_args(job, &scale);
    save_scale(job, place, &scale);
    quantize(job, plan->affine, &args, at, n, code, false);
    if (pad > 0)
        run_pad(job, &args, code + n, pad);
}

static void run_last_axis(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length, group = plan->group;
    uint64_t a = job->first % length, code = 0, place = 0;
    for (size_t at = 0, part; at < job->n; at += part) {
        const uint64_t left = length - a < group ? length - a : group;
        const uint64_t pad = plan->places > length ? group - left : 0;
        part = (size_t)left;
        run_group(job, at, part, code, place, pad);
        code += part + pad;
        place++;
        a = a + part == length ? 0 : a + part;
    }
}

/* Part of a row of groups that lie across rows: `columns` groups of `rows` elements each, `inner`
 * apart, whose first element is at. */
static void run_columns_of_groups(const struct dti_quant_job *job, size_t at, size_t rows,
                                  size_t columns, size_t pad)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    const size_t inner = (size_t)plan->request.inner;
    float *const min = scratch->scale, *const max = scratch->inverse;
    struct dti_range specials;
    dti_range_init(&specials);
    for (size_t c = 0; c < columns; c++) {
        min[c] = specials.min;
        max[c] = specials.max;
    }
    for (size_t r = 0; r < rows && !plan->request.scheme.fixed; r++)
        plan->range_columns->run.range_columns(
            dti_quant_load(plan, job->numbers, at + r * inner, columns, scratch->x), columns, min,
            max, &specials);
    const uint64_t place = dti_quant_scale_place(plan, job->first, at);
    for (size_t c = 0; c < columns; c++) {
        const struct dti_range range = {.min = min[c], .max = max[c], .nan = 0, .inf = 0};
        const struct dti_affine_scale scale = dti_quant_choose(plan, &range);
        save_scale(job, place + c, &scale);
        scratch->scale[c] = dti_quant_float(scale.scale);
        scratch->inverse[c] = 1 / scratch->scale[c];
        scratch->zero_point[c] = scale.zero_point;
    }
    const struct dti_affine_args args = dti_quant_spread_args(job);
    const uint64_t code = dti_quant_code_place(plan, job->first, at);
    for (size_t r = 0; r < rows; r++)
        quantize(job, plan->columns, &args, at + r * inner, columns, code + r * inner, true);
    memset(scratch->x, 0, columns * sizeof(float));
    for (size_t r = rows; r < rows + pad; r++) {
        plan->columns->run.affine(&args, scratch->codes, scratch->x, columns, job->count);
        dti_quant_put(plan, job->codes, code + r * inner, scratch->codes, columns, true);
    }
}

static void run_other_axis(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t length = plan->request.length, group = plan->group;
    const size_t inner = (size_t)plan->request.inner;
    for (size_t at = 0, rows; at < job->n; at += rows * inner) {
        const uint64_t a = (job->first + at) / inner % length;
        const uint64_t left = length - a < group ? length - a : group;
        const size_t pad = plan->places > length ? (size_t)(group - left) : 0;
        rows = (size_t)left;
        for (size_t c = 0; c < inner; c += DTI_QUANT_TILE)
            run_columns_of_groups(job, at + c, rows,
                                  inner - c < DTI_QUANT_TILE ? inner - c : DTI_QUANT_TILE, pad);
    }
}

void dti_quant_run_groups(const struct dti_quant_job *job)
{
    if (job->plan->request.inner == 1) {
        run_last_axis(job);
        return;
    }
    dti_quant_clear(job);
    run_other_axis(job);
}
