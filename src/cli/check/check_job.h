/* SPDX-License-Identifier: MIT
 *
 * The parts of the check command. */
#ifndef DTINFO_CLI_CHECK_H
#define DTINFO_CLI_CHECK_H

#include "answers/check_answer.h"
#include "cli/shared/file_source.h"
#include "cli/shell/command.h"

struct check_args {
    struct dti_file_args file;
    bool valid, no_nan, no_inf, ints;
    const char *digest, *fits, *dtype, *max_abs, *shape, *only;
};

enum { CHECK_NOTES = DTI_CHECK_ASSERTIONS + 2 };

struct check_job {
    const struct check_args *args;
    struct dti_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct dti_check_request request;
    const char *notes[CHECK_NOTES]; /* on spellings of dtypes */
    size_t note_count;
};

/* check_options.c: the request. Points into itself: must not be copied. To be freed in any case. */
enum dti_status dti_check_init(struct check_job *ret, const struct check_args *args,
                               struct dti_context *cx, struct dti_error *reterr);
void dti_check_free(struct check_job *job);

/* check_human.c: one file. named: its name goes in front. */
enum dti_status dti_check_human(const struct dti_context *cx, const struct dti_check_report *report,
                                bool named, struct dti_error *reterr);

#endif
