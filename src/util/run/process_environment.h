/* SPDX-License-Identifier: MIT
 *
 * Variables of the process's environment. What is linked into other programs reads none unless it
 * is told to, so all layers below the command line look them up here. */
#ifndef UTIL_RUN_ENVIRONMENT_H
#define UTIL_RUN_ENVIRONMENT_H

/* From now on variables are those of the process. Before any thread is started. */
void dti_environment_use(void);

/* The value of a variable, which lives as long as getenv() keeps it; NULL: it is not set, or
 * nothing is to be read. */
const char *dti_environment(const char *name);

#endif
