/* SPDX-License-Identifier: MIT
 *
 * Tables of 8-bit integers that NEON computes. */
#ifndef KERNELS_ARM_TABLE_INTEGERS_NEON_H
#define KERNELS_ARM_TABLE_INTEGERS_NEON_H

#include "kernels/cast/table_integers.h"

/* Casts int8 and uint8 to fp32, fp16 or bf16; false for all other tables. */
bool dti_table_integers_neon(const struct dti_code_table *table, void *dst, const void *src,
                             size_t n);

#endif
