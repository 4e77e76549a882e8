/* SPDX-License-Identifier: MIT
 *
 * Reads the configuration object that describes how tensors were quantized, member by member. Other
 * members are skipped, but must be JSON. */
#include "files/config/quant_config_block.h"

#include <stdlib.h>
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
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    return status == DTI_OK ? dti_config_skip_rest(reading, token, reterr) : status;
}

enum dti_status dti_config_skip_rest(struct dti_config_reading *reading, enum dti_json_token first,
                                     struct dti_error *reterr)
{
    return dti_json_skip(&reading->json, first) ? DTI_OK : fail_json(reading, reterr);
}

enum dti_status dti_config_fail_type(struct dti_config_reading *reading, const char *key,
                                     const char *wanted, struct dti_error *reterr)
{
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                           "%s: its \"%s\" is not %s", reading->label, key, wanted);
}

/* A member's name or value; truncated ones match no known word. */
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
        return dti_config_fail_type(reading, key, "a string", reterr);
    return DTI_OK;
}

enum dti_status dti_config_read_flag(struct dti_config_reading *reading, const char *key, bool *ret,
                                     struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_TRUE && token != DTI_JSON_FALSE)
        return dti_config_fail_type(reading, key, "true or false", reterr);
    *ret = token == DTI_JSON_TRUE;
    return DTI_OK;
}

/* -1 and null are read as 0. */
enum dti_status dti_config_read_count(struct dti_config_reading *reading, const char *key,
                                      bool *ret_minus, uint64_t *ret, struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    const bool minus = token == DTI_JSON_NUMBER && reading->json.token_length == 2 &&
                       memcmp(reading->json.token, "-1", 2) == 0;
    *ret = 0;
    if (ret_minus)
        *ret_minus = minus;
    if (token == DTI_JSON_NULL || minus ||
        (token == DTI_JSON_NUMBER && dti_json_u64(&reading->json, ret)))
        return DTI_OK;
    return dti_config_fail_type(reading, key, "a count", reterr);
}

/* "128x64" */
static bool split_sides(const char *text, uint64_t ret[2])
{
    for (size_t i = 0; i < 2; i++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 8)
            return false;
        ret[i] = strtoul(text, NULL, 10);
        text += digits;
        if (*text++ != (i == 0 ? 'x' : '\0'))
            return false;
    }
    return ret[0] > 0 && ret[1] > 0;
}

/* [128, 128] or "128x128"; null: none. */
enum dti_status dti_config_read_sides(struct dti_config_reading *reading, const char *key,
                                      uint64_t ret[2], struct dti_error *reterr)
{
    enum dti_json_token token;
    unsigned count = 0;
    char text[WORD];
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK || token == DTI_JSON_NULL)
        return status;
    if (token == DTI_JSON_STRING) {
        copy_word(reading, text);
        return split_sides(text, ret)
                   ? DTI_OK
                   : dti_config_fail_type(reading, key, "two positive integers", reterr);
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
    return dti_config_fail_type(reading, key, "two positive integers", reterr);
}

/* The next key of an object; *ret_key is "" at its end. */
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
        memcpy(ret_key, "?", 2); /* an empty key */
    return DTI_OK;
}

/* The beginning of an object, or null (*ret_there is false). */
enum dti_status dti_config_open_object(struct dti_config_reading *reading, const char *key,
                                       bool *ret_there, struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT && token != DTI_JSON_NULL)
        return dti_config_fail_type(reading, key, "an object", reterr);
    *ret_there = token == DTI_JSON_OBJECT;
    return DTI_OK;
}

enum dti_status dti_config_read_bits(struct dti_config_reading *reading, const char *key,
                                     unsigned *ret, struct dti_error *reterr)
{
    uint64_t bits;
    const enum dti_status status = dti_config_read_count(reading, key, NULL, &bits, reterr);
    if (status == DTI_OK && bits > 16)
        return dti_config_fail_type(reading, key, "a number from 1 to 16", reterr);
    if (status == DTI_OK)
        *ret = (unsigned)bits;
    return status;
}

/* The bits of all weights. */
static enum dti_status read_own_bits(struct dti_config_reading *reading, const char *key,
                                     struct dti_config_block *block, struct dti_error *reterr)
{
    const struct dti_json_reader before = reading->json;
    enum dti_json_token token;
    uint64_t bits;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    block->average_bits = status == DTI_OK && token == DTI_JSON_NUMBER &&
                          reading->json.token[0] != '-' && !dti_json_u64(&reading->json, &bits);
    if (status != DTI_OK || block->average_bits)
        return status;
    reading->json = before;
    return dti_config_read_bits(reading, key, &block->bits, reterr);
}

static enum dti_status read_group_size(struct dti_config_reading *reading, const char *key,
                                       struct dti_config_block *block, struct dti_error *reterr)
{
    const enum dti_status status =
        dti_config_read_count(reading, key, NULL, &block->group_size, reterr);
    block->no_groups = status == DTI_OK && reading->json.token[0] == '0';
    return status;
}

enum dti_status dti_config_read_members(struct dti_config_reading *reading,
                                        struct dti_config_block *block, struct dti_error *reterr)
{
    char key[WORD];
    enum dti_config_list list;
    bool quark;
    enum dti_status status = DTI_OK;
    block->there = true;
    block->modules.count = 0;
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
        else if (strcmp(key, "packing_format") == 0)
            status = dti_config_read_word(reading, key, block->packing, reterr);
        else if (strcmp(key, "is_marlin_format") == 0)
            status = dti_config_read_flag(reading, key, &block->marlin, reterr);
        else if (strcmp(key, "desc_act") == 0)
            status = dti_config_read_flag(reading, key, &block->own_order, reterr);
        else if (strcmp(key, "linear_class") == 0)
            status = dti_config_read_word(reading, key, block->linear_class, reterr);
        else if (strcmp(key, "bits") == 0 || strcmp(key, "w_bit") == 0)
            status = read_own_bits(reading, key, block, reterr);
        else if (strcmp(key, "group_size") == 0 || strcmp(key, "q_group_size") == 0)
            status = read_group_size(reading, key, block, reterr);
        else if (strcmp(key, "mode") == 0)
            status = dti_config_read_word(reading, key, block->mode, reterr);
        else if (strcmp(key, "weight_block_size") == 0)
            status = dti_config_read_sides(reading, key, block->side, reterr);
        else if (strcmp(key, "config_groups") == 0)
            status = dti_config_read_groups(reading, block, reterr);
        else if (dti_config_is_list(key, &list))
            status = dti_config_read_list(reading, block, key, list, reterr);
        else if ((status = dti_config_read_quark(reading, key, &block->quark, &quark, reterr)) ==
                     DTI_OK &&
                 !quark)
            status = dti_config_read_module(reading, &block->modules, reterr);
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
