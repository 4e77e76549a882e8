/* SPDX-License-Identifier: MIT
 *
 * The parts of the check command. */
#ifndef DTINFO_CLI_CHECK_H
#define DTINFO_CLI_CHECK_H

#include "answers/check_answer.h"
#include "cli/shell/command.h"

/* check_human.c: one file. named: its name goes in front. */
enum dti_status dti_check_human(const struct dti_context *cx, const struct dti_check_report *report,
                                bool named, struct dti_error *reterr);

#endif
