/* SPDX-License-Identifier: MIT
 *
 * The shells that completion is written for. */
#ifndef DTINFO_CLI_COMPLETION_H
#define DTINFO_CLI_COMPLETION_H

#include "cli/shell/option.h"

extern const struct dti_choice dti_shells[];

#endif
