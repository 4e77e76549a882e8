/* SPDX-License-Identifier: MIT
 *
 * Deflated bytes of a file, unpacked on request. */
#ifndef CONTAINERS_ZIP_INFLATE_H
#define CONTAINERS_ZIP_INFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

struct dti_inflate; /* opaque; may be used for one stream after another */

/* NULL when memory ran out. */
struct dti_inflate *dti_inflate_new(void);
void dti_inflate_free(struct dti_inflate *stream); /* NULL is fine */

/* Begins the stream of `size` bytes at offset; label names it in messages and must live as long. */
void dti_inflate_start(struct dti_inflate *stream, const struct dti_input *input, uint64_t offset,
                       uint64_t size, const char *label);

/* Unpacks until `size` bytes are there or the stream ends; *ret_size is their number. Fails with
 * DTI_BAD_INPUT when the bytes are no deflated stream or stop in the middle, with DTI_NO_MEMORY. */
enum dti_status dti_inflate_read(struct dti_inflate *stream, void *buffer, size_t size,
                                 size_t *ret_size, struct dti_error *reterr);

/* How many bytes of the file are left after the end of the stream; 0 before it has come. */
uint64_t dti_inflate_unused(const struct dti_inflate *stream);

#endif
