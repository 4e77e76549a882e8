/* SPDX-License-Identifier: MIT
 *
 * Scales of layer inputs, stored with nvfp4 weights: input_scale is a factor, and
 * input_global_scale of compressed-tensors its reciprocal. Those of fp8 are factors in both. */
#include <math.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/transcode/transcode_bytes.h"

static const char factor[] = ".input_scale", divisor[] = ".input_global_scale";
enum { WEIGHT = sizeof ".weight" - 1 }; /* suffix of the weight's name */

void dti_transcode_find_input(struct dti_file_dequant *dequant, struct dti_dequant_found *found,
                              struct dti_transcode_input *ret)
{
    const struct dti_tensor *const shown = found->shown;
    size_t at;
    *ret = (struct dti_transcode_input){.there = false};
    if (!dti_transcode_is_module(found))
        return;
    const size_t stem = shown->name_length - WEIGHT;
    ret->divides = dti_quant_names_find(&dequant->names, shown->name, stem, divisor, &at);
    if (!ret->divides && !dti_quant_names_find(&dequant->names, shown->name, stem, factor, &at))
        return;
    const struct dti_tensor *const tensor = dti_container_tensor(dequant->container, at);
    ret->tensor = (uint32_t)at;
    ret->there = dti_tensor_is_read(tensor) && tensor->format->id == DTI_FP32 &&
                 tensor->elements == 1 && !dti_tensor_fits(dequant->request.keep, tensor);
    found->form.input_scale = ret->there;
}

enum dti_status dti_transcode_add_input(const struct dti_dequant_found *found,
                                        const struct dti_transcode_input *input,
                                        struct dti_transcoded *plan, struct dti_error *reterr)
{
    struct dti_container *const container = found->how.is->from.codes;
    const struct dti_tensor *const tensor = dti_container_alike(container, input->tensor);
    const struct dti_dequant_part part = {.container = container, .tensor = input->tensor};
    unsigned char raw[4];
    float stored;
    enum dti_status status = dti_dequant_read_all(&part, raw, sizeof raw, reterr);
    if (status != DTI_OK)
        return status;
    const uint32_t bits = (uint32_t)dti_storage_get(tensor->format, &tensor->layout, raw, 0);
    memcpy(&stored, &bits, sizeof stored);
    const float scale = 1 / stored, back = 1 / scale;
    if (!(stored > 0) || !(scale > 0) || !isfinite(scale))
        return dti_transcode_refuse(found, reterr,
                                    "its scale of activations has no reciprocal in fp32");
    plan->blocks++;
    plan->lossless += back == stored;
    const double error = fabs((double)back - (double)stored) / (double)stored;
    plan->worst = error > plan->worst ? error : plan->worst;
    plan->stem_length = found->shown->name_length - WEIGHT;
    plan->count = 0;
    dti_transcode_add_number(scale, input->divides ? factor : divisor, input->divides ? 0 : 1,
                             plan);
    return DTI_OK;
}
