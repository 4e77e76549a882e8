/* SPDX-License-Identifier: MIT
 *
 * dtinfo list: every dtype, block format and block type of GGUF, one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask/answer_fields.h"
#include "cli/ask/info_forms.h"
#include "cli/shared/human.h"
#include "cli/shared/operand_kinds.h"
#include "cli/shell/command.h"
#include "core/dtype/gguf_type.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "report/table.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

struct list_args {
    bool names, aliases, ranges, all;
    const char *field;
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "names", struct list_args, names,
             "print only the names of the dtypes, one per line"),
    OPT_FLAG(0, "aliases", struct list_args, aliases, "show the names in other systems"),
    OPT_FLAG(0, "ranges", struct list_args, ranges, "draw the ranges of float dtypes"),
    DTI_ROW_FIELD(struct list_args, field, "dtypes"),
    OPT_FLAG(0, "all", struct list_args, all,
             "show the IEEE P3109 formats and the block types of GGUF too"),
    OPT_END,
};

enum { DIGITS = 8, TEXT_SIZE = 128 };

static void put_number(struct dti_table *table, const struct dti_format *dtype,
                       const struct dti_limit *limit)
{
    char text[DTI_TEXT_SIZE] = "-";
    if (limit->present && dti_format_is_integer(dtype))
        (void)dti_spell_shortest(text, dtype, limit->code);
    else if (limit->present)
        (void)dti_spell_digits(text, &limit->value, DIGITS);
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

/* "1/8/7": sign, exponent, mantissa; "2 x fp32"; "tapered" if the number decides. */
static void put_layout(struct dti_table *table, const struct dti_format *format)
{
    char text[TEXT_SIZE] = "-";
    if (format->kind == DTI_KIND_COMPLEX)
        (void)snprintf(text, sizeof text, "2 x %s", dti_format_get(format->component)->name);
    else if (dti_format_is_tapered(format))
        (void)snprintf(text, sizeof text, "tapered");
    else if (dti_format_is_float(format))
        (void)snprintf(text, sizeof text, "%d/%u/%u", dti_format_is_signed(format) ? 1 : 0,
                       (unsigned)format->exp_bits, (unsigned)format->man_bits);
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static void put_specials(struct dti_table *table, const struct dti_format *format,
                         const struct dti_dtype_summary *summary)
{
    char text[TEXT_SIZE];
    if (dti_format_is_integer(format)) {
        dti_table_cell(table, DTI_STYLE_PLAIN, "");
        return;
    }
    (void)snprintf(text, sizeof text, "%s%s%s%s", summary->has_inf ? "inf " : "",
                   summary->has_nan ? "nan " : "", summary->has_minus_zero ? "-0 " : "",
                   summary->has_subnormals ? "subnormals" : "");
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ' ')
        text[length - 1] = '\0';
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static enum dti_status print_dtypes(const struct list_args *args, struct dti_command_context *cx,
                                    struct dti_error *reterr)
{
    size_t hidden = 0;
    struct dti_table *const table =
        dti_table_titled("dtype|bits>|layout|lowest>|max>|smallest>|specials", "9862754");
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        struct dti_dtype_summary summary;
        if (!args->all && dti_format_is_p3109(format)) {
            hidden++;
            continue;
        }
        dti_dtype_summarize(format, &summary);
        dti_table_cell(table, DTI_STYLE_BOLD, format->name);
        dti_table_print(table, DTI_STYLE_PLAIN, "%u", (unsigned)format->width);
        put_layout(table, format);
        put_number(table, format, &summary.lowest);
        put_number(table, format, &summary.max);
        put_number(table, format, &summary.smallest);
        put_specials(table, format, &summary);
    }
    return dti_table_without_p3109(cx, table, hidden, 0, reterr);
}

static void put_bits(struct dti_table *table, unsigned bytes, unsigned elements)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value bits;
    dti_table_print(table, DTI_STYLE_PLAIN, "%u", elements);
    dti_table_print(table, DTI_STYLE_PLAIN, "%u", bytes);
    dti_double_value(dti_bits_per_weight(bytes, elements), &bits);
    (void)dti_spell_text(text, &bits);
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static enum dti_status print_blocks(struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table =
        dti_table_titled("block format|elements|scale|block>|bytes>|bits/weight>|", "9666584");
    for (size_t i = 0; i < dti_block_format_count; i++) {
        const struct dti_block_format *block = &dti_block_formats[i];
        dti_table_cell(table, DTI_STYLE_BOLD, block->name);
        dti_table_cell(table, DTI_STYLE_PLAIN, block->element);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_format_get(block->scale)->name);
        put_bits(table, block->bytes, block->length);
        dti_table_cell(table, DTI_STYLE_DIM, block->summary);
    }
    return dti_put_table(cx, table, 0, reterr);
}

static enum dti_status print_gguf(const struct list_args *args, struct dti_command_context *cx,
                                  struct dti_error *reterr)
{
    if (!args->all) {
        if (!cx->quiet)
            dti_put_line(cx, DTI_STYLE_DIM, 0, "%u block types of GGUF are not shown: --all",
                         (unsigned)DTI_GGUF_BLOCKS_COUNT);
        return DTI_OK;
    }
    (void)fputc('\n', cx->out);
    struct dti_table *const table =
        dti_table_titled("GGUF type|block>|bytes>|bits/weight>|elements per scale>", "96685");
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        const struct dti_gguf_type *const type = dti_gguf_type_of((enum dti_gguf_blocks)i);
        dti_table_cell(table, DTI_STYLE_BOLD, type->word);
        put_bits(table, type->bytes, type->elements);
        dti_table_print(table, DTI_STYLE_PLAIN, "%u", type->group);
    }
    return dti_put_table(cx, table, 0, reterr);
}

