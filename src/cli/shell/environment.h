/* SPDX-License-Identifier: MIT
 *
 * The DTINFO_* environment variables. A name or a value that the program does not know is an error:
 * one that is silently ignored leaves its user believing in an effect that is not there. */
#ifndef DTINFO_CLI_ENVIRONMENT_H
#define DTINFO_CLI_ENVIRONMENT_H

#include "cli/shell/option.h"

struct dti_variable {
    const char *name, *help;
    const struct dti_choice *choices; /* the values that it may have, or: */
    enum dti_status (*check)(const struct dti_variable *variable, const char *value,
                             struct dti_error *reterr); /* whether it may have this one */
};
extern const struct dti_variable dti_variables[];
extern const size_t dti_variable_count;

/* Checks every DTINFO_* in an environment ("NAME=value" strings up to a NULL). Fails with
 * DTI_BAD_ENVIRONMENT. */
enum dti_status dti_environment_check(char *const *environment, struct dti_error *reterr);

#endif
