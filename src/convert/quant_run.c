/* SPDX-License-Identifier: MIT
 *
 * Quantizes one piece of an array, optionally measuring the error: affine codes with known
 * scales or with a scale chosen per group, and blocks along the last axis or across rows. */
#include <assert.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"
#include "kernels/quant/nested_scales.h"
#include "util/little_endian.h"

/* REPORTED: elements quantized before they are compared. PREFETCHED: maximum bytes prefetched
 * per grain. */
enum { REPORTED = 4 * DTI_QUANT_TILE, PREFETCHED = 1 << 15 };

/* One kernel call, or one per tile if numbers must be converted or codes packed. `at`: index of
 * the numbers in the piece; `place`: index of the codes. */
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

/* inner is 1: a run of elements has a run of scales. */
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

static void run_known(const struct dti_quant_job *job)
{
    assert(job->known); /* or there are groups */
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

/* Writes the zeros that pad a group. */
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

/* Quantizes a contiguous group: its range, its scale, its codes. */
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

/* Quantizes part of a row of groups that lie across rows: `columns` groups of `rows` elements
 * each, with stride `inner`; the first element is at `at`. */
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

static void run_groups(const struct dti_quant_job *job)
{
    if (job->plan->request.inner == 1) {
        run_last_axis(job);
        return;
    }
    dti_quant_clear(job);
    run_other_axis(job);
}

/* Quantizes n elements at `at`, the start of a block. Only the last block may be short; with
 * `pad` it is padded with zeros. */
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

static void run_blocks_of_rows(const struct dti_quant_job *job)
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

/* Quantizes `columns` blocks of `rows` elements each, with stride `inner`: gathers numbers,
 * scatters codes. */
static void run_block_columns(const struct dti_quant_job *job, size_t at, size_t rows,
                              size_t columns, size_t places)
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
    for (size_t c = 0; c < columns && places < group; c++) /* short blocks have gaps */
        plan->bytes->run.blocks(&args, scratch->codes + c * group, scales + c * plan->scale_bytes,
                                scratch->y + c * group, places, job->count);
    const uint64_t place = dti_quant_code_place(plan, job->first, at);
    for (size_t r = 0; r < places; r++) {
        for (size_t c = 0; c < columns; c++)
            scratch->bytes[c] = scratch->codes[c * group + r];
        dti_quant_put(plan, job->codes, place + r * inner, scratch->bytes, columns, true);
    }
}

static void run_blocks_across(const struct dti_quant_job *job)
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
            run_block_columns(job, at + c, rows, inner - c < columns ? inner - c : columns, places);
    }
}

/* Quantizes a piece in blocks, along the last axis or across rows. */
static void run_blocks(const struct dti_quant_job *job)
{
    if (job->plan->request.inner == 1) {
        run_blocks_of_rows(job);
        return;
    }
    dti_quant_clear(job);
    run_blocks_across(job);
}

/* Adds to the report of a piece: compares each dequantized tile with its source. */
static void compare(const struct dti_quant_job *job, struct dti_quant_report *report)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_quant_scratch *const scratch = job->scratch;
    for (size_t at = 0; at < job->n; at += DTI_QUANT_TILE) {
        const size_t part = job->n - at < DTI_QUANT_TILE ? job->n - at : DTI_QUANT_TILE;
        if (plan->request.scheme.block)
            dti_quant_back_blocks(job, at, part, scratch->y);
        else if (plan->biased)
            dti_quant_back_biased(job, at, part, scratch->y);
        else
            dti_quant_back_affine(job, at, part, scratch->y);
        /* load last: dequantization uses the same scratch memory */
        const float *source = dti_quant_load(plan, job->numbers, at, part, scratch->x);
        if ((uintptr_t)source % sizeof(float) != 0) {
            memcpy(scratch->x, source, part * sizeof(float));
            source = scratch->x;
        }
        plan->loss->run(&plan->shared->loss_rule, source, scratch->y, part, job->first + at,
                        &report->loss);
        if (report->watch)
            report->watch->add(report->watch->context, report->watched, source, scratch->y, part,
                               job->first + at);
    }
}

/* Quantizes and dequantizes a grain's scales as nesting will, into scratch. Scales of blocks are
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

/* Advances codes and scales by that many grains. */
static void next_codes(struct dti_quant_job *job, size_t grains)
{
    const struct dti_quant_plan *const plan = job->plan;
    job->codes += grains * plan->sizes.grain_code_bytes;
    if (job->scales)
        job->scales += grains * plan->sizes.grain_scales * plan->scale_bytes;
    if (job->zero_points)
        job->zero_points += grains * plan->sizes.grain_scales;
}

/* Compares grain by grain, so that tiles do not depend on how the array is cut. Meanwhile
 * prefetches some of the `more` elements after the piece. */
static void compare_grains(const struct dti_quant_job *job, size_t grain, size_t number_bytes,
                           size_t more, struct dti_quant_report *report)
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
        compare(&stored, report);
        next += ahead;
        more -= more < part.n ? more : part.n;
        part.numbers = (const unsigned char *)part.numbers + number_bytes;
        next_codes(&part, 1);
    }
}

static void run_job(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    if (plan->request.scheme.block)
        run_blocks(job);
    else if (plan->biased)
        dti_quant_run_biased(job);
    else if (plan->group > 0)
        run_groups(job);
    else
        run_known(job);
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
        run_job(&job);
        if (stream)
            dti_stores_order();
        return;
    }
    /* A few grains at a time, to keep them in the cache. */
    const size_t grain = sizes->grain < n ? (size_t)sizes->grain : n;
    const size_t grains = grain < REPORTED ? REPORTED / grain * grain : grain;
    const size_t number_bytes = number_bytes_of(plan, grain);
    for (size_t at = 0; at < n; at += grains) {
        job.first = first + at;
        job.n = n - at < grains ? n - at : grains;
        run_job(&job);
        compare_grains(&job, grain, number_bytes, n - at - job.n, report);
        job.numbers = (const unsigned char *)job.numbers + grains / grain * number_bytes;
        next_codes(&job, grains / grain);
    }
}

void dti_quant_run_channels(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                            uint64_t first, const void *numbers, size_t n, void *codes,
                            const struct dti_streaming *stream, void *scratch)
{
    struct dti_quant_count unwanted = {.clipped = 0};
    const struct dti_quant_job job = {.plan = plan,
                                      .known = known,
                                      .first = first,
                                      .n = n,
                                      .numbers = numbers,
                                      .codes = codes,
                                      .stream = stream,
                                      .ahead = n / 8 * plan->number_bits,
                                      .count = &unwanted,
                                      .scratch = scratch};
    run_known(&job);
}

void dti_quant_report_init(struct dti_quant_report *ret)
{
    memset(ret, 0, sizeof *ret);
    dti_loss_init(&ret->loss);
}

void dti_quant_report_merge(struct dti_quant_report *report, const struct dti_quant_report *part)
{
    report->count.clipped += part->count.clipped;
    report->count.blocks += part->count.blocks;
    report->count.special += part->count.special;
    dti_loss_merge(&report->loss, &part->loss);
}
