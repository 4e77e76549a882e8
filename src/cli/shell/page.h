/* SPDX-License-Identifier: MIT
 *
 * The page between a command's answer and stdout, which fits lines and tables to a width. */
#ifndef CLI_SHELL_PAGE_H
#define CLI_SHELL_PAGE_H

#include "cli/shell/command.h"

struct dti_page {
    FILE *stream; /* cx->out, or NULL without a width limit */
    char *text;   /* its content */
    size_t length;
    struct dti_table_picks picks;
};

/* For a complete context: human-readable answers get a page if their lines have a limit. columns:
 * the value of --columns, or NULL. Fails with DTI_NO_MEMORY. */
enum dti_status dti_page_open(struct dti_page *page, struct dti_command_context *cx,
                              const char *columns, struct dti_error *reterr);

/* Writes the rest of a complete answer. Fails with DTI_USAGE if no table had one of the columns,
 * without writing the rest, or with DTI_NO_MEMORY. */
enum dti_status dti_page_end(struct dti_page *page, struct dti_command_context *cx,
                             enum dti_status status, struct dti_error *reterr);

#endif
