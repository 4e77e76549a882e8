/* SPDX-License-Identifier: MIT
 *
 * The index of a sharded checkpoint: JSON that maps the names of tensors to those of files beside
 * it. Names of files are taken for names in that folder and for nothing else. */
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "containers/sharded.h"
#include "dtinfo/json_read.h"

enum { INDEX_MAX = 100 * 1000 * 1000 }; /* bytes, as for the header of safetensors */

/* The reading of one index. */
struct index_reading {
    struct dti_pool *pool;
    const char *label;
    struct dti_json_reader json;
    struct dti_shards shards;
    size_t capacity;    /* of mappings */
    const char **files; /* of each mapping, its file; the same pointer for the same text in a row */
    size_t file_capacity;
    bool has_map, has_metadata;
};

static enum dti_status fail_json(struct index_reading *work, struct dti_error *reterr)
{
    if (work->json.string.failed)
        return dti_no_memory(reterr);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s is not JSON: %s at byte %zu", work->label,
                    work->json.problem, (size_t)(work->json.at - work->json.start));
}

static enum dti_status next(struct index_reading *work, enum dti_json_token *ret,
                            struct dti_error *reterr)
{
    return dti_json_next(&work->json, ret) ? DTI_OK : fail_json(work, reterr);
}

/* Reads over a value of which the first token is known. */
static enum dti_status skip(struct index_reading *work, enum dti_json_token first,
                            struct dti_error *reterr)
{
    return dti_json_skip(&work->json, first) ? DTI_OK : fail_json(work, reterr);
}

static bool key_is(const struct index_reading *work, const char *wanted)
{
    const char *key;
    size_t length;
    dti_json_string_value(&work->json, &key, &length);
    return length == strlen(wanted) && memcmp(key, wanted, length) == 0;
}

static bool is_file_name(const char *name, size_t length)
{
    if (length == 0 || (length == 1 && name[0] == '.'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '/' || name[i] == '\\' || name[i] == '\0' ||
            (name[i] == '.' && i + 1 < length && name[i + 1] == '.'))
            return false;
    }
    return true;
}

/* The file of a mapping, behind its key. Tensors of one file mostly follow each other. */
static enum dti_status read_file_name(struct index_reading *work, const struct dti_mapping *mapping,
                                      const char **ret, struct dti_error *reterr)
{
    char tensor[DTI_QUOTE_SIZE], quoted[DTI_QUOTE_SIZE];
    enum dti_json_token token;
    const enum dti_status status = next(work, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_STRING)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s maps tensor %s to something that is no string",
                        work->label, dti_quote(tensor, mapping->tensor, mapping->tensor_length));
    const char *name;
    size_t length;
    dti_json_string_value(&work->json, &name, &length);
    const size_t count = work->shards.mapping_count;
    const char *const before = count > 0 ? work->files[count - 1] : NULL;
    if (before && strlen(before) == length && memcmp(before, name, length) == 0) {
        *ret = before;
        return DTI_OK;
    }
    if (!is_file_name(name, length)) {
        dti_fail(reterr, DTI_BAD_INPUT,
                 "%s maps tensor %s to %s; a shard is named without folders, without \"..\"",
                 work->label, dti_quote(tensor, mapping->tensor, mapping->tensor_length),
                 dti_quote(quoted, name, length));
        dti_error_argument(reterr, name, length);
        return DTI_BAD_INPUT;
    }
    *ret = dti_pool_text(work->pool, name, length);
    return *ret ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status read_map(struct index_reading *work, struct dti_error *reterr)
{
    struct dti_shards *const shards = &work->shards;
    enum dti_json_token token;
    enum dti_status status = next(work, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its \"weight_map\" is not an object",
                        work->label);
    void *mappings = NULL, *files = NULL;
    while ((status = next(work, &token, reterr)) == DTI_OK && token == DTI_JSON_KEY) {
        const size_t count = shards->mapping_count;
        if (!dti_list_grow(work->pool, &mappings, count, &work->capacity,
                           sizeof *shards->mappings) ||
            !dti_list_grow(work->pool, &files, count, &work->file_capacity, sizeof *work->files))
            return dti_no_memory(reterr);
        shards->mappings = mappings;
        work->files = files;
        struct dti_mapping *const mapping = &shards->mappings[count];
        const char *name;
        dti_json_string_value(&work->json, &name, &mapping->tensor_length);
        mapping->tensor = dti_pool_text(work->pool, name, mapping->tensor_length);
        if (!mapping->tensor)
            return dti_no_memory(reterr);
        status = read_file_name(work, mapping, &work->files[count], reterr);
        if (status != DTI_OK)
            return status;
        shards->mapping_count++;
    }
    return status;
}

/* What metadata say about sizes; older files have them as other things than integers. */
static enum dti_status read_metadata(struct index_reading *work, struct dti_error *reterr)
{
    struct dti_shards *const shards = &work->shards;
    enum dti_json_token token;
    enum dti_status status = next(work, &token, reterr);
    if (status != DTI_OK || token == DTI_JSON_NULL)
        return status;
    if (token != DTI_JSON_OBJECT)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its \"metadata\" is not an object",
                        work->label);
    while ((status = next(work, &token, reterr)) == DTI_OK && token == DTI_JSON_KEY) {
        const bool size = key_is(work, "total_size");
        const bool parameters = key_is(work, "total_parameters");
        uint64_t number;
        status = next(work, &token, reterr);
        if (status != DTI_OK)
            return status;
        if (token == DTI_JSON_NUMBER && dti_json_u64(&work->json, &number)) {
            if (size)
                shards->total_size = number;
            if (parameters)
                shards->total_parameters = number;
            shards->has_total_size = shards->has_total_size || size;
            shards->has_total_parameters = shards->has_total_parameters || parameters;
        }
        status = skip(work, token, reterr);
        if (status != DTI_OK)
            return status;
    }
    return status;
}

