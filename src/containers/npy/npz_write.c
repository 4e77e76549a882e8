/* SPDX-License-Identifier: MIT
 *
 * Writes .npz files like numpy.savez(), with one stored .npy member per tensor, except that all
 * data are aligned. */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/name_order.h"
#include "containers/npy/npy.h"
#include "containers/npy/npz.h"
#include "containers/zip/zip_write.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

static const char extension[] = ".npy";
enum { EXTENSION = sizeof extension - 1, NAME_MAX_BYTES = 0xFFFF };

/* Whether a path component is "..". */
static bool leads_up(const char *name, size_t length)
{
    for (size_t at = 0, dots = 0; at <= length; at++) {
        if (at < length && name[at] != '/') {
            dots = name[at] == '.' && dots < 3 ? dots + 1 : 3; /* 3: anything else */
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

/* numpy treats 'x.npy' as the member name of 'x', so the two must not both occur. */
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

/* names: buffer for the member's name; advanced past it. */
static enum dti_status add_member(struct dti_zip_writing *file, struct dti_new_tensor *tensor,
                                  struct dti_buffer *header, char **names, struct dti_error *reterr)
{
    char *const name = *names;
    dti_buffer_clear(header);
    const enum dti_status status = dti_npy_head(tensor, header, reterr);
    if (status != DTI_OK)
        return status;
    memcpy(name, tensor->name, tensor->name_length);
    memcpy(name + tensor->name_length, extension, EXTENSION);
    *names += tensor->name_length + EXTENSION;
    return dti_zip_add(file, name, tensor->name_length + EXTENSION, header, tensor->bytes,
                       &tensor->offset, reterr);
}

/* Allocates room for all member names; NULL: out of memory. */
static char *room_for_names(const struct dti_new_tensor *tensors, size_t count)
{
    uint64_t names = 0;
    for (size_t i = 0; i < count; i++)
        names += tensors[i].name_length + EXTENSION; /* no overflow: they are in memory */
    return names < SIZE_MAX ? dti_malloc((size_t)names + 1) : NULL;
}

enum dti_status dti_npz_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr)
{
    (void)metadata;
    (void)metadata_count;
    struct dti_zip_writing file;
    struct dti_buffer header; /* of an array */
    enum dti_status status = check_names(tensors, count, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&header);
    char *const names = room_for_names(tensors, count), *next = names;
    status = dti_zip_begin(&file, ret_head, count, reterr);
    if (status == DTI_OK && !names)
        status = dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = add_member(&file, &tensors[i], &header, &next, reterr);
    if (status == DTI_OK)
        status = dti_zip_finish(&file, ret_size, reterr);
    dti_free(names);
    dti_zip_writing_free(&file);
    dti_buffer_free(&header);
    return status;
}
