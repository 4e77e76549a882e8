/* SPDX-License-Identifier: MIT
 *
 * What --help, `dtinfo help` and a bare `dtinfo` print, made from the command and option rows
 * alone. */
#ifndef DTINFO_CLI_HELP_H
#define DTINFO_CLI_HELP_H

#include "cli/shell/command.h"

/* All commands by group; for stdout, or for stderr after a usage error. */
void dti_help_overview(FILE *out, bool colour, int width);

void dti_help_command(const struct dti_command *command, FILE *out, bool colour, int width);

#endif
