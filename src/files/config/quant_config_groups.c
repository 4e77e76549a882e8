/* SPDX-License-Identifier: MIT
 *
 * The groups of a compressed-tensors configuration: how they describe weights, and which modules
 * they apply to. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "files/config/quant_config_block.h"
#include "util/run/memory_pool.h"

enum { WORD = DTI_CONFIG_WORD };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

enum dti_status dti_config_add_hint(struct dti_config_reading *reading,
                                    struct dti_config_block *block,
                                    const struct dti_quant_hint *hint, unsigned *ret,
                                    struct dti_error *reterr)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct dti_quant_hint *const other = &block->hints[i];
        if (other->bits == hint->bits && other->number == hint->number &&
            other->strategy == hint->strategy && other->group[0] == hint->group[0] &&
            other->group[1] == hint->group[1] && other->asymmetric == hint->asymmetric &&
            other->ordered == hint->ordered && other->inputs == hint->inputs &&
            other->spread == hint->spread && same_text(other->format, hint->format)) {
            *ret = (unsigned)i;
            return DTI_OK;
        }
    }
    if (block->count == DTI_QUANT_HINTS_MAX)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: its \"config_groups\" have more than %d schemes",
                               reading->label, (int)DTI_QUANT_HINTS_MAX);
    *ret = (unsigned)block->count;
    block->hints[block->count++] = *hint;
    return DTI_OK;
}

bool dti_quant_config_reads(const char *format)
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
            return true;
    }
    return false;
}

/* The scale strategy of that name, case-insensitively; OPEN: not a strategy for weights. Without a
 * name, the group size decides. */
static enum dti_quant_strategy strategy_of(const char *name, uint64_t length, bool minus, bool any)
{
    static const struct {
        const char *name;
        enum dti_quant_strategy strategy;
    } strategies[] = {
        {"tensor", DTI_STRATEGY_TENSOR},      {"channel", DTI_STRATEGY_CHANNEL},
        {"group", DTI_STRATEGY_GROUP},        {"block", DTI_STRATEGY_BLOCK},
        {"tensor_group", DTI_STRATEGY_GROUP},
    };
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        if (strcasecmp(name, strategies[i].name) == 0)
            return strategies[i].strategy;
    }
    return name[0] != '\0' ? DTI_STRATEGY_OPEN
           : !any          ? DTI_STRATEGY_TENSOR
           : length > 0    ? DTI_STRATEGY_GROUP
           : minus         ? DTI_STRATEGY_CHANNEL
                           : DTI_STRATEGY_OPEN;
}

/* The other members must fit the strategy, as in compressed-tensors. */
static enum dti_status set_strategy(struct dti_config_reading *reading, const char *name,
                                    enum dti_quant_strategy strategy, const uint64_t sides[2],
                                    uint64_t length, struct dti_quant_hint *hint,
                                    struct dti_error *reterr)
{
    const bool group = strategy == DTI_STRATEGY_GROUP, block = strategy == DTI_STRATEGY_BLOCK;
    hint->strategy = strategy;
    if (strategy == DTI_STRATEGY_OPEN && name[0] != '\0')
        return dti_config_fail_type(reading, "strategy", "a strategy of weights", reterr);
    if (group != (length > 0) || strategy == DTI_STRATEGY_OPEN)
        return dti_config_fail_type(reading, "group_size",
                                    group ? "a positive integer, and its strategy has groups"
                                          : "one of a strategy that has groups",
                                    reterr);
    if (block != (sides[0] > 0))
        return dti_config_fail_type(reading, "block_structure",
                                    block ? "two positive integers, and its strategy has blocks"
                                          : "one of a strategy that has blocks",
                                    reterr);
    hint->group[0] = block ? sides[0] : 0;
    hint->group[1] = block ? sides[1] : length;
    return DTI_OK;
}

/* "actorder": "group" (true in old files) means that columns have a group order; "weight" and
 * "static" do not affect reading. */
