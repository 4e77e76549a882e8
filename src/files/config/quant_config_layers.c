/* SPDX-License-Identifier: MIT
 *
 * ModelOpt's configuration: see quant_config_layers.h. Sources: NVIDIA Model Optimizer 0.47
 * (export/quant_utils.py: process_layer_quant_config(), get_quant_config(); convert_hf_config.py)
 * for the words and members, vLLM (quantization/modelopt.py) and TensorRT-LLM
 * (_torch/model_config.py, AutoDeploy's quant_config_reader.py) for what is read. */
#include "files/config/quant_config_layers.h"

#include <string.h>

#include "containers/json_quoted.h"
#include "files/stored/quant_names.h"

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

void dti_config_put_algorithm(struct dti_buffer *out, const struct dti_config_algorithm *algorithm,
                              const char *kept)
{
    dti_buffer_print(out, "{\n  \"quant_method\": \"modelopt\",\n  \"quant_algo\": \"%s\",\n",
                     algorithm->name);
    if (algorithm->group > 0)
        dti_buffer_print(out, "  \"group_size\": %u,\n", algorithm->group);
    dti_buffer_puts(out, "  \"kv_cache_scheme\": null,\n  \"ignore\": ");
    dti_buffer_puts(out, kept);
    dti_buffer_puts(out, "\n}");
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

static const char mixed[] = "\"quant_algo\": \"MIXED_PRECISION\",\n";

void dti_config_put_layers(struct dti_buffer *out, const struct dti_config_layers *layers)
{
    dti_buffer_puts(out, "{\n  \"quant_method\": \"modelopt\",\n  ");
    dti_buffer_puts(out, mixed);
    dti_buffer_puts(out, "  \"kv_cache_scheme\": null,\n  \"ignore\": [],\n"
                         "  \"quantized_layers\": {");
    dti_buffer_append(out, layers->members.data, layers->members.length);
    dti_buffer_puts(out, "\n  }\n}");
    out->failed = out->failed || layers->members.failed;
}

void dti_config_put_layers_alone(struct dti_buffer *out, const struct dti_config_layers *layers)
{
    dti_buffer_puts(out, "{\n  ");
    dti_buffer_puts(out, mixed);
    dti_buffer_puts(out, "  \"kv_cache_quant_algo\": null,\n  \"quantized_layers\": {");
    dti_buffer_append(out, layers->members.data, layers->members.length);
    dti_buffer_puts(out, "\n  }\n}\n");
    out->failed = out->failed || layers->members.failed;
}

/* The same members, two spaces further in: only their ends are line ends. The producer is who
 * defines the file: readers accept no other. */
void dti_config_put_layers_file(struct dti_buffer *out, const struct dti_config_layers *layers)
{
    const char *at = layers->members.data;
    const char *const end = at + layers->members.length;
    dti_buffer_puts(out, "{\n  \"producer\": {\n    \"name\": \"modelopt\"\n  },\n"
                         "  \"quantization\": {\n    ");
    dti_buffer_puts(out, mixed);
    dti_buffer_puts(out, "    \"kv_cache_quant_algo\": null,\n    \"quantized_layers\": {");
    while (at < end) {
        const char *const line = memchr(at + 1, '\n', (size_t)(end - at - 1));
        const char *const next = line ? line : end;
        dti_buffer_puts(out, "\n  ");
        dti_buffer_append(out, at + 1, (size_t)(next - at - 1));
        at = next;
    }
    dti_buffer_puts(out, "\n    }\n  }\n}\n");
    out->failed = out->failed || layers->members.failed;
}
