/* SPDX-License-Identifier: MIT
 *
 * Checks existing files: whether a file is the one that would be written, judged by its size and
 * the bytes before its data. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/new_files.h"
#include "files/rewrite/part_records.h"
#include "util/run/allocate.h"

enum { PIECE = 16 << 10, NAMED = 8 };

/* Whether the file starts with the bytes of `other`, or of `head`. */
static enum dti_status compare(const struct dti_input *input, const char *head,
                               const struct dti_input *other, uint64_t size, bool *ret_same,
                               struct dti_error *reterr)
{
    unsigned char bytes[PIECE], others[PIECE];
    enum dti_status status = DTI_OK;
    bool same = true;
    for (uint64_t done = 0; done < size && same && status == DTI_OK;) {
        const size_t some = size - done < PIECE ? (size_t)(size - done) : PIECE;
        status = dti_input_read_at(input, bytes, some, done, reterr);
        if (status == DTI_OK && other)
            status = dti_input_read_at(other, others, some, done, reterr);
        if (status == DTI_OK)
            same = memcmp(bytes, other ? (const char *)others : head + done, some) == 0;
        done += some;
    }
    *ret_same = same;
    return status;
}

static enum dti_status compare_copy(const struct dti_new_file *file, const struct dti_input *input,
                                    bool *ret_same, struct dti_error *reterr)
{
    struct dti_input other;
    enum dti_status status = dti_input_open_file(&other, file->from, reterr);
    if (status != DTI_OK)
        return status;
    status = compare(input, NULL, &other, file->size, ret_same, reterr);
    dti_input_close(&other);
    return status;
}

enum dti_status dti_new_file_look(const struct dti_new_file *file, enum dti_new_file_state *ret,
                                  uint64_t *ret_bytes, struct dti_error *reterr)
{
    struct dti_input input;
    bool same = true;
    *ret_bytes = 0;
    *ret = DTI_NEW_FILE_MISSING;
    if (dti_input_there(file->path) == ENOENT)
        return DTI_OK;
    enum dti_status status = dti_input_open_file(&input, file->path, reterr);
    if (status != DTI_OK)
        return status;
    *ret_bytes = input.seekable ? input.size : 0;
    if (!input.seekable || input.size != file->size)
        *ret = DTI_NEW_FILE_OTHER_SIZE;
    else if (file->from)
        status = compare_copy(file, &input, &same, reterr);
    else
        status = compare(&input, file->head.text.data, NULL, file->head.text.length, &same, reterr);
    if (status == DTI_OK && *ret != DTI_NEW_FILE_OTHER_SIZE)
        *ret = same ? DTI_NEW_FILE_THERE : DTI_NEW_FILE_OTHER_HEAD;
    dti_input_close(&input);
    return status;
}

/* What is wrong with a shard that has the right header. */
static const char *const part_words[] = {
    [DTI_PART_UNRECORDED] = "has no record of the part that wrote it",
    [DTI_PART_OTHER_INPUT] = "was made from another input",
    [DTI_PART_OTHER_RECIPE] = "was made with other options",
    [DTI_PART_OTHER_DATA] = "does not have the bytes that its part wrote",
};

/* Reports what is wrong with a file. */
static void tell(const struct dti_new_file *file, enum dti_new_file_state state,
                 enum dti_part_state part, uint64_t bytes, dti_warn_fn *warn, void *warn_context)
{
    char label[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 128];
    const unsigned long long is = bytes, wanted = file->size;
    dti_quote(label, file->path, strlen(file->path));
    if (state == DTI_NEW_FILE_MISSING)
        (void)snprintf(text, sizeof text, "%s is missing", label);
    else if (state == DTI_NEW_FILE_OTHER_SIZE)
        (void)snprintf(text, sizeof text, "%s has %llu bytes, not %llu", label, is, wanted);
    else if (state == DTI_NEW_FILE_THERE)
        (void)snprintf(text, sizeof text, "%s %s", label, part_words[part]);
    else
        (void)snprintf(
            text, sizeof text,
            "%s has another header: it was made from another input, or with other options", label);
    const struct dti_note note = {
        .code = state == DTI_NEW_FILE_MISSING ? "shard_missing" : "shard_differs", .text = text};
    if (warn)
        warn(warn_context, &note);
}

