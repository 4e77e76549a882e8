/* SPDX-License-Identifier: MIT
 *
 * An array cast as JSON: see cast_array.h. */
#include "answers/cast_array.h"

#include <string.h>

#include "answers/common.h"
#include "answers/rows.h"

DTI_WORDS(form_words, "raw", "text")
DTI_WORDS(order_words, "little", "big")

#define DTI_ROWS "answers/cast_array.def"
#include "answers/rows.h"
