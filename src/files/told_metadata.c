/* SPDX-License-Identifier: MIT
 *
 * Entries about tensors, apart from the others. */
#include "files/told_metadata.h"

#include <stdlib.h>
#include <string.h>

enum { KEY = sizeof DTI_QUANT_KEY - 1 };

bool dti_is_told(const struct dti_metadata *entry)
{
    return entry->key_length > KEY && memcmp(entry->key, DTI_QUANT_KEY, KEY) == 0;
}

bool dti_told_metadata_init(struct dti_told_metadata *ret, struct dti_metadata *entries,
                            size_t count)
{
    size_t common = 0, told = 0;
    *ret = (struct dti_told_metadata){.entries = entries, .count = count};
    ret->chosen = calloc(count + 1, sizeof *ret->chosen);
    if (!ret->chosen || !dti_name_order_init(&ret->told, count))
        return false;
    for (size_t i = 0; i < count; i++) { /* chosen: room for those that come last */
        if (dti_is_told(&entries[i]))
            ret->chosen[told++] = entries[i];
        else
            entries[common++] = entries[i];
    }
    memcpy(entries + common, ret->chosen, told * sizeof *entries);
    ret->common = common;
    for (size_t i = common; i < count; i++)
        dti_name_order_add(&ret->told, entries[i].key + KEY, entries[i].key_length - KEY);
    dti_name_order_sort(&ret->told);
    memcpy(ret->chosen, entries, common * sizeof *entries);
    return true;
}

void dti_told_metadata_free(struct dti_told_metadata *metadata)
{
    free(metadata->entries);
    free(metadata->chosen);
    dti_name_order_free(&metadata->told);
}

const struct dti_metadata *dti_told_metadata_of(struct dti_told_metadata *metadata,
                                                const struct dti_new_tensor *tensors, size_t count,
                                                size_t *ret_count)
{
    static const char packed[] = "_packed";
    const size_t cut = sizeof packed - 1;
    size_t chosen = metadata->common, at;
    for (size_t i = 0; i < count; i++) {
        const char *const name = tensors[i].name;
        const size_t length = tensors[i].name_length;
        if (dti_name_order_find(&metadata->told, name, length, &at) ||
            (length > cut && memcmp(name + length - cut, packed, cut) == 0 &&
             dti_name_order_find(&metadata->told, name, length - cut, &at)))
            metadata->chosen[chosen++] = metadata->entries[metadata->common + at];
    }
    *ret_count = chosen;
    return metadata->chosen;
}