static enum dti_status read_members(struct index_reading *work, struct dti_error *reterr)
{
    enum dti_json_token token;
    enum dti_status status = next(work, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is not an index: it is no JSON object",
                        work->label);
    while ((status = next(work, &token, reterr)) == DTI_OK && token == DTI_JSON_KEY) {
        const bool map = key_is(work, "weight_map"), metadata = key_is(work, "metadata");
        if ((map && work->has_map) || (metadata && work->has_metadata))
            return dti_fail(reterr, DTI_BAD_INPUT, "%s has two \"%s\"", work->label,
                            map ? "weight_map" : "metadata");
        work->has_map = work->has_map || map;
        work->has_metadata = work->has_metadata || metadata;
        if (map) {
            status = read_map(work, reterr);
        } else if (metadata) {
            status = read_metadata(work, reterr);
        } else {
            status = next(work, &token, reterr);
            if (status == DTI_OK)
                status = skip(work, token, reterr);
        }
        if (status != DTI_OK)
            return status;
    }
    if (status == DTI_OK)
        status = next(work, &token, reterr); /* nothing but white space may follow */
    if (status == DTI_OK && !work->has_map)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is not an index: it has no \"weight_map\"",
                        work->label);
    return status;
}

static enum dti_status check_tensors(const struct index_reading *work, struct dti_error *reterr)
{
    const struct dti_shards *const shards = &work->shards;
    struct dti_name_order order;
    size_t repeated;
    if (!dti_name_order_init(&order, shards->mapping_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < shards->mapping_count; i++)
        dti_name_order_add(&order, shards->mappings[i].tensor, shards->mappings[i].tensor_length);
    dti_name_order_sort(&order);
    const bool twice = dti_name_order_repeated(&order, &repeated);
    dti_name_order_free(&order);
    if (!twice)
        return DTI_OK;
    const struct dti_mapping *const mapping = &shards->mappings[repeated];
    char name[DTI_QUOTE_SIZE];
    dti_fail(reterr, DTI_BAD_INPUT, "%s lists tensor %s twice", work->label,
             dti_quote(name, mapping->tensor, mapping->tensor_length));
    dti_error_argument(reterr, mapping->tensor, mapping->tensor_length);
    return DTI_BAD_INPUT;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *const one = a, *const *const other = b;
    return strcmp(*one, *other);
}

/* The different files in the order of their names, and which one a mapping means. */
static enum dti_status number_files(struct index_reading *work, struct dti_error *reterr)
{
    struct dti_shards *const shards = &work->shards;
    const size_t count = shards->mapping_count;
    const char **const names = dti_pool_array(work->pool, count, sizeof *names);
    if (!names)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        /* without those that merely repeat their predecessor there is little to sort */
        if (i == 0 || work->files[i] != work->files[i - 1])
            names[shards->count++] = work->files[i];
    }
    if (shards->count > 0)
        qsort(names, shards->count, sizeof *names, compare_texts);
    size_t different = 0;
    for (size_t i = 0; i < shards->count; i++) {
        if (different == 0 || strcmp(names[i], names[different - 1]) != 0)
            names[different++] = names[i];
    }
    shards->count = different;
    shards->names = names;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && work->files[i] == work->files[i - 1]) {
            shards->mappings[i].shard = shards->mappings[i - 1].shard;
            continue;
        }
        const char **const found =
            bsearch(&work->files[i], names, different, sizeof *names, compare_texts);
        shards->mappings[i].shard = (size_t)(found - names);
    }
    return DTI_OK;
}

enum dti_status dti_index_parse(struct dti_pool *pool, const char *label, const char *text,
                                size_t length, struct dti_shards *ret, struct dti_error *reterr)
{
    struct index_reading work = {.pool = pool, .label = label, .shards = {.indexed = true}};
    dti_json_reader_init(&work.json, text, length);
    enum dti_status status = read_members(&work, reterr);
    dti_json_reader_free(&work.json);
    if (status == DTI_OK)
        status = check_tensors(&work, reterr);
    if (status == DTI_OK)
        status = number_files(&work, reterr);
    if (status == DTI_OK)
        *ret = work.shards;
    return status;
}

enum dti_status dti_index_read(struct dti_pool *pool, const struct dti_input *input,
                               struct dti_shards *ret, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    if (input->size > INDEX_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s has %llu bytes, and an index at most 100000000",
                        label, (unsigned long long)input->size);
    const size_t size = (size_t)input->size;
    char *const text = malloc(size > 0 ? size : 1);
    if (!text)
        return dti_no_memory(reterr);
    enum dti_status status = dti_input_read_at(input, text, size, 0, reterr);
    if (status == DTI_OK)
        status = dti_index_parse(pool, label, text, size, ret, reterr);
    free(text);
    return status;
}
