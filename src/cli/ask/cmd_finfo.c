/* SPDX-License-Identifier: MIT
 *
 * dtinfo finfo: the limits of float dtypes. */
#include <stdlib.h>

#include "cli/ask/info_forms.h"
#include "cli/shell/command.h"

static enum dti_status takes(const struct dti_format *format, struct dti_error *reterr)
{
    if (dti_format_is_float(format) || format->kind == DTI_KIND_COMPLEX)
        return DTI_OK;
    const char *what = format->kind == DTI_KIND_BOOL ? "no float dtype" : "an integer dtype";
    return dti_dtype_wrong_kind(format, what, "iinfo", reterr);
}

static enum dti_status takes_for_all(const struct dti_format *format, struct dti_error *reterr)
{
    return format->kind == DTI_KIND_COMPLEX ? DTI_WRONG_KIND : takes(format, reterr);
}

static enum dti_status run(const void *args_, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    const struct dti_info_args *args = args_;
    struct dti_dtype_operand *list = NULL;
    size_t count = 0;
    bool all = operand_count == 0;
    enum dti_status status = dti_dtype_operands_read(
        operands, operand_count, all ? takes_for_all : takes, cx, &list, &count, reterr);
    if (status != DTI_OK)
        return status;
    if (args->style_given)
        status = dti_finfo_in_style((enum dti_info_style)args->style, list, count, all, cx, reterr);
    else if (cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, finfo, (&(struct dti_dtypes_answer){list, count}), reterr);
    else if (all)
        status = dti_finfo_table(list, count, cx, reterr);
    else
        status = dti_finfo_human(list, count, cx, reterr);
    free(list);
    return status;
}

const struct dti_command dti_command_finfo = {
    .name = "finfo",
    .group = "ask",
    .summary = "float limits",
    .synopsis = "[DTYPE...]",
    .details =
        "Without operands: all float dtypes, one line each. -v adds what the block leaves out.",
    .examples = "dtinfo finfo bf16\n"
                "dtinfo finfo fp16 e4m3fn e5m10b3\n"
                "dtinfo finfo\n"
                "dtinfo finfo float16 --style torch\n"
                "dtinfo finfo fp8_e5m2 --json",
    .schema = "dtinfo.finfo/1",
    .operands = DTI_OPERANDS_DTYPES,
    .options = dti_info_options,
    .args_size = sizeof(struct dti_info_args),
    .run = run,
};
