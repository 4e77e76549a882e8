/* SPDX-License-Identifier: MIT
 *
 * The experts of gpt-oss in blocks of MXFP4: stacks of matrices [E, K, N] in the model. A block
 * lies along K, and is stored transposed.
 *
 *   X_blocks U8 [E, N, K / 32, 16]   X_scales U8 [E, N, K / 32]
 *
 * The source is that layout, or blocks along the second-to-last axis, which 'quant' writes.
 * Source: transformers 5.23 (integrations/mxfp4.py, Mxfp4Config). */
#include "files/transcode/transcode_grouped.h"
#include "util/checked.h"

enum { LENGTH = 32, BYTES = LENGTH / 2, SCALES = 32 << 10 };

/* A stack that is not transposed. */
struct oss_part {
    const struct dti_dequant_tensor *how;
    struct dti_dequant_tensor turned; /* same, read column by column: */
    struct dti_dequant_traits turned_is;
    uint64_t height, columns, groups; /* K, N and K / 32 */
};

struct oss_scratch {
    struct dti_dequant_scratch dequant; /* followed by the scratch of stripes */
    unsigned char stripes[DTI_STRIPE_SCRATCH];
    unsigned char codes[DTI_DEQUANT_CHUNK + 16];
    unsigned char scales[SCALES];
};

static enum dti_status read_codes(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *memory, struct dti_error *reterr)
{
    const struct oss_part *const part = context;
    struct oss_scratch *const scratch = memory;
    unsigned char *const bytes = buffer;
    enum dti_status status = DTI_OK;
    scratch->dequant.view = window;
    scratch->dequant.window.count = 0;
    for (size_t done = 0, n; done < size && status == DTI_OK; done += n) {
        n = size - done < DTI_DEQUANT_CHUNK / 2 ? size - done : DTI_DEQUANT_CHUNK / 2;
        status = dti_stripes_codes(part->how->is->stripes, &part->turned, 2 * (offset + done),
                                   2 * n, scratch->codes, &scratch->dequant, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++)
            bytes[done + i] =
                (unsigned char)((scratch->codes[2 * i] & 15) | scratch->codes[2 * i + 1] << 4);
    }
    return status;
}

/* Loads the scales of a range of columns: a run of each row of groups. */
static enum dti_status load_scales(const struct oss_part *part, uint64_t expert, uint64_t column,
                                   size_t columns, unsigned char *scales, struct dti_error *reterr)
{
    unsigned char row[SCALES];
    enum dti_status status = DTI_OK;
    for (uint64_t group = 0; group < part->groups && status == DTI_OK; group++) {
        const uint64_t at = (expert * part->groups + group) * part->columns + column;
        status = dti_dequant_raw_scales(part->how, DTI_PART_OF(part->how, scales), NULL, row, at,
                                        columns, reterr);
        for (size_t i = 0; i < columns && status == DTI_OK; i++)
            scales[i * part->groups + group] = row[i];
    }
    return status;
}

static enum dti_status read_scales(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *memory,
                                   struct dti_error *reterr)
{
    const struct oss_part *const part = context;
    struct oss_scratch *const scratch = memory;
    const uint64_t groups = part->groups, most = SCALES / groups;
    unsigned char *const bytes = buffer;
    enum dti_status status = DTI_OK;
    (void)window;
    for (size_t done = 0, n; done < size && status == DTI_OK; done += n) {
        const uint64_t row = (offset + done) / groups, column = row % part->columns;
        const size_t skip = (size_t)((offset + done) % groups);
        uint64_t columns = dti_divide_up(skip + (size - done), groups);
        columns = columns < most ? columns : most;
        columns = columns < part->columns - column ? columns : part->columns - column;
        const size_t there = (size_t)(columns * groups) - skip;
        n = size - done < there ? size - done : there;
        status = load_scales(part, row / part->columns, column, (size_t)columns, scratch->scales,
                             reterr);
        if (status == DTI_OK)
            memcpy(bytes + done, scratch->scales + skip, n);
    }
    return status;
}

