/* SPDX-License-Identifier: MIT
 *
 * Tensors chosen by patterns, named in messages, put into order. */
#include "files/tensor_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/glob.h"
#include "dtinfo/transpose.h"

bool dti_tensor_fits(const char *list, const struct dti_tensor *tensor)
{
    return list && dti_glob_list_match(list, tensor->name, tensor->name_length);
}

static void warn_of_list(const struct dti_idle_patterns *idle, enum dti_remedy remedy,
                         const char *list)
{
    char quoted[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 64];
    for (const char *at = list; at && idle->warn;) {
        const size_t length = dti_glob_list_item(at);
        bool used = false;
        for (size_t i = 0; i < idle->container->tensor_count && !used; i++) {
            const struct dti_tensor *const tensor = &idle->container->tensors[i];
            used = dti_glob_match(at, length, tensor->name, tensor->name_length);
        }
        used = used || (idle->fits && idle->fits(idle->fits_context, at, length));
        if (!used) {
            (void)snprintf(text, sizeof text, "%s fits no tensor", dti_quote(quoted, at, length));
            const struct dti_note note = {.code = "idle_pattern", .text = text, .remedy = remedy};
            idle->warn(idle->warn_context, &note);
        }
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
}

void dti_warn_idle_choices(const struct dti_idle_patterns *idle, const char *select,
                           const char *only, const char *keep)
{
    warn_of_list(idle, DTI_REMEDY_CORRECT_SELECT, select);
    warn_of_list(idle, idle->correct_only, only);
    warn_of_list(idle, DTI_REMEDY_CORRECT_KEEP, keep);
}

/* Names the first of `count` tensors whose values are out of reach. */
static enum dti_status refuse_unreadable(const struct dti_container *container, size_t first,
                                         size_t count, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &container->tensors[first];
    const bool rest = container->tensor_count > count;
    char place[DTI_TENSOR_PLACE], such[48] = "", why[DTI_QUOTE_SIZE];
    if (tensor->refusal)
        (void)snprintf(why, sizeof why, "%s", tensor->refusal);
    else
        (void)snprintf(why, sizeof why, "holds %s, which is not read", tensor->stored_as);
    if (count > 1)
        (void)snprintf(such, sizeof such, " (%zu such tensors)", count);
    const bool advised = tensor->remedy != DTI_REMEDY_NONE;
    enum dti_remedy remedy = tensor->remedy;
    if (!advised && tensor->block)
        remedy = rest ? DTI_REMEDY_DEQUANTIZE_OR_SELECT : DTI_REMEDY_DEQUANTIZE;
    else if (!advised && rest)
        remedy = DTI_REMEDY_SELECT_OTHERS;
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, remedy, "%s %s%s",
                           dti_tensor_place(container, first, place), why, advised ? "" : such);
}

static enum dti_status refuse_selection(const struct dti_container *container, const char *list,
                                        struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_CORRECT_SELECT,
                          "%s fits none of %zu tensors", dti_quote(quoted, list, strlen(list)),
                          container->tensor_count);
    dti_error_argument(reterr, list, strlen(list));
    return DTI_USAGE;
}

enum dti_status dti_choose_tensors(const struct dti_container *container, const char *select,
                                   size_t **ret_places, size_t *ret_count, struct dti_error *reterr)
{
    size_t unreadable = 0, first = 0, count = 0;
    size_t *const places = calloc(container->tensor_count + 1, sizeof *places);
    if (!places)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (select && !dti_tensor_fits(select, tensor))
            continue;
        if (!tensor->format || tensor->refusal)
            first = unreadable++ == 0 ? i : first;
        else
            places[count++] = i;
    }
    enum dti_status status = DTI_OK;
    if (unreadable > 0)
        status = refuse_unreadable(container, first, unreadable, reterr);
    else if (select && count == 0)
        status = refuse_selection(container, select, reterr);
    if (status != DTI_OK) {
        free(places);
        return status;
    }
    *ret_places = places;
    *ret_count = count;
    return DTI_OK;
}

const char *dti_tensor_place(const struct dti_container *container, size_t tensor,
                             char buffer[DTI_TENSOR_PLACE])
{
    const struct dti_tensor *const named = &container->tensors[tensor];
    char label[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    dti_input_label(&container->files[named->file].input, label);
    dti_quote(name, named->name, named->name_length);
    (void)snprintf(buffer, DTI_TENSOR_PLACE, "%s: tensor %s", label, name);
    return buffer;
}

void dti_tensor_blame(const struct dti_container *container, size_t tensor,
                      struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    if (!reterr)
        return;
    const struct dti_error error = *reterr;
    (void)dti_fail_remedy(reterr, error.status, error.remedy, "%s: %s",
                          dti_tensor_place(container, tensor, place), error.text);
    dti_error_argument(reterr, error.argument, strlen(error.argument));
}

/* Bytes of an element in its file, for moving it about: a multiple of 8 bits. */
static size_t item_bytes(const struct dti_tensor *tensor)
{
    if (tensor->format->kind == DTI_KIND_COMPLEX)
        return 2 * dti_format_container(dti_format_get(tensor->format->component));
    return dti_format_container(tensor->format);
}

enum dti_status dti_tensor_reorder(const struct dti_tensor *tensor, const struct dti_input *input,
                                   uint64_t offset, uint64_t max_memory, struct dti_input *ret,
                                   struct dti_error *reterr)
{
    return dti_transpose(input, offset, tensor->rank, tensor->shape, item_bytes(tensor), max_memory,
                         ret, reterr);
}
