/* SPDX-License-Identifier: MIT
 *
 * Reads config.json once and keeps all scalars and arrays with their paths. Most are a few dozen,
 * so they are searched in order. */
#include "files/model/model_config.h"

#include <math.h>
#include <string.h>

#include "core/number/number.h"
#include "io/input.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"

enum { CONFIG_MAX = 16 << 20, PATH_MAX_BYTES = 512 };

/* State while a file is read. */
struct config_walk {
    struct dti_model_config *config;
    struct dti_json_reader json;
    char path[PATH_MAX_BYTES];
    size_t ends[DTI_JSON_DEPTH + 1]; /* length of the path of each open object */
    unsigned depth;
    size_t length; /* of the path, with the key that was read last */
    size_t capacity;
};

static bool add(struct config_walk *walk, const char *from, const char *to)
{
    struct dti_model_config *const config = walk->config;
    if (config->count == walk->capacity) {
        const size_t larger = walk->capacity > 0 ? 2 * walk->capacity : 64;
        void *const list =
            dti_pool_grow(&config->pool, config->list, config->count * sizeof *config->list,
                          larger * sizeof *config->list);
        if (!list)
            return false;
        config->list = list;
        walk->capacity = larger;
    }
    char *const path = dti_pool_text(&config->pool, walk->path, walk->length);
    config->list[config->count] = (struct dti_model_member){
        .path = path, .json = from, .path_length = walk->length, .length = (size_t)(to - from)};
    config->count += path != NULL;
    return path != NULL;
}

/* Appends a key to the path. A key that does not fit is cut: no known path is so long. */
static void add_key(struct config_walk *walk)
{
    const char *key;
    size_t length;
    dti_json_string_value(&walk->json, &key, &length);
    walk->length = walk->ends[walk->depth];
    if (walk->length > 0 && walk->length < sizeof walk->path)
        walk->path[walk->length++] = '.';
    const size_t room = sizeof walk->path - walk->length;
    const size_t some = length < room ? length : room;
    memcpy(walk->path + walk->length, key, some);
    walk->length += some;
}

/* Takes a token; *ret_done: it was the last. False: not JSON, or memory ran out. */
static bool take(struct config_walk *walk, enum dti_json_token token, bool *ret_done)
{
    struct dti_json_reader *const json = &walk->json;
    const char *const quote = token == DTI_JSON_STRING ? json->token - 1 : json->token;
    switch (token) {
    case DTI_JSON_OBJECT:
        walk->ends[++walk->depth] = walk->length;
        return true;
    case DTI_JSON_OBJECT_END:
        walk->length = walk->ends[walk->depth--];
        return true;
    case DTI_JSON_KEY:
        add_key(walk);
        return true;
    case DTI_JSON_ARRAY: {
        const char *const start = json->at - 1;
        return dti_json_skip(json, token) && add(walk, start, json->at);
    }
    case DTI_JSON_END:
        *ret_done = true;
        return true;
    default:
        return add(walk, quote, json->at);
    }
}

static enum dti_status parse(struct config_walk *walk, const char *text, size_t size,
                             struct dti_error *reterr)
{
    enum dti_json_token token;
    bool done = false, good = true, first = true;
    dti_json_reader_init(&walk->json, text, size);
    walk->json.nonfinite = true;
    while (good && !done) {
        good = dti_json_next(&walk->json, &token);
        if (good && first && token != DTI_JSON_OBJECT) {
            dti_json_reader_free(&walk->json);
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not a JSON object", walk->config->label);
        }
        first = false;
        good = good && take(walk, token, &done);
    }
    const char *const problem = walk->json.problem;
    const bool failed = walk->json.string.failed || !problem;
    const size_t at = (size_t)(walk->json.at - text);
    dti_json_reader_free(&walk->json);
    return good     ? DTI_OK
           : failed ? dti_no_memory(reterr)
                    : dti_fail(reterr, DTI_BAD_INPUT, "%s is not JSON: %s at byte %zu",
                               walk->config->label, problem, at);
}

