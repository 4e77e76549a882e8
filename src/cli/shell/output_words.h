/* SPDX-License-Identifier: MIT
 *
 * What the commands that write files say beside their reports: of what killed runs have left, and
 * of a result that is complete when the report on it is not. */
#ifndef DTINFO_CLI_OUTPUT_WORDS_H
#define DTINFO_CLI_OUTPUT_WORDS_H

#include "cli/shell/command.h"
#include "dtinfo/output_leftovers.h"

/* A warning for each kind of them. beside: the output, as the command line has it. */
void dti_output_warn_leftovers(const struct dti_output_leftovers *leftovers, const char *beside,
                               dti_warn_fn *warn, void *warn_context);

/* The output has its name, or all of it went into a pipe: a standard output that fails from now on
 * is still an error, which then says so. */
void dti_output_is_complete(const char *path);
/* Likewise for the report on it, whose status is given: where that is no success and not the fault
 * of standard output, the result stands, and a line on stderr says that the report is missing. */
enum dti_status dti_output_report_end(const struct dti_context *cx, const char *path,
                                      enum dti_status status, struct dti_error *reterr);

#endif
