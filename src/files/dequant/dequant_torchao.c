/* SPDX-License-Identifier: MIT
 *
 * torchao's tensors: M.weight is stored as M._weight_qdata, M._weight_scale and so on. The metadata
 * entry M.weight describes them as JSON: {"_type": "Int8Tensor", "_data": {"block_size": [1, 32],
 * ...}}. A block is a rectangle of codes that share a scale. Supported types:
 *
 *   Float8Tensor, Int8Tensor, IntxUnpackedToInt8Tensor    one code per byte; the latter two with
 *                                                         zero points
 *   MXTensor, NVFP4Tensor                                 blocks along rows, the first of two codes
 *                                                         in the low bits; scales in rows, or in
 *                                                         tiles: is_swizzled_scales
 *
 * Source: torchao 0.18 (prototype/safetensors, quantization/quantize_/workflows). */
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "util/checked.h"
#include "util/json/json_read.h"

/* The content of an entry. */
struct torchao_entry {
    char type[DTI_NAME_SIZE], element[DTI_NAME_SIZE], was[DTI_NAME_SIZE]; /* "": not specified */
    bool swizzled;
    unsigned rank; /* of the block; 1 if it is a single number */
    uint64_t block[DTI_QUANT_RANK_MAX];
};

static void copy_word(const struct dti_json_reader *json, char ret[DTI_NAME_SIZE])
{
    const char *text;
    size_t length;
    dti_json_string_value(json, &text, &length);
    length = length < DTI_NAME_SIZE ? length : DTI_NAME_SIZE - 1;
    memcpy(ret, text, length);
    ret[length] = '\0';
}

/* Reads a list of positive numbers, or a single one; `first` has been read. */
static bool read_block(struct dti_json_reader *json, enum dti_json_token first,
                       struct torchao_entry *ret)
{
    enum dti_json_token token = first;
    ret->rank = 0;
    if (first == DTI_JSON_ARRAY && !dti_json_next(json, &token))
        return false;
    while (token == DTI_JSON_NUMBER && ret->rank < DTI_QUANT_RANK_MAX &&
           dti_json_u64(json, &ret->block[ret->rank]) && ret->block[ret->rank] > 0) {
        ret->rank++;
        if (first != DTI_JSON_ARRAY)
            return true;
        if (!dti_json_next(json, &token))
            return false;
    }
    return first == DTI_JSON_ARRAY && token == DTI_JSON_ARRAY_END;
}

/* {"_type": "torch.dtype", "_data": "int4"}; null means none. */
static bool read_dtype(struct dti_json_reader *json, enum dti_json_token first,
                       char ret[DTI_NAME_SIZE])
{
    enum dti_json_token token;
    if (first != DTI_JSON_OBJECT)
        return first == DTI_JSON_NULL;
    while (dti_json_next(json, &token)) {
        if (token == DTI_JSON_OBJECT_END)
            return true;
        const bool data = dti_json_string_is(json, "_data");
        if (!dti_json_next(json, &token))
            return false;
        if (data && token == DTI_JSON_STRING)
            copy_word(json, ret);
        else if (!dti_json_skip(json, token))
            return false;
    }
    return false;
}

static bool read_member(struct dti_json_reader *json, struct torchao_entry *ret)
{
    const bool block = dti_json_string_is(json, "block_size");
    const bool element =
        dti_json_string_is(json, "target_dtype") || dti_json_string_is(json, "elem_dtype");
    const bool was = dti_json_string_is(json, "dtype") || dti_json_string_is(json, "orig_dtype");
    const bool swizzled = dti_json_string_is(json, "is_swizzled_scales");
    enum dti_json_token token;
    if (!dti_json_next(json, &token))
        return false;
    if (block && token != DTI_JSON_NULL)
        return read_block(json, token, ret);
    if (element || was)
        return read_dtype(json, token, element ? ret->element : ret->was);
    if (swizzled)
        ret->swizzled = token != DTI_JSON_FALSE && token != DTI_JSON_NULL;
    return dti_json_skip(json, token);
}

static bool read_entry(struct dti_json_reader *json, struct torchao_entry *ret)
{
    enum dti_json_token token;
    if (!dti_json_next(json, &token) || token != DTI_JSON_OBJECT)
        return false;
    while (dti_json_next(json, &token)) {
        if (token == DTI_JSON_OBJECT_END)
            return dti_json_next(json, &token);
        const bool type = dti_json_string_is(json, "_type");
        const bool data = dti_json_string_is(json, "_data");
        if (!dti_json_next(json, &token))
            return false;
        if (type && token == DTI_JSON_STRING) {
            copy_word(json, ret->type);
        } else if (!data || token != DTI_JSON_OBJECT) {
            if (!dti_json_skip(json, token))
                return false;
        } else {
            while (dti_json_next(json, &token) && token == DTI_JSON_KEY) {
                if (!read_member(json, ret))
                    return false;
            }
            if (token != DTI_JSON_OBJECT_END)
                return false;
        }
    }
    return false;
}

