/* SPDX-License-Identifier: MIT
 *
 * compressed-tensors: "config_groups" assign schemes to modules. Tensors are read through the table
 * of layouts. So are those of FBGEMM, which has its own method for 8-bit floats with a scale for
 * each row. Source: compressed-tensors 0.20 (utils/match.py). */
#include "files/config/quant_config_block.h"
#include "files/transcode/transcode.h"

static bool config(const struct dti_quant_row *row, const struct dti_config_form *form, bool nested,
                   const char *kept, struct dti_buffer *ret)
{
    const struct dti_config_group all = {.form = *form};
    (void)row;
    (void)nested;
    if (form->format)
        dti_config_put_compressed(ret, &all, 1, kept);
    return form->format != NULL;
}

const struct dti_layout_ops dti_layout_compressed_tensors = {
    .name = "compressed-tensors",
    .methods = {"compressed-tensors", "compressed_tensors"},
    .one_scheme = 2,
    .tensor_scales = true,
    .scale = ".weight_scale",
    .ignored = {DTI_LIST_IGNORE},
    .ignored_as = DTI_MODULE_NAME | DTI_MODULE_REGEX,
    .targets = {&dti_target_compressed_blocks, &dti_target_compressed_nvfp4,
                &dti_target_compressed_words},
    .config = config,
};
const struct dti_layout_ops dti_layout_fbgemm = {
    .name = "compressed-tensors",
    .methods = {"fbgemm_fp8"},
    .scale = ".weight_scale",
    .ignored = {DTI_LIST_NOT_CONVERTED},
    .ignored_as = DTI_MODULE_PART | DTI_MODULE_END,
};
