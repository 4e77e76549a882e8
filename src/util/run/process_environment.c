/* SPDX-License-Identifier: MIT
 *
 * Disabled until dti_environment_use(). */
#include "util/run/process_environment.h"

#include <stdlib.h>

static bool is_read;

void dti_environment_use(bool use)
{
    is_read = use;
}

const char *dti_environment(const char *name)
{
    return is_read ? getenv(name) : NULL;
}
