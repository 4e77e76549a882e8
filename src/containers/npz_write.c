/* SPDX-License-Identifier: MIT
 *
 * Writing .npz files as numpy.savez() does, one stored .npy member for each tensor, except that all
 * data are aligned. Sizes are known beforehand, so everything has its place at once; the CRCs come
 * last. */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/crc32.h"
#include "containers/name_order.h"
#include "containers/npy.h"
#include "containers/npz.h"
#include "containers/zip_sums.h"
#include "containers/zip_write.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/utf8.h"

static const char extension[] = ".npy";
enum { EXTENSION = sizeof extension - 1, NAME_MAX_BYTES = 0xFFFF };

/* Whether a component of a path is "..". */
static bool leads_up(const char *name, size_t length)
{
    for (size_t at = 0, dots = 0; at <= length; at++) {
        if (at < length && name[at] != '/') {
            dots = name[at] == '.' && dots < 3 ? dots + 1 : 3; /* 3: something else */
            continue;
        }
        if (dots == 2)
            return true;
        dots = 0;
    }
    return false;
}

/* NULL, or what is wrong with the name of a tensor. */
static const char *refuse_name(const char *name, size_t length)
{
    return length == 0                           ? "has an empty name"
           : memchr(name, '\0', length)          ? "has a NUL in its name"
           : name[0] == '/'                      ? "has a name that begins with /"
           : leads_up(name, length)              ? "has a name with the folder .. in it"
           : length > NAME_MAX_BYTES - EXTENSION ? "has a name that is too long"
           : !dti_utf8_valid(name, length)       ? "has a name that is not UTF-8"
                                                 : NULL;
}

static enum dti_status fail_name(const struct dti_new_tensor *tensor, const char *problem,
                                 struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_NONE,
                           "tensor %s %s, which no member of a .npz file can have",
                           dti_quote(name, tensor->name, tensor->name_length), problem);
}

/* numpy takes 'x.npy' for the name of the member that holds 'x'. */
static enum dti_status check_names(const struct dti_new_tensor *tensors, size_t count,
                                   struct dti_error *reterr)
{
    struct dti_name_order order;
    char quoted[DTI_QUOTE_SIZE];
    if (!dti_name_order_of(&order, tensors, count, DTI_NAMED(struct dti_new_tensor, name)))
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    const size_t again = dti_name_order_repeated(&order);
    if (again != SIZE_MAX)
        status = dti_fail(reterr, DTI_BAD_INPUT, "tensor %s would be written twice",
                          dti_quote(quoted, tensors[again].name, tensors[again].name_length));
    for (size_t i = 0, at; i < count && status == DTI_OK; i++) {
        const char *const name = tensors[i].name;
        const size_t length = tensors[i].name_length;
        const char *const problem = refuse_name(name, length);
        if (problem)
            status = fail_name(&tensors[i], problem, reterr);
        else if (dti_text_ends(name, length, extension) &&
                 dti_name_order_find(&order, name, length - EXTENSION, &at))
            status = dti_fail(reterr, DTI_BAD_INPUT,
                              "numpy could not tell tensor %s from the one without .npy",
                              dti_quote(quoted, name, length));
    }
    dti_name_order_free(&order);
    return status;
}

/* The file as far as it is laid out. */
struct npz_writing {
    struct dti_new_head *head;
    struct dti_zip_member *members;
    char *names; /* of the members */
    size_t count;
    uint64_t at;              /* where the next member begins */
    struct dti_buffer header; /* of an array */
};

static bool is_ascii(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] >= 0x80)
            return false;
    }
    return true;
}

static enum dti_status add_member(struct npz_writing *file, struct dti_new_tensor *tensor,
                                  struct dti_error *reterr)
{
    struct dti_buffer *const text = &file->head->text;
    struct dti_zip_member *const member = &file->members[file->count];
    struct dti_zip_sum *const sum = dti_zip_sums_of(file->head->sums, file->count);
    struct dti_head_piece *const piece = &file->head->pieces[file->count++];
    const size_t before = text->length;
    dti_buffer_clear(&file->header);
    const enum dti_status status = dti_npy_head(tensor, &file->header, reterr);
    if (status != DTI_OK)
        return status;
    memcpy(file->names, tensor->name, tensor->name_length);
    memcpy(file->names + tensor->name_length, extension, EXTENSION);
    *member = (struct dti_zip_member){
        .name = file->names,
        .name_length = tensor->name_length + EXTENSION,
        .method = DTI_ZIP_STORED,
        .flags = is_ascii(tensor->name, tensor->name_length) ? 0 : DTI_ZIP_UTF8,
        .packed = file->header.length + tensor->bytes,
        .size = file->header.length + tensor->bytes,
        .header = file->at,
    };
    file->names += member->name_length;
    sum->local = dti_zip_put_local(text, member);
    dti_buffer_append(text, file->header.data, file->header.length);
    *piece = (struct dti_head_piece){file->at, text->length - before};
    tensor->offset = file->at + piece->length;
    sum->head = dti_crc32(0, file->header.data, file->header.length);
    sum->begin = tensor->offset;
    if (!dti_add_u64(tensor->offset, tensor->bytes, &sum->end) || sum->end > INT64_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "the file would have 2^63 bytes or more");
    file->at = sum->end;
    return text->failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status add_directory(const struct npz_writing *file, uint64_t *ret_size,
                                     struct dti_error *reterr)
{
    struct dti_buffer *const text = &file->head->text;
    const size_t before = text->length;
    for (size_t i = 0; i < file->count; i++)
        dti_zip_sums_of(file->head->sums, i)->entry = dti_zip_put_entry(text, &file->members[i]);
    const size_t size = text->length - before;
    if (size > DTI_ZIP_DIRECTORY_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "the directory of the file would have %zu bytes, more than %d", size,
                        (int)DTI_ZIP_DIRECTORY_MAX);
    dti_zip_put_end(text, file->count, file->at, size);
    file->head->pieces[file->count] = (struct dti_head_piece){file->at, text->length - before};
    *ret_size = file->at + file->head->pieces[file->count].length;
    return text->failed ? dti_no_memory(reterr) : DTI_OK;
}

/* Room for what is counted by tensors. False: memory ran out. */
static bool begin(struct npz_writing *ret, struct dti_new_head *head,
                  const struct dti_new_tensor *tensors, size_t count)
{
    uint64_t names = 0;
    for (size_t i = 0; i < count; i++)
        names += tensors[i].name_length + EXTENSION; /* they are in memory */
    *ret = (struct npz_writing){.head = head};
    dti_buffer_init(&ret->header);
    head->pieces = calloc(count + 1, sizeof *head->pieces);
    head->sums = dti_zip_sums_new(count);
    head->count = count + 1;
    ret->members = calloc(count + 1, sizeof *ret->members);
    ret->names = names < SIZE_MAX ? malloc((size_t)names + 1) : NULL;
    return head->pieces && head->sums && ret->members && ret->names;
}

enum dti_status dti_npz_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr)
{
    (void)metadata;
    (void)metadata_count;
    struct npz_writing file;
    enum dti_status status = check_names(tensors, count, reterr);
    if (status != DTI_OK)
        return status;
    const bool begun = begin(&file, ret_head, tensors, count);
    char *const names = file.names;
    if (!begun)
        status = dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = add_member(&file, &tensors[i], reterr);
    if (status == DTI_OK)
        status = add_directory(&file, ret_size, reterr);
    free(names);
    free(file.members);
    dti_buffer_free(&file.header);
    return status;
}
