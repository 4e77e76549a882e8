/* SPDX-License-Identifier: MIT
 *
 * The index of a sharded checkpoint: JSON that maps tensor names to file names in its folder. File
 * names are only ever looked up in that folder. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/sharded/sharded.h"
#include "containers/sharded/sharded_index.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { INDEX_MAX = 1000 * 1000 * 1000 }; /* bytes: ten times those of a safetensors header */

/* State while one index is read. */
struct index_reading {
    struct dti_opening *opening;
    struct dti_json_reader json;
    struct dti_shards shards;
    size_t capacity;    /* of mappings */
    const char **files; /* the file of each mapping; consecutive equal names share a pointer */
    size_t file_capacity;
    bool has_map, has_metadata;
};

static bool fail_json(struct index_reading *work)
{
    return dti_opening_refuse_json(work->opening, &work->json, " is not JSON", 0);
}

static bool next(struct index_reading *work, enum dti_json_token *ret)
{
    return dti_json_next(&work->json, ret) || fail_json(work);
}

/* Skips a value whose first token has been read. */
static bool skip(struct index_reading *work, enum dti_json_token first)
{
    return dti_json_skip(&work->json, first) || fail_json(work);
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

/* Reads the file of a mapping, after its key. Tensors of one file are mostly adjacent. */
static bool read_file_name(struct index_reading *work, const struct dti_mapping *mapping,
                           const char **ret)
{
    char tensor[DTI_QUOTE_SIZE], quoted[DTI_QUOTE_SIZE];
    enum dti_json_token token;
    if (!next(work, &token))
        return false;
    if (token != DTI_JSON_STRING)
        return dti_opening_refuse(work->opening, " maps tensor %s to a value that is not a string",
                                  dti_quote(tensor, mapping->tensor, mapping->tensor_length));
    const char *name;
    size_t length;
    dti_json_string_value(&work->json, &name, &length);
    const size_t count = work->shards.mapping_count;
    *ret = count > 0 ? work->files[count - 1] : NULL;
    if (*ret && strlen(*ret) == length && memcmp(*ret, name, length) == 0)
        return true;
    if (!is_file_name(name, length)) {
        dti_opening_refuse(
            work->opening,
            " maps tensor %s to %s; a shard must be a plain file name, without folders or \"..\"",
            dti_quote(tensor, mapping->tensor, mapping->tensor_length),
            dti_quote(quoted, name, length));
        dti_error_argument(work->opening->error, name, length);
        return false;
    }
    *ret = dti_opening_text(work->opening, name, length);
    return *ret != NULL;
}

static bool read_map(struct index_reading *work)
{
    struct dti_shards *const shards = &work->shards;
    enum dti_json_token token;
    if (!next(work, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(work->opening, ": its \"weight_map\" is not an object");
    for (size_t count = 0;; count++) {
        const char *name;
        if (!next(work, &token))
            return false;
        if (token != DTI_JSON_KEY)
            return true;
        if (!dti_opening_grow(work->opening, &shards->mappings, count, 1, &work->capacity,
                              sizeof *shards->mappings) ||
            !dti_opening_grow(work->opening, &work->files, count, 1, &work->file_capacity,
                              sizeof *work->files))
            return false;
        struct dti_mapping *const mapping = &shards->mappings[count];
        dti_json_string_value(&work->json, &name, &mapping->tensor_length);
        mapping->tensor = dti_opening_text(work->opening, name, mapping->tensor_length);
        if (!mapping->tensor || !read_file_name(work, mapping, &work->files[count]))
            return false;
        shards->mapping_count++;
    }
}

/* Reads the sizes in the metadata; older files have non-integers there. */
static bool read_metadata(struct index_reading *work)
{
    struct dti_shards *const shards = &work->shards;
    enum dti_json_token token;
    if (!next(work, &token))
        return false;
    if (token == DTI_JSON_NULL)
        return true;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(work->opening, ": its \"metadata\" is not an object");
    for (;;) {
        if (!next(work, &token))
            return false;
        if (token != DTI_JSON_KEY)
            return true;
        const bool size = dti_json_string_is(&work->json, "total_size");
        const bool parameters = dti_json_string_is(&work->json, "total_parameters");
        uint64_t number;
        if (!next(work, &token))
            return false;
        if (token == DTI_JSON_NUMBER && dti_json_u64(&work->json, &number)) {
            if (size)
                shards->total_size = number;
            if (parameters)
                shards->total_parameters = number;
            shards->has_total_size = shards->has_total_size || size;
            shards->has_total_parameters = shards->has_total_parameters || parameters;
        }
        if (!skip(work, token))
            return false;
    }
}

static bool read_members(struct index_reading *work)
{
    struct dti_opening *const opening = work->opening;
    enum dti_json_token token;
    if (!next(work, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(opening, " is not an index: it is not a JSON object");
    for (;;) {
        if (!next(work, &token))
            return false;
        if (token != DTI_JSON_KEY)
            break;
        const bool map = dti_json_string_is(&work->json, "weight_map"),
                   metadata = dti_json_string_is(&work->json, "metadata");
        if ((map && work->has_map) || (metadata && work->has_metadata))
            return dti_opening_refuse(opening, " has two \"%s\"", map ? "weight_map" : "metadata");
        work->has_map = work->has_map || map;
        work->has_metadata = work->has_metadata || metadata;
        if (!(map        ? read_map(work)
              : metadata ? read_metadata(work)
                         : next(work, &token) && skip(work, token)))
            return false;
    }
    return next(work, &token) && /* only white space may follow */
           (work->has_map ||
            dti_opening_refuse(opening, " is not an index: it has no \"weight_map\""));
}

static bool check_tensors(const struct index_reading *work)
{
    const struct dti_shards *const shards = &work->shards;
    char name[DTI_QUOTE_SIZE];
    size_t again;
    if (!dti_names_repeated(shards->mappings, shards->mapping_count,
                            DTI_NAMED(struct dti_mapping, tensor), &again))
        return dti_opening_no_memory(work->opening);
    if (again == SIZE_MAX)
        return true;
    const struct dti_mapping *const mapping = &shards->mappings[again];
    dti_opening_refuse(work->opening, " lists tensor %s twice",
                       dti_quote(name, mapping->tensor, mapping->tensor_length));
    dti_error_argument(work->opening->error, mapping->tensor, mapping->tensor_length);
    return false;
}

/* Sorts and deduplicates the file names, and sets the file index of each mapping. */
static bool number_files(struct index_reading *work)
{
    struct dti_shards *const shards = &work->shards;
    const size_t count = shards->mapping_count;
    const char **const names = dti_opening_array(work->opening, count, sizeof *names);
    if (!names)
        return false;
    for (size_t i = 0; i < count; i++) {
        /* skipping consecutive duplicates leaves little to sort */
        if (i == 0 || work->files[i] != work->files[i - 1])
            names[shards->count++] = work->files[i];
    }
    dti_shards_sort(names, shards->count);
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
            bsearch(&work->files[i], names, different, sizeof *names, dti_text_order);
        shards->mappings[i].shard = (size_t)(found - names);
    }
    return true;
}

bool dti_index_parse(struct dti_opening *opening, const char *text, size_t length,
                     struct dti_shards *ret)
{
    struct index_reading work = {.opening = opening, .shards = {.indexed = true}};
    dti_json_reader_init(&work.json, text, length);
    work.json.nonfinite = true;
    bool good = read_members(&work);
    dti_json_reader_free(&work.json);
    good = good && check_tensors(&work) && number_files(&work);
    if (good)
        *ret = work.shards;
    return good;
}

bool dti_index_read(struct dti_opening *opening, struct dti_shards *ret)
{
    const uint64_t size = opening->file->input.size;
    if (size > INDEX_MAX)
        return dti_opening_refuse(
            opening, " has %" PRIu64 " bytes, but an index may have at most 1000000000", size);
    char *const text = dti_malloc(size > 0 ? (size_t)size : 1);
    if (!text)
        return dti_opening_no_memory(opening);
    const bool good = dti_opening_read(opening, text, (size_t)size, 0) &&
                      dti_index_parse(opening, text, (size_t)size, ret);
    dti_free(text);
    return good;
}

enum dti_status dti_index_shard_names(const char *path, struct dti_pool *pool,
                                      const char ***ret_names, size_t *ret_count,
                                      struct dti_error *reterr)
{
    struct dti_container container = {.path = path};
    struct dti_container_file file = {.path = path};
    struct dti_opening opening = {.container = &container, .pool = pool, .error = reterr};
    struct dti_shards shards;
    const enum dti_status status = dti_input_open_file(&file.input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_opening_turn_to(&opening, &file);
    const bool good = file.input.seekable ? dti_index_read(&opening, &shards)
                                          : dti_opening_refuse(&opening, " is not a regular file");
    dti_input_close(&file.input);
    if (!good)
        return opening.status;
    *ret_names = shards.names;
    *ret_count = shards.count;
    return DTI_OK;
}
