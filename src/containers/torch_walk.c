/* SPDX-License-Identifier: MIT
 *
 * Walks over what a PyTorch file holds. Dicts and lists in each other give names with dots between
 * them. Each is looked at once, though it may be in several places, or in itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "containers/torch_parts.h"

enum { NAME_MAX_BYTES = 4096 };

/* A dict or a list on the way to where the walk is. */
struct torch_level {
    struct dti_pickle_items items;
    size_t name_length; /* of its own name */
    uint64_t index;     /* of the next item of a list */
    bool is_dict;
};
struct torch_walk {
    struct dti_torch_reading *reading;
    size_t depth;
    size_t name_length;
    char name[NAME_MAX_BYTES];
    struct torch_level levels[DTI_PICKLE_DEPTH_MAX];
};

static bool name_step(struct torch_walk *walk, const char *text, size_t length)
{
    const size_t dot = walk->depth > 1;
    if (length > sizeof walk->name - walk->name_length - dot)
        return dti_opening_refuse(walk->reading->opening, " has names of more than %d bytes",
                                  (int)NAME_MAX_BYTES);
    if (dot)
        walk->name[walk->name_length] = '.';
    if (length > 0)
        memcpy(walk->name + walk->name_length + dot, text, length);
    walk->name_length += dot + length;
    return true;
}

static bool name_key(struct torch_walk *walk, uint32_t key)
{
    const struct dti_pickle *const pickle = &walk->reading->pickle;
    char number[24];
    int64_t value;
    if (dti_pickle_int(pickle, key, &value)) {
        const int length = snprintf(number, sizeof number, "%" PRId64, value);
        return name_step(walk, number, (size_t)length);
    }
    size_t length = 1;
    const char *const text = dti_pickle_type(pickle, key) == DTI_PICKLE_TEXT
                                 ? dti_pickle_text(pickle, key, &length)
                                 : "?";
    return name_step(walk, text, length);
}

/* Remembers the first name for a note. */
static bool count(const struct torch_walk *walk, size_t *number, const char **first)
{
    char quoted[DTI_QUOTE_SIZE];
    if ((*number)++ > 0)
        return true;
    dti_quote(quoted, walk->name, walk->name_length);
    *first = dti_opening_text(walk->reading->opening, quoted, strlen(quoted));
    return *first != NULL;
}

/* An object that is not read: the file is refused, unless what can be read was asked for. */
static bool meet_opaque(const struct torch_walk *walk, uint32_t value, const char *where,
                        size_t where_length)
{
    struct dti_opening *const opening = walk->reading->opening;
    char quoted[DTI_QUOTE_SIZE], place[DTI_QUOTE_SIZE], prefix[DTI_QUOTE_SIZE + 8] = "";
    size_t length;
    const char *const name = dti_pickle_text(&walk->reading->pickle, value, &length);
    dti_quote(quoted, name, length);
    if (where_length > 0)
        (void)snprintf(prefix, sizeof prefix, ": %s", dti_quote(place, where, where_length));
    if (opening->options.lenient)
        return dti_opening_note(opening, "unknown_object",
                                "%s%sholds %s, which only Python could rebuild: left out",
                                where_length > 0 ? place : "", where_length > 0 ? " " : "", quoted);
    (void)dti_fail_remedy(opening->error, DTI_BAD_INPUT, DTI_REMEDY_READ_REST,
                          "%s%s holds %s, which only Python could rebuild; saved state_dicts are "
                          "read",
                          opening->label, prefix, quoted);
    dti_error_argument(opening->error, name, length);
    opening->status = DTI_BAD_INPUT;
    return false;
}

static bool enter(struct torch_walk *walk, uint32_t value, enum dti_pickle_type type)
{
    struct dti_torch_reading *const reading = walk->reading;
    if (dti_pickle_visit(&reading->pickle, value))
        return count(walk, &reading->shared, &reading->shared_name);
    if (walk->depth == DTI_PICKLE_DEPTH_MAX)
        return dti_opening_refuse(reading->opening, " has more than %d containers in each other",
                                  (int)DTI_PICKLE_DEPTH_MAX);
    walk->levels[walk->depth++] = (struct torch_level){
        .items = dti_pickle_items(&reading->pickle, value),
        .name_length = walk->name_length,
        .is_dict = type == DTI_PICKLE_DICT,
    };
    return true;
}

