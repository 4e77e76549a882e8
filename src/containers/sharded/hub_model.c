/* SPDX-License-Identifier: MIT
 *
 * Chooses a file of a model on the hub from the list of its files. As in a folder, formats that
 * are read without a pickle come first. The hub's answer is untrusted. */

#include <stdio.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/sharded/sharded.h"
#include "io/net/remote.h"
#include "util/text/ascii.h"

/* From the most to the least preferred. */
static const struct rank {
    const char *end;   /* of the name */
    const char *usual; /* the name that transformers loads, whatever else is there */
    const char *what;
    bool others; /* any other name counts if it is the only one */
    bool deep;   /* in folders, too */
} ranks[] = {
    {".safetensors.index.json", "model.safetensors.index.json", "indexes", true, false},
    {".safetensors", "model.safetensors", "safetensors files without an index", true, false},
    {".bin.index.json", "pytorch_model.bin.index.json", "PyTorch indexes", true, false},
    {".bin", "pytorch_model.bin", "PyTorch files", false, false},
    {".gguf", NULL, "gguf models", true, true},
};
enum { RANKS = sizeof ranks / sizeof *ranks };

/* Whether a name is one of that rank. Of a split GGUF only the first part counts. */
static bool has_rank(const char *name, const struct rank *rank)
{
    struct dti_gguf_part_name part;
    return dti_text_ends(name, strlen(name), rank->end) && (rank->deep || !strchr(name, '/')) &&
           (rank->others || strcmp(name, rank->usual) == 0) &&
           !(dti_gguf_part_named(dti_path_base(name), &part) && part.number != 1);
}

static size_t choose_of(const char *const *names, size_t count, const struct rank *rank,
                        size_t *ret_several)
{
    size_t first = count, found = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has_rank(names[i], rank))
            continue;
        if (rank->usual && strcmp(names[i], rank->usual) == 0) {
            *ret_several = 0;
            return i;
        }
        first = found++ == 0 ? i : first;
    }
    *ret_several = found > 1 ? found : 0;
    return first;
}

static size_t choose(const char *const *names, size_t count, const struct rank **ret_rank,
                     size_t *ret_several)
{
    size_t found = count;
    for (size_t i = 0; i < RANKS && found == count; i++) {
        *ret_rank = &ranks[i];
        found = choose_of(names, count, *ret_rank, ret_several);
    }
    return found;
}

struct listing {
    struct dti_opening opening;
    struct dti_json_reader json;
    const char **names;
    size_t count, capacity;
};

static bool fail_json(struct listing *list)
{
    return dti_opening_refuse_json(&list->opening, &list->json,
                                   ": the hub's list of its files is not JSON", 0);
}

static bool next(struct listing *list, enum dti_json_token *ret)
{
    return dti_json_next(&list->json, ret) || fail_json(list);
}

static bool skip(struct listing *list, enum dti_json_token first)
{
    return dti_json_skip(&list->json, first) || fail_json(list);
}

static bool refuse_form(struct listing *list)
{
    return dti_opening_refuse(
        &list->opening,
        ": the hub's answer has no list of files (siblings, each with an rfilename)");
}

/* Keeps a name of printable characters; others name no file of a model. */
static bool add_name(struct listing *list, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == '\\')
            return true;
    }
    if (length == 0 || text[0] == '/')
        return true;
    if (!dti_opening_grow(&list->opening, &list->names, list->count, 1, &list->capacity,
                          sizeof *list->names))
        return false;
    list->names[list->count] = dti_opening_text(&list->opening, text, length);
    return list->names[list->count++] != NULL;
}

/* {"rfilename": "model.safetensors", ...}, after its first token */
static bool read_sibling(struct listing *list)
{
    enum dti_json_token token;
    for (;;) {
        if (!next(list, &token))
            return false;
        if (token != DTI_JSON_KEY)
            return true;
        const bool name = dti_json_string_is(&list->json, "rfilename");
        const char *text;
        size_t length;
        if (!next(list, &token))
            return false;
        if (name && token != DTI_JSON_STRING)
            return refuse_form(list);
        if (name) {
            dti_json_string_value(&list->json, &text, &length);
            if (!add_name(list, text, length))
                return false;
        } else if (!skip(list, token)) {
            return false;
        }
    }
}