/* Whether all that this run writes already exists: then it finished before. */
static enum dti_status is_finished(const struct dti_new_files *files, bool *ret,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    *ret = files->count > 0;
    for (size_t i = 0; i < files->count && *ret && status == DTI_OK; i++) {
        enum dti_new_file_state state;
        uint64_t bytes;
        status = dti_new_file_look(&files->list[i], &state, &bytes, reterr);
        *ret = status == DTI_OK && state == DTI_NEW_FILE_THERE;
    }
    return status;
}

/* The state of each file of other runs, and of its record. */
struct part_look {
    enum dti_new_file_state state;
    enum dti_part_state part;
    uint64_t bytes;
};

static enum dti_status look_at_all(const struct dti_new_files *files, bool data,
                                   struct part_look *ret, struct dti_error *reterr)
{
    size_t unrecorded = 0;
    bool finished = false;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < files->others && status == DTI_OK; i++) {
        const struct dti_new_file *const file = &files->list[files->count + i];
        status = dti_new_file_look(file, &ret[i].state, &ret[i].bytes, reterr);
        ret[i].part = DTI_PART_SAME;
        if (status == DTI_OK && ret[i].state == DTI_NEW_FILE_THERE)
            status = dti_part_record_look(files, file, data, &ret[i].part, reterr);
        unrecorded += ret[i].part == DTI_PART_UNRECORDED;
    }
    if (status == DTI_OK && !data && unrecorded == files->others)
        status = is_finished(files, &finished, reterr);
    for (size_t i = 0; i < files->others && finished; i++)
        ret[i].part = DTI_PART_SAME;
    return status;
}

static enum dti_status fail(const struct dti_new_files *files, size_t missing, size_t different,
                            struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_quote(label, files->path, strlen(files->path));
    if (different == 0)
        return dti_fail_remedy(reterr, DTI_ANSWER_NO, DTI_REMEDY_RUN_PARTS,
                               "%zu of %zu shards %s missing in %s", missing, files->others,
                               missing == 1 ? "is" : "are", label);
    if (missing == 0)
        return dti_fail_remedy(reterr, DTI_ANSWER_NO, DTI_REMEDY_REPLACE_PARTS,
                               "%zu of %zu shards in %s %s different", different, files->others,
                               label, different == 1 ? "is" : "are");
    return dti_fail_remedy(reterr, DTI_ANSWER_NO, DTI_REMEDY_REPLACE_PARTS,
                           "of %zu shards in %s %zu %s missing and %zu %s different", files->others,
                           label, missing, missing == 1 ? "is" : "are", different,
                           different == 1 ? "is" : "are");
}

enum dti_status dti_new_files_complete(const struct dti_new_files *files, bool data,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_error *reterr)
{
    size_t missing = 0, different = 0;
    struct part_look *const looks = dti_calloc(files->others + 1, sizeof *looks);
    if (!looks)
        return dti_no_memory(reterr);
    const enum dti_status status = look_at_all(files, data, looks, reterr);
    for (size_t i = 0; i < files->others && status == DTI_OK; i++) {
        const struct part_look *const look = &looks[i];
        if (look->state == DTI_NEW_FILE_THERE && look->part == DTI_PART_SAME)
            continue;
        if (missing + different < NAMED)
            tell(&files->list[files->count + i], look->state, look->part, look->bytes, warn,
                 warn_context);
        missing += look->state == DTI_NEW_FILE_MISSING;
        different += look->state != DTI_NEW_FILE_MISSING;
    }
    dti_free(looks);
    return status != DTI_OK || missing + different == 0 ? status
                                                        : fail(files, missing, different, reterr);
}
