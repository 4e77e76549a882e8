/* SPDX-License-Identifier: MIT
 *
 * What the checks of quantization kernels share: arrays in guarded memory, and fp32 codes. What
 * must come out is computed by quant.h, one number or block at a time. */
#ifndef DTINFO_TESTS_KERNELS_CHECK_QUANT_H
#define DTINFO_TESTS_KERNELS_CHECK_QUANT_H

#include <string.h>

#include "check.h"
#include "kernels/quant/quant_kernel.h"

/* Memory with bytes around it that must stay as they are, and pages around those that must not be
 * touched. Each place holds one array at a time. */
enum { GUARDED_ARRAYS = 5, GUARDED_BYTES_MAX = 1 << 20 };
/* A place for an array, against the page behind it or at a random offset; filled with poison. */
uint8_t *guarded_new(struct check *check, size_t which, size_t bytes);
/* The same with a copy of an array in it. */
void *guarded_copy(struct check *check, size_t which, const void *array, size_t bytes);
/* The same with floats, at a place for floats. */
float *guarded_copy_floats(struct check *check, size_t which, const float *array, size_t n);
/* Whether nothing was written beside the array. */
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

/* A positive, finite scale of any size, or an ordinary one. */
uint32_t quant_scale(struct check *check);
/* A number some steps beside the middle of a and b (which may be infinite: then anything). */
uint32_t quant_between(struct check *check, uint32_t a, uint32_t b);
/* NaNs, infinities, zeros, subnormals, limits. */
uint32_t quant_special(struct check *check);
bool quant_is_finite(uint32_t bits);

/* The kind of row that each check is for; false when something was wrong. */
bool check_range_row(struct check *check, const struct dti_quant_kernel *row);
bool check_affine_row(struct check *check, const struct dti_quant_kernel *row);
bool check_affine_back_row(struct check *check, const struct dti_quant_kernel *row);
bool check_biased_back_row(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_row(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_back_row(struct check *check, const struct dti_quant_kernel *row);
/* Every fp32 number, with a few scales: a code may change only where the definition's does. */
bool check_affine_sweep(struct check *check, const struct dti_quant_kernel *row);
bool check_blocks_sweep(struct check *check, const struct dti_quant_kernel *row);

/* The formats that affine rows of that sort take; how many. */
enum { QUANT_FORMATS_MAX = 80 };
size_t quant_formats(enum dti_quant_codes codes, struct dti_format formats[QUANT_FORMATS_MAX]);
void quant_encoder(struct dti_encoder *ret, const struct dti_format *format);
extern const char *const quant_divisions[]; /* by enum dti_quant_division */

/* Recipes of a block format, and how many there are. */
enum { RECIPES_MAX = 24 };
size_t quant_recipes(struct check *check, const struct dti_block_format *format,
                     struct dti_block_recipe recipes[RECIPES_MAX]);
/* Bits of an element in an order; whether the order is one of the format. */
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

/* Where blocks lie: codes and scales apart, or side by side. */
struct block_places {
    size_t code_stride, scale_stride;
    bool together; /* in one array, at these bytes of each block */
    size_t code_offset, scale_offset;
};
struct block_places quant_places(struct check *check, const struct dti_block_format *format,
                                 enum dti_block_order order);
/* Bytes of the array of codes (and of the scales, apart) for n elements. */
size_t quant_codes_extent(const struct block_places *places, const struct dti_block_format *format,
                          enum dti_block_order order, size_t n);
size_t quant_scales_extent(const struct block_places *places, const struct dti_block_format *format,
                           size_t n);

#endif
