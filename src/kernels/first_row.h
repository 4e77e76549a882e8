/* SPDX-License-Identifier: MIT
 *
 * Selects a row of a kernel table: rows are sorted with the most demanding first, and the first
 * one that is allowed and matches wins. */
#ifndef KERNELS_FIRST_ROW_H
#define KERNELS_FIRST_ROW_H

#include <assert.h>
#include <stddef.h>

#include "kernels/cpu.h"

/* Sets i, a size_t variable; `fits` is a condition on rows[i]. Every table ends with portable
 * rows, so there is always a match. */
#define DTI_FIRST_ROW(i, rows, count, allowed, fits)                                  \
    for ((i) = 0; !(dti_level_includes((allowed), (rows)[i].level) && (fits)); (i)++) \
    assert((i) + 1 < (count))

#endif
