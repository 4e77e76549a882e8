/* SPDX-License-Identifier: MIT
 *
 * Files behind an address: https://host/path, http:// on this machine, and hf://org/model/file.
 * They are read with range requests, and every path that dti_input_open() takes may be one. */
#ifndef IO_NET_REMOTE_H
#define IO_NET_REMOTE_H

#include <stdbool.h>

#include "io/input.h"

/* Whether the path is an address, by its beginning alone. */
bool dti_is_address(const char *path);

/* How much of an address messages show: what precedes the query. */
size_t dti_remote_shown_length(const char *address);

/* Keeps what an address without its query stands for, for when it is opened; before any thread is
 * started. Takes the memory of `whole`. Fails with DTI_USAGE where another address differed in its
 * query alone, or there are too many. */
enum dti_status dti_remote_keep_query(const char *address, char *whole, struct dti_error *reterr);

/* Opens an address: its size is known then, and that the server answers ranges. The name of the
 * input is the address without query. Fails with DTI_BAD_INPUT, DTI_UNAVAILABLE where libcurl is
 * missing, DTI_NO_MEMORY; *ret_absent: an errno value, ENOENT where the server knows no such file,
 * EACCES where it does not show it, else EIO. */
enum dti_status dti_remote_open(struct dti_input *ret, const char *path, int *ret_absent,
                                struct dti_error *reterr);

/* Opens a file that another one names: `name`, below the folder of the address `beside`. */
enum dti_status dti_remote_open_beside(struct dti_input *ret, const char *beside, const char *name,
                                       struct dti_error *reterr);

#endif
