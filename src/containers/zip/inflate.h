/* SPDX-License-Identifier: MIT
 *
 * Inflates a deflate stream in a file, on demand. */
#ifndef CONTAINERS_ZIP_INFLATE_H
#define CONTAINERS_ZIP_INFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

struct dti_inflate; /* opaque; reusable for several streams */

/* NULL: out of memory. */
struct dti_inflate *dti_inflate_new(void);
void dti_inflate_free(struct dti_inflate *stream); /* NULL is allowed */

/* Starts the stream of `size` bytes at `offset`. label names it in messages and must outlive it. */
void dti_inflate_start(struct dti_inflate *stream, const struct dti_input *input, uint64_t offset,
                       uint64_t size, const char *label);

/* Inflates up to `size` bytes, fewer only at the end of the stream; *ret_size is the count. Fails
 * with DTI_BAD_INPUT if the stream is invalid or truncated, with DTI_NO_MEMORY. */
enum dti_status dti_inflate_read(struct dti_inflate *stream, void *buffer, size_t size,
                                 size_t *ret_size, struct dti_error *reterr);

/* Input bytes left after the end of the stream; 0 before the end is reached. */
uint64_t dti_inflate_unused(const struct dti_inflate *stream);

#endif
