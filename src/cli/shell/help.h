/* SPDX-License-Identifier: MIT
 *
 * What --help, `dtinfo help` and a bare `dtinfo` print, made from the command and option rows
 * alone; and what --version prints: the program, and what it was built with. */
#ifndef DTINFO_CLI_HELP_H
#define DTINFO_CLI_HELP_H

#include "cli/shell/command.h"

/* All commands by group; for stdout, or for stderr after a usage error. */
void dti_help_overview(FILE *out, bool colour, int width);

void dti_help_command(const struct dti_command *command, FILE *out, bool colour, int width);

/* help_topics.c: what `dtinfo help` explains apart from commands. A topic's value is its place. */
extern const struct dti_choice dti_help_topics[];
enum dti_status dti_help_topic(const struct dti_choice *topic, struct dti_context *cx,
                               struct dti_error *reterr);

enum dti_status dti_version_print(const struct dti_context *cx, struct dti_error *reterr);

#endif
