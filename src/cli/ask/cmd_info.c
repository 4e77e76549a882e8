/* SPDX-License-Identifier: MIT
 *
 * dtinfo info: finfo or iinfo, depending on the dtype. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/ask/answer_fields.h"
#include "cli/ask/info_forms.h"
#include "cli/shared/human.h"
#include "core/dtype/named_format.h"
#include "util/run/allocate.h"

static bool is_integer(const char *name)
{
    struct dti_format format;
    return dti_format_lookup(name, &format, NULL, NULL) == DTI_OK && dti_format_is_integer(&format);
}

/* What a format of others is, and the page of the dtype that comes close. */
static enum dti_status show_named(const struct dti_info_args *args, const char *name,
                                  const struct dti_named_format *named,
                                  struct dti_command_context *cx, struct dti_error *reterr)
{
    const char *const rows[][2] = {
        {"what", named->what}, {"here", named->here}, {"source", named->source}};
    char *near[1];
    dti_put_line(cx, DTI_STYLE_BOLD, 0, "%s   not a dtype here", name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        dti_put_line(cx, DTI_STYLE_PLAIN, 2, "%-8s%s", rows[i][0], rows[i][1]);
    if (!named->near || cx->quiet)
        return DTI_OK;
    char text[DTI_NAME_SIZE];
    (void)snprintf(text, sizeof text, "%s", named->near);
    near[0] = text;
    (void)fputc('\n', cx->out);
    return dti_command_find("finfo")->run(args, near, 1, cx, reterr);
}

/* The formats of others among the names; with JSON or fields they are unknown dtypes. */
static const struct dti_named_format *named_of(const struct dti_info_args *args, const char *name,
                                               const struct dti_command_context *cx)
{
    return cx->output == DTI_OUTPUT_HUMAN && !args->field && !args->style_given
               ? dti_named_format_find(name)
               : NULL;
}

/* Shows the dtypes in order; adjacent dtypes of one kind go to one command. */
static enum dti_status show(const struct dti_info_args *args, char **names, size_t count,
                            struct dti_command_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK;
         i++) { /* validated before anything is printed */
        if (!named_of(args, names[i], cx))
            status = dti_format_lookup(names[i], &(struct dti_format){.width = 0}, NULL, reterr);
    }
    for (size_t first = 0, end; first < count && status == DTI_OK; first = end) {
        const bool integer = is_integer(names[first]);
        const struct dti_named_format *const named = named_of(args, names[first], cx);
        for (end = first + 1; end < count && is_integer(names[end]) == integer && !named &&
                              !named_of(args, names[end], cx);)
            end++;
        if (end - first < count && cx->output == DTI_OUTPUT_JSON)
            return dti_fail(reterr, DTI_USAGE,
                            "one JSON document holds floats or integers, not both; use --jsonl, or "
                            "give dtypes of one kind");
        if (first > 0 && cx->output == DTI_OUTPUT_HUMAN && !cx->quiet && !args->field)
            (void)fputc('\n', cx->out);
        if (named) {
            status = show_named(args, names[first], named, cx, reterr);
            continue;
        }
        const struct dti_command *const command = dti_command_find(integer ? "iinfo" : "finfo");
        status = command->run(args, names + first, (int)(end - first), cx, reterr);
    }
    return status;
}

static enum dti_status run_info(const void *args, char **operands, int operand_count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_info_args info = *(const struct dti_info_args *)args;
    size_t count = 0;
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "missing DTYPE, as in 'dtinfo info bf16'; 'dtinfo list' shows all dtypes");
    enum dti_status status =
        dti_fields_wanted(cx, info.field, NULL, operands, &operand_count, &info.field, reterr);
    if (status != DTI_OK)
        return status;
    char **const names = dti_dtype_words(operands, operand_count, &count);
    if (!names)
        return dti_no_memory(reterr);
    status = show(&info, names, count, cx, reterr);
    dti_free(names);
    return status;
}

const struct dti_command dti_command_info = {
    .name = "info",
    .group = "ask",
    .summary = "limits of any dtype: finfo or iinfo",
    .synopsis = "DTYPE...",
    .details =
        "Floats are shown as by 'dtinfo finfo', integers as by 'dtinfo iinfo'. Of formats that\n"
        "are no dtypes here, such as dlfloat16, it says what they are and what comes close.",
    .examples = "dtinfo info bf16\n"
                "dtinfo info fp16 int8\n"
                "dtinfo info uint64 --json",
    .schema = "dtinfo.finfo/1",
    .other_schemas = {"dtinfo.iinfo/1"},
    .operands = DTI_OPERANDS_DTYPES,
    .options = dti_info_options + 1, /* skips --all, the first row */
    .args_size = sizeof(struct dti_info_args),
    .run = run_info,
};
