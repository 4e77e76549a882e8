/* SPDX-License-Identifier: MIT
 *
 * The page of advise: see advise_page.h. */
#include "cli/advise/advise_page.h"

#include <math.h>
#include <stdio.h>

#include "cli/shared/human.h"

enum dti_status dti_advise_page(const struct dti_command_context *cx,
                                const struct dti_advise *advise, struct dti_error *reterr)
{
    (void)reterr;
    fprintf(cx->out, "%zu groups, %llu bytes\n", (size_t)advise->group_count,
            (unsigned long long)advise->bytes);
    return DTI_OK;
}
