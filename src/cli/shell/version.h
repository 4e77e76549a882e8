/* SPDX-License-Identifier: MIT
 *
 * What `dtinfo --version` prints: the program, and what it was built with. */
#ifndef DTINFO_CLI_VERSION_H
#define DTINFO_CLI_VERSION_H

#include "cli/shell/command.h"

enum dti_status dti_version_print(const struct dti_context *cx, struct dti_error *reterr);

#endif
