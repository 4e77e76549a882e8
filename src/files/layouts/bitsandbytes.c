/* SPDX-License-Identifier: MIT
 *
 * bitsandbytes: 8-bit codes in rows, with scales under their own names; and the configuration of
 * its 4-bit layout.
 *
 *                  weight       SCB       weight_format
 *   bitsandbytes   I8 [N, K]    F32 [N]   U8 []: 0, or missing
 *
 * SCB holds the largest magnitude of each row: a number is (code x SCB) x 1 / 127, each product
 * rounded. The format is the order of codes; 0 is row order. Source: bitsandbytes 0.50.2
 * (nn/modules.py, functional.py). */
#include "files/config/quant_config_block.h"
#include "files/dequant/dequant_layouts.h"

/* Older versions stored codes in the order of their kernels. */
static enum dti_status check_order(const struct dti_dequant_group *group, struct dti_error *reterr)
{
    static const char *const orders[] = {"row", "col32", "col_turing", "col_ampere"};
    const struct dti_dequant_part *const part = &group->part[DTI_PART_STATE];
    unsigned char order;
    if (!part->container)
        return DTI_OK;
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    if (tensor->format->id != DTI_UINT8 || tensor->elements != 1)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP, "expected one U8");
    const enum dti_status status = dti_dequant_read_all(part, &order, 1, reterr);
    if (status != DTI_OK || order == 0)
        return status;
    return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                              "it is %u (%s); only 0, the order of rows, is supported", order,
                              order < sizeof orders / sizeof *orders ? orders[order] : "unknown");
}

static enum dti_status match_rows(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config,
                                  struct dti_dequant_found *ret, struct dti_error *reterr)
{
    static const struct dti_quant_hint rows = {
        .bits = 8, .number = DTI_NUMBER_INT, .strategy = DTI_STRATEGY_CHANNEL};
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    (void)config;
    if (codes->rank != 2 || scales->format->id != DTI_FP32 || scales->rank != 1 ||
        scales->elements != codes->shape[0])
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "expected a scale for each row of a matrix of codes, as F32");
    enum dti_status status = check_order(group, reterr);
    if (status == DTI_OK)
        status = dti_dequant_match_as(dequant, group, &rows, ret, reterr);
    ret->how.is->factor = 0.007874015718698502f; /* 1 / 127 */
    return status;
}

/* As read by transformers (BitsAndBytesConfig). */
static bool config(const struct dti_quant_row *row, const struct dti_config_form *form, bool nested,
                   const char *kept, struct dti_buffer *ret)
{
    (void)form;
    dti_buffer_print(
        ret,
        "{\n  \"quant_method\": \"bitsandbytes\",\n  \"load_in_4bit\": true,\n"
        "  \"load_in_8bit\": false,\n  \"bnb_4bit_quant_type\": \"%s\",\n"
        "  \"bnb_4bit_use_double_quant\": %s,\n  \"bnb_4bit_quant_storage\": \"uint8\",\n"
        "  \"llm_int8_skip_modules\": ",
        row->block->id == DTI_BLOCK_NF4 ? "nf4" : "fp4", nested ? "true" : "false");
    dti_buffer_puts(ret, kept);
    dti_buffer_puts(ret, "\n}");
    return true;
}

const struct dti_layout_ops dti_layout_bitsandbytes = {
    .name = "bitsandbytes",
    .dtype = DTI_INT8,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".SCB", [DTI_PART_STATE] = ".weight_format"},
    .match = match_rows,
    .methods = {"bitsandbytes"},
    .ignored = {DTI_LIST_SKIPPED},
    .ignored_as = DTI_MODULE_PART | DTI_MODULE_END,
    .config = config,
};
