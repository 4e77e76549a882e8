/* SPDX-License-Identifier: MIT
 *
 * Unnamed temporary files in $TMPDIR or /tmp, for data that must be unpacked or rearranged
 * before it can be read. They disappear when they are closed or the process ends. */
#ifndef IO_SCRATCH_H
#define IO_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

/* The folder that they are in. */
const char *dti_scratch_folder(void);

/* Opens a new one as an input; close it with dti_input_close(). Messages call it name, the file
 * whose content it will hold; name must live as long. size: bytes to reserve, zeros until
 * written, so that a full disk is reported now; 0 if unknown. Fails with DTI_WRITE_FAILED. */
enum dti_status dti_scratch_open(struct dti_input *ret, const char *name, uint64_t size,
                                 struct dti_error *reterr);

/* Writes within its size; usable from any thread. */
enum dti_status dti_scratch_write_at(const struct dti_input *scratch, const void *data, size_t size,
                                     uint64_t offset, struct dti_error *reterr);

/* Appends at its end and grows its size. */
enum dti_status dti_scratch_append(struct dti_input *scratch, const void *data, size_t size,
                                   struct dti_error *reterr);

/* Grows it by `size` bytes, zeros until written; a full disk is reported now. */
enum dti_status dti_scratch_extend(struct dti_input *scratch, uint64_t size,
                                   struct dti_error *reterr);

#endif
