/* SPDX-License-Identifier: MIT
 *
 * A verification as JSON. */
#include "answers/verify.h"

#include <string.h>

#include "answers/rows.h"

void dti_verify_free(struct dti_verify *verify)
{
    dti_logical_close(verify->a);
    dti_logical_close(verify->b);
}

#define DTI_ROWS "answers/verify.def"
#include "answers/rows.h"
