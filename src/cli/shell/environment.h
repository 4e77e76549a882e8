/* SPDX-License-Identifier: MIT
 *
 * The DTINFO_* environment variables. An unknown name or value is an error: if it were silently
 * ignored, the user would believe it had an effect. */
#ifndef CLI_SHELL_ENVIRONMENT_H
#define CLI_SHELL_ENVIRONMENT_H

#include "requests/option.h"

struct dti_variable {
    const char *name, *help;
    const struct dti_choice *choices; /* its values, or: */
    enum dti_status (*check)(const struct dti_variable *variable, const char *value,
                             struct dti_error *reterr); /* checks a value */
};
extern const struct dti_variable dti_variables[];
extern const size_t dti_variable_count;

/* Checks every DTINFO_* in an environment ("NAME=value" strings up to a NULL). Fails with
 * DTI_BAD_ENVIRONMENT. */
enum dti_status dti_environment_check(char *const *environment, struct dti_error *reterr);

#endif
