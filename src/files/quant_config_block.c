/* SPDX-License-Identifier: MIT
 *
 * The object in a configuration that says how tensors were quantized, member by member. Other
 * members are skipped, but must be JSON. */
#include "files/quant_config_block.h"

#include <stdio.h>
#include <string.h>

enum { WORD = DTI_CONFIG_WORD };

static enum dti_status fail_json(struct dti_config_reading *reading, struct dti_error *reterr)
{
    if (reading->json.string.failed)
        return dti_no_memory(reterr);
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                           "%s is not JSON: %s at byte %zu", reading->label, reading->json.problem,
                           (size_t)(reading->json.at - reading->json.start));
}

enum dti_status dti_config_next(struct dti_config_reading *reading, enum dti_json_token *ret,
                                struct dti_error *reterr)
{
    return dti_json_next(&reading->json, ret) ? DTI_OK : fail_json(reading, reterr);
}

enum dti_status dti_config_skip(struct dti_config_reading *reading, struct dti_error *reterr)
{
    enum dti_json_token token;
    return dti_json_next(&reading->json, &token) && dti_json_skip(&reading->json, token)
               ? DTI_OK
               : fail_json(reading, reterr);
}

static enum dti_status fail_type(struct dti_config_reading *reading, const char *key,
                                 const char *wanted, struct dti_error *reterr)
{
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                           "%s: its \"%s\" is not %s", reading->label, key, wanted);
}

/* A member's name; one that is cut is none that is known. */
static void copy_word(const struct dti_config_reading *reading, char ret[WORD])
{
    const char *text;
    size_t length;
    dti_json_string_value(&reading->json, &text, &length);
    length = length < WORD ? length : WORD - 1;
    memcpy(ret, text, length);
    ret[length] = '\0';
}

enum dti_status dti_config_read_word(struct dti_config_reading *reading, const char *key,
                                     char ret[WORD], struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token == DTI_JSON_STRING)
        copy_word(reading, ret);
    else if (token == DTI_JSON_NULL)
        ret[0] = '\0';
    else
        return fail_type(reading, key, "a string", reterr);
    return DTI_OK;
}

/* -1 and null are 0. */
static enum dti_status read_count(struct dti_config_reading *reading, const char *key,
                                  bool *ret_minus, uint64_t *ret, struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    *ret = 0;
    *ret_minus = token == DTI_JSON_NUMBER && reading->json.token_length == 2 &&
                 memcmp(reading->json.token, "-1", 2) == 0;
    if (token == DTI_JSON_NULL || *ret_minus ||
        (token == DTI_JSON_NUMBER && dti_json_u64(&reading->json, ret)))
        return DTI_OK;
    return fail_type(reading, key, "a count", reterr);
}

/* [128, 128] or "128x128"; null: none. */
static enum dti_status read_sides(struct dti_config_reading *reading, const char *key,
                                  uint64_t ret[2], struct dti_error *reterr)
{
    enum dti_json_token token;
    unsigned count = 0, high, wide;
    char text[WORD];
    int end = 0;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK || token == DTI_JSON_NULL)
        return status;
    if (token == DTI_JSON_STRING) {
        copy_word(reading, text);
        if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 16 ||
            sscanf(text, "%8ux%8u%n", &high, &wide, &end) != 2 || text[end] != '\0' || high == 0 ||
            wide == 0)
            return fail_type(reading, key, "two positive integers", reterr);
        ret[0] = high;
        ret[1] = wide;
        return DTI_OK;
    }
    while (token == DTI_JSON_ARRAY || count > 0) {
        status = dti_config_next(reading, &token, reterr);
        if (status != DTI_OK || (token == DTI_JSON_ARRAY_END && count == 2))
            return status;
        if (count == 2 || token != DTI_JSON_NUMBER || !dti_json_u64(&reading->json, &ret[count]) ||
            ret[count] == 0)
            break;
        count++;
    }
    return fail_type(reading, key, "two positive integers", reterr);
}

/* The next key of an object, or its end: *ret_key is "". */
enum dti_status dti_config_next_key(struct dti_config_reading *reading, char ret_key[WORD],
                                    struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    ret_key[0] = '\0';
    if (token != DTI_JSON_KEY)
        return DTI_OK;
    copy_word(reading, ret_key);
    if (ret_key[0] == '\0')
        memcpy(ret_key, "?", 2); /* a key that is empty */
    return DTI_OK;
}

