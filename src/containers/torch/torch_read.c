/* SPDX-License-Identifier: MIT
 *
 * PyTorch files as a container: detects which of the two formats a file has, walks the values of
 * its pickle, and sorts the tensors by the position of their data, which may overlap. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/torch/torch_parts.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/text/ascii.h"

/* The older format: five pickles, namely a magic number, a version, the machine's sizes, the saved
 * object, and the keys of the storages; then the storages in the order of their keys: an element
 * count, and the elements. */

enum { VERSION = 1001, COUNT_BYTES = 8 };

static bool read_version(struct dti_opening *opening, uint64_t *at)
{
    struct dti_pickle pickle;
    int64_t version;
    bool good = dti_pickle_read(opening, *at, opening->file->input.size, &pickle);
    if (good && (!dti_pickle_int(&pickle, pickle.root, &version) || version != VERSION))
        good = dti_opening_refuse(opening, " is a PyTorch file of an unknown version");
    *at = pickle.end;
    dti_pickle_free(&pickle);
    return good;
}

/* The machine that wrote the file: only its byte order matters. */
static bool read_machine(struct dti_torch_reading *reading, uint64_t *at)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_pickle pickle;
    uint32_t key, value;
    bool known = false;
    bool good = dti_pickle_read(opening, *at, opening->file->input.size, &pickle);
    if (good && dti_pickle_type(&pickle, pickle.root) == DTI_PICKLE_DICT) {
        struct dti_pickle_items items = dti_pickle_items(&pickle, pickle.root);
        while (dti_pickle_next(&pickle, &items, &key) && dti_pickle_next(&pickle, &items, &value)) {
            size_t length;
            const char *const text = dti_pickle_text(&pickle, key, &length);
            const enum dti_pickle_type type = dti_pickle_type(&pickle, value);
            if (!text || !dti_text_is(text, length, "little_endian"))
                continue;
            known = type == DTI_PICKLE_TRUE || type == DTI_PICKLE_FALSE;
            reading->big_endian = type == DTI_PICKLE_FALSE;
        }
    }
    if (good && !known)
        good = dti_opening_refuse(opening, ": damaged: its byte order is not there");
    *at = pickle.end;
    dti_pickle_free(&pickle);
    return good;
}

/* Collects all storages that the pickle refers to, including duplicates. */
static bool collect(struct dti_torch_reading *reading)
{
    struct dti_pickle *const pickle = &reading->pickle;
    struct dti_torch_storage *const storages =
        dti_pool_array(&pickle->pool, pickle->persistent_count, sizeof *storages);
    if (!storages)
        return dti_opening_no_memory(reading->opening);
    for (uint32_t value = 0; value < pickle->node_count; value++) {
        if (dti_torch_storage(pickle, value, &storages[reading->storage_count]))
            reading->storage_count++;
    }
    reading->storages = storages;
    return dti_name_order_of(&reading->order, storages, reading->storage_count,
                             DTI_NAMED(struct dti_torch_storage, key)) ||
           dti_opening_no_memory(reading->opening);
}

/* Locates the storage with this key, which starts at *at. */
static bool place(struct dti_torch_reading *reading, const char *key, size_t length, uint64_t *at)
{
    struct dti_opening *const opening = reading->opening;
    const struct dti_subject subject = {.what = "storage", .name = key, .length = length};
    const uint64_t size = opening->file->input.size;
    unsigned char bytes[COUNT_BYTES];
    size_t index;
    if (!dti_name_order_find(&reading->order, key, length, &index))
        return dti_opening_refuse_of(opening, subject, " is not used by any tensor");
    struct dti_torch_storage *const storage = &reading->storages[index];
    if (storage->offset != UINT64_MAX)
        return dti_opening_refuse_of(opening, subject, " occurs twice");
    if (size - *at < COUNT_BYTES || size - *at - COUNT_BYTES < storage->bytes)
        return dti_opening_refuse_of(opening, subject,
                                     ": truncated: %" PRIu64 " bytes begin at byte %" PRIu64
                                     ", the file has %" PRIu64,
                                     storage->bytes, *at + COUNT_BYTES, size);
    if (!dti_opening_read(opening, bytes, sizeof bytes, *at))
        return false;
    if (dti_little_get(bytes, sizeof bytes) != storage->bytes / storage->item)
        return dti_opening_refuse_of(
            opening, subject, ": damaged: %" PRIu64 " elements here, %" PRIu64 " in the pickle",
            dti_little_get(bytes, sizeof bytes), storage->bytes / storage->item);
    storage->offset = *at + COUNT_BYTES;
    *at = storage->offset + storage->bytes;
    return true;
}

