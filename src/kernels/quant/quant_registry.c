/* SPDX-License-Identifier: MIT
 *
 * The table of rows of quant_kernels.def, and row selection: the first match. */
#include "kernels/first_row.h"
#include "kernels/quant/quant_kernels.h"

/* Shorthand used in the rows. */
#define B(id) (UINT32_C(1) << DTI_BLOCK_##id)
#define O(id) (UINT32_C(1) << DTI_BLOCK_##id)
enum { ALL_BLOCKS = (1 << DTI_BLOCK_COUNT) - 1, ALL_ORDERS = (1 << (DTI_BLOCK_BYTES + 1)) - 1 };

#define ROW(function, work_, level_) \
    .name = #function, .level = DTI_LEVEL_##level_, .work = DTI_QUANT_##work_
#define QUANT_RANGE(function, level) {ROW(function, RANGE, level), .run = {.range = (function)}},
#define QUANT_RANGE_COLUMNS(function, level) \
    {ROW(function, RANGE_COLUMNS, level), .run = {.range_columns = (function)}},
#define QUANT_AFFINE(function, codes_, columns_, level)                                      \
    {ROW(function, AFFINE, level), .codes = DTI_QUANT_CODES_##codes_, .columns = (columns_), \
     .run = {.affine = (function)}},
#define QUANT_AFFINE_BACK(function, codes_, columns_, level)                                      \
    {ROW(function, AFFINE_BACK, level), .codes = DTI_QUANT_CODES_##codes_, .columns = (columns_), \
     .run = {.affine_back = (function)}},
#define QUANT_BIASED(function, level) {ROW(function, BIASED, level), .run = {.biased = (function)}},
#define QUANT_BIASED_BACK(function, level) \
    {ROW(function, BIASED_BACK, level), .run = {.biased_back = (function)}},
#define QUANT_ROTATE(function, level) {ROW(function, ROTATE, level), .run = {.rotate = (function)}},
#define QUANT_UNROTATE(function, level) \
    {ROW(function, UNROTATE, level), .run = {.unrotate = (function)}},
#define QUANT_BLOCKS(function, blocks_, orders_, level)                      \
    {ROW(function, BLOCKS, level), .blocks = (blocks_), .orders = (orders_), \
     .run = {.blocks = (function)}},
#define QUANT_BLOCKS_BACK(function, blocks_, orders_, level)                      \
    {ROW(function, BLOCKS_BACK, level), .blocks = (blocks_), .orders = (orders_), \
     .run = {.blocks_back = (function)}},

const struct dti_quant_kernel dti_quant_kernels[] = {
#include "kernels/quant/quant_kernels.def"
};
const size_t dti_quant_kernel_count = sizeof dti_quant_kernels / sizeof dti_quant_kernels[0];

/* Whether a row supports the codes of a format. */
static bool takes_codes(enum dti_quant_codes codes, const struct dti_format *format)
{
    switch (codes) {
    case DTI_QUANT_CODES_8:
        return !dti_format_is_float(format) && format->width <= 8;
    case DTI_QUANT_CODES_16:
        return !dti_format_is_float(format) && format->width == 16;
    case DTI_QUANT_CODES_FLOAT:
        return dti_format_is_float(format);
    case DTI_QUANT_CODES_ANY:
        break;
    }
    return true;
}

static bool takes_affine(const struct dti_quant_kernel *kernel, bool back,
                         const struct dti_affine_args *args)
{
    return kernel->work == (back ? DTI_QUANT_AFFINE_BACK : DTI_QUANT_AFFINE) &&
           kernel->columns == (args->scales != NULL) &&
           takes_codes(kernel->codes, &args->affine->code);
}

/* Rows for 8-bit codes support any order. */
static bool takes_blocks(const struct dti_quant_kernel *kernel, bool back,
                         const struct dti_block_args *args)
{
    const struct dti_block_format *const format = args->recipe->format;
    const bool bytes = dti_format_get(format->code)->width == 8;
    const enum dti_block_order order = bytes ? DTI_BLOCK_BYTES : args->order;
    return kernel->work == (back ? DTI_QUANT_BLOCKS_BACK : DTI_QUANT_BLOCKS) &&
           (kernel->blocks >> format->id & 1) != 0 && (kernel->orders >> order & 1) != 0;
}

#define RETURN_FIRST(fits)                                         \
    const struct dti_quant_kernel *const rows = dti_quant_kernels; \
    size_t i;                                                      \
    DTI_FIRST_ROW(i, rows, dti_quant_kernel_count, allowed, fits); \
    return &rows[i]

const struct dti_quant_kernel *dti_quant_find_range(bool columns, enum dti_level allowed)
{
    RETURN_FIRST(rows[i].work == (columns ? DTI_QUANT_RANGE_COLUMNS : DTI_QUANT_RANGE));
}

const struct dti_quant_kernel *dti_quant_find_affine(bool back, const struct dti_affine_args *args,
                                                     enum dti_level allowed)
{
    RETURN_FIRST(takes_affine(&rows[i], back, args));
}

const struct dti_quant_kernel *dti_quant_find_biased(bool back, enum dti_level allowed)
{
    RETURN_FIRST(rows[i].work == (back ? DTI_QUANT_BIASED_BACK : DTI_QUANT_BIASED));
}

const struct dti_quant_kernel *dti_quant_find_rotate(bool back, enum dti_level allowed)
{
    RETURN_FIRST(rows[i].work == (back ? DTI_QUANT_UNROTATE : DTI_QUANT_ROTATE));
}

const struct dti_quant_kernel *dti_quant_find_blocks(bool back, const struct dti_block_args *args,
                                                     enum dti_level allowed)
{
    RETURN_FIRST(takes_blocks(&rows[i], back, args));
}