/* The beginning of an object; null is none. */
enum dti_status dti_config_open_object(struct dti_config_reading *reading, const char *key,
                                       bool *ret_there, struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT && token != DTI_JSON_NULL)
        return fail_type(reading, key, "an object", reterr);
    *ret_there = token == DTI_JSON_OBJECT;
    return DTI_OK;
}

static enum dti_status add_hint(struct dti_config_reading *reading, struct dti_config_block *block,
                                const struct dti_quant_hint *hint, struct dti_error *reterr)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct dti_quant_hint *const other = &block->hints[i];
        if (other->bits == hint->bits && other->number == hint->number &&
            other->strategy == hint->strategy && other->group[0] == hint->group[0] &&
            other->group[1] == hint->group[1] && other->asymmetric == hint->asymmetric)
            return DTI_OK;
    }
    if (block->count == DTI_QUANT_HINTS_MAX)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: its \"config_groups\" have more than %d schemes",
                               reading->label, (int)DTI_QUANT_HINTS_MAX);
    block->hints[block->count++] = *hint;
    return DTI_OK;
}

/* Formats of compressed-tensors that are read, by their tensors. Others are already as kernels need
 * them.
 */
void dti_config_look_at_format(const char *format, struct dti_config_block *block)
{
    static const char *const formats[] = {
        "",
        "dense",
        "fakequant",
        "int-quantized",
        "float-quantized",
        "naive-quantized",
        "pack-quantized",
        "mixed-precision",
        "nvfp4-pack-quantized",
        "mxfp4-pack-quantized",
        "mxfp6-pack-quantized",
        "mxfp8-quantized",
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i]) == 0)
            return;
    }
    memcpy(block->unread, format, WORD);
}

static enum dti_quant_strategy strategy_of(const char *name, const struct dti_quant_hint *hint,
                                           bool minus)
{
    if (name[0] == '\0')
        return hint->group[0] > 0   ? DTI_STRATEGY_BLOCK
               : hint->group[1] > 0 ? DTI_STRATEGY_GROUP
               : minus              ? DTI_STRATEGY_CHANNEL
                                    : DTI_STRATEGY_TENSOR;
    return strcmp(name, "tensor") == 0         ? DTI_STRATEGY_TENSOR
           : strcmp(name, "channel") == 0      ? DTI_STRATEGY_CHANNEL
           : strcmp(name, "group") == 0        ? DTI_STRATEGY_GROUP
           : strcmp(name, "tensor_group") == 0 ? DTI_STRATEGY_GROUP
           : strcmp(name, "block") == 0        ? DTI_STRATEGY_BLOCK
                                               : DTI_STRATEGY_OPEN;
}

/* "weights": what compressed-tensors calls QuantizationArgs, with its defaults. */
static enum dti_status read_weights(struct dti_config_reading *reading,
                                    struct dti_config_block *block, struct dti_error *reterr)
{
    char key[WORD], type[WORD] = "int", strategy[WORD] = "";
    uint64_t bits = 8, length = 0, sides[2] = {0, 0};
    bool there, minus = false, not_used;
    struct dti_quant_hint hint = {.bits = 0};
    enum dti_json_token token;
    enum dti_status status = dti_config_open_object(reading, "weights", &there, reterr);
    if (status != DTI_OK || !there)
        return status;
    while ((status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        if (strcmp(key, "num_bits") == 0) {
            status = read_count(reading, key, &not_used, &bits, reterr);
        } else if (strcmp(key, "group_size") == 0) {
            status = read_count(reading, key, &minus, &length, reterr);
        } else if (strcmp(key, "type") == 0) {
            status = dti_config_read_word(reading, key, type, reterr);
        } else if (strcmp(key, "strategy") == 0) {
            status = dti_config_read_word(reading, key, strategy, reterr);
        } else if (strcmp(key, "block_structure") == 0) {
            status = read_sides(reading, key, sides, reterr);
        } else if (strcmp(key, "symmetric") == 0) {
            status = dti_config_next(reading, &token, reterr);
            if (status == DTI_OK && token != DTI_JSON_TRUE && token != DTI_JSON_FALSE)
                status = fail_type(reading, key, "true or false", reterr);
            hint.asymmetric = status == DTI_OK && token == DTI_JSON_FALSE;
        } else {
            status = dti_config_skip(reading, reterr);
        }
        if (status != DTI_OK)
            return status;
    }
    if (status != DTI_OK)
        return status;
    if (bits == 0 || bits > 16)
        return fail_type(reading, "num_bits", "a number from 1 to 16", reterr);
    hint.bits = (unsigned)bits;
    hint.number = strcmp(type, "float") == 0 ? DTI_NUMBER_FLOAT : DTI_NUMBER_INT;
    hint.group[0] = sides[0];
    hint.group[1] = sides[0] > 0 ? sides[1] : length;
    hint.strategy = strategy_of(strategy, &hint, minus);
    if (hint.strategy == DTI_STRATEGY_GROUP) {
        hint.group[0] = 0;
        hint.group[1] = length;
    } else if (hint.strategy != DTI_STRATEGY_BLOCK) {
        hint.group[0] = hint.group[1] = 0;
    }
    if (hint.strategy == DTI_STRATEGY_BLOCK && hint.group[0] == 0)
        hint.group[1] = 0;
    return add_hint(reading, block, &hint, reterr);
}

/* An object with weights, or the targets of a preset, whose name says what no row here knows. */
static enum dti_status read_group(struct dti_config_reading *reading,
                                  struct dti_config_block *block, struct dti_error *reterr)
{
    static const struct dti_quant_hint open = {.bits = 0};
    char key[WORD], format[WORD] = "";
    enum dti_json_token token;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status == DTI_OK && token == DTI_JSON_ARRAY) {
        if (!dti_json_skip(&reading->json, token))
            return fail_json(reading, reterr);
        return add_hint(reading, block, &open, reterr);
    }
    if (status == DTI_OK && token != DTI_JSON_OBJECT)
        return fail_type(reading, "config_groups", "an object of objects", reterr);
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        if (strcmp(key, "weights") == 0)
            status = read_weights(reading, block, reterr);
        else if (strcmp(key, "format") == 0)
            status = dti_config_read_word(reading, key, format, reterr);
        else
            status = dti_config_skip(reading, reterr);
    }
    if (status == DTI_OK)
        dti_config_look_at_format(format, block);
    return status;
}

