/* SPDX-License-Identifier: MIT
 *
 * The names of addresses, and the addresses of names. */
#ifndef IO_NET_NAMES_H
#define IO_NET_NAMES_H

#include <stddef.h>

/* The address with its query, where that was handed in; or as it is. */
const char *dti_remote_whole(const char *shown);

#endif
