/* SPDX-License-Identifier: MIT
 *
 * What a cast lost as JSON: see losses.h. */
#include "answers/losses.h"

#include <math.h>

#include "answers/common.h"

#define DTI_ROWS "answers/losses.def"
#include "answers/rows.h"
