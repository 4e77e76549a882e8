/* SPDX-License-Identifier: MIT
 *
 * The walk, and the words that forms share. */
#include "cli/check/check_forms.h"

#include <string.h>

static const struct check_form_row *const rows[] = {
    [DTI_CHECK_FORM_JUNIT] = &dti_check_junit,
    [DTI_CHECK_FORM_SARIF] = &dti_check_sarif,
    [DTI_CHECK_FORM_GITHUB] = &dti_check_github,
};

void dti_check_put_label(struct dti_buffer *text, const struct check_result *result)
{
    const struct dti_check_assertion *const of = result->of;
    dti_buffer_puts(text, dti_check_name(of->kind));
    if (of->argument) {
        dti_buffer_puts(text, " ");
        dti_buffer_puts(text, of->argument);
    }
    if (of->kind > DTI_CHECK_FITS)
        dti_buffer_print(text, " as %s", of->format.name);
    if (result->report->request->policy_rule > 0)
        dti_buffer_print(text, ", rule %zu", result->report->request->policy_rule);
}

void dti_check_put_sentence(struct dti_buffer *text, const struct dti_check_report *report,
                            const struct dti_check_failure *failure)
{
    struct dti_check_words words;
    dti_check_words(&words, report, failure);
    if (words.tensor) {
        dti_buffer_append(text, words.tensor, words.tensor_length);
        dti_buffer_puts(text, ": ");
    }
    if (words.rule) {
        dti_buffer_puts(text, words.rule->word);
        dti_buffer_puts(text, ": ");
    }
    dti_buffer_puts(text, words.detail);
    if (words.rule) {
        dti_buffer_puts(text, "; ");
        dti_buffer_puts(text, words.rule->remedy);
    }
}

/* Writes what the form has so far; a failed write is found when stdout is closed. */
static enum dti_status write_text(struct check_form *form, struct dti_error *reterr)
{
    if (form->text.failed)
        return dti_no_memory(reterr);
    if (fwrite(form->text.data, 1, form->text.length, form->cx->raw) != form->text.length) {
        dti_standard_note_failure();
        return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
    }
    dti_buffer_clear(&form->text);
    return DTI_OK;
}

static enum dti_status put_report(struct check_form *form, const struct check_form_row *row,
                                  const struct dti_check_report *report, struct dti_error *reterr)
{
    struct check_result result = {.report = report, .failures = report->failures};
    for (size_t i = 0; i < report->request->assertion_count; i++) {
        result.of = &report->request->assertions[i];
        result.tally = &report->tally[i];
        row->put(form, &result);
        if (result.tally->failures > 0) /* failures is NULL if there are none */
            result.failures += result.tally->failures;
    }
    return write_text(form, reterr);
}

enum dti_status dti_check_forms_write(struct check_files *files, struct dti_command_context *cx,
                                      struct dti_error *reterr)
{
    const struct check_form_row *const row = rows[files->args->format];
    struct check_form form = {.files = files, .cx = cx};
    const struct dti_check_report *report;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&form.text);
    dti_buffer_init(&form.held);
    row->begin(&form);
    while (status == DTI_OK && (report = dti_check_next(files)) != NULL)
        status = put_report(&form, row, report, reterr);
    if (status == DTI_OK) {
        row->end(&form, files->status != DTI_OK ? &files->error : NULL);
        status = write_text(&form, reterr);
    }
    dti_buffer_free(&form.text);
    dti_buffer_free(&form.held);
    if (status == DTI_OK && files->args->format == DTI_CHECK_FORM_SARIF)
        status = dti_document_write(cx->json, cx->raw, reterr);
    if (status == DTI_OK && files->status != DTI_OK) {
        *reterr = files->error;
        status = files->status;
    }
    return status;
}
