/* SPDX-License-Identifier: MIT
 *
 * ComfyUI's layouts. A layer X has X.weight and, depending on its age,
 *
 *   X.scale_weight                     fp8 codes; the file has a tensor PREFIX.scaled_fp8
 *   X.weight_scale and X.comfy_quant   the latter is JSON as U8: {"format": "float8_e4m3fn", ...}
 *   X.weight_scale                     same JSON in the metadata: _quantization_metadata
 *
 * Formats are laid out for kernels: nvfp4 has the first of two codes in the high bits, and both
 * nvfp4 and mxfp8 have tiled scales. Tensors of other layouts have the same names and, often, the
 * same shapes. Sources: ComfyUI (comfy/utils.py, comfy/ops.py), comfy-kitchen 0.2.40. */
#include "files/dequant/dequant_layouts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/json/json_read.h"
#include "util/run/allocate.h"

enum { JSON_MAX = 1 << 16, RECTANGLE = 128 /* default rows and columns */, ROTATED = 256 };
static const char entry[] = "_quantization_metadata";

/* Whether rows are rotated, and in groups of how many columns (dequant_rotated.c). */
struct comfy_rotation {
    enum { NOT_STATED, STATED_NO, STATED_YES, STATED_BADLY } rotated;
    bool has_length;
    uint64_t length; /* UINT64_MAX: not a number */
};

/* The description of a layer. */
struct comfy_layer {
    const char *name; /* X */
    size_t name_length;
    char format[DTI_NAME_SIZE];        /* truncated to fit; "": not specified */
    struct comfy_rotation own, params; /* its own members; those of its member "params" */
    uint64_t group;                    /* rows and columns that share a scale; 0: not specified */
    unsigned rank;                     /* of the shape before it was padded; 0: not specified */
    uint64_t shape[2];                 /* of a matrix; of another rank: ignored */
};

struct dti_comfy_layers {
    char problem[64]; /* the JSON error; "": valid */
    size_t count;
    struct comfy_layer *list; /* sorted by name */
};

/* As Python: 0 is false. */
static void read_rotation(const struct dti_json_reader *json, enum dti_json_token token,
                          struct comfy_rotation *ret)
{
    uint64_t number = 0;
    ret->rotated = STATED_BADLY;
    if (token == DTI_JSON_FALSE || token == DTI_JSON_NULL)
        ret->rotated = STATED_NO;
    else if (token == DTI_JSON_TRUE)
        ret->rotated = STATED_YES;
    else if (token == DTI_JSON_NUMBER && dti_json_u64(json, &number))
        ret->rotated = number != 0 ? STATED_YES : STATED_NO;
}

/* Reads the rest of an array that has begun. Whatever is no array of sizes fits no tensor. */
static bool read_shape(struct dti_json_reader *json, enum dti_json_token token,
                       struct comfy_layer *ret)
{
    ret->rank = 0;
    if (token != DTI_JSON_ARRAY) {
        ret->rank = UINT_MAX;
        return dti_json_skip(json, token);
    }
    while (dti_json_next(json, &token)) {
        uint64_t size = UINT64_MAX;
        if (token == DTI_JSON_ARRAY_END) {
            ret->rank = ret->rank > 0 ? ret->rank : UINT_MAX;
            return true;
        }
        if (token == DTI_JSON_NUMBER)
            (void)dti_json_u64(json, &size);
        else if (!dti_json_skip(json, token))
            return false;
        if (ret->rank < 2)
            ret->shape[ret->rank] = size;
        ret->rank++;
    }
    return false;
}

/* Reads the rest of an object that has begun. Loaders also look for "convrot" in "params". */
static bool read_layer(struct dti_json_reader *json, struct comfy_layer *ret)
{
    enum dti_json_token token = DTI_JSON_OBJECT;
    const unsigned depth = json->depth;
    bool params = false;
    while (token != DTI_JSON_OBJECT_END || json->depth >= depth) {
        if (!dti_json_next(json, &token))
            return false;
        if (token != DTI_JSON_KEY)
            continue;
        const bool format = json->depth == depth && dti_json_string_is(json, "format");
        params = json->depth == depth ? dti_json_string_is(json, "params") : params;
        struct comfy_rotation *const rotation = json->depth == depth                 ? &ret->own
                                                : params && json->depth == depth + 1 ? &ret->params
                                                                                     : NULL;
        const bool rotated = rotation && dti_json_string_is(json, "convrot");
        const bool columns = rotation && dti_json_string_is(json, "convrot_groupsize");
        const bool group = dti_json_string_is(json, "group_size");
        const bool shape = json->depth == depth && dti_json_string_is(json, "orig_shape");
        if (!dti_json_next(json, &token) || (shape && !read_shape(json, token, ret)))
            return false;
        if (shape)
            continue;
        if (rotated)
            read_rotation(json, token, rotation);
        if (columns)
            rotation->has_length = true;
        if (columns && (token != DTI_JSON_NUMBER || !dti_json_u64(json, &rotation->length)))
            rotation->length = UINT64_MAX;
        if (group && (token != DTI_JSON_NUMBER || !dti_json_u64(json, &ret->group)))
            ret->group = UINT64_MAX; /* fits no tensor */
        if (format && token == DTI_JSON_STRING) {
            const char *text;
            size_t length;
            dti_json_string_value(json, &text, &length);
            length = length < sizeof ret->format ? length : sizeof ret->format - 1;
            memcpy(ret->format, text, length);
            ret->format[length] = '\0';
        }
    }
    return true;
}

