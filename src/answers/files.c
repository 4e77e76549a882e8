/* SPDX-License-Identifier: MIT
 *
 * Files as JSON: see files.h. */
#include "answers/files.h"

#include <string.h>

#include "answers/common.h"
#include "answers/tensors.h"

#define DTI_ROWS "answers/files.def"
#include "answers/rows.h"
