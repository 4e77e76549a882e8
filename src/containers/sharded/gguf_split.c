/* SPDX-License-Identifier: MIT
 *
 * Opens a GGUF: one file, or several, as split by llama.cpp and gguf-py. Any part identifies the
 * whole. Each part stores its index, the number of parts, and the total number of tensors; its file
 * name must agree. Only the first part has the model's other key-values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/gguf/gguf.h"
#include "containers/sharded/sharded.h"
#include "io/net/remote.h"
#include "util/text/ascii.h"

enum { COMPARED = 1 << 14 }; /* bytes at a time */

/* State while all parts are opened. */
struct split_opening {
    struct dti_opening *opening;
    const char *path; /* of one of the parts */
    const char *base; /* its name without folders */
    size_t prefix;    /* length of the common name prefix */
    uint32_t count;
    int64_t tensors;            /* from the given part */
    struct dti_name_order keys; /* of the first part */
    size_t key_count;
};

static const char *quote_base(char buffer[DTI_QUOTE_SIZE], const char *path)
{
    const char *const base = dti_path_base(path);
    return dti_quote(buffer, base, strlen(base));
}

static char *name_of(const struct split_opening *work, uint32_t no)
{
    char suffix[DTI_GGUF_PART_SUFFIX];
    dti_gguf_part_suffix(suffix, no, work->count);
    const size_t size = work->prefix + strlen(suffix) + sizeof ".gguf";
    char *const name = dti_opening_array(work->opening, size, 1);
    if (name) {
        memcpy(name, work->base, work->prefix);
        memcpy(name + work->prefix, suffix, strlen(suffix));
        memcpy(name + size - sizeof ".gguf", ".gguf", sizeof ".gguf");
    }
    return name;
}

/* Opens remote parts several at a time, so that opening them in turn asks no server again; that
 * reports failures, too. *ret_count: how many the caller has to close. */
static bool open_parts_ahead(struct split_opening *work, struct dti_container_file **ret,
                             size_t *ret_count)
{
    enum { MOST = 4096 };
    struct dti_error ignored;
    *ret_count = 0;
    if (!dti_is_address(work->path) || work->count > MOST)
        return true;
    *ret = dti_opening_array(work->opening, work->count, sizeof **ret);
    if (!*ret)
        return false;
    for (uint32_t no = 0; no < work->count; no++) {
        const char *const name = name_of(work, no);
        if (!name)
            return false;
        (*ret)[no] = (struct dti_container_file){
            .path = dti_shard_path(work->opening, work->path, false, name)};
        if (!(*ret)[no].path)
            return false;
    }
    return dti_open_files(work->opening, *ret, work->count, ret_count, &ignored) != DTI_NO_MEMORY ||
           dti_opening_no_memory(work->opening);
}

static bool add_part(struct split_opening *work, uint32_t no, struct dti_container_file *ret)
{
    struct dti_opening *const opening = work->opening;
    struct dti_error error = {.status = DTI_OK};
    char quoted[DTI_QUOTE_SIZE];
    const char *const name = name_of(work, no);
    if (!name)
        return false;
    *ret = (struct dti_container_file){.path = dti_shard_path(opening, work->path, false, name)};
    if (!ret->path)
        return false;
    const enum dti_status status = dti_input_open_file(&ret->input, ret->path, &error);
    if (status == DTI_OK)
        return true;
    dti_fail(opening->error, status,
             "%s: cannot open part %s of its %" PRIu32 ": %s; all parts belong in one folder",
             opening->label, dti_quote(quoted, name, strlen(name)), work->count, error.text);
    dti_error_argument(opening->error, ret->path, strlen(ret->path));
    return dti_opening_goes_on(opening, status);
}

/* Opens all files before any further header is read; the list grows with each file that exists. The
 * file that is already open takes its own index. */
