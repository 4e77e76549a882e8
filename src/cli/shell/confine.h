/* SPDX-License-Identifier: MIT
 *
 * --sandbox: a command that reads files enters a sandbox (io/sandbox) before it opens the first
 * one, with what its operands and options name. */
#ifndef CLI_SHELL_CONFINE_H
#define CLI_SHELL_CONFINE_H

#include "cli/shell/command.h"

enum dti_sandbox_when { DTI_SANDBOX_AUTO, DTI_SANDBOX_ALWAYS, DTI_SANDBOX_NEVER };

extern const struct dti_choice dti_sandbox_choices[];

/* For the program, which ends after one command line. Without it no sandbox is entered, and
 * --sandbox always is an error. */
void dti_confine_allow(void);

/* Call right before the command runs. Fails with DTI_UNAVAILABLE if --sandbox always cannot be
 * had. */
enum dti_status dti_confine(const struct dti_command *command, const void *args, int when,
                            char **operands, int operand_count, struct dti_error *reterr);

/* "limits on files, filter of system calls", or what is missing: for --version -v. */
void dti_confine_describe(FILE *out);

#endif
