/* SPDX-License-Identifier: MIT
 *
 * The quantization_config that loaders need for the tensors of a rewrite. */
#include "files/config/quant_config_forms.h"
#include "files/rewrite/model_folder.h"
#include "files/stored/layouts.h"
#include "files/stored/quant_names.h"

static const char weight[] = ".weight";

/* Modules with a matrix that stays what it is. */
static void put_kept(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        if (rewrite->tensors[i].fate != DTI_FATE_CHANGED && tensor->rank >= 2 &&
            dti_quant_name_ends(tensor->name, tensor->name_length, weight))
            dti_config_add_module(out, 4, tensor->name, tensor->name_length);
    }
    dti_config_end_modules(out, 4);
}

static const char *strategy_of(const struct dti_rewrite *rewrite)
{
    const struct dti_quant_scheme *const scheme = &rewrite->request.quantize.scheme;
    if (scheme->block)
        return scheme->block->family == DTI_BLOCKS_NV ? "tensor_group" : "group";
    return scheme->per == DTI_PER_TENSOR    ? "tensor"
           : scheme->per == DTI_PER_CHANNEL ? "channel"
                                            : "group";
}

/* Loaders have channels along axis 0, and groups along the last one. */
static bool is_usual(const struct dti_rewrite *rewrite)
{
    const struct dti_quant_scheme *const scheme = &rewrite->request.quantize.scheme;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const unsigned rank = dti_rewrite_source(rewrite, i)->rank;
        if (tensor->fate != DTI_FATE_CHANGED || (!scheme->block && scheme->per == DTI_PER_TENSOR))
            continue;
        const bool channel = !scheme->block && scheme->per == DTI_PER_CHANNEL;
        if (tensor->axis != (channel ? 0 : rank - 1))
            return false;
    }
    return true;
}

static struct dti_config_form form_of(const struct dti_rewrite *rewrite)
{
    const struct dti_quant_row *const row = rewrite->row;
    const struct dti_quant_scheme *const scheme = &rewrite->request.quantize.scheme;
    const bool grouped = scheme->block || scheme->per == DTI_PER_GROUP;
    const struct dti_format *const code = dti_quant_row_code(row);
    return (struct dti_config_form){
        .format = dti_config_format(row->block, row->number),
        .strategy = strategy_of(rewrite),
        .bits = code->width,
        .floats = dti_format_is_float(code),
        .zero_points = rewrite->zero_points,
        .group[1] = !grouped        ? 0
                    : scheme->block ? scheme->block->length
                                    : scheme->group,
        .scale = row->scale,
    };
}

static void put(const struct dti_rewrite *rewrite, const char *kept, struct dti_buffer *ret,
                const char **ret_why)
{
    const struct dti_quantize_recipe *const recipe = &rewrite->request.quantize;
    const struct dti_quant_row *const row = rewrite->row;
    const struct dti_config_form form = form_of(rewrite);
    const bool flat = dti_quant_is_flat(row);
    if (!flat && !is_usual(rewrite))
        *ret_why = "loaders have channels along axis 0 and groups along the last axis";
    else if (!flat && recipe->high && row->packing == DTI_QUANT_BITS)
        *ret_why = "loaders have the first code in the lowest bits";
    else if (!dti_layout_called(dti_quant_layout_name(recipe->layout))
                  ->config(row, &form, recipe->scheme.nested, kept, ret))
        *ret_why = "no loader is known for this dtype in this layout";
}

enum dti_status dti_quant_config_write(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                       const char **ret_why, struct dti_error *reterr)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    struct dti_buffer kept;
    enum dti_status status = DTI_OK;
    *ret_why = NULL;
    dti_buffer_init(&kept);
    put_kept(rewrite, &kept);
    if (transcode)
        status = dti_file_transcode_config(transcode, kept.data, ret, ret_why, reterr);
    else
        put(rewrite, kept.data, ret, ret_why);
    const bool failed = ret->failed || kept.failed;
    dti_buffer_free(&kept);
    return status == DTI_OK && failed ? dti_no_memory(reterr) : status;
}
