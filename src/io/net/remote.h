/* SPDX-License-Identifier: MIT
 *
 * Files behind addresses: https://host/path, http:// on this machine, and hf://org/model/file.
 * They are read with range requests. Every path that dti_input_open() takes may be an address. */
#ifndef IO_NET_REMOTE_H
#define IO_NET_REMOTE_H

#include <stdbool.h>

#include "io/input.h"
#include "util/buffer.h"

/* Whether the path is an address, judged by its prefix alone. */
bool dti_is_address(const char *path);

/* Whether it is a model on the hub without a file: hf://org/model, hf://org/model@revision. */
bool dti_is_hub_model(const char *path);

/* Length of the part of an address that messages show: up to the query. */
size_t dti_remote_shown_length(const char *address);

/* Registers the full address for one shown without its query, to be used when it is opened. Call
 * before any thread is started. Takes ownership of `whole`. Fails with DTI_USAGE if another
 * address differs only in its query, or if there are too many. */
enum dti_status dti_remote_keep_query(const char *address, char *whole, struct dti_error *reterr);

/* Loads libcurl now, if it is there. Opening an address does so, too, and reports a failure. */
void dti_remote_prepare(void);

/* Opens an address, learns its size and checks that the server supports ranges. The input's name
 * is the address without the query. Fails with DTI_BAD_INPUT, with DTI_UNAVAILABLE if libcurl is
 * missing, with DTI_NO_MEMORY. *ret_absent: an errno value: ENOENT if the server has no such
 * file, EACCES if it denies access, else EIO. */
enum dti_status dti_remote_open(struct dti_input *ret, const char *path, int *ret_absent,
                                struct dti_error *reterr);

/* Opens a file that another file refers to: `name`, below the folder of the address `anchor`. */
enum dti_status dti_remote_open_sibling(struct dti_input *ret, const char *anchor, const char *name,
                                        struct dti_error *reterr);

/* The hub's description of a model at a revision, as JSON, of which "siblings" lists the files:
 * hf://org/model[@revision]. Appends it to *ret. Fails like dti_remote_open(). */
enum dti_status dti_hub_describe(const char *model, struct dti_buffer *ret,
                                 struct dti_error *reterr);

enum { DTI_REMOTE_MANY = 8 }; /* requests at a time */

/* Keeps the first `size` bytes of an open remote input, with one request if they are not there
 * yet. Call it before other threads read the input. Without the memory for it, or on a failure,
 * they are requested when they are read. */
void dti_remote_want(const struct dti_input *input, size_t size);

#endif
