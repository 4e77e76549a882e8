/* SPDX-License-Identifier: MIT
 *
 * Dtypes between commas: see cast_list.h. */
#include "requests/cast_list.h"

#include <string.h>

static enum dti_status add_cast(struct dti_cast_list *list, const char *text, size_t length,
                                const struct dti_asker *asker, struct dti_error *reterr)
{
    char name[64];
    struct dti_dtype_operand operand;
    if (length >= sizeof name || list->count == DTI_CAST_LIST)
        return dti_fail_word(reterr, DTI_USAGE, text, length, "--as takes up to %d dtypes; got %s",
                             DTI_CAST_LIST, DTI_QUOTED(text, length));
    memcpy(name, text, length);
    name[length] = '\0';
    const enum dti_status status = dti_asker_dtype(asker, name, &operand, reterr);
    if (status != DTI_OK)
        return status;
    if (operand.format.kind == DTI_KIND_COMPLEX)
        return dti_fail_word(reterr, DTI_WRONG_KIND, text, length,
                             "--as takes real dtypes; %s is complex", operand.format.name);
    list->dtypes[list->count++] = operand.format;
    if (operand.note)
        list->notes[list->note_count++] = operand.note;
    return DTI_OK;
}

enum dti_status dti_cast_list_read(struct dti_cast_list *ret, const char *text,
                                   const struct dti_asker *asker, struct dti_reading *reading,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    ret->count = ret->note_count = 0;
    for (const char *name = text; name && status == DTI_OK; name = strchr(name, ',')) {
        name += name > text; /* skips the comma */
        status = add_cast(ret, name, strcspn(name, ","), asker, reterr);
    }
    reading->as = ret->dtypes;
    reading->as_count = ret->count;
    return status;
}
