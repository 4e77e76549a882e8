/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's ModelOpt: a config.json or hf_quant_config.json with one "quant_algo" for all modules,
 * or one for each of "quantized_layers". Most tensors are read through the table of layouts.
 * W4A16_AWQ has a weight U8 [N/2, K] and scales [N, groups]: a byte holds int4, in two's
 * complement, of row 2r in its low bits and of row 2r + 1. Sources: ModelOpt 0.47
 * (export/quant_utils.py: process_layer_quant_config(), get_quant_config(); convert_hf_config.py),
 * vLLM 0.33 (quantization/modelopt.py), TensorRT-LLM (_torch/model_config.py, AutoDeploy's
 * quant_config_reader.py). */
#include <string.h>

#include "containers/json_quoted.h"
#include "files/config/quant_config_block.h"
#include "files/config/quant_config_layers.h"
#include "files/dequant/dequant_layouts.h"
#include "files/stored/quant_names.h"
#include "files/transcode/transcode_bytes.h"

/* Whether there are twice as many rows of scales as of codes, in equal groups. */
static bool are_pairs(const struct dti_dequant_group *group)
{
    if (!dti_dequant_has(group, DTI_PART_SCALE))
        return true;
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const unsigned rank = codes->rank;
    if ((rank != 2 && rank != 3) || scales->rank != rank || !scales->format ||
        !dti_dequant_is_float_scale(scales->format) || codes->elements == 0 ||
        scales->elements == 0 || scales->shape[rank - 2] % 2 != 0 ||
        scales->shape[rank - 2] / 2 != codes->shape[rank - 2])
        return false;
    return rank == 2 || codes->shape[0] == scales->shape[0];
}

static enum dti_status match_pairs(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   const struct dti_quant_config *config,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const uint64_t columns = codes->shape[codes->rank - 1];
    const uint64_t groups = scales->shape[scales->rank - 1], length = columns / groups;
    if (dti_dequant_has(group, DTI_PART_TENSOR_SCALE))
        return dti_dequant_refuse(&group->part[DTI_PART_TENSOR_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "a second scale of rows in pairs (W4A8_AWQ) is not supported");
    if (columns % groups != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "its %llu groups do not divide %llu columns",
                                  (unsigned long long)groups, (unsigned long long)columns);
    if (dequant->request.block > 0 && dequant->request.block != length)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                  "it has groups of %llu, not %llu", (unsigned long long)length,
                                  (unsigned long long)dequant->request.block);
    if (dequant->request.block == 0 && config->group_size > 0 && config->group_size != length)
        return dti_dequant_refuse_config(group, config, "groups of", config->group_size, length,
                                         reterr);
    const enum dti_status status = dti_dequant_set_rows(dequant, group, 4, ret, reterr);
    ret->how.is->row_step = 1;
    ret->how.is->zero_offset = ret->how.is->flip = 8;
    ret->how.is->map.group_columns = length;
    ret->how.is->map.of_column = 1;
    ret->how.is->map.of_outer = groups;
    ret->form.is->dtype = "int4";
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->axis = codes->rank - 1;
    ret->form.is->group[1] = length;
    return status;
}

static const char weight[] = ".weight";

struct dti_config_algorithm dti_config_algorithm_of(const struct dti_block_format *block,
                                                    enum dti_dtype number, enum dti_quant_per per)
{
    const bool tensor = per == DTI_PER_TENSOR, channel = per == DTI_PER_CHANNEL;
    const char *name = NULL;
    if (block) /* NVFP4 itself is for stored scales of activations */
        name = block->id == DTI_BLOCK_NVFP4        ? "W4A16_NVFP4"
               : block->id == DTI_BLOCK_MXFP8_E4M3 ? "MXFP8"
                                                   : NULL;
    else if (number == DTI_FP8_E4M3FN)
        name = tensor ? "FP8" : channel ? "FP8_PER_CHANNEL_PER_TOKEN" : NULL;
    return (struct dti_config_algorithm){.name = name, .group = block ? block->length : 0};
}

