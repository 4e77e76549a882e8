/* SPDX-License-Identifier: MIT
 *
 * Types of tensors by their whole names: see named_types.h. There may be a million of them, so
 * they are sorted. */
#include "files/stored/named_types.h"

#include <stdlib.h>
#include <string.h>

#include "util/run/allocate.h"

static int compare(const void *a, const void *b)
{
    const struct dti_named_type *const one = a, *const other = b;
    const size_t shorter = one->length < other->length ? one->length : other->length;
    const int names = memcmp(one->name, other->name, shorter);
    return names != 0 ? names : (one->length > other->length) - (one->length < other->length);
}

size_t dti_named_types_sort(struct dti_named_types *types)
{
    size_t twice = types->count;
    if (types->count > 0)
        qsort(types->list, types->count, sizeof *types->list, compare);
    for (size_t i = types->count; i-- > 1;)
        twice = compare(&types->list[i - 1], &types->list[i]) == 0 ? i : twice;
    return twice;
}

const struct dti_named_type *dti_named_type_of(const struct dti_named_types *types,
                                               const struct dti_tensor *tensor)
{
    const struct dti_named_type wanted = {.name = tensor->name, .length = tensor->name_length};
    return types->count == 0
               ? NULL
               : bsearch(&wanted, types->list, types->count, sizeof *types->list, compare);
}

enum dti_status dti_named_types_check(const struct dti_named_types *types,
                                      const struct dti_container *container,
                                      struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE], source[DTI_QUOTE_SIZE] = "the plan";
    bool *const seen = dti_calloc(types->count + 1, sizeof *seen);
    if (!seen)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_named_type *const found = dti_named_type_of(types, &container->tensors[i]);
        if (found)
            seen[found - types->list] = true;
    }
    size_t at = 0;
    while (at < types->count && seen[at])
        at++;
    dti_free(seen);
    if (at == types->count)
        return DTI_OK;
    if (types->source)
        (void)dti_quote(source, types->source, strlen(types->source));
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s is of another model: it names tensor %s, which the file does not have",
                    source, dti_quote(name, types->list[at].name, types->list[at].length));
}
