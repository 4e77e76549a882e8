/* SPDX-License-Identifier: MIT
 *
 * Operands: dtypes, and numbers or files; and the errors that belong to them. */
#include "cli/shared/operand_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/cast/cast.h"
#include "cli/shell/hints.h"
#include "io/input.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

char **dti_dtype_words(char **operands, int operand_count, size_t *ret_count)
{
    size_t count = 0;
    for (int i = 0; i < operand_count; i++) {
        count++;
        for (const char *p = strchr(operands[i], ','); p; p = strchr(p + 1, ','))
            count++;
    }
    char **const names = dti_calloc(count > 0 ? count : 1, sizeof *names);
    if (!names)
        return NULL;
    count = 0;
    for (int i = 0; i < operand_count; i++) {
        for (char *name = operands[i], *comma; name; name = comma ? comma + 1 : NULL) {
            comma = strchr(name, ',');
            if (comma)
                *comma = '\0';
            names[count++] = name;
        }
    }
    *ret_count = count;
    return names;
}

enum dti_status dti_dtype_operand_read(const char *name, dti_dtype_check *check,
                                       const struct dti_command_context *cx,
                                       struct dti_dtype_operand *ret, struct dti_error *reterr)
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
                                        const struct dti_command_context *cx,
                                        struct dti_dtype_operand **ret_list, size_t *ret_count,
                                        struct dti_error *reterr)
{
    size_t words, count = 0;
    char **const names = dti_dtype_words(operands, operand_count, &words);
    if (!names)
        return dti_no_memory(reterr);
    struct dti_dtype_operand *const list =
        dti_calloc(words > 0 ? words : DTI_DTYPE_COUNT, sizeof *list);
    enum dti_status status = list ? DTI_OK : dti_no_memory(reterr);

    for (unsigned id = 0; id < DTI_DTYPE_COUNT && operand_count == 0 && list; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        if (check(format, NULL) == DTI_OK)
            list[count++].format = *format;
    }
    for (; count < words && status == DTI_OK; count += status == DTI_OK)
        status = dti_dtype_operand_read(names[count], check, cx, &list[count], reterr);
    dti_free(names);
    if (status != DTI_OK) {
        dti_free(list);
        return status;
    }
    *ret_list = list;
    *ret_count = count;
    return DTI_OK;
}

enum dti_status dti_table_without_p3109(const struct dti_command_context *cx,
                                        struct dti_table *table, size_t hidden, size_t indent,
                                        struct dti_error *reterr)
{
    const enum dti_status status = dti_put_table(cx, table, indent, reterr);
    if (status == DTI_OK && hidden > 0)
        dti_put_line(cx, DTI_STYLE_DIM, indent, "%zu P3109 formats are not shown: --all", hidden);
    return status;
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

bool dti_operand_is_number(const char *operand)
{
    struct dti_cast_operand number;
    struct dti_error ignored;
    if (dti_cast_operand_parse(&number, operand, strlen(operand), 0, &ignored) != DTI_OK)
        return false;
    dti_cast_operand_free(&number);
    return true;
}

bool dti_operand_is_file(const char *operand)
{
    enum dti_input_kind kind;
    return strcmp(operand, "-") != 0 && dti_input_find(operand, &kind) == 0 &&
           kind != DTI_INPUT_FOLDER;
}

enum dti_status dti_no_such_file(const char *path, int cause, struct dti_error *reterr)
{
    struct dti_format format;
    const bool dtype =
        dti_block_lookup(path) || dti_format_lookup(path, &format, NULL, NULL) == DTI_OK;
    if (cause == ENOENT && dtype)
        return dti_fail_word(reterr, DTI_USAGE, path, strlen(path),
                             "expected a value or a file, got the dtype %s; the dtype comes last",
                             DTI_QUOTED(path, strlen(path)));
    return dti_input_fail(&(struct dti_input){.name = path}, cause, reterr);
}

enum dti_status dti_operand_needs_from(const char *path, struct dti_error *reterr)
{
    if (strcmp(path, "-") == 0)
        return dti_fail_word(
            reterr, DTI_USAGE, path, 1,
            "the dtype of standard input is missing; give --from fp32 (or another dtype) or --from "
            "text; safetensors, npy and similar formats are read from files");
    return dti_fail_word(
        reterr, DTI_USAGE, path, strlen(path),
        "%s is a file without a known format; give --from fp32 (or another dtype) or --from text",
        DTI_QUOTED(path, strlen(path)));
}

/* "./70000", "/data/in.bin": not a number. A quotient such as 1/x begins otherwise. */
static bool looks_like_path(const char *operand)
{
    return operand[0] == '/' || strncmp(operand, "./", 2) == 0 || strncmp(operand, "../", 3) == 0;
}

void dti_operand_hint(const char *operand, struct dti_error *error)
{
    enum dti_input_kind kind;
    if (error->status != DTI_BAD_VALUE || strcmp(operand, "-") == 0)
        return;
    const int cause = dti_input_find(operand, &kind);
    if (cause == 0 && kind != DTI_INPUT_FOLDER)
        (void)dti_operand_needs_from(operand, error);
    else if (cause != 0 && (looks_like_path(operand) || dti_input_there(operand) != ENOENT))
        (void)dti_no_such_file(operand, cause, error);
    else if (strpbrk(operand, "([") && dti_hint_is_expression(operand))
        (void)dti_fail_word(error, DTI_BAD_VALUE, operand, strlen(operand),
                            "%s is an expression, not a number; 'dtinfo calc' computes it",
                            DTI_QUOTED(operand, strlen(operand)));
}

enum dti_status dti_operand_refuse_file(const char *operand, struct dti_error *reterr)
{
    enum dti_input_kind kind;
    if (strcmp(operand, "-") == 0)
        return DTI_OK;
    const int cause = dti_input_find(operand, &kind);
    if (cause == 0 && kind != DTI_INPUT_FOLDER)
        return dti_operand_needs_from(operand, reterr);
    if (cause != 0 && !dti_operand_is_number(operand))
        return dti_no_such_file(operand, cause, reterr);
    return DTI_OK;
}