static bool open_files(struct split_opening *work, uint32_t given)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    const struct dti_container_file open = container->files[0];
    struct dti_container_file *list = NULL, *ahead = NULL;
    size_t count = 0, capacity = 0, ahead_count;
    if (!dti_opening_grow(opening, &list, 0, 2, &capacity, sizeof *list))
        return false;
    dti_shards_allow(work->count);
    bool good = open_parts_ahead(work, &ahead, &ahead_count);
    for (uint32_t no = 0; no < work->count && good; no++) {
        good = dti_opening_grow(opening, &list, count, 2, &capacity, sizeof *list);
        if (good && no == given)
            list[count] = open;
        else if (good)
            good = add_part(work, no, &list[count]);
        count += good;
        if (good && !list[count - 1].input.seekable) {
            opening->label = dti_input_label(&list[count - 1].input, opening->file_label);
            good = dti_opening_refuse(opening, " is not a regular file");
        }
    }
    for (size_t i = 0; i < ahead_count; i++)
        dti_input_close(&ahead[i].input);
    if (count <= given) /* room for it was reserved */
        list[count++] = open;
    container->files = list;
    container->file_count = count;
    return good;
}

/* Checks the split keys of a part against the whole. */
static bool check_part(const struct split_opening *work, const struct dti_gguf_part *part,
                       uint32_t no)
{
    struct dti_opening *const opening = work->opening;
    const struct dti_gguf_split_value *const split = part->split;
    for (unsigned i = 0; i < DTI_GGUF_SPLIT_KEYS; i++) {
        if (!split[i].there)
            return dti_opening_refuse(opening,
                                      ": it is not a part of this model: it has no key '%s'",
                                      dti_gguf_split_keys[i]);
    }
    if (split[DTI_GGUF_SPLIT_COUNT].number != work->count)
        return dti_opening_refuse(
            opening, ": it is part of another model: its split.count is %" PRId64 ", not %" PRIu32,
            split[DTI_GGUF_SPLIT_COUNT].number, work->count);
    if (split[DTI_GGUF_SPLIT_NO].number != no)
        return dti_opening_refuse(opening,
                                  ": its split.no is %" PRId64 ", but by its name it is %" PRIu32
                                  ", counted from 0",
                                  split[DTI_GGUF_SPLIT_NO].number, no);
    if (split[DTI_GGUF_SPLIT_TENSORS].number != work->tensors)
        return dti_opening_refuse(opening,
                                  ": it is part of another model: its split.tensors.count is "
                                  "%" PRId64 ", not %" PRId64,
                                  split[DTI_GGUF_SPLIT_TENSORS].number, work->tensors);
    return true;
}

/* Whether two key-values are identical bytes. */
static bool same_bytes(struct split_opening *work, const struct dti_metadata *a,
                       const struct dti_metadata *b, bool *ret)
{
    struct dti_opening *const opening = work->opening;
    const struct dti_input *const first = &opening->container->files[0].input;
    unsigned char one[COMPARED], other[COMPARED];
    *ret = a->bytes == b->bytes;
    for (uint64_t done = 0; done < a->bytes && *ret; done += COMPARED) {
        const size_t size = a->bytes - done < COMPARED ? (size_t)(a->bytes - done) : COMPARED;
        const enum dti_status status =
            dti_input_read_at(first, one, size, a->offset + done, opening->error);
        if (!dti_opening_goes_on(opening, status) ||
            !dti_opening_read(opening, other, size, b->offset + done))
            return false;
        *ret = memcmp(one, other, size) == 0;
    }
    return true;
}

/* Key-values of a later part must repeat those of the first, or be unknown to every reader. */
static bool check_keys(struct split_opening *work, const struct dti_gguf_part *part)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    size_t unread = 0, at;
    for (size_t i = part->first_metadata; i < container->metadata_count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        bool same = true;
        if (dti_gguf_split_key(entry->key, entry->key_length) != DTI_GGUF_SPLIT_KEYS ||
            dti_text_is(entry->key, entry->key_length, "general.alignment"))
            continue; /* specific to each file */
        if (!dti_name_order_find(&work->keys, entry->key, entry->key_length, &at))
            unread++;
        else if (!same_bytes(work, &container->metadata[at], entry, &same))
            return false;
        if (!same)
            return dti_opening_refuse_of(
                opening, (struct dti_subject){"key", entry->key, entry->key_length, true},
                " has another value in part 1");
    }
    container->metadata_count = part->first_metadata;
    return unread == 0 ||
           dti_opening_note(opening, "unread_keys",
                            "%zu key-value%s that part 1 does not have; programs read those of "
                            "part 1 alone",
                            unread, unread == 1 ? "" : "s");
}

