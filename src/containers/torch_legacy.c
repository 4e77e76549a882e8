/* SPDX-License-Identifier: MIT
 *
 * The older form of PyTorch files: a magic number, a version, the machine's sizes, what was saved,
 * and the keys of the storages, each a pickle; then the storages in the order of their keys: how
 * many elements, and those. */
#include <inttypes.h>
#include <string.h>

#include "containers/torch_parts.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/little_endian.h"

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

/* The machine that wrote it: only its byte order matters. */
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

/* All storages that the pickle names, those that it names several times as often. */
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

/* The storage with that key, which begins at *at. */
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

bool dti_torch_open_legacy(struct dti_torch_reading *reading)
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
