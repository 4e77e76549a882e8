/* SPDX-License-Identifier: MIT
 *
 * Numbers or files: see file_operands.h. */
#include "cli/shared/file_operands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/cast.h"
#include "dtinfo/input.h"
#include "dtinfo/nearest.h"

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
    struct stat file = {0};
    return strcmp(operand, "-") != 0 && stat(operand, &file) == 0 && !S_ISDIR(file.st_mode);
}

enum dti_status dti_no_such_file(const char *path, int cause, struct dti_error *reterr)
{
    struct dti_format format;
    const bool dtype =
        dti_block_lookup(path) || dti_format_lookup(path, &format, NULL, NULL) == DTI_OK;
    if (cause == ENOENT && dtype)
        return dti_fail_word(reterr, DTI_USAGE, path, strlen(path),
                             "%s is a dtype where a value or a file should be; the dtype comes "
                             "last",
                             DTI_QUOTED(path, strlen(path)));
    return dti_input_fail(&(struct dti_input){.name = path}, cause, reterr);
}

enum dti_status dti_operand_needs_from(const char *path, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    if (strcmp(path, "-") == 0)
        (void)dti_fail(reterr, DTI_USAGE,
                       "what standard input holds must be said: --from fp32 (or another dtype) or "
                       "--from text; safetensors, npy and their like are read from files");
    else
        (void)dti_fail(reterr, DTI_USAGE,
                       "%s is a file; say what it holds: --from fp32 (or another dtype) or --from "
                       "text",
                       dti_quote(quoted, path, strlen(path)));
    dti_error_argument(reterr, path, strlen(path));
    return DTI_USAGE;
}

/* "./70000", "/data/in.bin": nobody means a number. A quotient such as 1/x begins otherwise. */
static bool looks_like_path(const char *operand)
{
    return operand[0] == '/' || strncmp(operand, "./", 2) == 0 || strncmp(operand, "../", 3) == 0;
}

/* 0 where it is there; *ret_folder: and what. */
static int find(const char *operand, bool *ret_folder)
{
    struct stat file = {0};
    const int cause = stat(operand, &file) != 0 ? errno : 0;
    *ret_folder = cause == 0 && S_ISDIR(file.st_mode);
    return cause;
}

void dti_operand_hint(const char *operand, struct dti_error *error)
{
    bool folder;
    if (error->status != DTI_BAD_VALUE || strcmp(operand, "-") == 0)
        return;
    const int cause = find(operand, &folder);
    if (cause == 0 && !folder)
        (void)dti_operand_needs_from(operand, error);
    else if (cause != 0 && (looks_like_path(operand) || dti_input_there(operand) != ENOENT))
        (void)dti_no_such_file(operand, cause, error);
}

enum dti_status dti_operand_refuse_file(const char *operand, struct dti_error *reterr)
{
    bool folder;
    if (strcmp(operand, "-") == 0)
        return DTI_OK;
    const int cause = find(operand, &folder);
    if (cause == 0 && !folder)
        return dti_operand_needs_from(operand, reterr);
    if (cause != 0 && !dti_operand_is_number(operand))
        return dti_no_such_file(operand, cause, reterr);
    return DTI_OK;
}
