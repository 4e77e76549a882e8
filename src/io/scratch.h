/* SPDX-License-Identifier: MIT
 *
 * Temporary files without a name, in $TMPDIR or /tmp: for what must be unpacked or rearranged
 * before it can be read. They are gone when they are closed, and when the process ends. */
#ifndef IO_SCRATCH_H
#define IO_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

/* A new one as an input, to be closed by dti_input_close(); messages call it name: the file whose
 * content it will hold, which must live as long. size: how many bytes it has from the start, zeros
 * until they are written; a full disk is noticed now. 0 when unknown. Fails with DTI_WRITE_FAILED.
 */
enum dti_status dti_scratch_open(struct dti_input *ret, const char *name, uint64_t size,
                                 struct dti_error *reterr);

/* Writes within its size, from any thread. */
enum dti_status dti_scratch_write_at(const struct dti_input *scratch, const void *data, size_t size,
                                     uint64_t offset, struct dti_error *reterr);

/* Writes after its end; its size grows. */
enum dti_status dti_scratch_append(struct dti_input *scratch, const void *data, size_t size,
                                   struct dti_error *reterr);

/* Makes it longer by so many bytes, zeros until they are written; a full disk is noticed now. */
enum dti_status dti_scratch_extend(struct dti_input *scratch, uint64_t size,
                                   struct dti_error *reterr);

#endif
