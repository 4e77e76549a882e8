/* SPDX-License-Identifier: MIT
 *
 * The page of advise for people. */
#ifndef CLI_ADVISE_ADVISE_PAGE_H
#define CLI_ADVISE_ADVISE_PAGE_H

#include "answers/advise/advise.h"
#include "cli/shell/command.h"

enum dti_status dti_advise_page(const struct dti_command_context *cx,
                                const struct dti_advise *advise, struct dti_error *reterr);
/* A line for each tensor that gets a format: the format, a tab, the name. */
enum dti_status dti_advise_lines(const struct dti_command_context *cx,
                                 const struct dti_advise *advise, struct dti_error *reterr);

#endif
