/* SPDX-License-Identifier: MIT
 *
 * The quantization_config that loaders need: as compressed-tensors 0.20 (QuantizationConfig), vLLM
 * (modelopt) and transformers (BitsAndBytesConfig) read it. Modules are named without ".weight". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "containers/json_quoted.h"
#include "files/model_folder.h"
#include "files/quant_names.h"

static const char weight[] = ".weight";

static void print(struct dti_buffer *out, const char *format, ...) DTI_PRINTF(2, 3);
static void print(struct dti_buffer *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dti_buffer_puts(out, text);
}

/* Modules with a matrix that stays what it is: "[]", or one a line. */
static void put_kept(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    bool any = false;
    dti_buffer_puts(out, "[");
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        if (rewrite->tensors[i].fate == DTI_FATE_CHANGED || tensor->rank < 2 ||
            !dti_quant_name_ends(tensor->name, tensor->name_length, weight))
            continue;
        dti_buffer_puts(out, any ? ",\n    " : "\n    ");
        dti_json_quoted(out, tensor->name, tensor->name_length - (sizeof weight - 1));
        any = true;
    }
    dti_buffer_puts(out, any ? "\n  ]" : "]");
}

/* How compressed-tensors calls the format of a row; NULL: it has none. */
static const char *format_of(const struct dti_quant_row *row)
{
    if (row->block) {
        switch (row->block->id) {
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
    switch (row->number) {
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

static void put_compressed(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    const struct dti_quant_row *const row = rewrite->row;
    const struct dti_quant_scheme *const scheme = &rewrite->request.quantize.scheme;
    const char *const format = format_of(row), *const strategy = strategy_of(rewrite);
    const struct dti_format *const code = dti_quant_row_code(row);
    const unsigned group = scheme->block ? scheme->block->length : scheme->group;
    const bool grouped = scheme->block || scheme->per == DTI_PER_GROUP;
    char length[16] = "null";
    if (grouped)
        (void)snprintf(length, sizeof length, "%u", group);
    print(out,
          "{\n  \"quant_method\": \"compressed-tensors\",\n  \"format\": \"%s\",\n"
          "  \"quantization_status\": \"compressed\",\n  \"config_groups\": {\n"
          "    \"group_0\": {\n      \"targets\": [\"Linear\"],\n",
          format);
    print(
        out,
        "      \"weights\": {\n        \"num_bits\": %u,\n        \"type\": \"%s\",\n"
        "        \"symmetric\": %s,\n        \"strategy\": \"%s\",\n        \"group_size\": %s,\n",
        code->width, dti_format_is_float(code) ? "float" : "int",
        rewrite->zero_points ? "false" : "true", strategy, length);
    print(out,
          "        \"dynamic\": false,\n        \"scale_dtype\": \"torch.%s\"\n      },\n"
          "      \"input_activations\": null,\n      \"output_activations\": null,\n"
          "      \"format\": \"%s\"\n    }\n  },\n  \"kv_cache_scheme\": null,\n  \"ignore\": ",
          row->scale == DTI_UINT8        ? "uint8"
          : row->scale == DTI_FP8_E4M3FN ? "float8_e4m3fn"
                                         : "float32",
          format);
    put_kept(rewrite, out);
    dti_buffer_puts(out, "\n}");
}

static void put_bitsandbytes(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    const bool nf4 = rewrite->row->block->id == DTI_BLOCK_NF4;
    print(out,
          "{\n  \"quant_method\": \"bitsandbytes\",\n  \"load_in_4bit\": true,\n"
          "  \"load_in_8bit\": false,\n  \"bnb_4bit_quant_type\": \"%s\",\n"
          "  \"bnb_4bit_use_double_quant\": %s,\n  \"bnb_4bit_quant_storage\": \"uint8\",\n"
          "  \"llm_int8_skip_modules\": ",
          nf4 ? "nf4" : "fp4", rewrite->request.quantize.scheme.nested ? "true" : "false");
    put_kept(rewrite, out);
    dti_buffer_puts(out, "\n}");
}

/* The algorithms whose scales of activations loaders compute. */
static const char *algorithm_of(const struct dti_quant_row *row)
{
    if (!row->block)
        return NULL;
    return row->block->id == DTI_BLOCK_NVFP4        ? "W4A16_NVFP4"
           : row->block->id == DTI_BLOCK_MXFP8_E4M3 ? "MXFP8"
                                                    : NULL;
}

static void put_modelopt(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    print(out,
          "{\n  \"quant_method\": \"modelopt\",\n  \"quant_algo\": \"%s\",\n  \"group_size\": %u,\n"
          "  \"kv_cache_scheme\": null,\n  \"ignore\": ",
          algorithm_of(rewrite->row), (unsigned)rewrite->row->block->length);
    put_kept(rewrite, out);
    dti_buffer_puts(out, "\n}");
}

enum dti_status dti_quant_config_write(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                       const char **ret_why, struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = &rewrite->request.quantize;
    *ret_why = NULL;
    if (recipe->layout == DTI_LAYOUT_BITSANDBYTES)
        put_bitsandbytes(rewrite, ret);
    else if (!is_usual(rewrite))
        *ret_why = "loaders have channels along axis 0 and groups along the last axis";
    else if (recipe->high && rewrite->row->packing == DTI_QUANT_BITS)
        *ret_why = "loaders have the first code in the lowest bits";
    else if (recipe->layout == DTI_LAYOUT_MODELOPT && algorithm_of(rewrite->row))
        put_modelopt(rewrite, ret);
    else if (recipe->layout == DTI_LAYOUT_COMPRESSED_TENSORS && format_of(rewrite->row))
        put_compressed(rewrite, ret);
    else
        *ret_why = "no loader is known for this dtype in this layout";
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}