static enum dti_status read_groups(struct dti_config_reading *reading,
                                   struct dti_config_block *block, struct dti_error *reterr)
{
    char key[WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, "config_groups", &there, reterr);
    block->count = 0;
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0')
        status = read_group(reading, block, reterr);
    return status;
}

static enum dti_status read_bits(struct dti_config_reading *reading, const char *key, unsigned *ret,
                                 struct dti_error *reterr)
{
    bool minus;
    uint64_t bits;
    const enum dti_status status = read_count(reading, key, &minus, &bits, reterr);
    if (status == DTI_OK && bits > 16)
        return fail_type(reading, key, "a number from 1 to 16", reterr);
    if (status == DTI_OK)
        *ret = (unsigned)bits;
    return status;
}

enum dti_status dti_config_read_members(struct dti_config_reading *reading,
                                        struct dti_config_block *block, struct dti_error *reterr)
{
    char key[WORD];
    bool minus;
    enum dti_status status = DTI_OK;
    block->there = true;
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        if (strcmp(key, "quant_method") == 0)
            status = dti_config_read_word(reading, key, block->method, reterr);
        else if (strcmp(key, "format") == 0)
            status = dti_config_read_word(reading, key, block->format, reterr);
        else if (strcmp(key, "quant_algo") == 0)
            status = dti_config_read_word(reading, key, block->algorithm, reterr);
        else if (strcmp(key, "expert_dtype") == 0)
            status = dti_config_read_word(reading, key, block->expert, reterr);
        else if (strcmp(key, "checkpoint_format") == 0)
            status = dti_config_read_word(reading, key, block->checkpoint_format, reterr);
        else if (strcmp(key, "version") == 0)
            status = dti_config_read_word(reading, key, block->version, reterr);
        else if (strcmp(key, "bits") == 0 || strcmp(key, "w_bit") == 0)
            status = read_bits(reading, key, &block->bits, reterr);
        else if (strcmp(key, "group_size") == 0 || strcmp(key, "q_group_size") == 0)
            status = read_count(reading, key, &minus, &block->group_size, reterr);
        else if (strcmp(key, "weight_block_size") == 0)
            status = read_sides(reading, key, block->side, reterr);
        else if (strcmp(key, "config_groups") == 0)
            status = read_groups(reading, block, reterr);
        else
            status = dti_config_skip(reading, reterr);
    }
    return status;
}

enum dti_status dti_config_read_block(struct dti_config_reading *reading, const char *name,
                                      struct dti_config_block *block, struct dti_error *reterr)
{
    const enum dti_status status = dti_config_open_object(reading, name, &block->there, reterr);
    return status == DTI_OK && block->there ? dti_config_read_members(reading, block, reterr)
                                            : status;
}