bool dti_config_needs_inputs(const struct dti_config_algorithm *algorithm)
{
    return strcmp(algorithm->name, "FP8") == 0;
}

void dti_config_layers_init(struct dti_config_layers *layers)
{
    *layers = (struct dti_config_layers){.several = false};
    dti_buffer_init(&layers->members);
}

void dti_config_layers_free(struct dti_config_layers *layers)
{
    dti_buffer_free(&layers->members);
}

bool dti_config_add_layer(struct dti_config_layers *layers, const char *name, size_t length,
                          const struct dti_config_algorithm *algorithm)
{
    struct dti_buffer *const members = &layers->members;
    const bool first = members->length == 0;
    if (!algorithm->name || !dti_quant_name_ends(name, length, weight))
        return false;
    if (first)
        layers->first = *algorithm;
    layers->several = layers->several || algorithm->group != layers->first.group ||
                      strcmp(algorithm->name, layers->first.name) != 0;
    dti_buffer_puts(members, first ? "\n    " : ",\n    ");
    dti_json_quoted(members, name, length - (sizeof weight - 1));
    dti_buffer_print(members, ": {\"quant_algo\": \"%s\"", algorithm->name);
    if (algorithm->group > 0)
        dti_buffer_print(members, ", \"group_size\": %u", algorithm->group);
    dti_buffer_puts(members, "}");
    return true;
}

/* MIXED_PRECISION with all modules, or the one algorithm; without the list of modules that stay. */
static const char *algorithm_of(const struct dti_config_layers *layers)
{
    return layers->several ? DTI_MIXED_PRECISION : layers->first.name;
}

static void put_members(struct dti_buffer *out, const struct dti_config_layers *layers)
{
    dti_buffer_puts(out, "\"quantized_layers\": {");
    dti_buffer_append(out, layers->members.data, layers->members.length);
    dti_buffer_puts(out, "\n  }");
    out->failed = out->failed || layers->members.failed;
}

static void put_value(struct dti_buffer *out, const struct dti_config_layers *layers,
                      const char *kept)
{
    dti_buffer_print(out, "{\n  \"quant_method\": \"modelopt\",\n  \"quant_algo\": \"%s\",\n",
                     algorithm_of(layers));
    if (!layers->several && layers->first.group > 0)
        dti_buffer_print(out, "  \"group_size\": %u,\n", layers->first.group);
    dti_buffer_puts(out, "  \"kv_cache_scheme\": null,\n  \"ignore\": ");
    dti_buffer_puts(out, layers->several ? "[],\n  " : kept);
    if (layers->several)
        put_members(out, layers);
    dti_buffer_puts(out, "\n}");
}

/* The same members, two spaces further in: only their ends are line ends. The producer is who
 * defines the file: readers accept no other. */
static void put_file(struct dti_buffer *out, const struct dti_config_layers *layers,
                     const char *kept)
{
    struct dti_buffer members;
    dti_buffer_init(&members);
    dti_buffer_print(&members, "{\n  \"quant_algo\": \"%s\",\n  \"kv_cache_quant_algo\": null,\n  ",
                     algorithm_of(layers));
    if (layers->several) {
        put_members(&members, layers);
    } else {
        if (layers->first.group > 0)
            dti_buffer_print(&members, "\"group_size\": %u,\n  ", layers->first.group);
        dti_buffer_puts(&members, "\"exclude_modules\": ");
        dti_buffer_puts(&members, kept);
    }
    dti_buffer_puts(&members, "\n}");
    dti_buffer_puts(out, "{\n  \"producer\": {\n    \"name\": \"modelopt\"\n  },\n"
                         "  \"quantization\": ");
    for (size_t i = 0; i < members.length; i++) {
        const bool ends = members.data[i] == '\n';
        dti_buffer_append(out, ends ? "\n  " : members.data + i, ends ? 3 : 1);
    }
    dti_buffer_puts(out, "\n}\n");
    out->failed = out->failed || members.failed;
    dti_buffer_free(&members);
}

