/* SPDX-License-Identifier: MIT
 *
 * Disabled until dti_environment_use(). */
#include "util/run/process_environment.h"

#include <stdlib.h>

#include "util/run/caller.h"

void dti_environment_use(bool use)
{
    dti_caller_current()->reads_environment = use;
}

const char *dti_environment(const char *name)
{
    return dti_caller_current()->reads_environment ? getenv(name) : NULL;
}
