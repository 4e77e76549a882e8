/* SPDX-License-Identifier: MIT
 *
 * The text of a quantization_config as compressed-tensors 0.20 (QuantizationConfig) reads it. */
#include "files/config/quant_config_forms.h"

#include <stdio.h>
#include <string.h>

#include "containers/json_quoted.h"
#include "files/stored/quant_names.h"

static const char weight[] = ".weight";

void dti_config_add_module(struct dti_buffer *array, unsigned indent, const char *name,
                           size_t length)
{
    const size_t end = dti_quant_name_ends(name, length, weight) ? sizeof weight - 1 : 0;
    dti_buffer_print(array, "%s\n%*s", array->length == 0 ? "[" : ",", (int)indent, "");
    dti_json_quoted(array, name, length - end);
}

void dti_config_end_modules(struct dti_buffer *array, unsigned indent)
{
    if (array->length == 0)
        dti_buffer_puts(array, "[]");
    else
        dti_buffer_print(array, "\n%*s]", (int)indent - 2, "");
}

const char *dti_config_format(const struct dti_block_format *block, enum dti_dtype number)
{
    if (block) {
        switch (block->id) {
        case DTI_BLOCK_MXFP4:
            return "mxfp4-pack-quantized";
        case DTI_BLOCK_NVFP4:
            return "nvfp4-pack-quantized";
        case DTI_BLOCK_MXFP8_E4M3:
            return "mxfp8-quantized";
        case DTI_BLOCK_MXFP6_E2M3:
            return "mxfp6-pack-quantized";
        default:
            return NULL;
        }
    }
    switch (number) {
    case DTI_INT8:
        return "int-quantized";
    case DTI_FP8_E4M3FN:
        return "float-quantized";
    case DTI_INT4:
    case DTI_UINT4:
    case DTI_INT2:
    case DTI_UINT2:
        return "pack-quantized";
    default:
        return NULL;
    }
}

/* torch's name for the dtype. */
static const char *scale_name(enum dti_dtype scale)
{
    switch (scale) {
    case DTI_UINT8:
        return "uint8";
    case DTI_FP8_E4M3FN:
        return "float8_e4m3fn";
    case DTI_BF16:
        return "bfloat16";
    case DTI_FP16:
        return "float16";
    default:
        return "float32";
    }
}

/* Stored scales of activations: per tensor; nvfp4 also has block scales, which are computed at run
 * time. */
static void put_inputs(struct dti_buffer *out, const struct dti_config_form *form)
{
    const bool blocks = form->bits == 4;
    if (!form->inputs)
        dti_buffer_puts(out, "null");
    else
        dti_buffer_print(out,
                         "{\n        \"num_bits\": %u,\n        \"type\": \"float\",\n"
                         "        \"symmetric\": true,\n        \"strategy\": \"%s\",\n"
                         "        \"group_size\": %s,\n        \"dynamic\": %s\n      }",
                         form->bits, blocks ? "tensor_group" : "tensor", blocks ? "16" : "null",
                         blocks ? "\"local\"" : "false");
}

static void put_group(struct dti_buffer *out, const struct dti_config_group *group, size_t at)
{
    const struct dti_config_form *const form = &group->form;
    char length[24] = "null";
    if (form->group[1] > 0 && form->group[0] == 0)
        (void)snprintf(length, sizeof length, "%llu", (unsigned long long)form->group[1]);
    dti_buffer_print(out, "    \"group_%zu\": {\n      \"targets\": ", at);
    dti_buffer_puts(out, group->targets ? group->targets : "[\"Linear\"]");
    dti_buffer_print(
        out,
        ",\n      \"weights\": {\n        \"num_bits\": %u,\n        \"type\": \"%s\",\n"
        "        \"symmetric\": %s,\n        \"strategy\": \"%s\",\n        \"group_size\": %s,\n",
        form->bits, form->floats ? "float" : "int", form->zero_points ? "false" : "true",
        form->strategy, length);
    if (form->group[0] > 0)
        dti_buffer_print(out, "        \"block_structure\": [%llu, %llu],\n",
                         (unsigned long long)form->group[0], (unsigned long long)form->group[1]);
    if (form->ordered)
        dti_buffer_puts(out, "        \"actorder\": \"group\",\n");
    dti_buffer_print(
        out,
        "        \"dynamic\": false,\n        \"scale_dtype\": \"torch.%s\"\n      },\n"
        "      \"input_activations\": ",
        scale_name(form->scale));
    put_inputs(out, form);
    dti_buffer_print(out, ",\n      \"output_activations\": null,\n      \"format\": \"%s\"\n    }",
                     form->format);
}

void dti_config_put_compressed(struct dti_buffer *out, const struct dti_config_group *groups,
                               size_t count, const char *kept)
{
    const char *format = groups[0].form.format;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(groups[i].form.format, format) != 0)
            format = "mixed-precision";
    }
    dti_buffer_print(out,
                     "{\n  \"quant_method\": \"compressed-tensors\",\n  \"format\": \"%s\",\n"
                     "  \"quantization_status\": \"compressed\",\n  \"config_groups\": {\n",
                     format);
    for (size_t i = 0; i < count; i++) {
        put_group(out, &groups[i], i);
        dti_buffer_puts(out, i + 1 < count ? ",\n" : "\n");
    }
    dti_buffer_puts(out, "  },\n  \"kv_cache_scheme\": null,\n  \"ignore\": ");
    dti_buffer_puts(out, kept);
    dti_buffer_puts(out, "\n}");
}
