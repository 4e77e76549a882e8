/* SPDX-License-Identifier: MIT
 *
 * Converts arrays in Fortran order (first dimension varies fastest) to row-major order. */
#ifndef CONVERT_TRANSPOSE_H
#define CONVERT_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "io/input.h"

/* Rewrites an array of items (1, 2, 4, 8 or 16 bytes) at an offset of a regular file to an
 * unnamed temporary file, an input that the caller must close. Any rank and shape. Uses
 * max_memory bytes for buffers (0: 16 MiB; at least a few items), however large the array. Fails
 * with DTI_BAD_INPUT (the array is incomplete or too large), DTI_WRITE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_transpose(const struct dti_input *input, uint64_t offset, unsigned rank,
                              const uint64_t *shape, size_t item, uint64_t max_memory,
                              struct dti_input *ret_input, struct dti_error *reterr);

#endif
