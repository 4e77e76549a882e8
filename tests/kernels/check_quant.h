/* SPDX-License-Identifier: MIT
 *
 * Shared declarations of the quantization kernel checks: arrays in guarded memory, and fp32 codes.
 * The expected results are computed by quant.h, one number or block at a time. */
#ifndef DTINFO_TESTS_KERNELS_CHECK_QUANT_H
#define DTINFO_TESTS_KERNELS_CHECK_QUANT_H

#include <string.h>

#include "check.h"
#include "kernels/quant/quant_kernel.h"

/* Memory between guard bytes, which must not change, and inaccessible pages. Each slot holds one
 * array at a time. */
enum { GUARDED_ARRAYS = 5, GUARDED_BYTES_MAX = 1 << 20 };
/* Reserves a slot for an array, either ending at the inaccessible page or at a random offset.
 * Filled with poison. */
uint8_t *guarded_new(struct check *check, size_t which, size_t bytes);
/* The same, filled with a copy of an array. */
void *guarded_copy(struct check *check, size_t which, const void *array, size_t bytes);
/* The same for floats, aligned for them. */
float *guarded_copy_floats(struct check *check, size_t which, const float *array, size_t n);
/* Whether the bytes around the array are unchanged. */
bool guarded_is_whole(size_t which);
uint8_t guarded_poison(size_t which);

static inline uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* A positive, finite scale of any or of ordinary magnitude. */
uint32_t quant_scale(struct check *check);
/* A number a few steps from the midpoint of a and b; random bits if the midpoint is not finite or
 * tiny. */
uint32_t quant_between(struct check *check, uint32_t a, uint32_t b);
/* NaNs, infinities, zeros, subnormals, limits. */
uint32_t quant_special(struct check *check);
bool quant_is_finite(uint32_t bits);

/* Each function checks one kind of row; false on failure. */
bool check_range_row(struct check *check, const struct dti_quant_kernel *row);
bool check_affine_row(struct check *check, const struct dti_quant_kernel *row);
bool check_affine_back_row(struct check *check, const struct dti_quant_kernel *row);
bool check_biased_row(struct check *check, const struct dti_quant_kernel *row);
bool check_biased_back_row(struct check *check, const struct dti_quant_kernel *row);
bool check_rotate_row(struct check *check, const struct dti_quant_kernel *row);
bool check_unrotate_row(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_row(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_back_row(struct check *check, const struct dti_quant_kernel *row);
/* Runs every fp32 number with a few scales: the code must change exactly where it does in the
 * definition. */
bool check_affine_sweep(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_sweep(struct check *check, const struct dti_quant_kernel *row);

/* The formats that affine rows with this kind of codes support; returns their number. */
enum { QUANT_FORMATS_MAX = 80 };
size_t quant_formats(enum dti_quant_codes codes, struct dti_format formats[QUANT_FORMATS_MAX]);
void quant_encoder(struct dti_encoder *ret, const struct dti_format *format);
extern const char *const quant_divisions[]; /* by enum dti_quant_division */

/* The recipes of a block format; returns their number. */
enum { RECIPES_MAX = 36 };
size_t quant_recipes(struct check *check, const struct dti_block_format *format,
                     struct dti_block_recipe recipes[RECIPES_MAX]);
/* Bits per element in an order. */
unsigned quant_code_bits(const struct dti_block_format *format, enum dti_block_order order);
bool quant_has_order(const struct dti_block_format *format, enum dti_block_order order);
size_t quant_scale_bytes(const struct dti_block_format *format);
/* Bytes of n codes of one block. */
size_t quant_code_bytes(const struct dti_block_format *format, enum dti_block_order order,
                        size_t n);
void quant_put_codes(const struct dti_block_format *format, enum dti_block_order order,
                     uint8_t *bytes, const uint32_t *code, size_t n);
void quant_put_scale(const struct dti_block_format *format, uint8_t *bytes, uint32_t scale);
extern const char *const quant_orders[]; /* by enum dti_block_order */

/* Memory layout of blocks: codes and scales in separate arrays or interleaved. */
struct block_places {
    size_t code_stride, scale_stride;
    bool together; /* interleaved, at the offsets below in each block */
    size_t code_offset, scale_offset;
};
struct block_places quant_places(struct check *check, const struct dti_block_format *format,
                                 enum dti_block_order order);
/* Size in bytes of the array of codes (and of a separate array of scales) for n elements. */
size_t quant_codes_extent(const struct block_places *places, const struct dti_block_format *format,
                          enum dti_block_order order, size_t n);
size_t quant_scales_extent(const struct block_places *places, const struct dti_block_format *format,
                           size_t n);

#endif
