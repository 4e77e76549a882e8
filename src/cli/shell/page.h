/* SPDX-License-Identifier: MIT
 *
 * The page between a command's answer and stdout, on which lines and tables are made to fit a
 * width. */
#ifndef DTINFO_CLI_PAGE_H
#define DTINFO_CLI_PAGE_H

#include "cli/shell/command.h"

struct dti_page {
    FILE *stream; /* cx->out, or NULL where nothing has to fit */
    char *text;   /* what is on it */
    size_t length;
    struct dti_table_picks picks;
};

/* For a context that is settled: people's answers get a page where their lines have a limit.
 * columns: those of --columns, or NULL. Fails with DTI_NO_MEMORY. */
enum dti_status dti_page_open(struct dti_page *page, struct dti_context *cx, const char *columns,
                              struct dti_error *reterr);

/* Writes what is left, for an answer that is whole. Fails with DTI_USAGE when no table had one of
 * the columns: then what is left is not written. DTI_NO_MEMORY. */
enum dti_status dti_page_end(struct dti_page *page, struct dti_context *cx, enum dti_status status,
                             struct dti_error *reterr);

#endif