static enum dti_status find_entry(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group, struct torchao_entry *ret,
                                  struct dti_error *reterr)
{
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    struct dti_json_reader json;
    char name[DTI_QUOTE_SIZE];
    size_t at;
    *ret = (struct torchao_entry){.rank = 0};
    (void)dti_quote(name, group->name, group->name_length);
    if (!dti_name_order_find(&dequant->metadata, group->name, group->name_length, &at))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "the metadata have no entry %s that says how it is stored", name);
    const struct dti_metadata *const entry = &dequant->container->metadata[at];
    dti_json_reader_init(&json, entry->value, entry->value_length);
    const bool fine = entry->kind == DTI_METADATA_STRING && read_entry(&json, ret);
    const enum dti_status status =
        fine ? DTI_OK
             : dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "the metadata entry %s is not as torchao writes it%s%s", name,
                                  json.problem ? ": " : "", json.problem ? json.problem : "");
    dti_json_reader_free(&json);
    return status;
}

/* Supported types: codes, and the name of their dtype in the entry. */
static const struct torchao_type {
    const char *type, *element; /* NULL: not checked */
    enum dti_dtype codes;
    enum dti_block block; /* DTI_BLOCK_COUNT: none */
} types[] = {
    {"Float8Tensor", NULL, DTI_FP8_E4M3FN, DTI_BLOCK_COUNT},
    {"Float8Tensor", NULL, DTI_FP8_E5M2, DTI_BLOCK_COUNT},
    {"Int8Tensor", NULL, DTI_INT8, DTI_BLOCK_COUNT},
    {"IntxUnpackedToInt8Tensor", NULL, DTI_INT8, DTI_BLOCK_COUNT},
    {"MXTensor", "float8_e4m3fn", DTI_FP8_E4M3FN, DTI_BLOCK_MXFP8_E4M3},
    {"MXTensor", "float8_e5m2", DTI_FP8_E5M2, DTI_BLOCK_MXFP8_E5M2},
    {"MXTensor", "float4_e2m1fn_x2", DTI_UINT8, DTI_BLOCK_MXFP4},
    {"NVFP4Tensor", NULL, DTI_UINT8, DTI_BLOCK_NVFP4},
};
enum { TYPES = sizeof types / sizeof *types };

static enum dti_status find_type(const struct dti_dequant_group *group,
                                 const struct torchao_entry *entry, const struct torchao_type **ret,
                                 struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_CODES];
    const struct dti_format *const codes = dti_dequant_part_tensor(part)->format;
    char type[DTI_QUOTE_SIZE], element[DTI_QUOTE_SIZE];
    bool known = false;
    for (*ret = types; *ret < types + TYPES; (*ret)++) {
        const bool named = strcmp((*ret)->type, entry->type) == 0;
        const bool same = !(*ret)->element || strcmp((*ret)->element, entry->element) == 0;
        known = known || (named && same);
        if (named && same && (*ret)->codes == codes->id)
            return DTI_OK;
    }
    (void)dti_quote(type, entry->type, strlen(entry->type));
    if (known)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "its type is %s, which does not have codes of %s", type,
                                  codes->name);
    return dti_dequant_refuse(
        part, reterr, DTI_REMEDY_KEEP, "its type is %s%s%s, which is not supported", type,
        entry->element[0] != '\0' ? " of " : "",
        entry->element[0] != '\0' ? dti_quote(element, entry->element, strlen(entry->element))
                                  : "");
}

/* A block of several rows and columns is a rectangle; a block of whole rows is a scale per row. */
static enum dti_status find_hint(const struct dti_dequant_group *group,
                                 const struct torchao_entry *entry, struct dti_quant_hint *ret,
                                 struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_dequant_part *const part = &group->part[DTI_PART_SCALE];
    const unsigned rank = codes->rank;
    uint64_t expected = 1;
    bool rows = true;
    if (entry->rank == 0 && dti_format_is_float(codes->format))
        return DTI_OK; /* older versions of Float8Tensor */
    if (entry->rank != rank || rank == 0)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "its block_size has %u dimensions, and its codes %u", entry->rank,
                                  rank);
    for (unsigned i = 0; i < rank; i++) {
        if (i + 2 < rank && entry->block[i] != 1 && entry->block[i] != codes->shape[i])
            rows = false;
        if (codes->shape[i] % entry->block[i] != 0 ||
            !dti_mul_u64(expected, codes->shape[i] / entry->block[i], &expected))
            expected = UINT64_MAX;
    }
    if (!rows || scales->elements != expected)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it has %llu scales, which does not fit its block_size",
                                  (unsigned long long)scales->elements);
    ret->group[1] = entry->block[rank - 1];
    ret->group[0] = rank > 1 ? entry->block[rank - 2] : 1;
    ret->strategy = expected == 1                            ? DTI_STRATEGY_TENSOR
                    : ret->group[0] > 1                      ? DTI_STRATEGY_BLOCK
                    : ret->group[1] < codes->shape[rank - 1] ? DTI_STRATEGY_GROUP
                                                             : DTI_STRATEGY_CHANNEL;
    return DTI_OK;
}