static enum dti_status read_order(struct dti_config_reading *reading, const char *key, bool *ret,
                                  struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_TRUE && token != DTI_JSON_FALSE && token != DTI_JSON_NULL &&
        token != DTI_JSON_STRING)
        return dti_config_fail_type(reading, key, "a string, true or false", reterr);
    const size_t length = reading->json.token_length;
    *ret = token == DTI_JSON_TRUE || (token == DTI_JSON_STRING && length == 5 &&
                                      memcmp(reading->json.token, "group", length) == 0);
    return DTI_OK;
}

/* "weights": QuantizationArgs of compressed-tensors, with its defaults. */
static enum dti_status read_weights(struct dti_config_reading *reading, bool *ret_there,
                                    struct dti_quant_hint *ret, struct dti_error *reterr)
{
    char key[WORD], type[WORD] = "int", strategy[WORD] = "";
    uint64_t bits = 8, length = 0, sides[2] = {0, 0};
    bool there, minus = false, any = false, symmetric = true;
    struct dti_quant_hint hint = {.bits = 0};
    enum dti_status status = dti_config_open_object(reading, "weights", &there, reterr);
    *ret_there = status == DTI_OK && there;
    if (!*ret_there)
        return status;
    while ((status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        if (strcmp(key, "num_bits") == 0) {
            status = dti_config_read_count(reading, key, NULL, &bits, reterr);
        } else if (strcmp(key, "group_size") == 0) {
            status = dti_config_read_count(reading, key, &minus, &length, reterr);
            any = reading->json.token[0] != 'n'; /* null means none */
        } else if (strcmp(key, "type") == 0) {
            status = dti_config_read_word(reading, key, type, reterr);
        } else if (strcmp(key, "strategy") == 0) {
            status = dti_config_read_word(reading, key, strategy, reterr);
        } else if (strcmp(key, "block_structure") == 0) {
            status = dti_config_read_sides(reading, key, sides, reterr);
        } else if (strcmp(key, "symmetric") == 0) {
            status = dti_config_read_flag(reading, key, &symmetric, reterr);
            hint.asymmetric = !symmetric;
        } else if (strcmp(key, "actorder") == 0) {
            status = read_order(reading, key, &hint.ordered, reterr);
        } else {
            status = dti_config_skip(reading, reterr);
        }
        if (status != DTI_OK)
            return status;
    }
    if (status != DTI_OK)
        return status;
    if (bits == 0 || bits > 16)
        return dti_config_fail_type(reading, "num_bits", "a number from 1 to 16", reterr);
    const bool floats = strcasecmp(type, "float") == 0;
    if (!floats && strcasecmp(type, "int") != 0)
        return dti_config_fail_type(reading, "type", "\"int\" or \"float\"", reterr);
    hint.bits = (unsigned)bits;
    hint.number = floats ? DTI_NUMBER_FLOAT : DTI_NUMBER_INT;
    status = set_strategy(reading, strategy, strategy_of(strategy, length, minus, any), sides,
                          length, &hint, reterr);
    if (status == DTI_OK)
        *ret = hint;
    return status;
}

/* A preset by name: number type and bits, which no version has changed; bits 0: not quantized.
 * *ret_plain: weights stay unquantized. */
static bool is_preset(const char *name, bool *ret_plain, struct dti_quant_hint *ret)
{
    static const char *const floats[] = {"FP8", "NVFP4", "MXFP4", "MXFP6", "MXFP8"};
    *ret = (struct dti_quant_hint){.bits = 0};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        const size_t length = strlen(floats[i]);
        if (strncmp(name, floats[i], length) == 0)
            *ret = (struct dti_quant_hint){.bits = (unsigned)(floats[i][length - 1] - '0'),
                                           .number = DTI_NUMBER_FLOAT};
    }
    if (strcmp(name, "INT8") == 0)
        *ret = (struct dti_quant_hint){.bits = 8, .number = DTI_NUMBER_INT};
    else if (name[0] == 'W' && name[1] >= '2' && name[1] <= '8' && name[2] == 'A')
        *ret = (struct dti_quant_hint){.bits = (unsigned)(name[1] - '0'),
                                       .number = DTI_NUMBER_INT,
                                       .asymmetric = strstr(name, "_ASYM") != NULL};
    *ret_plain = strcmp(name, "UNQUANTIZED") == 0;
    return *ret_plain || ret->bits > 0;
}

