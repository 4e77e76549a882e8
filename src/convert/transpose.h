/* SPDX-License-Identifier: MIT
 *
 * Arrays in Fortran order, whose first dimension varies fastest, put into row-major order. */
#ifndef CONVERT_TRANSPOSE_H
#define CONVERT_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

/* Rewrites an array of items (1, 2, 4, 8 or 16 bytes) that begins at an offset of a regular file
 * into an unnamed temporary file, an input to be closed by the caller. Any rank and shape. Takes
 * max_memory bytes for buffers (0: 16 MiB; a few items at least) however large the array. Fails
 * with DTI_BAD_INPUT (the array is not all there, or too large), DTI_WRITE_FAILED,
 * DTI_NO_MEMORY. */
enum dti_status dti_transpose(const struct dti_input *input, uint64_t offset, unsigned rank,
                              const uint64_t *shape, size_t item, uint64_t max_memory,
                              struct dti_input *ret_input, struct dti_error *reterr);

#endif
