/* SPDX-License-Identifier: MIT
 *
 * The tables of kernels selected by level alone or by level and hub: statistics, histograms,
 * comparisons, losses; arithmetic, exp(sin x), dot products. */
#include <float.h>

#include "kernels/arith/arith_kernels.h"
#include "kernels/first_row.h"
#include "kernels/kernels.h"
#include "kernels/math/dot_kernels.h"
#include "kernels/math/expsin_kernels.h"
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/loss_kernels.h"
#include "kernels/scan/stats_kernels.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define ROWS_OF(type, hub_type) \
    static const struct {       \
        type *run;              \
        enum hub_type hub;      \
        enum dti_level level;   \
    } rows[] =
#define ROW(function, hub_, level_) {.run = (function), .hub = hub_, .level = DTI_LEVEL_##level_},
/* The end of a function: returns the first matching row for its hub. */
#define RETURN_FIRST                                                  \
    size_t i;                                                         \
    DTI_FIRST_ROW(i, rows, COUNT(rows), allowed, rows[i].hub == hub); \
    return rows[i].run

#define STATS_KERNEL(...)
#define HISTOGRAM_KERNEL(...)
#define CODES_KERNEL(...)
#define PEAKS_KERNEL(...)

dti_comparison_fn *dti_comparison_kernel(enum dti_comparison_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_comparison_fn, dti_comparison_hub){
#define COMPARISON_KERNEL(function, hub, level) ROW(function, DTI_COMPARISON_##hub, level)
#define SAME_KERNEL(...)
#include "kernels/scan/comparison_kernels.def"
    };
    RETURN_FIRST;
}

dti_comparison_same_fn *dti_comparison_same_kernel(enum dti_dtype dtype, enum dti_level allowed)
{
    (void)dtype, (void)allowed; /* machines without a row */
#undef COMPARISON_KERNEL
#undef SAME_KERNEL
#define COMPARISON_KERNEL(...)
#define SAME_KERNEL(function, dtype_id, level)                                     \
    if (dtype == DTI_##dtype_id && dti_level_includes(allowed, DTI_LEVEL_##level)) \
        return function;
#include "kernels/scan/comparison_kernels.def"
    return NULL;
}

dti_stats_fn *dti_stats_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_stats_fn, dti_stats_hub){
#undef STATS_KERNEL
#define STATS_KERNEL(function, hub, level) ROW(function, DTI_STATS_##hub, level)
#include "kernels/scan/stats_kernels.def"
    };
    RETURN_FIRST;
}

dti_histogram_fn *dti_histogram_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_histogram_fn, dti_stats_hub){
#undef STATS_KERNEL
#undef HISTOGRAM_KERNEL
#define STATS_KERNEL(...)
#define HISTOGRAM_KERNEL(function, hub, level) ROW(function, DTI_STATS_##hub, level)
#include "kernels/scan/stats_kernels.def"
    };
    RETURN_FIRST;
}

