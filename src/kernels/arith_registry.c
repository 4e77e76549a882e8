/* SPDX-License-Identifier: MIT
 *
 * The table of kernels of arithmetic and the choice among them. */
#include <float.h>

#include "kernels/arith_kernels.h"
#include "kernels/first_row.h"

static const struct dti_arith_kernel rows[] = {
#define ARITH(exact_, count_, level_) \
    {.exact = (exact_), .count = (count_), .level = DTI_LEVEL_##level_},
#include "kernels/arith_kernels.def"
#undef ARITH
};

const struct dti_arith_kernel *dti_arith_kernel_find(enum dti_level allowed)
{
    size_t i;
    if (FLT_EVAL_METHOD != 0)
        return NULL;
    DTI_FIRST_ROW(i, rows, sizeof rows / sizeof rows[0], allowed, true);
    return &rows[i];
}