/* Reads the member "layers": counts the layers, and fills the list if it is allocated. */
static bool read_layers(struct dti_json_reader *json, struct dti_pool *pool,
                        struct dti_comfy_layers *layers)
{
    enum dti_json_token token;
    layers->count = 0;
    while (dti_json_next(json, &token)) {
        struct comfy_layer layer = {.format = ""};
        const char *text;
        if (token == DTI_JSON_OBJECT_END)
            return true;
        dti_json_string_value(json, &text, &layer.name_length);
        layer.name = layers->list ? dti_pool_text(pool, text, layer.name_length) : "";
        if (!layer.name || !dti_json_next(json, &token) ||
            (token == DTI_JSON_OBJECT ? !read_layer(json, &layer) : !dti_json_skip(json, token)))
            return false;
        if (layers->list)
            layers->list[layers->count] = layer;
        layers->count++;
    }
    return false;
}

static bool read_entry(const struct dti_metadata *metadata, struct dti_pool *pool,
                       struct dti_comfy_layers *layers)
{
    struct dti_json_reader json;
    enum dti_json_token token;
    bool fine;
    dti_json_reader_init(&json, metadata->value, metadata->value_length);
    fine = dti_json_next(&json, &token) && token == DTI_JSON_OBJECT;
    while (fine && (fine = dti_json_next(&json, &token)) && token == DTI_JSON_KEY) {
        const bool wanted = dti_json_string_is(&json, "layers");
        fine = dti_json_next(&json, &token) &&
               (wanted && token == DTI_JSON_OBJECT ? read_layers(&json, pool, layers)
                                                   : dti_json_skip(&json, token));
    }
    fine = fine && dti_json_next(&json, &token) && token == DTI_JSON_END;
    if (!fine)
        (void)snprintf(layers->problem, sizeof layers->problem, "%s",
                       json.problem ? json.problem : "it is not an object of objects");
    dti_json_reader_free(&json);
    return fine;
}

static int by_name(const void *a, const void *b)
{
    const struct comfy_layer *const one = a, *const other = b;
    const size_t n = one->name_length < other->name_length ? one->name_length : other->name_length;
    const int order = memcmp(one->name, other->name, n);
    return order != 0
               ? order
               : (one->name_length > other->name_length) - (one->name_length < other->name_length);
}

/* NULL: no entry, or out of memory. */
static const struct dti_comfy_layers *all_layers(struct dti_file_dequant *dequant)
{
    struct dti_comfy_layers layers = {.list = NULL};
    size_t at;
    if (dequant->comfy_read)
        return dequant->comfy;
    dequant->comfy_read = true;
    if (!dti_name_order_find(&dequant->metadata, entry, sizeof entry - 1, &at))
        return NULL;
    const struct dti_metadata *const metadata = &dequant->container->metadata[at];
    if (read_entry(metadata, &dequant->pool, &layers)) {
        layers.list = dti_pool_array(&dequant->pool, layers.count + 1, sizeof *layers.list);
        if (!layers.list || !read_entry(metadata, &dequant->pool, &layers))
            return NULL;
        qsort(layers.list, layers.count, sizeof *layers.list, by_name);
        for (size_t i = 1; i < layers.count; i++) {
            if (by_name(&layers.list[i - 1], &layers.list[i]) == 0)
                (void)snprintf(layers.problem, sizeof layers.problem, "a layer is there twice");
        }
    }
    if (!layers.list)
        layers.count = 0; /* drop those before the problem */
    struct dti_comfy_layers *const copy = dti_pool_alloc(&dequant->pool, sizeof *copy);
    if (copy)
        *copy = layers;
    dequant->comfy = copy;
    return copy;
}