static void print_names(struct dti_command_context *cx)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        (void)fprintf(cx->out, "%s\n", dti_format_get((enum dti_dtype)id)->name);
}

/* All names of a dtype in a system, "float64 double" or "DOUBLE (11)"; false when there are none.
 */
static bool names_in(char text[TEXT_SIZE], enum dti_dtype dtype, enum dti_system system)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *row = &dti_dtype_names[i];
        if (row->dtype != dtype || row->system != system || length >= TEXT_SIZE)
            continue;
        const char *blank = length > 0 ? " " : "";
        int written = row->number >= 0
                          ? snprintf(text + length, TEXT_SIZE - length, "%s%s (%d)", blank,
                                     row->name, row->number)
                          : snprintf(text + length, TEXT_SIZE - length, "%s%s", blank, row->name);
        length += written > 0 ? (size_t)written : 0;
    }
    return length > 0;
}

static enum dti_status print_aliases(struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("dtype|system|names", "");
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        for (unsigned system = 0; system < DTI_SYSTEM_COUNT; system++) {
            char text[TEXT_SIZE];
            if (!names_in(text, (enum dti_dtype)id, (enum dti_system)system))
                continue;
            dti_table_cell(table, DTI_STYLE_BOLD, dti_format_get((enum dti_dtype)id)->name);
            dti_table_cell(table, DTI_STYLE_PLAIN, dti_system_title((enum dti_system)system));
            dti_table_cell(table, DTI_STYLE_PLAIN, text);
        }
    }
    return dti_put_table(cx, table, 0, reterr);
}

/* P3109 has many similar formats; finfo draws the ones that are named. */
static enum dti_status print_ranges(const struct list_args *args, struct dti_command_context *cx,
                                    struct dti_error *reterr)
{
    size_t count = 0, hidden = 0;
    struct dti_dtype_operand *const list = dti_calloc(DTI_DTYPE_COUNT, sizeof *list);
    if (!list)
        return dti_no_memory(reterr);
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *const format = dti_format_get((enum dti_dtype)id);
        if (!dti_format_is_float(format))
            continue;
        if (!args->all && dti_format_is_p3109(format))
            hidden++;
        else
            list[count++].format = *format;
    }
    dti_ranges_draw(list, count, true, cx);
    if (hidden > 0 && !cx->quiet)
        dti_put_line(cx, DTI_STYLE_DIM, 2,
                     "%zu P3109 formats are not shown; 'dtinfo finfo DTYPE DTYPE' draws any two",
                     hidden);
    dti_free(list);
    return DTI_OK;
}

/* One document, or one per dtype, block format and type with JSON Lines. */
static enum dti_status print_documents(struct dti_command_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (cx->output != DTI_OUTPUT_JSONL)
        return DTI_ANSWER(cx, list,
                          (&(struct dti_list_answer){.dtype_count = DTI_DTYPE_COUNT,
                                                     .block_count = dti_block_format_count,
                                                     .gguf_count = DTI_GGUF_BLOCKS_COUNT}),
                          reterr);
    const size_t plain = DTI_DTYPE_COUNT + dti_block_format_count;
    for (size_t i = 0; i < plain + DTI_GGUF_BLOCKS_COUNT && status == DTI_OK; i++) {
        const bool dtype = i < DTI_DTYPE_COUNT, block = !dtype && i < plain;
        const struct dti_list_answer one = {
            .first_dtype = i,
            .dtype_count = dtype,
            .first_block = block ? i - DTI_DTYPE_COUNT : 0,
            .block_count = block,
            .first_gguf = !dtype && !block ? i - plain : 0,
            .gguf_count = !dtype && !block,
        };
        status = DTI_ANSWER(cx, list, &one, reterr);
    }
    return status;
}

static enum dti_status run_list(const void *args_, char **operands, int operand_count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct list_args *args = args_;
    const char *fields;
    enum dti_status status =
        dti_fields_wanted(cx, args->field, NULL, operands, &operand_count, &fields, reterr);
    if (status != DTI_OK)
        return status;
    if (cx->output != DTI_OUTPUT_HUMAN)
        return print_documents(cx, reterr);
    if (fields) {
        dti_document_list(cx->json, &(struct dti_list_answer){.dtype_count = DTI_DTYPE_COUNT});
        return dti_fields_print(cx, "dtypes", fields, reterr);
    }
    if (args->names || (cx->quiet && !args->aliases && !args->ranges)) {
        print_names(cx);
        return DTI_OK;
    }
    if (args->aliases)
        return print_aliases(cx, reterr);
    if (args->ranges)
        return print_ranges(args, cx, reterr);
    status = print_dtypes(args, cx, reterr);
    if (status != DTI_OK)
        return status;
    (void)fputc('\n', cx->out);
    status = print_blocks(cx, reterr);
    return status == DTI_OK ? print_gguf(args, cx, reterr) : status;
}

const struct dti_command dti_command_list = {
    .name = "list",
    .group = "ask",
    .summary = "every dtype, one line each",
    .synopsis = "",
    .details = "The IEEE P3109 formats and the block types of GGUF are left out unless --all is\n"
               "given. With --json all dtypes, names, block formats and types are always included.",
    .examples = "dtinfo list\n"
                "dtinfo list --names\n"
                "dtinfo list --aliases\n"
                "dtinfo list --ranges",
    .schema = "dtinfo.list/1",
    .operands = DTI_OPERANDS_NONE,
    .options = options,
    .args_size = sizeof(struct list_args),
    .run = run_list,
};
