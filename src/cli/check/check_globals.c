/* SPDX-License-Identifier: MIT
 *
 * What the pickles of a file would import and call, for people. */
#include "cli/check/check_job.h"

void dti_check_pickles_held(struct dti_table *table, const struct dti_pickle_scan *scan)
{
    const char *const end = scan->pickle_count == 1 ? "" : "s";
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
    if (dti_container_is_known(scan->kind))
        dti_table_more(table, "%s, ", dti_container_name(scan->kind));
    if (scan->file_count > 1)
        dti_table_more(table, "%zu files, ", scan->file_count);
    dti_table_more(table, "%zu pickle%s", scan->pickle_count, end);
    if (scan->pickle_count > 0)
        dti_table_more(table, ", %zu known global%s", scan->import_count,
                       scan->import_count == 1 ? "" : "s");
}

/* "  opcodes  REDUCE 2, GLOBAL 3" */
static void put_opcodes(const struct dti_context *cx, const struct dti_pickle_scan *scan)
{
    struct dti_line line = dti_context_line(cx);
    if (scan->run_count == 0)
        return;
    dti_line_text(&line, "  opcodes that import or call: ");
    for (size_t i = 0; i < scan->run_count; i++)
        dti_line_print(&line, DTI_STYLE_PLAIN, "%s%s %llu", i > 0 ? ", " : "", scan->runs[i].name,
                       (unsigned long long)scan->runs[i].count);
    dti_line_end(&line);
}

enum dti_status dti_check_pickles_human(const struct dti_context *cx,
                                        const struct dti_pickle_scan *scan,
                                        struct dti_error *reterr)
{
    if (scan->import_count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_titled("global|imported>|called>|", "9788");
    for (size_t i = 0; i < scan->import_count; i++) {
        const struct dti_pickle_import *const import = &scan->imports[i];
        const char *const text = import->module ? import->module : import->name;
        const size_t module = import->module ? import->module_length + 1 : 0;
        dti_table_cell(table, DTI_STYLE_PLAIN, text ? "" : "(computed)");
        if (text)
            dti_table_safe(table, text, module + import->name_length);
        dti_table_print(table, DTI_STYLE_PLAIN, "%llu", (unsigned long long)import->imports);
        dti_table_print(table, DTI_STYLE_PLAIN, "%llu", (unsigned long long)import->calls);
        dti_table_cell(table, import->known ? DTI_STYLE_PLAIN : DTI_STYLE_BAD,
                       import->known ? "" : "unknown");
    }
    const enum dti_status status = dti_put_table(cx, table, 2, reterr);
    if (status == DTI_OK)
        put_opcodes(cx, scan);
    return status;
}
