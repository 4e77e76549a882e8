/* SPDX-License-Identifier: MIT
 *
 * `dtinfo devices --arch` and `--supports`, for people: the table of architectures and dtypes, one
 * architecture in detail, and who supports a dtype. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "cli/shared/tensor_cells.h"
#include "report/table.h"

enum { CELL_SIZE = 8, DETAILED = 2 /* architectures that are shown in detail */ };

const char *dti_devices_column(enum dti_dtype dtype)
{
    const char *const name = dti_format_get(dtype)->name;
    const char *const last = strrchr(name, '_');
    return last ? last + 1 : name;
}

/* "Nn": one letter per fact; conversion is shown only without arithmetic, which includes it. */
static const char *letters(char cell[CELL_SIZE], const struct dti_architecture *architecture,
                           enum dti_dtype dtype)
{
    size_t length = 0;
    for (size_t i = 0; dti_arch_capabilities[i] != DTI_CAPABLE_SOFTWARE; i++) {
        const enum dti_capability capability = dti_arch_capabilities[i];
        const bool implied = capability == DTI_CAPABLE_CONVERSION && length > 0 &&
                             cell[0] == dti_capability_letter(DTI_CAPABLE_ARITHMETIC);
        if (!implied && dti_architecture_fact(architecture, dtype, capability))
            cell[length++] = dti_capability_letter(capability);
    }
    if (length == 0)
        cell[length++] = dti_capability_letter(DTI_CAPABLE_SOFTWARE);
    cell[length] = '\0';
    return cell;
}

static bool has_column(enum dti_dtype dtype)
{
    for (size_t i = 0; i < dti_capability_dtype_count; i++) {
        if (dti_capability_dtypes[i] == dtype)
            return true;
    }
    return false;
}

/* "other dtypes: fp8_e4m3fnuz (CDNA 3)": facts without a column. */
static void put_other_dtypes(const struct dti_arch_answer *answer,
                             const struct dti_command_context *cx)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const enum dti_dtype dtype = (enum dti_dtype)id;
        for (size_t i = 0; i < answer->count && !has_column(dtype); i++) {
            char cell[CELL_SIZE];
            if (dti_architecture_supports(answer->shown[i], dtype))
                dti_put_line(cx, DTI_STYLE_DIM, 2, "%s: %s %s", dti_format_get(dtype)->name,
                             answer->shown[i]->name, letters(cell, answer->shown[i], dtype));
        }
    }
}

static enum dti_status put_matrix(const struct dti_arch_answer *answer,
                                  const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_new(1 + dti_capability_dtype_count);
    dti_table_heads(table, "9675886722473"); /* fp6 columns are dropped first, then int4 and fp4 */
    dti_table_cell(table, DTI_STYLE_DIM, "architecture");
    for (size_t i = 0; i < dti_capability_dtype_count; i++)
        dti_table_cell(table, DTI_STYLE_DIM, dti_devices_column(dti_capability_dtypes[i]));
    for (size_t k = 0; k < answer->count; k++) {
        dti_table_cell(table, DTI_STYLE_BOLD, answer->shown[k]->name);
        for (size_t i = 0; i < dti_capability_dtype_count; i++) {
            char cell[CELL_SIZE];
            (void)letters(cell, answer->shown[k], dti_capability_dtypes[i]);
            dti_table_cell(table,
                           cell[0] == 'N'   ? DTI_STYLE_GOOD
                           : cell[0] == '-' ? DTI_STYLE_DIM
                                            : DTI_STYLE_PLAIN,
                           cell);
        }
    }
    const enum dti_status status = dti_put_table(cx, table, 0, reterr);
    if (status != DTI_OK)
        return status;
    dti_put_line(cx, DTI_STYLE_DIM, 0, "%s",
                 "N arithmetic   n matrix or dot product units   c conversion   - nothing known");
    put_other_dtypes(answer, cx);
    return DTI_OK;
}

/* Rows of an architecture's facts; with its name and the sources if requested. */
static void fact_cells(struct dti_table *table, const struct dti_arch_answer *answer,
                       const struct dti_architecture *architecture, bool with_name)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const enum dti_dtype dtype = (enum dti_dtype)id;
        for (size_t i = 0; dti_arch_capabilities[i] != DTI_CAPABLE_SOFTWARE; i++) {
            const enum dti_capability capability = dti_arch_capabilities[i];
            const char *const source = dti_architecture_fact(architecture, dtype, capability);
            if (!source || !dti_arch_shows(answer, dtype))
                continue;
            if (with_name)
                dti_text_cell(table, architecture->name);
            dti_text_cell(table, dti_format_get(dtype)->name);
            dti_text_cell(table, dti_capability_name(capability));
            dti_text_cell(table, source);
        }
    }
}

