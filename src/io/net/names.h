/* SPDX-License-Identifier: MIT
 *
 * Maps addresses to display names and back. */
#ifndef IO_NET_NAMES_H
#define IO_NET_NAMES_H

#include <stddef.h>

/* The address with its registered query, or the address itself if it has none. */
const char *dti_remote_whole(const char *shown);

#endif
