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

static void put_warnings(struct dti_json *json, const struct dti_verify *verify)
{
    dti_put_logical_warnings(json, verify->a, verify->remedy_words);
    dti_put_logical_warnings(json, verify->b, verify->remedy_words);
}

#define DTI_ROWS "answers/verify.def"
#include "answers/rows.h"
