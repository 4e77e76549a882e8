/* SPDX-License-Identifier: MIT
 *
 * A check for people: a line for each assertion, and under it what the first line had no room for.
 */
#include <string.h>

#include "cli/check/check_job.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/escape.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

enum { TEXT = 128 };

struct check_view {
    const struct check_job *job;
    const struct check_report *report;
    struct dti_table *table;
    struct dti_buffer text; /* of a cell */
    bool lost;              /* memory ran out for one */
};

/* The text that was put together, as a cell. */
static void put_text(struct check_view *view)
{
    view->lost = view->lost || view->text.failed;
    dti_table_cell(view->table, DTI_STYLE_PLAIN, view->text.data);
}

/* "fits fp16"; the argument is the user's own, and escaped all the same. */
static void put_label(struct check_view *view, size_t at)
{
    const struct check_assertion *const assertion = &view->job->assertions[at];
    const bool failed = view->report->tally[at].failures > 0;
    dti_table_cell(view->table, failed ? DTI_STYLE_BAD : DTI_STYLE_GOOD, failed ? "FAIL" : "ok");
    dti_buffer_clear(&view->text);
    dti_buffer_puts(&view->text, dti_check_name(assertion->kind));
    if (assertion->argument) {
        dti_buffer_puts(&view->text, " ");
        dti_escape(&view->text, assertion->argument, strlen(assertion->argument));
    }
    put_text(view);
}

static void put_held(struct check_view *view, size_t at)
{
    const struct dti_container *const container = view->report->container;
    const size_t tensors = view->report->tally[at].tensors;
    char text[TEXT], shards[TEXT] = "";
    if (container->file_count > 1)
        (void)snprintf(shards, sizeof shards, "%zu files, ", container->file_count);
    const bool valid = view->job->assertions[at].kind == CHECK_VALID;
    const bool digest = view->job->assertions[at].kind == CHECK_DIGEST;
    const size_t held = digest ? dti_digest_count(container) : tensors;
    (void)snprintf(text, sizeof text, "%s%s%s%zu %s%s",
                   valid ? dti_container_name(container->kind) : "", valid ? ", " : "",
                   valid ? shards : "", held, digest ? "file" : "tensor", held == 1 ? "" : "s");
    dti_table_cell(view->table, DTI_STYLE_PLAIN, text);
}

/* "model.norm.weight: max 70144 at [12]" */
static void put_failure(struct check_view *view, const struct check_failure *failure, size_t more)
{
    char detail[CHECK_DETAIL_SIZE];
    dti_buffer_clear(&view->text);
    if (failure->tensor != SIZE_MAX) {
        const struct dti_tensor *const tensor = &view->report->container->tensors[failure->tensor];
        dti_escape(&view->text, tensor->name, tensor->name_length);
        dti_buffer_puts(&view->text, ": ");
    }
    dti_buffer_puts(&view->text, dti_check_detail(detail, view->job, view->report, failure));
    if (more > 0) {
        (void)snprintf(detail, sizeof detail, "   (and %zu more; -v lists them)", more);
        dti_buffer_puts(&view->text, detail);
    }
    put_text(view);
}

static void put_assertions(struct check_view *view)
{
    const struct check_report *const report = view->report;
    const struct check_failure *failure = report->failures;
    for (size_t at = 0; at < view->job->assertion_count; at++) {
        const size_t failures = report->tally[at].failures;
        put_label(view, at);
        if (failures == 0)
            put_held(view, at);
        for (size_t i = 0; i < failures; i++, failure++) {
            if (i > 0 && !view->job->cx->verbose)
                continue;
            if (i > 0) {
                dti_table_cell(view->table, DTI_STYLE_PLAIN, "");
                dti_table_cell(view->table, DTI_STYLE_PLAIN, "");
            }
            put_failure(view, failure, view->job->cx->verbose ? 0 : failures - 1);
        }
    }
}

static void put_name(struct check_view *view)
{
    struct dti_line line = {.out = view->job->cx->out, .colour = view->job->cx->colour};
    dti_buffer_clear(&view->text);
    dti_escape(&view->text, view->report->path, strlen(view->report->path));
    view->lost = view->lost || view->text.failed;
    dti_line_put(&line, DTI_STYLE_BOLD, view->text.data);
    dti_line_end(&line);
}

/* What is odd in a valid file. */
static void put_notes(struct check_view *view)
{
    const struct dti_container *const container = view->report->container;
    struct dti_line line = {.out = view->job->cx->out, .colour = view->job->cx->colour};
    const bool asked = view->job->assertions[0].kind == CHECK_VALID;
    for (size_t i = 0; asked && container && i < container->note_count; i++) {
        const struct dti_note *const note = &container->notes[i];
        char words[DTI_REMEDY_WORDS];
        dti_line_put(&line, DTI_STYLE_WARN, "note: ");
        dti_line_put(&line, DTI_STYLE_WARN, dti_note_words(words, note));
        dti_line_end(&line);
    }
}

enum dti_status dti_check_human(const struct check_job *job, const struct check_report *report,
                                bool named, struct dti_error *reterr)
{
    struct check_view view = {.job = job, .report = report, .table = dti_table_new(3)};
    dti_buffer_init(&view.text);
    if (named)
        put_name(&view);
    put_assertions(&view);
    const bool written =
        dti_table_write(view.table, job->cx->out, job->cx->colour, 0) && !view.lost;
    put_notes(&view);
    dti_table_free(view.table);
    dti_buffer_free(&view.text);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}