static const struct comfy_layer *find_named(struct dti_file_dequant *dequant, const char *name,
                                            size_t length)
{
    const struct dti_comfy_layers *const layers = all_layers(dequant);
    const struct comfy_layer wanted = {.name = name, .name_length = length};
    if (!layers || layers->count == 0)
        return NULL;
    return bsearch(&wanted, layers->list, layers->count, sizeof *layers->list, by_name);
}

/* The layer X of X.weight in the metadata. */
static const struct comfy_layer *find_layer(const struct dti_dequant_group *group)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    return find_named(group->view, codes->name, codes->name_length - (sizeof ".weight" - 1));
}

bool dti_comfy_has_layer(struct dti_file_dequant *dequant, const char *name, size_t length)
{
    const struct comfy_layer *const layer = find_named(dequant, name, length);
    return layer && layer->format[0] != '\0';
}

bool dti_comfy_is_layer(const struct dti_dequant_group *group)
{
    if (dti_dequant_has(group, DTI_PART_STATE))
        return true;
    const struct dti_comfy_layers *const layers = all_layers(group->view);
    return layers && (layers->problem[0] != '\0' || find_layer(group));
}

/* Reads X.comfy_quant, which takes precedence over the metadata. */
static enum dti_status read_own(const struct dti_dequant_group *group, struct comfy_layer *ret,
                                struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_STATE];
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    struct dti_json_reader json;
    enum dti_json_token token;
    if (tensor->format->id != DTI_UINT8 || tensor->bytes > JSON_MAX)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected JSON of at most %d bytes, as U8", (int)JSON_MAX);
    char *const text = dti_malloc((size_t)tensor->bytes + 1);
    enum dti_status status = text ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_dequant_read_all(part, text, (size_t)tensor->bytes, reterr);
    if (status == DTI_OK) {
        dti_json_reader_init(&json, text, (size_t)tensor->bytes);
        if (!dti_json_next(&json, &token) || token != DTI_JSON_OBJECT || !read_layer(&json, ret) ||
            !dti_json_next(&json, &token))
            status =
                dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP, "it is not a JSON object%s%s",
                                   json.problem ? ": " : "", json.problem ? json.problem : "");
        dti_json_reader_free(&json);
    }
    dti_free(text);
    return status;
}

static enum dti_status read_config(const struct dti_dequant_group *group, struct comfy_layer *ret,
                                   struct dti_error *reterr)
{
    const struct dti_comfy_layers *const layers = all_layers(group->view);
    const struct comfy_layer *const layer = find_layer(group);
    *ret = (struct comfy_layer){.format = ""};
    if (dti_dequant_has(group, DTI_PART_STATE))
        return read_own(group, ret, reterr);
    if (layers && layers->problem[0] != '\0')
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "the metadata entry %s is not as expected: %s", entry,
                                  layers->problem);
    if (layer)
        *ret = *layer;
    return DTI_OK;
}

/* Supported formats, with the dtypes of codes; others are laid out for a kernel. */
static const struct comfy_format {
    const char *name;
    enum dti_dtype codes;
    enum dti_quant_number number;
    enum dti_block block; /* DTI_BLOCK_COUNT: none */
    bool rectangles;      /* rows and columns share a scale */
    enum { NEVER, IF_STATED, ALWAYS } rotated;
    unsigned bits; /* of a code */
} formats[] = {
    {"float8_e4m3fn", DTI_FP8_E4M3FN, DTI_NUMBER_FLOAT, DTI_BLOCK_COUNT, false, NEVER, 8},
    {"float8_e5m2", DTI_FP8_E5M2, DTI_NUMBER_FLOAT, DTI_BLOCK_COUNT, false, NEVER, 8},
    {"int8_tensorwise", DTI_INT8, DTI_NUMBER_INT, DTI_BLOCK_COUNT, false, IF_STATED, 8},
    {"convrot_w4a4", DTI_INT8, DTI_NUMBER_INT, DTI_BLOCK_COUNT, false, ALWAYS, 4},
    {"int8_blockwise", DTI_INT8, DTI_NUMBER_INT, DTI_BLOCK_COUNT, true, NEVER, 8},
    {"mxfp8", DTI_FP8_E4M3FN, DTI_NUMBER_FLOAT, DTI_BLOCK_MXFP8_E4M3, false, NEVER, 8},
    {"nvfp4", DTI_UINT8, DTI_NUMBER_FLOAT, DTI_BLOCK_NVFP4, false, NEVER, 4},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Fills *ret_length if the layer is rotated. */
static enum dti_status find_rotation(const struct dti_dequant_group *group,
                                     const struct comfy_layer *layer,
                                     const struct comfy_format *format, bool *ret_rotated,
                                     uint64_t *ret_length, struct dti_error *reterr)
{
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    const bool own = layer->own.rotated != NOT_STATED;
    const unsigned stated = own ? layer->own.rotated : layer->params.rotated;
    *ret_length = layer->own.has_length      ? layer->own.length
                  : layer->params.has_length ? layer->params.length
                                             : ROTATED;
    if (format->rotated == ALWAYS
            ? *ret_length == UINT64_MAX
            : stated == STATED_BADLY || (stated == STATED_YES && *ret_length == UINT64_MAX))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "the convrot or convrot_groupsize of its comfy_quant is not as "
                                  "expected: true or false, and a number of columns");
    if (stated == STATED_YES && format->rotated == NEVER)
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "its format is %s with convrot, which ComfyUI does not have",
                                  format->name);
    *ret_rotated = format->rotated == ALWAYS || stated == STATED_YES;
    return DTI_OK;
}

