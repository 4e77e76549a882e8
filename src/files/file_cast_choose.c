/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a file are written, and which of those are cast. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/glob.h"
#include "files/file_cast_parts.h"

static bool fits(const char *list, const struct dti_tensor *tensor)
{
    return list && dti_glob_list_match(list, tensor->name, tensor->name_length);
}

/* A pattern that fits nothing is most likely misspelt. */
static void warn_of_idle_patterns(const struct dti_file_cast *cast, const char *option,
                                  const char *list)
{
    const struct dti_file_cast_request *const request = &cast->request;
    char quoted[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 64];
    for (const char *at = list; at && request->warn;) {
        const size_t length = dti_glob_list_item(at);
        bool used = false;
        for (size_t i = 0; i < cast->container->tensor_count && !used; i++) {
            const struct dti_tensor *const tensor = &cast->container->tensors[i];
            used = dti_glob_match(at, length, tensor->name, tensor->name_length);
        }
        if (!used) {
            (void)snprintf(text, sizeof text, "%s %s fits no tensor", option,
                           dti_quote(quoted, at, length));
            request->warn(request->warn_context, "idle_pattern", text);
        }
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
}

static enum dti_fate fate_of(const struct dti_file_cast_request *request,
                             const struct dti_tensor *tensor)
{
    const struct dti_format *const format = tensor->format;
    if (fits(request->keep, tensor))
        return DTI_FATE_KEEP;
    if (request->only && !fits(request->only, tensor))
        return DTI_FATE_ONLY;
    if (format->kind == DTI_KIND_COMPLEX)
        return DTI_FATE_COMPLEX;
    if (dti_format_is_integer(format) && !request->ints)
        return DTI_FATE_INTEGER;
    /* in every stack a cast to the same dtype returns the tensor as it is */
    if (request->rule && format->id < DTI_DTYPE_COUNT && format->id == request->cast.dst.id)
        return DTI_FATE_SAME;
    const struct dti_request plan = {.src = *format, .cast = request->cast, .rule = request->rule};
    return dti_request_is_copy(&plan) ? DTI_FATE_SAME : DTI_FATE_CAST;
}

/* Names the first of the tensors whose values are out of reach, and says how many there are. */
static enum dti_status refuse_unreadable(const struct dti_file_cast *cast, size_t first,
                                         size_t count, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &cast->container->tensors[first];
    const bool rest = cast->container->tensor_count > count;
    char place[DTI_FILE_CAST_PLACE], such[48] = "", why[DTI_QUOTE_SIZE];
    if (tensor->refusal)
        (void)snprintf(why, sizeof why, "%s", tensor->refusal);
    else
        (void)snprintf(why, sizeof why, "holds %s, which is not read", tensor->stored_as);
    if (count > 1)
        (void)snprintf(such, sizeof such, " (%zu such tensors)", count);
    const bool advised = strchr(why, ';') != NULL;
    return dti_fail(reterr, DTI_BAD_INPUT, "%s %s%s%s", dti_file_cast_place(cast, first, place),
                    why, advised ? "" : such,
                    rest && !advised ? "; --select writes the others" : "");
}

static enum dti_status refuse_selection(const struct dti_file_cast *cast, struct dti_error *reterr)
{
    const char *const list = cast->request.select;
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE, "--select %s fits none of %zu tensors",
                   dti_quote(quoted, list, strlen(list)), cast->container->tensor_count);
    dti_error_argument(reterr, list, strlen(list));
    return DTI_USAGE;
}

/* Said once, where otherwise nothing would seem to have happened. */
static void warn_of_no_cast(const struct dti_file_cast *cast)
{
    const struct dti_file_cast_request *const request = &cast->request;
    bool integers = cast->tensor_count > 0;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        if (cast->tensors[i].fate == DTI_FATE_SAME)
            return;
        integers = integers && cast->tensors[i].fate == DTI_FATE_INTEGER;
    }
    if (request->warn && cast->tensor_count > 0 && cast->cast_count == 0)
        request->warn(request->warn_context, "nothing_cast",
                      integers ? "nothing is cast: there are integers alone; --ints casts them"
                               : "nothing is cast: all tensors keep their dtypes");
}

enum dti_status dti_file_cast_choose(struct dti_file_cast *cast, struct dti_error *reterr)
{
    const struct dti_container *const container = cast->container;
    const struct dti_file_cast_request *const request = &cast->request;
    size_t unreadable = 0, first = 0;
    cast->tensors = calloc(container->tensor_count + 1, sizeof *cast->tensors);
    if (!cast->tensors)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (request->select && !fits(request->select, tensor))
            continue;
        if (!tensor->format || tensor->refusal) {
            first = unreadable++ == 0 ? i : first;
            continue;
        }
        struct dti_file_cast_tensor *const chosen = &cast->tensors[cast->tensor_count++];
        chosen->source = i;
        chosen->fate = fate_of(request, tensor);
        cast->cast_count += chosen->fate == DTI_FATE_CAST;
    }
    if (unreadable > 0)
        return refuse_unreadable(cast, first, unreadable, reterr);
    if (request->select && cast->tensor_count == 0)
        return refuse_selection(cast, reterr);
    warn_of_idle_patterns(cast, "--select", request->select);
    warn_of_idle_patterns(cast, "--only", request->only);
    warn_of_idle_patterns(cast, "--keep", request->keep);
    warn_of_no_cast(cast);
    return DTI_OK;
}