void dti_config_put_layers(struct dti_config_texts *out, const struct dti_config_layers *layers,
                           const char *kept)
{
    put_value(&out->value, layers, kept);
    put_file(&out->file, layers, kept);
}

void dti_config_put_layers_alone(struct dti_buffer *out, const struct dti_config_layers *layers)
{
    dti_buffer_puts(out, "{\n  \"quant_algo\": \"" DTI_MIXED_PRECISION "\",\n"
                         "  \"kv_cache_quant_algo\": null,\n  ");
    put_members(out, layers);
    dti_buffer_puts(out, "\n}\n");
}

/* The algorithm of a tensor that was translated, whose scales of activations may be stored; fp8
 * needs them. */
static struct dti_config_algorithm translated(const struct dti_transcode_target *target,
                                              const struct dti_dequant_found *found)
{
    const bool nvfp4 = target->takes == DTI_TAKES_FOR_NVFP4, inputs = found->form.input_scale;
    const struct dti_block_format *const block =
        nvfp4 ? &dti_block_formats[DTI_BLOCK_NVFP4] : found->how.is->block;
    struct dti_config_algorithm algorithm =
        dti_config_algorithm_of(block, found->how.is->affine.code.id, DTI_PER_TENSOR);
    if (block && block->id == DTI_BLOCK_NVFP4 && inputs)
        algorithm.name = "NVFP4";
    return block || inputs ? algorithm : (struct dti_config_algorithm){.name = NULL};
}

static void config_translated(const struct dti_transcode_target *target,
                              const struct dti_dequant_found *const *all, size_t count,
                              const char *kept, struct dti_config_texts *ret, const char **ret_why)
{
    struct dti_config_layers layers;
    dti_config_layers_init(&layers);
    for (size_t i = 0; i < count && !*ret_why; i++) {
        const struct dti_config_algorithm algorithm = translated(target, all[i]);
        const struct dti_tensor *const shown = all[i]->shown;
        if (!algorithm.name)
            *ret_why = "no loader is known for this dtype in this layout";
        else if (!dti_transcode_is_module(all[i]) ||
                 !dti_config_add_layer(&layers, shown->name, shown->name_length, &algorithm))
            *ret_why = "its loaders have no module for some of the tensors";
    }
    if (!*ret_why)
        dti_config_put_layers(ret, &layers, kept);
    dti_config_layers_free(&layers);
}

static const struct dti_transcode_target as_they_are = {
    .name = "modelopt", .plan = dti_transcode_blocks, .config = config_translated};
static const struct dti_transcode_target to_nvfp4 = {.name = "modelopt",
                                                     .takes = DTI_TAKES_FOR_NVFP4,
                                                     .plan = dti_transcode_to_nvfp4,
                                                     .config = config_translated};
const struct dti_layout_ops dti_layout_modelopt = {
    .name = "modelopt",
    .methods = {"modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8"},
    .config_file = "hf_quant_config.json",
    .config_member = "quantization",
    .one_scheme = 1,
    .algorithms = true,
    .tensor_scales = true,
    .scale = ".weight_scale",
    .ignored = {DTI_LIST_IGNORE, DTI_LIST_EXCLUDED},
    .ignored_as = DTI_MODULE_NAME | DTI_MODULE_WILDCARD,
    .targets = {&as_they_are, &to_nvfp4},
};
const struct dti_layout_ops dti_layout_pairs = {
    .name = "modelopt",
    .dtype = DTI_UINT8,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale", [DTI_PART_TENSOR_SCALE] = ".weight_scale_2"},
    .fits = are_pairs,
    .match = match_pairs,
};
