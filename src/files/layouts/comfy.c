/* SPDX-License-Identifier: MIT
 *
 * ComfyUI's layouts: the names of their parts, and what they are a target of. dequant_comfy.c reads
 * them. */
#include "files/dequant/dequant_layouts.h"
#include "files/transcode/transcode.h"

const struct dti_layout_ops dti_layout_comfy = {
    .name = "comfy",
    .dtype = DTI_NONE,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale",
               [DTI_PART_TENSOR_SCALE] = ".weight_scale_2",
               [DTI_PART_STATE] = ".comfy_quant"},
    .fits = dti_comfy_is_layer,
    .match = dti_comfy_match,
    .targets = {&dti_target_comfy, &dti_target_comfy_nvfp4, &dti_target_comfy_integers},
};
const struct dti_layout_ops dti_layout_comfy_old = {
    .name = "comfy",
    .dtype = DTI_NONE,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".scale_weight"},
    .fits = dti_comfy_is_old,
    .match = dti_comfy_match_old,
};
