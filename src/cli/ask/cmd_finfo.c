/* SPDX-License-Identifier: MIT
 *
 * dtinfo finfo: the limits of float dtypes. */
#include "cli/ask/info_forms.h"

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

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    static const struct dti_info info = {false, takes, takes_for_all, dti_finfo_human,
                                         dti_document_finfo};
    return dti_info_run(&info, args, operands, operand_count, cx, reterr);
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
