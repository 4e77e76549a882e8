/* SPDX-License-Identifier: MIT
 *
 * What a cast lost as JSON: see loss.h. */
#include "answers/loss.h"

#include <math.h>

#include "answers/common.h"

#define DTI_ROWS "answers/loss.def"
#include "answers/rows.h"
