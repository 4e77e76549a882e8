/* SPDX-License-Identifier: MIT
 *
 * dtinfo iinfo: the range of integer dtypes. */
#include "cli/ask/info_forms.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "report/table.h"

static enum dti_status takes(const struct dti_format *format, struct dti_error *reterr)
{
    if (dti_format_is_integer(format))
        return DTI_OK;
    const char *what = format->kind == DTI_KIND_COMPLEX ? "a complex dtype" : "a float dtype";
    return dti_dtype_wrong_kind(format, what, "finfo", reterr);
}

static enum dti_status print_table(const struct dti_dtype_operand *list, size_t count,
                                   const size_t *left_out, struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    (void)left_out;
    struct dti_table *const table = dti_table_titled("dtype|bits>|signed|min>|max>", "95388");
    for (size_t i = 0; i < count; i++) {
        const struct dti_format *format = &list[i].format;
        struct dti_limit min, max;
        char text[DTI_TEXT_SIZE];
        dti_integer_limits(format, &min, &max);
        dti_table_cell(table, DTI_STYLE_BOLD, format->name);
        dti_table_print(table, DTI_STYLE_PLAIN, "%u", (unsigned)format->width);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_format_is_signed(format) ? "yes" : "no");
        (void)dti_spell_shortest(text, format, min.code);
        dti_table_cell(table, DTI_STYLE_PLAIN, text);
        (void)dti_spell_shortest(text, format, max.code);
        dti_table_cell(table, DTI_STYLE_PLAIN, text);
    }
    return dti_put_table(cx, table, 0, reterr);
}

static enum dti_status run_iinfo(const void *args, char **operands, int operand_count,
                                 struct dti_command_context *cx, struct dti_error *reterr)
{
    static const struct dti_info info = {.integers = true,
                                         .bare = "min,max",
                                         .takes = takes,
                                         .takes_for_all = takes,
                                         .human = print_table,
                                         .document = dti_document_iinfo};
    return dti_info_run(&info, args, operands, operand_count, cx, reterr);
}

const struct dti_command dti_command_iinfo = {
    .name = "iinfo",
    .group = "ask",
    .summary = "integer limits",
    .synopsis = "[DTYPE...]",
    .details = "Without operands: all integer dtypes and bool.",
    .examples = "dtinfo iinfo\n"
                "dtinfo iinfo int8 uint64\n"
                "dtinfo iinfo uint64 --json\n"
                "dtinfo iinfo int64 --like torch",
    .schema = "dtinfo.iinfo/1",
    .operands = DTI_OPERANDS_DTYPES,
    .options = dti_info_options + 1, /* skips --all, the first row */
    .args_size = sizeof(struct dti_info_args),
    .run = run_iinfo,
};