static enum dti_status read_file(struct dti_model_config *config, const char *path,
                                 struct dti_error *reterr)
{
    struct dti_input input;
    enum dti_status status = dti_input_open_file(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    (void)dti_input_label(&input, config->label);
    const bool fits = input.seekable && input.size <= CONFIG_MAX;
    const size_t size = fits ? (size_t)input.size : 0;
    char *const text = fits ? dti_pool_alloc(&config->pool, size + 1) : NULL;
    struct config_walk *const walk = dti_calloc(1, sizeof *walk);
    if (!fits)
        status = dti_fail(reterr, DTI_BAD_INPUT,
                          "%s is no regular file of at most %d bytes, as configurations are",
                          config->label, (int)CONFIG_MAX);
    else if (!text || !walk)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_input_read_at(&input, text, size, 0, reterr);
    dti_input_close(&input);
    if (status == DTI_OK) {
        walk->config = config;
        config->there = true;
        status = parse(walk, text, size, reterr);
    }
    dti_free(walk);
    return status;
}

enum dti_status dti_model_config_read(struct dti_model_config *ret,
                                      const struct dti_container *container,
                                      struct dti_error *reterr)
{
    *ret = (struct dti_model_config){.there = false};
    if (container->file_count == 0 || strcmp(container->files[0].path, "-") == 0)
        return DTI_OK;
    char *const path = dti_input_same_folder(container->files[0].path, "config.json");
    if (!path)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_input_may_be_there(path) ? read_file(ret, path, reterr) : DTI_OK;
    dti_free(path);
    if (status != DTI_OK)
        dti_model_config_free(ret);
    return status;
}

void dti_model_config_free(struct dti_model_config *config)
{
    dti_pool_free(&config->pool);
    config->list = NULL;
    config->count = 0;
}

static const struct dti_model_member *find(const struct dti_model_config *config,
                                           const char *before, const char *path, size_t length)
{
    const size_t prefix = strlen(before);
    for (size_t i = 0; i < config->count; i++) {
        const struct dti_model_member *const member = &config->list[i];
        if (member->path_length == prefix + length && memcmp(member->path, before, prefix) == 0 &&
            memcmp(member->path + prefix, path, length) == 0 && member->json[0] != 'n')
            return member;
    }
    return NULL;
}

const struct dti_model_member *dti_model_config_find(const struct dti_model_config *config,
                                                     const char *paths)
{
    for (const char *at = paths;;) {
        const size_t length = strcspn(at, ",");
        const struct dti_model_member *member = find(config, "text_config.", at, length);
        if (!member)
            member = find(config, "", at, length);
        if (member || at[length] == '\0')
            return member;
        at += length + 1;
    }
}

bool dti_model_member_integer(const struct dti_model_member *member, uint64_t *ret)
{
    struct dti_value value;
    struct dti_outcome outcome;
    struct dti_error ignored;
    if (dti_value_parse(&value, member->json, member->length, &ignored) != DTI_OK)
        return false;
    dti_encode(dti_format_get(DTI_INT64), &value, &(struct dti_policy){0}, 0, &outcome);
    if (outcome.flags != 0 || outcome.code > INT64_MAX)
        return false;
    *ret = outcome.code;
    return true;
}

bool dti_model_member_string(const struct dti_model_member *member, const char **ret,
                             size_t *ret_length)
{
    if (member->length < 2 || member->json[0] != '"' || memchr(member->json, '\\', member->length))
        return false;
    *ret = member->json + 1;
    *ret_length = member->length - 2;
    return true;
}

double dti_model_member_double(const struct dti_model_member *member)
{
    struct dti_value value;
    struct dti_outcome outcome;
    struct dti_error ignored;
    double number;
    if (dti_value_parse(&value, member->json, member->length, &ignored) != DTI_OK)
        return (double)NAN;
    dti_encode(dti_format_get(DTI_FP64), &value, &(struct dti_policy){0}, 0, &outcome);
    memcpy(&number, &outcome.code, sizeof number);
    return number;
}
