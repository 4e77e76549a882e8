/* SPDX-License-Identifier: MIT
 *
 * Files as JSON: see files.h. */
#include "answers/files.h"

#include <string.h>

#include "answers/common.h"

const char *dti_container_words(size_t index)
{
    return index < DTI_CONTAINER_COUNT ? dti_container_name((enum dti_container_kind)index) : NULL;
}

#define DTI_ROWS "answers/files.def"
#include "answers/rows.h"