static bool read_siblings(struct listing *list)
{
    enum dti_json_token token;
    if (!next(list, &token))
        return false;
    if (token != DTI_JSON_ARRAY)
        return refuse_form(list);
    for (;;) {
        if (!next(list, &token))
            return false;
        if (token == DTI_JSON_ARRAY_END)
            return true;
        if (token != DTI_JSON_OBJECT)
            return refuse_form(list);
        if (!read_sibling(list))
            return false;
    }
}

static bool read_description(struct listing *list)
{
    enum dti_json_token token;
    bool found = false;
    if (!next(list, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return refuse_form(list);
    for (;;) {
        if (!next(list, &token))
            return false;
        if (token != DTI_JSON_KEY)
            return (found || refuse_form(list)) && next(list, &token);
        const bool siblings = dti_json_string_is(&list->json, "siblings");
        found |= siblings;
        if (!(siblings ? read_siblings(list) : next(list, &token) && skip(list, token)))
            return false;
    }
}

enum { LISTED = 12, ROOM = 240 }; /* names in a message, and their bytes */

/* "'a', 'b' and 3 more" */
static const char *list_names(char text[ROOM + DTI_QUOTE_SIZE], const struct listing *list,
                              const struct rank *rank)
{
    char quoted[DTI_QUOTE_SIZE];
    size_t used = 0, shown = 0, more = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const char *const name = list->names[i];
        if (rank && !has_rank(name, rank))
            continue;
        dti_quote(quoted, name, strlen(name));
        if (shown == LISTED || used + strlen(quoted) + 2 > ROOM) {
            more++;
            continue;
        }
        used +=
            (size_t)snprintf(text + used, DTI_QUOTE_SIZE, "%s%s", shown++ > 0 ? ", " : "", quoted);
    }
    if (more > 0)
        (void)snprintf(text + used, DTI_QUOTE_SIZE, " and %zu more", more);
    return text;
}

static bool take(struct listing *list)
{
    struct dti_opening *const opening = &list->opening;
    struct dti_container *const container = opening->container;
    const struct rank *rank = NULL;
    char text[ROOM + DTI_QUOTE_SIZE], quoted[DTI_QUOTE_SIZE];
    size_t several = 0;
    const size_t at = choose(list->names, list->count, &rank, &several);
    if (list->count == 0)
        return dti_opening_refuse(opening, " has no files");
    if (at == list->count)
        return dti_opening_refuse(opening,
                                  " has no file in its main folder that holds a model, and no gguf "
                                  "file; name one of its %zu files: %s",
                                  list->count, list_names(text, list, NULL));
    if (several > 0)
        return dti_opening_refuse(opening, " has %zu %s; name one of them: %s", several, rank->what,
                                  list_names(text, list, rank));
    const char *const name = list->names[at];
    const char *const path = dti_shard_path(opening, container->path, true, name);
    if (!path)
        return false;
    container->path = path;
    return dti_opening_note(opening, DTI_HUB_NOTE, "%s is read, of %zu file%s of the model",
                            dti_quote(quoted, name, strlen(name)), list->count,
                            list->count == 1 ? "" : "s");
}

enum dti_status dti_hub_choose(struct dti_container *container, struct dti_pool *pool,
                               struct dti_error *reterr)
{
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    struct listing list = {
        .opening = {.container = container, .pool = pool, .error = reterr},
    };
    list.opening.label = dti_quote(label, container->path, strlen(container->path));
    dti_buffer_init(&text);
    enum dti_status status = dti_hub_describe(container->path, &text, reterr);
    if (status == DTI_OK) {
        dti_json_reader_init(&list.json, text.data, text.length);
        if (!read_description(&list) || !take(&list))
            status = list.opening.status;
        dti_json_reader_free(&list.json);
    }
    dti_buffer_free(&text);
    return status;
}
