/* SPDX-License-Identifier: MIT
 *
 * Inputs that are not opened by their name: bytes in memory, and a descriptor of the caller. And
 * whether a file is still what it was. */
#ifndef IO_INPUT_MEMORY_H
#define IO_INPUT_MEMORY_H

#include "io/input.h"

/* Bytes in memory, read like a regular file. name: in messages; must live as long, as must the
 * bytes. copied: they are the input's own, for dti_free() when it is closed. */
void dti_input_of_bytes(struct dti_input *ret, const void *bytes, uint64_t size, const char *name,
                        bool copied);

/* A duplicate of a descriptor: the whole file, whatever its position, which does not move. name: as
 * above. Fails with DTI_BAD_INPUT if it is not a regular file that can be read. */
enum dti_status dti_input_duplicate(struct dti_input *ret, int fd, const char *name,
                                    struct dti_error *reterr);

/* The size and the time of change of an open file. */
struct dti_input_state {
    bool known; /* false: not a regular file of this machine */
    int64_t size, seconds, nanoseconds;
};
void dti_input_state(const struct dti_input *input, struct dti_input_state *ret);
/* Fails with DTI_BAD_INPUT if the state is another one now. */
enum dti_status dti_input_same(const struct dti_input *input, const struct dti_input_state *then,
                               struct dti_error *reterr);

#endif
