/* SPDX-License-Identifier: MIT
 *
 * Duplicate members of an object. Python takes the last one, other parsers the first or none, so
 * such a configuration is not reliable. */
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "files/config/quant_config_block.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

/* A member: its name, prefixed with the unique number of its object. */
struct config_member {
    const char *name;
    size_t name_length;
};
struct config_members {
    struct dti_pool pool;
    struct config_member *list;
    size_t count, room;
};
enum { NUMBER = sizeof(uint64_t), LEVELS = DTI_JSON_DEPTH + 1 };

/* Only these members, and everything inside the first three, matter. */
static const char *const known[] = {
    "quantization_config", "compression_config", "quantization",
    "text_config",         "expert_dtype",       "dtype",
    "tie_word_embeddings", "torch_dtype",
};
enum { KNOWN = sizeof known / sizeof *known, WHOLE = 3, TEXT = 3 };

static size_t find_known(const struct dti_json_reader *json)
{
    size_t i = 0;
    while (i < KNOWN && !dti_json_string_is(json, known[i]))
        i++;
    return i;
}

static bool add_member(struct config_members *members, uint64_t object,
                       const struct dti_json_reader *json)
{
    const char *text;
    size_t length;
    dti_json_string_value(json, &text, &length);
    void *const list =
        dti_grown(members->list, members->count, &members->room, sizeof *members->list);
    if (!list)
        return false;
    members->list = list;
    char *const name = dti_pool_alloc(&members->pool, NUMBER + length + 1);
    if (!name)
        return false;
    memcpy(name, &object, NUMBER);
    memcpy(name + NUMBER, text, length);
    members->list[members->count++] =
        (struct config_member){.name = name, .name_length = NUMBER + length};
    return true;
}

/* Which members of the objects on a level matter. */
enum config_level { NONE, SOME, ALL };

static bool is_object(const struct dti_json_reader *json, unsigned level)
{
    return json->kinds[level / 64] >> level % 64 & 1;
}

/* Collects all members that matter. Returns false if memory ran out; stops early at invalid
 * JSON. */
static bool gather(struct config_members *members, const char *text, size_t length, bool whole)
{
    enum config_level levels[LEVELS] = {whole ? ALL : SOME}, next = levels[0];
    uint64_t objects[LEVELS] = {0}, count = 0;
    struct dti_json_reader json;
    enum dti_json_token token;
    bool good = true;
    dti_json_reader_init(&json, text, length);
    json.nonfinite = true;
    while (good && dti_json_next(&json, &token) && token != DTI_JSON_END) {
        const unsigned level = json.depth > 0 ? json.depth - 1 : 0;
        const bool begins = token == DTI_JSON_OBJECT || token == DTI_JSON_ARRAY;
        if (begins && level > 0 && !is_object(&json, level - 1))
            next = levels[level - 1];
        if (token == DTI_JSON_OBJECT) {
            levels[level] = next;
            objects[level] = count++;
        } else if (token == DTI_JSON_ARRAY) {
            levels[level] = next == ALL ? ALL : NONE;
        } else if (token == DTI_JSON_KEY) {
            const size_t which = find_known(&json);
            const bool counts = levels[level] == ALL || (levels[level] == SOME && which < KNOWN);
            next = levels[level] == ALL ? ALL
                   : !counts            ? NONE
                   : which < WHOLE      ? ALL
                   : which == TEXT      ? SOME
                                        : NONE;
            good = !counts || add_member(members, objects[level], &json);
        }
    }
    good = good && !json.string.failed;
    dti_json_reader_free(&json);
    return good;
}

enum dti_status dti_config_check_repeats(struct dti_config_reading *reading, const char *text,
                                         size_t length, bool whole, struct dti_error *reterr)
{
    struct config_members members = {.list = NULL};
    size_t again = SIZE_MAX;
    enum dti_status status = DTI_OK;
    if (!gather(&members, text, length, whole) ||
        !dti_names_repeated(members.list, members.count, DTI_NAMED(struct config_member, name),
                            &again))
        status = dti_no_memory(reterr);
    else if (again != SIZE_MAX)
        status = dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                                 "%s: an object has two members %s", reading->label,
                                 DTI_QUOTED(members.list[again].name + NUMBER,
                                            members.list[again].name_length - NUMBER));
    dti_free(members.list);
    dti_pool_free(&members.pool);
    return status;
}
