/* SPDX-License-Identifier: MIT
 *
 * A rewrite, or copies, held against another file: which bytes of what is made should be which
 * there. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/batch.h"
#include "files/judge/judge_parts.h"
#include "files/rewrite/rewrite_parts.h"

/* A part of a tensor, as it is made. */
struct judged_part {
    enum dti_quant_part part;
    const struct dti_format *format;
    struct dti_layout layout;
    unsigned rank;
    const uint64_t *shape;
    const struct dti_rewrite_part *place;
    bool fortran;
};

struct judged_rewrite {
    struct dti_rewrite *rewrite;
    const struct dti_judge_other *other;
    const size_t *part_count;
    struct dti_judge judge;
    struct dti_buffer name;
};

/* The tensor of the other file that should be the part. */
static enum dti_status find_other(struct judged_rewrite *job, size_t at,
                                  const struct judged_part *part, size_t *ret,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_rewrite_source(job->rewrite, at);
    struct dti_buffer *const name = &job->name;
    *ret = 0;
    if (!job->other->names)
        return DTI_OK;
    dti_buffer_clear(name);
    dti_buffer_append(name, source->name, source->name_length);
    if (dti_is_quantized(&job->rewrite->tensors[at]))
        dti_buffer_puts(name, dti_quant_suffix(job->rewrite->row, part->part));
    if (name->failed)
        return dti_no_memory(reterr);
    if (!dti_name_order_find(job->other->names, name->data, name->length, ret))
        *ret = SIZE_MAX;
    return DTI_OK;
}

static uint64_t skipped_bytes(const struct judged_part *part, uint64_t elements)
{
    return elements / 8 * dti_format_stored_bits(dti_real_format(part->format), &part->layout);
}

static enum dti_verdict_kind check(const struct judged_part *part, const struct dti_tensor *tensor,
                                   const struct dti_judge_options *options)
{
    const bool cut = options->elements > 0;
    const size_t bytes = part->rank * sizeof *part->shape;
    if (!tensor->format || tensor->refusal || strcmp(tensor->format->name, part->format->name) != 0)
        return DTI_VERDICT_DTYPE;
    const bool same = tensor->rank == part->rank && tensor->bytes == part->place->bytes &&
                      (bytes == 0 || memcmp(tensor->shape, part->shape, bytes) == 0);
    if (cut ? tensor->fortran ||
                  tensor->bytes < part->place->bytes + skipped_bytes(part, options->skip)
            : !same)
        return DTI_VERDICT_SHAPE;
    if (tensor->layout.swapped != part->layout.swapped &&
        dti_format_container(dti_real_format(part->format)) > 1)
        return DTI_VERDICT_ORDER;
    return DTI_VERDICT_SAME;
}

static enum dti_status add_part(struct judged_rewrite *job, size_t at,
                                const struct judged_part *part, struct dti_verdict *verdict,
                                struct dti_error *reterr)
{
    size_t other;
    enum dti_status status = find_other(job, at, part, &other, reterr);
    if (status != DTI_OK || verdict->kind != DTI_VERDICT_SAME)
        return status;
    verdict->kind = other == SIZE_MAX
                        ? DTI_VERDICT_MISSING
                        : check(part, &job->other->container->tensors[other], job->judge.options);
    if (verdict->kind != DTI_VERDICT_SAME) {
        verdict->part = part->part;
        verdict->tensor = other;
        verdict->made_dtype = part->format->id;
        return DTI_OK;
    }
    const struct dti_judge_range range = {
        .offset = part->place->offset,
        .bytes = part->place->bytes,
        .made = job->rewrite->tensors[at].source,
        .part = part->part,
        .other = other,
        .layout = part->layout,
        .input_offset = skipped_bytes(part, job->judge.options->skip),
    };
    return dti_judge_add(&job->judge, &range, job->other->container, part->fortran, reterr);
}

