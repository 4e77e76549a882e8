/* SPDX-License-Identifier: MIT
 *
 * The parts of the check command. */
#ifndef DTINFO_CLI_CHECK_H
#define DTINFO_CLI_CHECK_H

#include <math.h>

#include "answers/check_answer.h"
#include "cli/shell/command.h"
#include "dtinfo/table.h"

/* check_human.c: one file. named: its name goes in front. */
enum dti_status dti_check_human(const struct dti_context *cx, const struct dti_check_report *report,
                                bool named, struct dti_error *reterr);

/* check_globals.c: "pytorch, 1 pickle, 4 globals" in a cell; the globals as a table. */
void dti_check_pickles_held(struct dti_table *table, const struct dti_pickle_scan *scan);
enum dti_status dti_check_pickles_human(const struct dti_context *cx,
                                        const struct dti_pickle_scan *scan,
                                        struct dti_error *reterr);

/* check_losses.c: the options, and their assertions, appended to those of the request; the dtypes
 * of --as are in its reading. Fails with DTI_USAGE. */
struct check_loss_args {
    const char *as, *max_to_zero, *max_error, *min_sqnr;
};
enum dti_status dti_check_losses_read(struct dti_check_request *request,
                                      const struct check_loss_args *args, struct dti_error *reterr);
enum dti_status dti_check_too_many(struct dti_error *reterr); /* appends an assertion */
/* check_digest.c: fills the digest of the request, or the list of them. Fails with DTI_USAGE; as
 * dti_digest_list_read() does. */
enum dti_status dti_check_digest_read(struct dti_check_request *request, const char *text,
                                      struct dti_error *reterr);
/* A request that does not fit the file: the report says how. */
enum dti_status dti_check_refuse(const struct dti_check_report *report, struct dti_error *reterr);
#endif