static bool read_keys(struct dti_torch_reading *reading, uint64_t start)
{
    struct dti_opening *const opening = reading->opening;
    const uint64_t size = opening->file->input.size;
    struct dti_pickle pickle;
    uint32_t item;
    uint64_t at;
    bool good = dti_pickle_read(opening, start, size, &pickle);
    if (good && dti_pickle_type(&pickle, pickle.root) != DTI_PICKLE_LIST)
        good = dti_opening_refuse(opening, ": damaged: the keys of its storages are no list");
    at = pickle.end;
    if (good) {
        struct dti_pickle_items items = dti_pickle_items(&pickle, pickle.root);
        while (good && dti_pickle_next(&pickle, &items, &item)) {
            size_t length;
            const char *const key = dti_pickle_text(&pickle, item, &length);
            good = key ? place(reading, key, length, &at)
                       : dti_opening_refuse(opening, ": damaged: a key of a storage is no text");
        }
    }
    if (good && at != size && !opening->options.lenient)
        good = dti_opening_goes_on(opening, dti_fail_remedy(opening->error, DTI_BAD_INPUT,
                                                            DTI_REMEDY_ACCEPT_TRAILING,
                                                            "%s: the storages end at byte %" PRIu64
                                                            ", the file has %" PRIu64,
                                                            opening->label, at, size));
    dti_pickle_free(&pickle);
    return good;
}

static bool locate(struct dti_torch_reading *reading, struct dti_subject tensor,
                   struct dti_torch_storage *storage)
{
    char key[DTI_QUOTE_SIZE];
    size_t index;
    if (!dti_name_order_find(&reading->order, storage->key, storage->key_length, &index) ||
        reading->storages[index].offset == UINT64_MAX)
        return dti_opening_refuse_of(reading->opening, tensor,
                                     ": its storage %s is not in the file",
                                     dti_quote(key, storage->key, storage->key_length));
    if (reading->storages[index].bytes != storage->bytes)
        return dti_opening_refuse_of(reading->opening, tensor,
                                     ": its storage %s has different sizes in the pickle",
                                     dti_quote(key, storage->key, storage->key_length));
    storage->offset = reading->storages[index].offset;
    return true;
}

static bool open_legacy(struct dti_torch_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_pickle magic;
    reading->locate = locate;
    const bool good = dti_pickle_read(opening, 0, opening->file->input.size, &magic);
    uint64_t at = magic.end;
    dti_pickle_free(&magic);
    if (!good || !read_version(opening, &at) || !read_machine(reading, &at) ||
        !dti_pickle_read(opening, at, opening->file->input.size, &reading->pickle))
        return false;
    opening->file->header_bytes += reading->pickle.end;
    return collect(reading) && read_keys(reading, reading->pickle.end);
}

/* The walk. Nested dicts and lists give dotted names. Each is visited once, even if it is in
 * several places or contains itself. */

enum { NAME_MAX_BYTES = 4096 };

/* A dict or list on the path of the walk. */
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

/* Counts, and remembers the first name for a note. */
static bool count(const struct torch_walk *walk, size_t *number, const char **first)
{
    char quoted[DTI_QUOTE_SIZE];
    if ((*number)++ > 0)
        return true;
    dti_quote(quoted, walk->name, walk->name_length);
    *first = dti_opening_text(walk->reading->opening, quoted, strlen(quoted));
    return *first != NULL;
}

/* An unreadable object: the file is refused, unless the options are lenient. */
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

/* A numpy object that is not an array of numbers. */
static bool is_other(const struct dti_pickle *pickle, uint32_t call)
{
    const enum dti_pickle_meaning meaning =
        dti_pickle_meaning(pickle, dti_pickle_callee(pickle, call));
    struct dti_torch_array array;
    return meaning == DTI_GLOBAL_NUMPY_DTYPE ||
           ((meaning == DTI_GLOBAL_ARRAY || meaning == DTI_GLOBAL_BUFFER) &&
            !dti_torch_array(pickle, call, &array));
}

/* Visits a value, whose name is the current name of the walk. */
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

/* Visits the next item of the innermost level; at its end, returns to the enclosing level. */
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

/* Adds notes about values that are not listed. */
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

/* Finds the tensors in the values of the pickle. */
static bool find_tensors(struct dti_torch_reading *reading)
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

enum { HEAD = 32 }; /* bytes that distinguish the formats */