dti_stats_codes_fn *dti_stats_codes_kernel(enum dti_dtype dtype, enum dti_level allowed)
{
    (void)dtype, (void)allowed; /* machines without a row */
#undef HISTOGRAM_KERNEL
#undef CODES_KERNEL
#define HISTOGRAM_KERNEL(...)
#define CODES_KERNEL(function, dtype_id, level)                                    \
    if (dtype == DTI_##dtype_id && dti_level_includes(allowed, DTI_LEVEL_##level)) \
        return function;
#include "kernels/scan/stats_kernels.def"
#undef CODES_KERNEL
#define CODES_KERNEL(...)
    return NULL;
}

dti_code_peaks_fn *dti_code_peaks_kernel(enum dti_level allowed)
{
    dti_code_peaks_fn *found = NULL;
#undef PEAKS_KERNEL
#define PEAKS_KERNEL(function, level)                             \
    if (!found && dti_level_includes(allowed, DTI_LEVEL_##level)) \
        found = function;
#include "kernels/scan/stats_kernels.def"
    return found;
}

#define LOSS_CAST(...)
const struct dti_loss_kernel dti_loss_kernels[] = {
#define LOSS_KERNEL(function, hub_id, level_id) \
    {.name = #function, .run = function, .hub = DTI_LOSS_##hub_id, .level = DTI_LEVEL_##level_id},
#include "kernels/scan/loss_kernels.def"
};
const size_t dti_loss_kernel_count = COUNT(dti_loss_kernels);

const struct dti_loss_kernel *dti_loss_kernel_find(enum dti_loss_hub hub, enum dti_level allowed)
{
    const struct dti_loss_kernel *const rows = dti_loss_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_loss_kernel_count, allowed, rows[i].hub == hub);
    return &rows[i];
}

enum { NONE = 0, RNE = 1 << DTI_ROUND_NEAREST_EVEN, RTZ = 1 << DTI_ROUND_ZERO };

static const struct {
    dti_loss_cast_fn *run;
    dti_kernel_fn *kernel;
    unsigned rounds;
} casts[] = {
#undef LOSS_KERNEL
#undef LOSS_CAST
#define LOSS_KERNEL(...)
#define LOSS_CAST(function, of, rounds) {function, of, rounds},
#include "kernels/scan/loss_kernels.def"
    {NULL, NULL, NONE},
};

dti_loss_cast_fn *dti_loss_cast_find(const struct dti_kernel *kernel,
                                     const struct dti_kernel_args *args)
{
    const struct dti_encoder *const e = args->encoder;
    const bool encodes = kernel->op == DTI_OP_ENCODE_HUB32 || kernel->op == DTI_OP_ENCODE_HUB64;
    const bool integer = encodes && dti_format_is_integer(&e->format);
    const unsigned round = encodes ? 1U << e->policy.round : NONE;
    if (encodes && (integer ? e->format.kind != DTI_KIND_INT || e->format.width != 8
                            : e->policy.nan != DTI_NAN_QUIET))
        return NULL;
    for (size_t i = 0; i < COUNT(casts); i++)
        if (casts[i].kernel == kernel->run && (casts[i].rounds & round) == round)
            return casts[i].run;
    return NULL;
}

static const struct dti_arith_kernel arith_rows[] = {
#define ARITH(round_, mark_, rounded32_, rounded64_, uniform_, level_) \
    {.round = (round_),                                                \
     .mark = (mark_),                                                  \
     .rounded32 = (rounded32_),                                        \
     .rounded64 = (rounded64_),                                        \
     .uniform = (uniform_),                                            \
     .level = DTI_LEVEL_##level_},
#include "kernels/arith/arith_kernels.def"
#undef ARITH
};

const struct dti_arith_kernel *dti_arith_kernel_find(enum dti_level allowed)
{
    size_t i;
    if (FLT_EVAL_METHOD != 0)
        return NULL;
    DTI_FIRST_ROW(i, arith_rows, COUNT(arith_rows), allowed, true);
    return &arith_rows[i];
}

const struct dti_expsin_kernel dti_expsin_kernels[] = {
#define EXPSIN(function, dtype_id, words, count, ulp, level_id) \
    {.name = #function,                                         \
     .run = function,                                           \
     .dtype = DTI_##dtype_id,                                   \
     .arithmetic = (words),                                     \
     .operations = (count),                                     \
     .max_ulp = (ulp),                                          \
     .level = DTI_LEVEL_##level_id},
#include "kernels/math/expsin_kernels.def"
#undef EXPSIN
};
const size_t dti_expsin_kernel_count = COUNT(dti_expsin_kernels);

const struct dti_expsin_kernel *dti_expsin_find(enum dti_dtype dtype, enum dti_level allowed)
{
    const struct dti_expsin_kernel *const rows = dti_expsin_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_expsin_kernel_count, allowed, rows[i].dtype == dtype);
    return &rows[i];
}

const struct dti_dot_kernel dti_dot_kernels[] = {
#define DOT(function, dtype_id, words, level_id, unit_id) \
    {.name = #function,                                   \
     .run = function,                                     \
     .dtype = DTI_##dtype_id,                             \
     .accumulation = (words),                             \
     .operations = 2,                                     \
     .level = DTI_LEVEL_##level_id,                       \
     .unit = DTI_UNIT_##unit_id},
#include "kernels/math/dot_kernels.def"
#undef DOT
};
const size_t dti_dot_kernel_count = COUNT(dti_dot_kernels);

const struct dti_dot_kernel *dti_dot_find(enum dti_dtype dtype, enum dti_level allowed)
{
    const struct dti_dot_kernel *const rows = dti_dot_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_dot_kernel_count, allowed,
                  rows[i].dtype == dtype && dti_unit_present(rows[i].unit));
    return &rows[i];
}