/* Ends a group: the targets from `first` on get this hint; NULL: the weights are not quantized, and
 * the targets are dropped. */
static enum dti_status end_group(struct dti_config_reading *reading, struct dti_config_block *block,
                                 const struct dti_quant_hint *hint, size_t first,
                                 struct dti_error *reterr)
{
    struct dti_config_entries *const entries = &block->lists[DTI_LIST_TARGETS];
    unsigned index;
    if (!hint) {
        entries->count = first;
        return DTI_OK;
    }
    const enum dti_status status = dti_config_add_hint(reading, block, hint, &index, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = first; i < entries->count; i++)
        entries->list[i].hint = index;
    return DTI_OK;
}

/* Reads a group: an object with weights, or the targets of a preset. */
static enum dti_status read_group(struct dti_config_reading *reading, const char *name,
                                  struct dti_config_block *block, struct dti_error *reterr)
{
    struct dti_config_entries *const entries = &block->lists[DTI_LIST_TARGETS];
    const size_t first = entries->count;
    struct dti_quant_hint hint = {.bits = 0};
    char key[WORD], format[WORD] = "";
    bool weights = false, targets = false, plain = false;
    enum dti_json_token token;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status == DTI_OK && token == DTI_JSON_ARRAY) {
        status = dti_config_read_strings(reading, "config_groups", entries, reterr);
        if (status == DTI_OK && !is_preset(name, &plain, &hint))
            return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                                   "%s: its \"config_groups\" have %s, which is not a known preset",
                                   reading->label, DTI_QUOTED(name, strlen(name)));
        return status == DTI_OK ? end_group(reading, block, plain ? NULL : &hint, first, reterr)
                                : status;
    }
    if (status == DTI_OK && token != DTI_JSON_OBJECT)
        return dti_config_fail_type(reading, "config_groups", "an object of objects", reterr);
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        if (strcmp(key, "weights") == 0) {
            status = read_weights(reading, &weights, &hint, reterr);
        } else if (strcmp(key, "format") == 0) {
            status = dti_config_read_word(reading, key, format, reterr);
        } else if (strcmp(key, "targets") == 0) {
            entries->count = first;
            status = dti_config_next(reading, &token, reterr);
            targets = token == DTI_JSON_ARRAY;
            if (status == DTI_OK && targets)
                status = dti_config_read_strings(reading, key, entries, reterr);
            else if (status == DTI_OK && token != DTI_JSON_NULL)
                status = dti_config_fail_type(reading, key, "a list of strings", reterr);
        } else {
            status = dti_config_skip(reading, reterr);
        }
    }
    if (status == DTI_OK && !targets)
        return dti_config_fail_type(reading, "targets", "a list of strings in each group", reterr);
    if (status == DTI_OK && format[0] != '\0') {
        hint.format = dti_pool_text(reading->pool, format, strlen(format));
        if (!hint.format)
            return dti_no_memory(reterr);
    }
    return status == DTI_OK ? end_group(reading, block, weights ? &hint : NULL, first, reterr)
                            : status;
}

enum dti_status dti_config_read_groups(struct dti_config_reading *reading,
                                       struct dti_config_block *block, struct dti_error *reterr)
{
    char key[WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, "config_groups", &there, reterr);
    block->grouped = status == DTI_OK && there;
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0')
        status = read_group(reading, key, block, reterr);
    return status;
}
