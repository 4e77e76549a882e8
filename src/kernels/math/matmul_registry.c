/* SPDX-License-Identifier: MIT
 *
 * The table of matrix product kernels and the selection of one. */
#include "kernels/math/matmul_tile.h"

const struct dti_matmul_kernel dti_matmul_kernels[] = {
#define MATMUL(nm, dt, res, ins, r, c, ops, lv, un) \
    {.name = "matmul_" #nm,                         \
     .dtype = DTI_##dt,                             \
     .result = DTI_##res,                           \
     .instruction = (ins),                          \
     .rows = (r),                                   \
     .columns = (c),                                \
     .per_instruction = (ops),                      \
     .level = DTI_LEVEL_##lv,                       \
     .unit = DTI_UNIT_##un,                         \
     .tile = &dti_tile_##nm,                        \
     .peak = dti_peak_##nm},
#include "kernels/math/matmul_kernels.def"
#undef MATMUL
    {.name = NULL},
};
const size_t dti_matmul_kernel_count = sizeof dti_matmul_kernels / sizeof dti_matmul_kernels[0] - 1;

/* Why there is no row: names the level of the dtype's last row, which is the least demanding; or
 * says that there is none on this architecture. */
static const char *why_none(enum dti_dtype dtype)
{
    static const char *const needs[DTI_LEVEL_COUNT] = {
#define LEVEL(id, name, ...) [DTI_LEVEL_##id] = "needs the CPU level " name,
#include "kernels/levels.def"
#undef LEVEL
    };
    for (size_t i = dti_matmul_kernel_count; i-- > 0;) {
        if (dti_matmul_kernels[i].dtype == dtype)
            return needs[dti_matmul_kernels[i].level];
    }
    if (dtype == DTI_TF32 || dtype == DTI_FP8_E4M3FN)
        return "no CPU has instructions for it";
    return "no kernel on this CPU";
}

const struct dti_matmul_kernel *dti_matmul_find(enum dti_dtype dtype, enum dti_level allowed,
                                                const char **ret_why)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        if (kernel->dtype == dtype && dti_level_includes(allowed, kernel->level) &&
            dti_unit_present(kernel->unit) && dti_level_permitted(kernel->level, ret_why))
            return kernel;
    }
    *ret_why = why_none(dtype);
    return NULL;
}
