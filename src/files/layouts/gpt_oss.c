/* SPDX-License-Identifier: MIT
 *
 * gpt-oss: experts in blocks of MXFP4. A row is stored as [blocks, 16] bytes; the model's parameter
 * has the last two dimensions of the numbers swapped. Source: transformers 5.23
 * (integrations/mxfp4.py, _convert_moe_packed_tensors). There, a scale of 255 is 2^128; here it is
 * NaN, as MX defines it. */
#include <string.h>

#include "files/config/quant_config_block.h"
#include "files/dequant/dequant_layouts.h"
#include "files/transcode/transcode.h"
#include "util/checked.h"

enum { LENGTH = 32, BYTES = LENGTH / 2 };

static bool is_gpt_oss(const struct dti_dequant_group *group)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    return codes->rank == 4 && codes->shape[3] == BYTES;
}

static enum dti_status check_stated(const struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct dti_quant_config *config, struct dti_error *reterr)
{
    const struct dti_file_dequant_request *const request = &dequant->request;
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    char method[DTI_QUOTE_SIZE];
    if ((request->bits > 0 && request->bits != 4) ||
        (request->block > 0 && request->block != LENGTH))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_NONE,
                                  "by its name and shape it has codes of 4 bits in blocks of 32");
    if (request->bits > 0 || request->block > 0 || config->method[0] == '\0' ||
        strcmp(config->method, "mxfp4") == 0)
        return DTI_OK;
    return dti_dequant_refuse(codes, reterr, DTI_REMEDY_OVERRIDE_CONFIG,
                              "it has blocks of mxfp4, and %s says that the quant_method is %s",
                              config->file,
                              dti_quote(method, config->method, strlen(config->method)));
}

static enum dti_status match_gpt_oss(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config,
                                     struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const uint64_t *const shape = codes->shape; /* experts, rows, blocks, bytes */
    struct dti_dequant_tensor *const how = &ret->how;
    uint64_t columns;
    if (scales->format->id != DTI_UINT8 || scales->rank != 3 || scales->shape[0] != shape[0] ||
        scales->shape[1] != shape[1] || scales->shape[2] != shape[2])
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "expected a scale of U8 for each 16 bytes of '..._blocks', in "
                                  "the shape of its first three dimensions");
    if (!dti_mul_u64(shape[2], LENGTH, &columns) || /* can overflow even with no rows */
        !dti_mul_u64(scales->elements, LENGTH, &how->is->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    enum dti_status status = check_stated(dequant, group, config, reterr);
    if (status == DTI_OK)
        status = dti_dequant_set_blocks(dequant, group, &dti_block_formats[DTI_BLOCK_MXFP4], ret,
                                        reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t numbers[] = {shape[0], columns, shape[1]};
    how->is->rows = columns > 0 ? how->is->elements / columns : 0;
    how->is->columns = columns > 0 ? columns : 1;
    how->is->row_bytes = columns / 2;
    how->is->matrix = shape[1];
    how->is->stripes = &dequant->stripes;
    how->is->map = (struct dti_scale_map){.length = shape[1],
                                          .mid = 1,
                                          .group_rows = 1,
                                          .group_columns = LENGTH,
                                          .of_outer = shape[1] * shape[2],
                                          .of_length = shape[2],
                                          .of_column = 1};
    ret->form.is->dtype = how->is->block->name;
    ret->form.is->layout = "gpt-oss";
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->axis = 1;
    ret->form.is->group[1] = LENGTH;
    return dti_dequant_show(dequant, group, 3, numbers, ret, reterr);
}

const struct dti_layout_ops dti_layout_gpt_oss = {
    .name = "gpt-oss",
    .codes = "_blocks",
    .numbers = "",
    .dtype = DTI_UINT8,
    .sure = true,
    .suffix = {[DTI_PART_SCALE] = "_scales"},
    .fits = is_gpt_oss,
    .match = match_gpt_oss,
    .methods = {"mxfp4", "gpt_oss_mxfp4"},
    .ignored = {DTI_LIST_NOT_CONVERTED},
    .ignored_as = DTI_MODULE_PART | DTI_MODULE_END,
    .targets = {&dti_target_gpt_oss},
};