/* Whether blocks of a stack lie along its second-to-last axis, without padding. */
static bool is_stack(const struct dti_dequant_found *found)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const struct dti_tensor *const shown = found->shown;
    return shown->rank == 3 && how->is->matrix == 0 && !how->is->tiled && !how->is->spread &&
           !found->form.is->flat && found->form.is->per == DTI_PER_GROUP &&
           found->form.is->axis == 1 && found->form.is->group[1] == LENGTH &&
           how->is->arrangement == DTI_CODES_ALONG && how->is->order == DTI_BLOCK_LOW &&
           shown->shape[1] % LENGTH == 0 && shown->shape[1] / LENGTH <= SCALES &&
           how->is->columns == shown->shape[2] && how->is->slab == how->is->stored_slab &&
           how->is->scale_count == shown->elements / LENGTH &&
           dti_format_container(dti_dequant_part_tensor(DTI_PART_OF(how, scales))->format) == 1;
}

static enum dti_status read_parts(struct dti_pool *pool, struct dti_dequant_found *found,
                                  struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    struct oss_part *const part = dti_pool_alloc(pool, sizeof *part);
    const enum dti_status status =
        part ? dti_dequant_open(&found->how, reterr) : dti_no_memory(reterr);
    if (status != DTI_OK)
        return status;
    *part = (struct oss_part){.how = how,
                              .turned = *how,
                              .turned_is = *how->is,
                              .height = found->shown->shape[1],
                              .columns = found->shown->shape[2],
                              .groups = found->shown->shape[1] / LENGTH};
    part->turned.is = &part->turned_is;
    part->turned_is.matrix = part->height;
    ret->part[0].source = (struct dti_batch_source){
        .read = read_codes, .context = part, .scratch_bytes = sizeof(struct oss_scratch)};
    ret->part[1].source = (struct dti_batch_source){
        .read = read_scales, .context = part, .scratch_bytes = sizeof(struct oss_scratch)};
    return DTI_OK;
}

static enum dti_status plan(const struct dti_transcode_target *target, struct dti_pool *pool,
                            struct dti_dequant_found *found, struct dti_transcoded *ret,
                            struct dti_error *reterr)
{
    (void)target;
    const struct dti_dequant_tensor *const how = &found->how;
    const uint64_t *const shape = found->shown->shape;
    const bool same = how->is->matrix > 0 && strcmp(found->form.is->layout, "gpt-oss") == 0;
    if (!how->is->block || how->is->block->id != DTI_BLOCK_MXFP4 || (!same && !is_stack(found)))
        return dti_transcode_refuse(
            found, reterr,
            "it is %s of %s; gpt-oss has stacks of matrices [experts, in, out] of mxfp4, with "
            "blocks along 'in', the last axis but one",
            found->form.is->dtype, found->form.is->layout);
    dti_transcode_begin(found, ret);
    ret->blocks = ret->lossless = how->is->scale_count;
    struct dti_transcode_part *const codes = dti_transcode_add(ret, "_blocks", DTI_UINT8);
    struct dti_transcode_part *const scales = dti_transcode_add(ret, "_scales", DTI_UINT8);
    codes->rank = 4;
    scales->rank = 3;
    codes->shape[0] = scales->shape[0] = shape[0];
    codes->shape[1] = scales->shape[1] = shape[2];
    codes->shape[2] = scales->shape[2] = shape[1] / LENGTH;
    codes->shape[3] = BYTES;
    if (!same)
        return read_parts(pool, found, ret, reterr);
    codes->copied = *DTI_PART_OF(how, codes);
    scales->copied = *DTI_PART_OF(how, scales);
    return DTI_OK;
}

static void config(const struct dti_transcode_target *target,
                   const struct dti_dequant_found *const *all, size_t count, const char *kept,
                   struct dti_config_texts *texts, const char **ret_why)
{
    struct dti_buffer *const ret = &texts->value;
    (void)target;
    for (size_t i = 0; i < count; i++) {
        const struct dti_tensor *const shown = all[i]->shown;
        if (!dti_quant_name_ends(shown->name, shown->name_length, ".experts.gate_up_proj") &&
            !dti_quant_name_ends(shown->name, shown->name_length, ".experts.down_proj"))
            *ret_why = "its loaders have such blocks of the experts' gate_up_proj and down_proj";
    }
    if (*ret_why)
        return;
    dti_buffer_puts(ret, "{\n  \"quant_method\": \"mxfp4\",\n  \"modules_to_not_convert\": ");
    dti_buffer_puts(ret, kept ? kept : "[]");
    dti_buffer_puts(ret, "\n}");
}

const struct dti_transcode_target dti_target_gpt_oss = {
    .name = "gpt-oss", .experts = true, .plan = plan, .config = config};