static int compare(const void *a, const void *b)
{
    const struct dti_torch_found *const one = a, *const other = b;
    if (one->tensor.offset != other->tensor.offset)
        return one->tensor.offset < other->tensor.offset ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

/* Notes tensors that start inside another one, or at the same offset. */
static bool note_shared(struct dti_torch_reading *reading)
{
    const struct dti_torch_found *const found = reading->found;
    const struct dti_tensor *first = NULL, *with = NULL, *widest = NULL;
    uint64_t end = 0;
    size_t count = 0;
    for (size_t i = 0; i < reading->found_count; i++) {
        const struct dti_tensor *const tensor = &found[i].tensor;
        if (tensor->bytes == 0)
            continue;
        if (tensor->offset < end) {
            assert(widest); /* which ends there */
            first = count == 0 ? tensor : first;
            with = count == 0 ? widest : with;
            count++;
        }
        const uint64_t span_end = tensor->offset + found[i].span;
        if (span_end > end) {
            end = span_end;
            widest = tensor;
        }
    }
    return count == 0 ||
           dti_opening_note(
               reading->opening, "shared_data", "%zu tensor%s: %s with %s%s", count,
               count == 1 ? " shares its data with another" : "s share their data with others",
               DTI_QUOTED(first->name, first->name_length),
               DTI_QUOTED(with->name, with->name_length), count == 1 ? "" : " and so on");
}

static bool keep(struct dti_torch_reading *reading, unsigned file_index, struct dti_torch *torch)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_torch_found *const found = reading->found;
    const size_t count = reading->found_count;
    if (count > 0)
        qsort(found, count, sizeof *found, compare);
    struct dti_tensor *const tensors = dti_opening_tensors(opening, count);
    if (!tensors || !dti_opening_grow(opening, &torch->places, torch->count, count,
                                      &torch->capacity, sizeof *torch->places))
        return false;
    for (size_t i = 0; i < count; i++) {
        tensors[i] = found[i].tensor;
        tensors[i].file = (uint16_t)file_index;
        torch->places[torch->count++] =
            (struct dti_torch_place){.gather = {.strides = found[i].strides, .item = found[i].item},
                                     .encoded = found[i].encoded};
    }
    return dti_opening_check_names(opening, tensors, count, DTI_NAMED(struct dti_tensor, name),
                                   (struct dti_subject){.what = "tensor"}, " occurs twice") &&
           note_shared(reading);
}

/* For dti_torch_verify(). */
static bool keep_zip(struct dti_torch_reading *reading, struct dti_torch *torch)
{
    if (!dti_opening_grow(reading->opening, &torch->zips, torch->zip_count, 1, &torch->zip_capacity,
                          sizeof *torch->zips))
        return false;
    torch->zips[torch->zip_count++] = reading->zip;
    return reading->zip.count == 0 || dti_torch_has_sums(&reading->zip) ||
           dti_opening_note(
               reading->opening, "no_checksums",
               "it was saved without checksums: damage to its data cannot be detected");
}

/* Whether the file starts with the older format's magic number, as a pickle. */
static bool is_legacy(const unsigned char *head, size_t size)
{
    static const unsigned char magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                          0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
    enum { PROTOCOL_BYTES = 2, FRAME = 0x95, FRAME_BYTES = 9 };
    if (size < PROTOCOL_BYTES + sizeof magic || head[0] != 0x80 || head[1] < 2)
        return false;
    const size_t start = PROTOCOL_BYTES + (head[PROTOCOL_BYTES] == FRAME ? FRAME_BYTES : 0);
    return size >= start + sizeof magic && memcmp(head + start, magic, sizeof magic) == 0;
}

bool dti_torch_read(struct dti_opening *opening, unsigned file_index, struct dti_torch *ret)
{
    struct dti_torch_reading reading = {.opening = opening};
    unsigned char head[HEAD];
    const uint64_t size = opening->file->input.size;
    const size_t there = size < sizeof head ? (size_t)size : sizeof head;
    bool good = dti_opening_read(opening, head, there, 0);
    if (good)
        good = dti_begins(head, there, "PK") ? dti_torch_open_zip(&reading)
               : is_legacy(head, there)      ? open_legacy(&reading)
                                        : dti_opening_refuse(opening, " is not a PyTorch file");
    if (good && opening->options.pickled)
        opening->options.pickled(opening->options.pickled_context, &reading.pickle);
    good = good && find_tensors(&reading) && keep(&reading, file_index, ret) &&
           keep_zip(&reading, ret);
    dti_name_order_free(&reading.order);
    dti_pickle_free(&reading.pickle);
    return good;
}

bool dti_torch_detect(const unsigned char *head, size_t head_size)
{
    return dti_is_zip(head, head_size, DTI_TORCH_FIRST) || is_legacy(head, head_size);
}

static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_torch_detect(head, head_size);
}

static bool open_torch(struct dti_opening *opening)
{
    struct dti_torch *const torch = dti_opening_array(opening, 1, sizeof *torch);
    if (!torch)
        return false;
    *torch = (struct dti_torch){.count = 0};
    if (!dti_torch_read(opening, 0, torch))
        return false;
    opening->container->own = torch;
    return true;
}

const struct dti_container_ops dti_torch_ops = {
    .traits = DTI_TRAIT_CONFIG,
    .detect = detect,
    .other_extension = ".pth",
    .open = open_torch,
    .data = dti_torch_data,
    .verify = dti_torch_verify,
    .free = dti_torch_free,
};
