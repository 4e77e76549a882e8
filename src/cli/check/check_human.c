/* SPDX-License-Identifier: MIT
 *
 * A check for people: a line for each assertion, and below it what did not fit on that line.
 */
#include <string.h>

#include "cli/check/check_job.h"
#include "dtinfo/table.h"

/* "FAIL  fits fp16"; the argument is the user's own, but is escaped too. */
static void put_label(struct dti_table *table, const struct dti_check_report *report, size_t at)
{
    const struct dti_check_assertion *const assertion = &report->request->assertions[at];
    const struct dti_check_tally *const tally = &report->tally[at];
    static const struct {
        enum dti_style style;
        const char *word;
    } outcomes[] = {[DTI_CHECK_OK] = {DTI_STYLE_GOOD, "ok"},
                    [DTI_CHECK_FAILED] = {DTI_STYLE_BAD, "FAIL"},
                    [DTI_CHECK_UNDECIDED] = {DTI_STYLE_BAD, "unreadable"}};
    const enum dti_check_outcome outcome = dti_check_outcome(tally->failures, tally->unreadable);
    dti_table_cell(table, outcomes[outcome].style, outcomes[outcome].word);
    dti_table_cell(table, DTI_STYLE_PLAIN,
                   assertion->kind == DTI_CHECK_FITS ? "no overflow in"
                                                     : dti_check_name(assertion->kind));
    if (assertion->argument) {
        dti_table_more(table, " ");
        dti_table_safe(table, assertion->argument, strlen(assertion->argument));
    }
    if (assertion->kind > DTI_CHECK_FITS)
        dti_table_more(table, " as %s", assertion->format.name);
}

static void put_held(struct dti_table *table, const struct dti_check_report *report, size_t at)
{
    const struct dti_container *const container = report->container;
    const enum dti_check_kind kind = report->request->assertions[at].kind;
    if (kind == DTI_CHECK_PICKLE) {
        dti_check_pickles_held(table, &report->pickles);
        return;
    }
    const bool digest = kind == DTI_CHECK_DIGEST;
    const size_t held = digest ? dti_digest_count(container) : report->tally[at].tensors;
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
    if (kind == DTI_CHECK_VALID)
        dti_table_more(table, "%s, ", dti_container_name(container->kind));
    if (kind == DTI_CHECK_VALID && container->file_count > 1)
        dti_table_more(table, "%zu files, ", container->file_count);
    dti_table_more(table, "%zu %s%s", held, digest ? "file" : "tensor", held == 1 ? "" : "s");
}

/* "model.norm.weight: max 70144 at [12]" */
static void put_failure(struct dti_table *table, const struct dti_check_report *report,
                        const struct dti_check_failure *failure, size_t more)
{
    struct dti_check_words words;
    dti_check_words(&words, report, failure);
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
    if (words.tensor) {
        dti_table_safe(table, words.tensor, words.tensor_length);
        dti_table_more(table, ": ");
    }
    if (words.rule)
        dti_table_more(table, "%s: ", words.rule->word);
    dti_table_more(table, "%s", words.detail);
    if (words.rule)
        dti_table_more(table, "; %s", words.rule->remedy);
    if (more > 0)
        dti_table_more(table, "   (and %zu more; -v lists them)", more);
}

/* Failures that share a line: of one assertion, of lint those of one rule. */
static size_t count_alike(const struct dti_check_failure *failure, size_t most)
{
    size_t count = 1;
    while (count < most && failure->fault != DTI_CHECK_BESIDE &&
           (failure->fault != DTI_CHECK_GLOBAL || failure[count].fault == DTI_CHECK_GLOBAL) &&
           !failure->finding == !failure[count].finding &&
           (!failure->finding || failure[count].finding->rule == failure->finding->rule))
        count++;
    return count;
}

static void put_assertions(struct dti_table *table, const struct dti_check_report *report,
                           bool verbose)
{
    const struct dti_check_failure *failure = report->failures;
    for (size_t at = 0; at < report->request->assertion_count; at++) {
        const size_t failures = report->tally[at].failures;
        put_label(table, report, at);
        if (failures == 0)
            put_held(table, report, at);
        for (size_t i = 0; i < failures; i++) {
            const size_t alike = count_alike(failure + i, failures - i);
            for (int empty = 0; i > 0 && empty < 2; empty++)
                dti_table_cell(table, DTI_STYLE_PLAIN, "");
            put_failure(table, report, failure + i, verbose ? 0 : alike - 1);
            i += verbose ? 0 : alike - 1;
        }
        if (failures > 0) /* where there is none, failure may be NULL */
            failure += failures;
    }
}

/* Oddities of a valid file; and the quantized tensors that are checked as stored, unless that is
 * what fails. */
static void put_notes(const struct dti_context *cx, const struct dti_check_report *report)
{
    const struct dti_container *const container = report->container;
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    const bool asked = report->request->assertions[0].kind == DTI_CHECK_VALID;
    size_t logical = 0;
    if (container)
        (void)dti_logical_notes(container, &logical);
    const size_t stored = container ? container->note_count - logical : 0;
    const size_t end = report->lint ? stored : stored + logical;
    for (size_t i = asked ? 0 : stored; i < end; i++) {
        const struct dti_note *const note = &container->notes[i];
        char words[DTI_REMEDY_WORDS];
        if (asked && dti_check_is_beside(note))
            continue;
        dti_line_put(&line, DTI_STYLE_WARN, "note: ");
        dti_line_print(&line, DTI_STYLE_WARN, "%s\n", dti_note_words(words, note));
    }
}

enum dti_status dti_check_human(const struct dti_context *cx, const struct dti_check_report *report,
                                bool named, struct dti_error *reterr)
{
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    if (named && !dti_line_safe(&line, DTI_STYLE_BOLD, report->path, strlen(report->path)))
        return dti_no_memory(reterr);
    if (named)
        dti_line_end(&line);
    struct dti_table *const table = dti_table_new(3);
    put_assertions(table, report, cx->verbose);
    enum dti_status status = dti_put_table(cx, table, 0, reterr);
    if (status == DTI_OK && report->scanned)
        status = dti_check_pickles_human(cx, &report->pickles, reterr);
    put_notes(cx, report);
    return status;
}