static enum dti_status add_tensor(struct judged_rewrite *job, size_t at,
                                  struct dti_verdict *verdict, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const size_t parts = dti_parts_before(tensor->parts, DTI_PART_COUNT);
    struct dti_quant_part_shape shapes[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    enum dti_status status = DTI_OK;
    *verdict = (struct dti_verdict){.kind = DTI_VERDICT_SAME};
    if (!dti_is_quantized(tensor)) {
        const struct judged_part part = {
            .part = DTI_PART_CODES,
            .format = tensor->format,
            .layout = tensor->layout,
            .rank = source->rank,
            .shape = source->shape,
            .place = tensor->part,
            .fortran = dti_rewrite_is_fortran(rewrite, source),
        };
        status = add_part(job, at, &part, verdict, reterr);
    } else {
        dti_rewrite_stored(rewrite, at, &stored);
        status = dti_quant_parts(&stored, shapes, reterr);
        for (size_t i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
            if (!shapes[i].there)
                continue;
            const struct judged_part part = {
                .part = (enum dti_quant_part)i,
                .format = dti_format_get(shapes[i].dtype),
                .rank = shapes[i].rank,
                .shape = shapes[i].shape,
                .place = dti_rewrite_part(tensor, (enum dti_quant_part)i),
            };
            status = add_part(job, at, &part, verdict, reterr);
        }
    }
    if (status == DTI_OK && verdict->kind == DTI_VERDICT_SAME &&
        parts != job->part_count[tensor->source]) {
        verdict->kind = DTI_VERDICT_MORE;
        verdict->tensor = SIZE_MAX;
    }
    return status;
}

static enum dti_status run(struct judged_rewrite *job, const struct dti_judge_options *options,
                           struct dti_verdict *verdicts, struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_rewrite_options how = {.team = options->team,
                                            .max_memory = options->max_memory};
    enum dti_status status = DTI_OK;
    bool some = false;
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        struct dti_verdict *const verdict = &verdicts[rewrite->tensors[i].source];
        status = add_tensor(job, i, verdict, reterr);
        some = some || verdict->kind == DTI_VERDICT_SAME;
    }
    if (status != DTI_OK || !some)
        return status;
    dti_judge_start(&job->judge);
    rewrite->files.list[0].output = job->judge.output; /* freed with the rewrite */
    job->judge.output = NULL;
    status = dti_rewrite_run(rewrite, &how, reterr);
    return dti_judge_end(&job->judge, status, verdicts);
}

enum dti_status dti_judge_rewrite(struct dti_rewrite *rewrite, const struct dti_judge_other *other,
                                  const size_t *part_count, const struct dti_judge_options *options,
                                  struct dti_verdict *ret, struct dti_error *reterr)
{
    struct judged_rewrite job = {.rewrite = rewrite, .other = other, .part_count = part_count};
    size_t parts = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        parts += dti_parts_before(rewrite->tensors[i].parts, DTI_PART_COUNT);
    if (rewrite->files.count != 1)
        return dti_fail(reterr, DTI_BUG, "a rewrite that is compared has %zu files",
                        rewrite->files.count);
    enum dti_status status = dti_judge_init(&job.judge, parts, options, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&job.name);
    status = run(&job, options, ret, reterr);
    dti_buffer_free(&job.name);
    dti_judge_free(&job.judge);
    return status;
}

enum { COPIES = 1024 }; /* at once */

static enum dti_status judge_some(struct dti_container *from, struct dti_container *to,
                                  const struct dti_judge_copy *copies, size_t count,
                                  const struct dti_judge_options *options,
                                  struct dti_batch_part *parts, struct dti_verdict *ret,
                                  struct dti_error *reterr)
{
    const struct dti_batch_options how = {.max_memory = options->max_memory};
    struct dti_judge judge;
    uint64_t offset = 0;
    enum dti_status status = dti_judge_init(&judge, count, options, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &to->tensors[copies[i].to];
        const struct dti_judge_range range = {
            .offset = offset,
            .bytes = tensor->bytes,
            .made = i,
            .other = copies[i].to,
            .layout = tensor->layout,
        };
        ret[i] = (struct dti_verdict){.kind = DTI_VERDICT_SAME};
        parts[i] = (struct dti_batch_part){
            .elements = tensor->bytes, .output = judge.output, .output_offset = offset};
        status = dti_container_data(from, copies[i].from, &parts[i].input, &parts[i].input_offset,
                                    reterr);
        if (status == DTI_OK)
            status = dti_judge_add(&judge, &range, to, tensor->fortran, reterr);
        if (status == DTI_OK)
            dti_judge_copied(&judge);
        offset += tensor->bytes; /* of files that are there: far below 2^63 */
    }
    dti_judge_start(&judge);
    if (status == DTI_OK)
        status = dti_batch_run(parts, count, options->team, &how, reterr);
    status = dti_judge_end(&judge, status, ret);
    dti_judge_free(&judge);
    return status;
}

enum dti_status dti_judge_copies(struct dti_container *from, struct dti_container *to,
                                 const struct dti_judge_copy *copies, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 struct dti_error *reterr)
{
    struct dti_batch_part *const parts = calloc(COPIES, sizeof *parts);
    enum dti_status status = parts ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0, n; i < count && status == DTI_OK; i += n) {
        n = count - i < COPIES ? count - i : COPIES;
        status = judge_some(from, to, copies + i, n, options, parts, ret + i, reterr);
    }
    free(parts);
    return status;
}
