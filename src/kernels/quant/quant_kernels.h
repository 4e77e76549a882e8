/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of quant_kernels.def. */
#ifndef KERNELS_QUANT_QUANT_KERNELS_H
#define KERNELS_QUANT_QUANT_KERNELS_H

#include "kernels/quant/quant_kernel.h"

#define QUANT_RANGE(function, level)                        dti_range_fn function;
#define QUANT_RANGE_COLUMNS(function, level)                dti_range_columns_fn function;
#define QUANT_AFFINE(function, codes, columns, level)       dti_affine_quantize_fn function;
#define QUANT_AFFINE_BACK(function, codes, columns, level)  dti_affine_dequantize_fn function;
#define QUANT_BIASED(function, level)                       dti_biased_quantize_fn function;
#define QUANT_BIASED_BACK(function, level)                  dti_biased_dequantize_fn function;
#define QUANT_ROTATE(function, level)                       dti_rotate_fn function;
#define QUANT_UNROTATE(function, level)                     dti_unrotate_fn function;
#define QUANT_BLOCKS(function, formats, orders, level)      dti_blocks_quantize_fn function;
#define QUANT_BLOCKS_BACK(function, formats, orders, level) dti_blocks_dequantize_fn function;
#include "kernels/quant/quant_kernels.def"
#undef QUANT_RANGE
#undef QUANT_RANGE_COLUMNS
#undef QUANT_AFFINE
#undef QUANT_AFFINE_BACK
#undef QUANT_BIASED
#undef QUANT_BIASED_BACK
#undef QUANT_ROTATE
#undef QUANT_UNROTATE
#undef QUANT_BLOCKS
#undef QUANT_BLOCKS_BACK

#endif
