/* SPDX-License-Identifier: MIT
 *
 * The filter of system calls. */
#ifndef IO_SANDBOX_FILTER_H
#define IO_SANDBOX_FILTER_H

#include <stdbool.h>

/* What is missing for a filter on this machine or in this build, or NULL. */
const char *dti_filter_lacks(void);
/* Installs it for all threads, for good. The process must have given up new privileges. Returns 0
 * or an errno value. */
int dti_filter_install(bool network);

#endif
