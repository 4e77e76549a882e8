/* SPDX-License-Identifier: MIT
 *
 * The choice among the rows of a table of kernels: the most demanding come first, and the first
 * that is allowed and matches is used. */
#ifndef KERNELS_FIRST_ROW_H
#define KERNELS_FIRST_ROW_H

#include <assert.h>
#include <stddef.h>

#include "kernels/cpu.h"

/* Sets i, a size_t variable; fits: of rows[i]. Every table ends with portable rows, so one is
 * there. */
#define DTI_FIRST_ROW(i, rows, count, allowed, fits)                                  \
    for ((i) = 0; !(dti_level_includes((allowed), (rows)[i].level) && (fits)); (i)++) \
    assert((i) + 1 < (count))

#endif
