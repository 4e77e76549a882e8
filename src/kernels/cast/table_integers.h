/* SPDX-License-Identifier: MIT
 *
 * Tables that are faster computed than looked up: 8-bit integers to floats that hold all of them,
 * so that no policy matters. */
#ifndef KERNELS_CAST_TABLE_INTEGERS_H
#define KERNELS_CAST_TABLE_INTEGERS_H

#include "kernels/kernel.h"

enum dti_table_floats { DTI_TABLE_OTHER, DTI_TABLE_FP32, DTI_TABLE_FP16, DTI_TABLE_BF16 };

static inline bool dti_table_is_ieee(const struct dti_format *f, unsigned exp_bits,
                                     unsigned man_bits)
{
    return f->kind == DTI_KIND_FLOAT && f->specials == DTI_SPECIALS_IEEE &&
           f->exp_bits == exp_bits && f->man_bits == man_bits &&
           f->bias == (int32_t)(1u << (exp_bits - 1)) - 1;
}

/* What int8 or uint8 become; DTI_TABLE_OTHER for other sources, too. */
static inline enum dti_table_floats dti_table_floats_of(const struct dti_code_table *table)
{
    const struct dti_format *const from = &table->src.format, *const to = &table->dst;
    if ((from->kind != DTI_KIND_INT && from->kind != DTI_KIND_UINT) || from->width != 8)
        return DTI_TABLE_OTHER;
    return dti_table_is_ieee(to, 8, 23)   ? DTI_TABLE_FP32
           : dti_table_is_ieee(to, 5, 10) ? DTI_TABLE_FP16
           : dti_table_is_ieee(to, 8, 7)  ? DTI_TABLE_BF16
                                          : DTI_TABLE_OTHER;
}

#endif
