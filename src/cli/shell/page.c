/* SPDX-License-Identifier: MIT
 *
 * Pages: commands print regardless of the width, and their lines are fitted on the way to stdout.
 * Tables know their columns and are fitted earlier. */
#include "cli/shell/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shell/standard.h"

enum dti_status dti_page_open(struct dti_page *page, struct dti_command_context *cx,
                              const char *columns, struct dti_error *reterr)
{
    memset(page, 0, sizeof *page);
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_OK;
    if (columns) {
        page->picks.wanted = columns;
        dti_buffer_init(&page->picks.heads);
        cx->picks = &page->picks;
    }
    if (cx->limit == 0 && !columns)
        return DTI_OK;
    page->stream = open_memstream(&page->text, &page->length);
    if (!page->stream)
        return dti_no_memory(reterr);
    cx->out = page->stream;
    cx->page = page;
    return DTI_OK;
}

/* Moves the page's content to stdout. */
static enum dti_status turn(const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_page *const page = cx->page;
    if (fflush(page->stream) != 0 || ferror(page->stream))
        return dti_no_memory(reterr);
    if (!dti_fit_lines(cx->raw, page->text, page->length, (size_t)cx->limit))
        dti_standard_note_failure();
    rewind(page->stream);
    return DTI_OK;
}

/* With --columns nothing is written early: a heading that no table has is only known at the end. */
enum dti_status dti_command_context_turn(const struct dti_command_context *cx,
                                         struct dti_error *reterr)
{
    return cx->page && !cx->picks ? turn(cx, reterr) : DTI_OK;
}

enum dti_status dti_command_context_flush(const struct dti_command_context *cx,
                                          struct dti_error *reterr)
{
    const enum dti_status status = dti_command_context_turn(cx, reterr);
    return status == DTI_OK ? dti_standard_flush(cx->raw, reterr) : status;
}

/* An error if no table had one of the columns; else the given status. */
static enum dti_status check_picks(const struct dti_table_picks *picks, enum dti_status status,
                                   struct dti_error *reterr)
{
    size_t length = 0;
    const char *const name = dti_table_picks_missing(picks, &length);
    if (!name)
        return status;
    if (picks->heads.length == 0)
        return dti_fail(reterr, DTI_USAGE, "--columns: this answer has no table");
    return dti_fail_word(reterr, DTI_USAGE, name, length, "no column %s; the columns are %s",
                         DTI_QUOTED(name, length), picks->heads.data);
}

enum dti_status dti_page_end(struct dti_page *page, struct dti_command_context *cx,
                             enum dti_status status, struct dti_error *reterr)
{
    /* JSON documents are checked before they are built */
    const bool changed = (status == DTI_OK || status == DTI_ANSWER_NO) &&
                         cx->output == DTI_OUTPUT_HUMAN && dti_inputs_unchanged(reterr) != DTI_OK;
    if (changed)
        status = DTI_BAD_INPUT;
    if ((status == DTI_OK || status == DTI_ANSWER_NO) && cx->picks)
        status = check_picks(cx->picks, status, reterr);
    if (page->stream) {
        struct dti_error error;
        const bool whole = !changed && (!cx->picks || status == DTI_OK || status == DTI_ANSWER_NO);
        const enum dti_status written = whole ? turn(cx, &error) : DTI_OK;
        if (written != DTI_OK && (status == DTI_OK || status == DTI_ANSWER_NO)) {
            *reterr = error;
            status = written;
        }
        (void)fclose(page->stream);
        free(page->text);
    }
    if (cx->picks)
        dti_buffer_free(&page->picks.heads);
    cx->out = cx->raw;
    cx->page = NULL;
    cx->picks = NULL;
    return status;
}

enum dti_status dti_put_table(const struct dti_command_context *cx, struct dti_table *table,
                              size_t indent, struct dti_error *reterr)
{
    struct dti_buffer heads;
    dti_buffer_init(&heads);
    dti_table_fit(table, (size_t)cx->limit, cx->picks);
    const bool written = dti_table_write(table, cx->out, cx->colour, indent);
    dti_table_left_out(table, &heads);
    if (heads.length > 0)
        dti_put_line(cx, DTI_STYLE_DIM, indent, "not shown: %s; use --wide or --columns",
                     heads.data);
    const bool whole = written && !heads.failed;
    dti_buffer_free(&heads);
    dti_table_free(table);
    return whole ? DTI_OK : dti_no_memory(reterr);
}
