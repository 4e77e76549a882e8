/* SPDX-License-Identifier: MIT
 *
 * Environment variables of the process. Code linked into other programs must not read any unless
 * enabled, so all layers below the command line look them up here. */
#ifndef UTIL_RUN_PROCESS_ENVIRONMENT_H
#define UTIL_RUN_PROCESS_ENVIRONMENT_H

#include <stdbool.h>

/* Enables or disables reads of the process's environment by the current caller; at first disabled.
 * Call before any thread is started. */
void dti_environment_use(bool use);

/* The value of a variable, with the lifetime of getenv()'s result; NULL if it is not set or
 * reads are disabled. */
const char *dti_environment(const char *name);

#endif
