/* SPDX-License-Identifier: MIT
 *
 * The forms of check's answer that other programs read. One walk over the reports, a row each. */
#ifndef CLI_CHECK_CHECK_FORMS_H
#define CLI_CHECK_CHECK_FORMS_H

#include "cli/shell/command.h"
#include "requests/check/check_files.h"

/* A form under way. */
struct check_form {
    struct check_files *files;
    struct dti_command_context *cx;
    struct dti_buffer text; /* not written yet */
    /* of junit, about the file at hand: its cases, and how many they are */
    struct dti_buffer held;
    const char *path;
    size_t tests, failures, errors, skipped;
};

/* An assertion on a file. */
struct check_result {
    const struct dti_check_report *report;
    const struct dti_check_assertion *of;
    const struct dti_check_tally *tally;
    const struct dti_check_failure *failures;
};

struct check_form_row {
    void (*begin)(struct check_form *form);
    void (*put)(struct check_form *form, const struct check_result *result);
    /* error: why the walk ended early, about files->paths[files->next]; or NULL */
    void (*end)(struct check_form *form, const struct dti_error *error);
};
extern const struct check_form_row dti_check_junit, dti_check_sarif, dti_check_github;

/* Writes all reports in the form that the options ask for. Fails as dti_check_next() does, with
 * DTI_NO_MEMORY and DTI_WRITE_FAILED. */
enum dti_status dti_check_forms_write(struct check_files *files, struct dti_command_context *cx,
                                      struct dti_error *reterr);

/* "max-error 1 as bf16", "no-nan, rule 2"; "model.norm.weight: max 70144 at [12]". Names may have
 * any bytes. */
void dti_check_put_label(struct dti_buffer *text, const struct check_result *result);
void dti_check_put_sentence(struct dti_buffer *text, const struct dti_check_report *report,
                            const struct dti_check_failure *failure);

#endif