/* The same, one row per dtype: "arithmetic, matrix, conversion". */
static void support_cells(struct dti_table *table, const struct dti_arch_answer *answer,
                          const struct dti_architecture *architecture)
{
    for (size_t k = 0; k < answer->dtype_count; k++) {
        const struct dti_format *const format = &answer->dtypes[k].format;
        const char *separator = "";
        if (format->id >= DTI_DTYPE_COUNT || !dti_architecture_supports(architecture, format->id))
            continue;
        dti_text_cell(table, architecture->name);
        dti_text_cell(table, format->name);
        dti_text_cell(table, "");
        for (size_t i = 0; dti_arch_capabilities[i] != DTI_CAPABLE_SOFTWARE; i++) {
            const enum dti_capability capability = dti_arch_capabilities[i];
            if (!dti_architecture_fact(architecture, format->id, capability))
                continue;
            dti_table_more(table, "%s%s", separator, dti_capability_name(capability));
            separator = ", ";
        }
    }
}

static enum dti_status put_detail(const struct dti_arch_answer *answer,
                                  const struct dti_architecture *architecture,
                                  const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    dti_line_put(&line, DTI_STYLE_BOLD, architecture->name);
    dti_line_print(&line, DTI_STYLE_PLAIN, "   %s",
                   dti_architecture_groups[architecture->group].name);
    for (size_t i = 0; architecture->names[i][0] != '\0'; i++)
        dti_line_print(&line, DTI_STYLE_DIM, "%s%s", i == 0 ? "; also " : ", ",
                       architecture->names[i]);
    dti_line_end(&line);
    if (architecture->consists_of[0] != '\0')
        dti_put_line(cx, DTI_STYLE_DIM, 2, "instruction sets: %s", architecture->consists_of);
    struct dti_table *const table = dti_table_titled("dtype|native|source", "999");
    fact_cells(table, answer, architecture, false);
    return dti_put_table(cx, table, 2, reterr);
}

static enum dti_status put_summary(const struct dti_arch_answer *answer,
                                   const struct dti_format *format,
                                   const struct dti_command_context *cx, struct dti_error *reterr)
{
    bool any = false, failed = false;
    dti_put_line(cx, DTI_STYLE_BOLD, 0, "%s", format->name);
    for (unsigned i = 0; i < DTI_GROUP_COUNT; i++) {
        struct dti_buffer text;
        dti_buffer_init(&text);
        dti_arch_summary(&text, answer, (enum dti_architecture_group)i, format);
        if (text.length > 0)
            dti_put_line(cx, DTI_STYLE_PLAIN, 2, "%s: %s", dti_architecture_groups[i].name,
                         text.data);
        any |= text.length > 0;
        failed |= text.failed;
        dti_buffer_free(&text);
    }
    if (!any)
        dti_put_line(cx, DTI_STYLE_PLAIN, 2, "%s",
                     answer->name_count > 0 ? "none of these is known to compute with it"
                                            : "no architecture is known to compute with it");
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status put_supports(const struct dti_arch_answer *answer,
                                    const struct dti_command_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < answer->dtype_count && status == DTI_OK; i++)
        status = put_summary(answer, &answer->dtypes[i].format, cx, reterr);
    if (status != DTI_OK || answer->count == 0)
        return status;
    dti_put_line(cx, DTI_STYLE_PLAIN, 0, "%s", "");
    struct dti_table *const table = dti_table_titled(
        cx->verbose ? "architecture|dtype|native|source" : "architecture|dtype|native", "9999");
    for (size_t i = 0; i < answer->count; i++) {
        if (cx->verbose)
            fact_cells(table, answer, answer->shown[i], true);
        else
            support_cells(table, answer, answer->shown[i]);
    }
    return dti_put_table(cx, table, 0, reterr);
}

/* -q: one name per line; with dtypes, those that support all of them. */
static void put_names(const struct dti_arch_answer *answer, const struct dti_command_context *cx)
{
    for (size_t i = 0; i < answer->count; i++) {
        bool all = true;
        for (size_t k = 0; k < answer->dtype_count; k++) {
            const enum dti_dtype dtype = answer->dtypes[k].format.id;
            all &= dtype < DTI_DTYPE_COUNT && dti_architecture_supports(answer->shown[i], dtype);
        }
        if (all)
            (void)fprintf(cx->out, "%s\n", answer->shown[i]->name);
    }
}

enum dti_status dti_arch_human(const struct dti_command_context *cx,
                               const struct dti_arch_answer *answer, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (cx->quiet)
        put_names(answer, cx);
    else if (answer->dtype_count > 0)
        status = put_supports(answer, cx, reterr);
    else if (answer->name_count == 0 || (answer->count > DETAILED && !cx->verbose))
        status = put_matrix(answer, cx, reterr);
    else
        for (size_t i = 0; i < answer->count && status == DTI_OK; i++)
            status = put_detail(answer, answer->shown[i], cx, reterr);
    return status;
}
