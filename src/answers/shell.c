/* SPDX-License-Identifier: MIT
 *
 * Errors and the version as JSON. */
#include "answers/shell.h"

#define DTI_ROWS "answers/shell.def"
#include "answers/rows.h"
