/* SPDX-License-Identifier: MIT
 *
 * Reading operands that are dtypes, and the errors that belong to them. */
#include "cli/shared/dtype_operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t dti_dtype_words(char **operands, int operand_count)
{
    size_t count = 0;
    for (int i = 0; i < operand_count; i++) {
        count++;
        for (const char *p = strchr(operands[i], ','); p; p = strchr(p + 1, ','))
            count++;
    }
    return count;
}

enum dti_status dti_dtype_operand_read(const char *name, dti_dtype_check *check,
                                       const struct dti_context *cx, struct dti_dtype_operand *ret,
                                       struct dti_error *reterr)
{
    enum dti_status status = dti_format_lookup(name, &ret->format, &ret->note, reterr);
    if (status != DTI_OK)
        return status;
    status = check ? check(&ret->format, reterr) : DTI_OK;
    if (status != DTI_OK) {
        dti_error_argument(reterr, name, strlen(name));
        return status;
    }
    if (ret->note)
        dti_warn(cx, "%s", ret->note);
    return DTI_OK;
}

enum dti_status dti_dtype_operands_read(char **operands, int operand_count, dti_dtype_check *check,
                                        const struct dti_context *cx,
                                        struct dti_dtype_operand **ret_list, size_t *ret_count,
                                        struct dti_error *reterr)
{
    size_t capacity =
        operand_count > 0 ? dti_dtype_words(operands, operand_count) : DTI_DTYPE_COUNT;
    struct dti_dtype_operand *list = calloc(capacity, sizeof *list);
    size_t count = 0;
    if (!list)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");

    for (unsigned id = 0; id < DTI_DTYPE_COUNT && operand_count == 0; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        if (check(format, NULL) == DTI_OK)
            list[count++].format = *format;
    }
    for (int i = 0; i < operand_count; i++) {
        char *comma;
        for (char *name = operands[i]; name; name = comma ? comma + 1 : NULL) {
            comma = strchr(name, ',');
            if (comma)
                *comma = '\0';
            enum dti_status status = dti_dtype_operand_read(name, check, cx, &list[count], reterr);
            if (status != DTI_OK) {
                free(list);
                return status;
            }
            count++;
        }
    }
    *ret_list = list;
    *ret_count = count;
    return DTI_OK;
}

enum dti_status dti_dtype_wrong_kind(const struct dti_format *format, const char *what,
                                     const char *command, struct dti_error *reterr)
{
    char remedy[DTI_NAME_SIZE + 32];
    (void)snprintf(remedy, sizeof remedy, "dtinfo %s %s", command, format->name);
    (void)dti_fail(reterr, DTI_WRONG_KIND, "%s is %s; use '%s'", format->name, what, remedy);
    dti_error_suggest(reterr, remedy);
    return DTI_WRONG_KIND;
}

const char *dti_dtype_name_in(const struct dti_format *format, enum dti_system system)
{
    for (size_t i = 0; i < dti_dtype_name_count && format->id != DTI_NONE; i++) {
        if (dti_dtype_names[i].dtype == format->id && dti_dtype_names[i].system == system)
            return dti_dtype_names[i].name;
    }
    return NULL;
}

enum dti_status dti_dtype_not_there(const struct dti_format *format, const char *where,
                                    dti_dtype_filter *is_there, struct dti_error *reterr)
{
    char list[384] = "";
    size_t length = 0;
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *row = dti_format_get((enum dti_dtype)id);
        if (!is_there(row) || length + DTI_NAME_SIZE + 2 > sizeof list)
            continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   length > 0 ? ", " : "", row->name);
    }
    return dti_fail(reterr, DTI_WRONG_KIND, "%s has no %s; it has %s", where, format->name, list);
}