enum dti_status dti_comfy_match(struct dti_file_dequant *dequant,
                                const struct dti_dequant_group *group,
                                const struct dti_quant_config *config,
                                struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    const struct dti_format *const format = dti_dequant_part_tensor(codes)->format;
    const struct comfy_format *known = formats;
    struct comfy_layer layer;
    char quoted[DTI_QUOTE_SIZE];
    bool rotated = false;
    uint64_t length = 0;
    (void)config;
    enum dti_status status = read_config(group, &layer, reterr);
    if (status != DTI_OK)
        return status;
    while (known < formats + FORMATS && strcmp(known->name, layer.format) != 0)
        known++;
    if (layer.format[0] == '\0')
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "its comfy_quant does not say what its format is");
    dequant->comfy_count[dti_comfy_format_find(
        layer.format, dti_dequant_has(group, DTI_PART_STATE) ? DTI_COMFY_OWN : DTI_COMFY_ENTRY)]++;
    if (known == formats + FORMATS)
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "its format is %s, which is not supported",
                                  dti_quote(quoted, layer.format, strlen(layer.format)));
    if (format->id != known->codes)
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "its format is %s, which has codes of %s, and these are %s",
                                  known->name, dti_format_get(known->codes)->name, format->name);
    status = find_rotation(group, &layer, known, &rotated, &length, reterr);
    if (status != DTI_OK)
        return status;
    if (rotated)
        return dti_dequant_set_rotated(dequant, group, known->bits, length, ret, reterr);
    if (known->block != DTI_BLOCK_COUNT) {
        if (known->block == DTI_BLOCK_NVFP4)
            status = dti_dequant_need(group, DTI_PART_TENSOR_SCALE, reterr);
        if (status != DTI_OK)
            return status;
        if (layer.rank > 0 && layer.rank != 2)
            return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                      "the orig_shape of its comfy_quant is no matrix");
        return dti_dequant_set_tiled(dequant, group, &dti_block_formats[known->block],
                                     DTI_BLOCK_HIGH, layer.rank > 0 ? layer.shape : NULL, ret,
                                     reterr);
    }
    struct dti_quant_hint hint = {.bits = 8, .number = known->number};
    if (known->rectangles) {
        hint.strategy = DTI_STRATEGY_BLOCK;
        hint.group[0] = hint.group[1] = layer.group > 0 ? layer.group : RECTANGLE;
    }
    return dti_dequant_match_as(dequant, group, &hint, ret, reterr);
}

/* Before comfy_quant existed, all codes were fp8. */
bool dti_comfy_is_old(const struct dti_dequant_group *group)
{
    const enum dti_dtype id = dti_dequant_of(group, DTI_PART_CODES)->format->id;
    return id == DTI_FP8_E4M3FN || id == DTI_FP8_E5M2;
}

enum dti_status dti_comfy_match_old(struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct dti_quant_config *config,
                                    struct dti_dequant_found *ret, struct dti_error *reterr)
{
    static const struct dti_quant_hint hint = {.bits = 8, .number = DTI_NUMBER_FLOAT};
    (void)config;
    dequant->comfy_count[dti_comfy_format_find("scaled_fp8", DTI_COMFY_OLD)]++;
    return dti_dequant_match_as(dequant, group, &hint, ret, reterr);
}

bool dti_comfy_is_entry(const struct dti_metadata *metadata)
{
    return metadata->key_length == sizeof entry - 1 &&
           memcmp(metadata->key, entry, sizeof entry - 1) == 0;
}

bool dti_comfy_is_marker(const struct dti_tensor *tensor)
{
    static const char marker[] = "scaled_fp8";
    const size_t end = sizeof marker - 1, length = tensor->name_length;
    return tensor->elements <= 2 && length >= end &&
           memcmp(tensor->name + length - end, marker, end) == 0 &&
           (length == end || tensor->name[length - end - 1] == '.');
}
