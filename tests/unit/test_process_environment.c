/* SPDX-License-Identifier: MIT
 *
 * The environment is read only while that is enabled. */
#include <stdlib.h>

#include "unit.h"
#include "util/run/process_environment.h"

static void variables_are_hidden_unless_reads_are_enabled(void)
{
    if (!CHECK(setenv("DTI_TEST_VARIABLE", "yes", 1) == 0))
        return;
    dti_environment_use(false);
    CHECK(!dti_environment("DTI_TEST_VARIABLE"));
    dti_environment_use(true);
    const char *const value = dti_environment("DTI_TEST_VARIABLE");
    CHECK(value && strcmp(value, "yes") == 0);
    CHECK(!dti_environment("DTI_TEST_VARIABLE_THAT_IS_NOT_SET"));
}

UNIT_MAIN(variables_are_hidden_unless_reads_are_enabled)