/* Something that numpy makes and that is no array of numbers. */
static bool is_other(const struct dti_pickle *pickle, uint32_t call)
{
    const enum dti_pickle_meaning meaning =
        dti_pickle_meaning(pickle, dti_pickle_callee(pickle, call));
    struct dti_torch_array array;
    return meaning == DTI_GLOBAL_NUMPY_DTYPE ||
           ((meaning == DTI_GLOBAL_ARRAY || meaning == DTI_GLOBAL_BUFFER) &&
            !dti_torch_array(pickle, call, &array));
}

/* A value whose name is that of the walk. */
static bool meet(struct torch_walk *walk, uint32_t value)
{
    struct dti_torch_reading *const reading = walk->reading;
    const enum dti_pickle_type type = dti_pickle_type(&reading->pickle, value);
    switch (type) {
    case DTI_PICKLE_CALL:
        if (is_other(&reading->pickle, value))
            return count(walk, &reading->others, &reading->other_name);
        return dti_torch_tensor(reading, value, walk->name, walk->name_length);
    case DTI_PICKLE_DICT:
    case DTI_PICKLE_LIST:
    case DTI_PICKLE_TUPLE:
        return enter(walk, value, type);
    case DTI_PICKLE_OPAQUE:
        reading->pickle.called = 0;
        return meet_opaque(walk, value, walk->name, walk->name_length);
    default:
        return count(walk, &reading->others, &reading->other_name);
    }
}

/* The next item of the innermost level; at its end, back to the one around it. */
static bool step(struct torch_walk *walk)
{
    const struct dti_pickle *const pickle = &walk->reading->pickle;
    struct torch_level *const level = &walk->levels[walk->depth - 1];
    uint32_t key, value;
    char number[24];
    walk->name_length = level->name_length;
    if (!dti_pickle_next(pickle, &level->items, &key)) {
        walk->depth--;
        return true;
    }
    if (level->is_dict)
        return dti_pickle_next(pickle, &level->items, &value) && name_key(walk, key) &&
               meet(walk, value);
    const int length = snprintf(number, sizeof number, "%" PRIu64, level->index++);
    return name_step(walk, number, (size_t)length) && meet(walk, key);
}

/* Notes about what is in the file and is not listed. */
static bool note(struct dti_torch_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    if (reading->others > 0 &&
        !dti_opening_note(opening, "other_values", "%zu value%s: %s%s", reading->others,
                          reading->others == 1 ? " is not a tensor" : "s are not tensors",
                          reading->other_name, reading->others == 1 ? "" : " and so on"))
        return false;
    return reading->shared == 0 ||
           dti_opening_note(opening, "repeated_values", "%zu list%s or dict%s listed before: %s%s",
                            reading->shared, reading->shared == 1 ? "" : "s",
                            reading->shared == 1 ? " is" : "s are", reading->shared_name,
                            reading->shared == 1 ? "" : " and so on");
}

static bool walk_all(struct torch_walk *walk)
{
    static const char root[] = "data";
    struct dti_torch_reading *const reading = walk->reading;
    const struct dti_pickle *const pickle = &reading->pickle;
    const enum dti_pickle_type type = dti_pickle_type(pickle, pickle->root);
    if (type == DTI_PICKLE_CALL && !is_other(pickle, pickle->root))
        return dti_torch_tensor(reading, pickle->root, root, sizeof root - 1);
    if (!meet(walk, pickle->root))
        return false;
    while (walk->depth > 0) {
        if (!step(walk))
            return false;
    }
    return true;
}

bool dti_torch_walk(struct dti_torch_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    struct torch_walk *const walk = dti_pool_alloc(&reading->pickle.pool, sizeof *walk);
    if (!walk)
        return dti_opening_no_memory(opening);
    walk->reading = reading;
    walk->depth = walk->name_length = 0;
    if (!walk_all(walk))
        return false;
    const uint32_t called = reading->pickle.called;
    if (called != 0 && !meet_opaque(walk, called, "", 0))
        return false;
    return note(reading);
}
