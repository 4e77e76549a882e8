/* SPDX-License-Identifier: MIT
 *
 * The names of addresses, and the addresses of names. */
#ifndef UTIL_REMOTE_NAMES_H
#define UTIL_REMOTE_NAMES_H

#include <stddef.h>

/* The address with its query, which the command line took; or as it is. */
const char *dti_remote_whole(const char *shown);
/* How much of an address messages show: what precedes the query. */
size_t dti_remote_shown_length(const char *address);

#endif
