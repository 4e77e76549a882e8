/* SPDX-License-Identifier: MIT
 *
 * The shells that have a completion script. */
#ifndef CLI_COMPLETION_SHELLS_H
#define CLI_COMPLETION_SHELLS_H

#include "cli/shell/command.h"

/* cmd_completion.c; value: the index of the script */
extern const struct dti_choice dti_completion_shells[];

#endif
