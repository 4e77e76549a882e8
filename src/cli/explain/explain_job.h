/* SPDX-License-Identifier: MIT
 *
 * The parts of the explain command. */
#ifndef DTINFO_CLI_EXPLAIN_H
#define DTINFO_CLI_EXPLAIN_H

#include "answers/explain.h"
#include "cli/shared/file_source.h"
#include "cli/shell/command.h"

struct explain_args {
    struct dti_file_args file;
};

/* Points into itself: it must not be copied. */
struct explain_job {
    const struct explain_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct dti_explain explain;
};

/* explain_human.c */
enum dti_status dti_explain_human(const struct explain_job *job, struct dti_error *reterr);

#endif