static enum dti_status match_blocks(struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct torchao_entry *entry,
                                    const struct dti_block_format *block,
                                    struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_quant_hint hint = {.bits = dti_format_get(block->code)->width,
                                        .number = DTI_NUMBER_FLOAT,
                                        .strategy = DTI_STRATEGY_GROUP,
                                        .group = {0, block->length}};
    if (entry->rank != 1 || entry->block[0] != block->length)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "its block_size is not %u, that of %s", block->length,
                                  block->name);
    if (entry->swizzled)
        return dti_dequant_set_tiled(dequant, group, block, DTI_BLOCK_LOW, NULL, ret, reterr);
    return dti_dequant_match_as(dequant, group, &hint, ret, reterr);
}

/* Refuses factors for activations, which plain numbers would lose. */
static enum dti_status check_activations(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group,
                                         struct dti_error *reterr)
{
    static const char pre_scale[] = "_act_pre_scale";
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    size_t at;
    if (!dti_quant_names_find(&dequant->names, codes->name,
                              codes->name_length - (sizeof "_qdata" - 1), pre_scale, &at))
        return DTI_OK;
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
        "a tensor '...%s' multiplies what its layer gets, which plain numbers "
        "would leave out",
        pre_scale);
}

static enum dti_status match(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group,
                             const struct dti_quant_config *config, struct dti_dequant_found *ret,
                             struct dti_error *reterr)
{
    static const char *const words[] = {"float32", "bfloat16", "float16"};
    static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_BF16, DTI_FP16};
    static const char *const widths[] = {"int1", "int2", "int3", "int4",
                                         "int5", "int6", "int7", "int8"};
    struct torchao_entry entry;
    const struct torchao_type *type = NULL;
    (void)config;
    enum dti_status status = find_entry(dequant, group, &entry, reterr);
    if (status == DTI_OK)
        status = find_type(group, &entry, &type, reterr);
    if (status == DTI_OK && strcmp(entry.type, "IntxUnpackedToInt8Tensor") == 0)
        status = dti_dequant_need(group, DTI_PART_ZERO_POINT, reterr);
    if (status == DTI_OK)
        status = check_activations(dequant, group, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_hint hint = {
        .bits = 8, .number = type->codes == DTI_INT8 ? DTI_NUMBER_INT : DTI_NUMBER_FLOAT};
    if (type->block != DTI_BLOCK_COUNT) {
        status = match_blocks(dequant, group, &entry, &dti_block_formats[type->block], ret, reterr);
    } else {
        status = find_hint(group, &entry, &hint, reterr);
        if (status == DTI_OK)
            status = dti_dequant_match_as(dequant, group, &hint, ret, reterr);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(entry.was, words[i]) == 0)
            ret->form.is->number = dti_format_get(dtypes[i]);
    }
    for (size_t i = 0; i < sizeof widths / sizeof *widths && type->codes == DTI_INT8; i++) {
        if (strcmp(entry.element, widths[i]) == 0)
            ret->form.is->dtype = widths[i];
    }
    dequant->torchao |= status == DTI_OK;
    return status;
}

/* Whether the value is an object whose first member is "_type". */
bool dti_torchao_is_entry(const struct dti_metadata *entry)
{
    static const char names[] = "tensor_names", type[] = "_type";
    return (entry->key_length == sizeof names - 1 &&
            memcmp(entry->key, names, sizeof names - 1) == 0) ||
           (entry->value_length > sizeof type && entry->value[0] == '{' &&
            memcmp(entry->value + 2, type, sizeof type - 1) == 0);
}

const struct dti_layout_ops dti_layout_torchao = {
    .name = "torchao",
    .dtype = DTI_NONE,
    .codes = "._weight_qdata",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = "._weight_scale",
               [DTI_PART_ZERO_POINT] = "._weight_zero_point",
               [DTI_PART_TENSOR_SCALE] = "._weight_per_tensor_scale"},
    .sure = true,
    .match = match,
    .methods = {"torchao"},
};