/* Reads part `no`, after the parts before it. */
static bool read_part(struct split_opening *work, uint32_t no)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    const char *const version = container->version;
    struct dti_gguf_part part;
    char quoted[DTI_QUOTE_SIZE];
    dti_opening_turn_to(opening, &container->files[no]);
    opening->note_about = quote_base(quoted, container->files[no].input.name);
    bool good = dti_gguf_read_part(opening, (unsigned)no, &part) && check_part(work, &part, no);
    if (good && no == 0)
        container->pairs = part.pairs;
    if (good && no > 0) {
        container->version = version;
        good = check_keys(work, &part);
    }
    opening->note_about = NULL;
    return good;
}

/* Reads the remaining parts; the first part's key-values are known. */
static bool read_others(struct split_opening *work, uint32_t first)
{
    struct dti_container *const container = work->opening->container;
    if (!dti_name_order_of(&work->keys, container->metadata, container->metadata_count,
                           DTI_NAMED(struct dti_metadata, key)))
        return dti_opening_no_memory(work->opening);
    bool good = true;
    for (uint32_t no = first; no < work->count && good; no++)
        good = read_part(work, no);
    dti_name_order_free(&work->keys);
    return good;
}

static bool check_tensors(const struct split_opening *work)
{
    struct dti_opening *const opening = work->opening;
    const struct dti_container *const container = opening->container;
    char a[DTI_QUOTE_SIZE], b[DTI_QUOTE_SIZE];
    struct dti_name_order order;
    size_t first;
    dti_opening_turn_to(opening, &opening->container->files[0]);
    if (work->tensors != (int64_t)container->tensor_count)
        return dti_opening_refuse(opening,
                                  ": its %" PRIu32
                                  " parts have %zu tensors, but split.tensors.count says %" PRId64,
                                  work->count, container->tensor_count, work->tensors);
    if (!dti_name_order_of(&order, container->tensors, container->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_opening_no_memory(opening);
    const size_t again = dti_name_order_repeated(&order);
    bool good = again == SIZE_MAX;
    if (!good) {
        const struct dti_tensor *const tensor = &container->tensors[again];
        (void)dti_name_order_find(&order, tensor->name, tensor->name_length, &first);
        dti_opening_refuse_of(
            opening, (struct dti_subject){"tensor", tensor->name, tensor->name_length, true},
            " is in two parts, %s and %s",
            quote_base(a, container->files[container->tensors[first].file].input.name),
            quote_base(b, container->files[tensor->file].input.name));
    }
    dti_name_order_free(&order);
    return good;
}

/* The name of the given part must agree with its key-values, since the other names are derived from
 * it. */
static bool check_given(struct split_opening *work, const struct dti_gguf_part *given)
{
    struct dti_opening *const opening = work->opening;
    const struct dti_gguf_split_value *const split = given->split;
    struct dti_gguf_part_name named;
    char suffix[DTI_GGUF_PART_SUFFIX];
    if (!check_part(work, given, (uint32_t)split[DTI_GGUF_SPLIT_NO].number))
        return false;
    if (split[DTI_GGUF_SPLIT_NO].number >= work->count)
        return dti_opening_refuse(opening,
                                  ": its split.no is %" PRId64 ", counted from 0, of a "
                                  "split.count of %" PRIu32,
                                  split[DTI_GGUF_SPLIT_NO].number, work->count);
    dti_gguf_part_suffix(suffix, (uint32_t)split[DTI_GGUF_SPLIT_NO].number, work->count);
    if (opening->container->alone)
        return dti_opening_refuse(opening,
                                  ": it is one of %" PRIu32 " parts of a model, which are "
                                  "found by their names; give the name of its file",
                                  work->count);
    if (!dti_gguf_part_named(work->base, &named) || named.count != work->count ||
        named.number != split[DTI_GGUF_SPLIT_NO].number + 1)
        return dti_opening_refuse(opening,
                                  ": it is part %" PRId64 " of %" PRIu32 ", but its name does not "
                                  "end in %s.gguf; give all parts the names that they had",
                                  split[DTI_GGUF_SPLIT_NO].number + 1, work->count, suffix);
    work->prefix = named.prefix;
    return true;
}

static bool open_parts(struct dti_opening *opening, const struct dti_gguf_part *given)
{
    struct dti_container *const container = opening->container;
    const uint32_t no = (uint32_t)given->split[DTI_GGUF_SPLIT_NO].number;
    struct split_opening work = {
        .opening = opening,
        .path = container->files[0].input.name,
        .base = dti_path_base(container->files[0].input.name),
        .count = (uint32_t)given->split[DTI_GGUF_SPLIT_COUNT].number,
        .tensors = given->split[DTI_GGUF_SPLIT_TENSORS].number,
    };
    if (!check_given(&work, given) || !open_files(&work, no))
        return false;
    if (no > 0) { /* discard its entries: earlier parts must come first */
        container->tensor_count = container->metadata_count = container->note_count = 0;
        if (!read_part(&work, 0))
            return false;
    }
    container->kind = DTI_CONTAINER_SPLIT_GGUF;
    return read_others(&work, 1) && check_tensors(&work);
}

/* A single part, or a merged file, is a whole file. */
static bool check_whole(struct dti_opening *opening, const struct dti_gguf_part *part)
{
    const struct dti_gguf_split_value *const split = part->split;
    const size_t tensors = opening->container->tensor_count;
    if (split[DTI_GGUF_SPLIT_COUNT].number == 0)
        return true;
    if (split[DTI_GGUF_SPLIT_NO].number != 0)
        return dti_opening_refuse(opening, ": split.no is %" PRId64 ", but split.count is 1",
                                  split[DTI_GGUF_SPLIT_NO].number);
    return !split[DTI_GGUF_SPLIT_TENSORS].there ||
           split[DTI_GGUF_SPLIT_TENSORS].number == (int64_t)tensors ||
           dti_opening_refuse(opening,
                              ": it has %zu tensors, but its split.tensors.count says %" PRId64,
                              tensors, split[DTI_GGUF_SPLIT_TENSORS].number);
}

/* Opens a GGUF. If its name is that of a part, notes carry it, to distinguish the parts. */
static bool open_gguf(struct dti_opening *opening)
{
    struct dti_gguf_part part;
    struct dti_gguf_part_name named;
    char quoted[DTI_QUOTE_SIZE];
    const char *const base = dti_path_base(opening->file->input.name);
    const bool is_named = dti_gguf_part_named(base, &named);
    if (is_named)
        opening->note_about = dti_quote(quoted, base, strlen(base));
    bool good = dti_gguf_read_part(opening, 0, &part);
    opening->note_about = NULL;
    opening->container->pairs = part.pairs;
    if (good && part.split[DTI_GGUF_SPLIT_COUNT].number > 1)
        return open_parts(opening, &part);
    if (good && is_named && named.count > 1)
        good = dti_opening_note(opening, "not_split",
                                "its name is that of part %" PRIu32 " of %" PRIu32
                                ", but it does not say so itself: it is read as a whole model",
                                named.number, named.count);
    return good && check_whole(opening, &part);
}

static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_begins(head, head_size, "GGUF");
}

bool dti_gguf_open_folder(struct dti_opening *opening, const char *name)
{
    struct dti_container *const container = opening->container;
    struct dti_container_file file = {.path = dti_shard_path(opening, container->path, true, name)};
    container->files = dti_opening_array(opening, 1, sizeof *container->files);
    if (!file.path || !container->files ||
        !dti_opening_goes_on(opening, dti_input_open_file(&file.input, file.path, opening->error)))
        return false;
    container->files[0] = file;
    container->file_count = 1;
    container->kind = DTI_CONTAINER_GGUF;
    dti_opening_turn_to(opening, container->files);
    return dti_container_ops(DTI_CONTAINER_GGUF)->open(opening) &&
           (container->kind == DTI_CONTAINER_SPLIT_GGUF ||
            dti_opening_refuse(opening, " is named as a part of a model, but has no split.count "
                                        "above 1; name it to read it alone"));
}

const struct dti_container_ops dti_gguf_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_PLACED | DTI_TRAIT_REMADE | DTI_TRAIT_GGML |
              DTI_TRAIT_REPLACES,
    .remade = DTI_CONTAINER_GGUF,
    .detect = detect,
    .open = open_gguf,
    .blocks = dti_gguf_blocks,
    .stores = dti_gguf_stores,
    .layout = dti_gguf_layout,
};

/* Opened through the named file or its folder; written as files of the other kind. */
const struct dti_container_ops dti_split_gguf_ops = {
    .traits = DTI_TRAIT_FOLDER | DTI_TRAIT_GGML,
    .remade = DTI_CONTAINER_GGUF,
};
