/* SPDX-License-Identifier: MIT
 *
 * The parts of the compare command. */
#ifndef DTINFO_CLI_COMPARE_H
#define DTINFO_CLI_COMPARE_H

#include "answers/compare.h"
#include "cli/shared/file_source.h"
#include "cli/shell/command.h"

struct compare_args {
    struct dti_file_args file;
    const char *atol, *rtol, *max_ulp, *only;
    uint64_t top;
    bool top_given, bitwise, ignore_missing;
};

struct compare_job {
    const struct compare_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct dti_compare compare;
};

/* compare_human.c. The job points into itself: it must not be copied. */
enum dti_status dti_compare_human(const struct compare_job *job, struct dti_error *reterr);

#endif
