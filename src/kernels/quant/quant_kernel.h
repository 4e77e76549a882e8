/* SPDX-License-Identifier: MIT
 *
 * Quantization kernels: rows of quant_kernels.def, with fp32 arrays on one side. quant.h defines
 * their results bit for bit. Arrays may have any alignment and must not overlap; exactly the
 * bytes of n elements are read and written, but kernels may prefetch beyond. */
#ifndef KERNELS_QUANT_QUANT_KERNEL_H
#define KERNELS_QUANT_QUANT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/block/quant.h"
#include "kernels/cpu.h"
#include "kernels/kernel.h"

/* The range of an array's finite numbers; zeros of both signs are equal (either may be kept). */
struct dti_range {
    float min, max; /* +inf and -inf if there is none yet */
    uint64_t nan, inf;
};
void dti_range_init(struct dti_range *ret);
void dti_range_merge(struct dti_range *range, const struct dti_range *part);
typedef void dti_range_fn(const float *x, size_t n, struct dti_range *range); /* updates *range */
/* The same per column: n numbers, each updating its own min[i] and max[i] (aligned like floats);
 * the special values are counted in one place. */
typedef void dti_range_columns_fn(const float *x, size_t n, float *min, float *max,
                                  struct dti_range *specials);

struct dti_quant_count {
    uint64_t clipped; /* affine: elements; blocks: elements in all blocks */
    uint64_t blocks;  /* blocks: those with clipped elements */
    uint64_t special; /* affine: NaNs and infinities; blocks: blocks that became NaN */
};

/* Affine quantization. Codes are in containers of 1 byte (2 for int16, uint16), not packed. */
struct dti_affine_args {
    const struct dti_affine *affine;
    const struct dti_encoder *encoder; /* float codes, of dti_encoder_takes_hub32(): to nearest
                                        * even, saturating, NaN canonical; else NULL */
    const struct dti_decoder *decoder; /* the same for dequantizing */
    float scale, inverse;              /* inverse: 1 / scale, rounded */
    int32_t zero_point;
    const float *scales, *inverses;     /* not NULL: each element has its own scale, and `scale` is
                                         * ignored */
    const int32_t *zero_points;         /* used with scales; NULL: all are zero_point */
    const struct dti_streaming *stream; /* use streaming stores (a hint); NULL: cached */
    size_t ahead;                       /* quantization: bytes from a number to that which is
                                         * prefetched meanwhile; 0: as far as usual */
};
typedef void dti_affine_quantize_fn(const struct dti_affine_args *args, void *codes, const float *x,
                                    size_t n, struct dti_quant_count *count);
typedef void dti_affine_dequantize_fn(const struct dti_affine_args *args, float *x,
                                      const void *codes, size_t n);

/* Numbers with a bias, as in MLX: code x scale + bias, with each operation rounded to `number`.
 * Codes are bytes. Scales and biases have that format, one per `group` elements. */
struct dti_biased_args {
    enum dti_dtype number; /* fp32, fp16 or bf16 */
    size_t group;
    const float *scales, *biases;
    unsigned bits; /* of a code; quantization only */
};
typedef void dti_biased_dequantize_fn(const struct dti_biased_args *args, float *x,
                                      const unsigned char *codes, size_t n);
/* The way there, as mx.quantize() of MLX 0.32.4 computes it on processors, with each operation
 * rounded to fp32; n: whole groups, whose length is a multiple of DTI_BIASED_LANES and at most
 * DTI_BIASED_MOST. low and high: the least and the largest number of a group, without NaNs.
 *
 * edge: the one of larger magnitude, high if both are equal. step = max((high - low) / (2^bits -
 * 1), 1e-7), negative if the edge is high. turns = edge / step, rounded to an integer. If it is 0:
 * scale = step, bias = 0; otherwise scale = edge / turns, bias = edge. code = (x - bias) / scale,
 * rounded to an integer, clamped; 0 for NaN.
 *
 * Scales and biases are rounded to `number` after that: codes do not see it. */
enum { DTI_BIASED_LANES = 16, DTI_BIASED_MOST = 128 };
typedef void dti_biased_quantize_fn(const struct dti_biased_args *args, unsigned char *codes,
                                    float *scales, float *biases, const float *x, size_t n,
                                    struct dti_quant_count *count);

/* Rotation of groups of numbers by the regular Hadamard matrix of their length, a power of 4 (see
 * quant_lanes_rotate.c), divided by the square root of that length.
 *
 * dti_rotate_fn: groups of 16, 64 or 256. Each number is first multiplied by 1 / sqrt(group), which
 * is a power of two. A result is the sum of these products or their negatives, in order, each
 * addition rounded to fp32; the first and last 128 of 256 are summed separately, then added. This
 * is the order of comfy-kitchen 0.2.40's matrix product on x86 processors. The sign of a result
 * that is zero is not specified.
 *
 * dti_unrotate_fn: codes, one per byte: the integer is the byte as a signed number, minus `middle`;
 * at most 8 bits. Its sums are exact integers; a result is such a sum, divided by the square root,
 * times the scale, rounded once. */
enum { DTI_ROTATE_MOST = 256, DTI_UNROTATE_MOST = 4096 };
struct dti_unrotate_args {
    unsigned group; /* 4 to DTI_UNROTATE_MOST */
    int middle;
    float scale;
};
typedef void dti_rotate_fn(float *y, const float *x, size_t groups, unsigned group);
typedef void dti_unrotate_fn(const struct dti_unrotate_args *args, float *y,
                             const unsigned char *codes, size_t groups);

/* The layout of a block's codes. */
enum dti_block_order {
    DTI_BLOCK_LOW,   /* packed, element 0 in the lowest bits (DTI_PACKING_LOW) */
    DTI_BLOCK_HIGH,  /* packed, element 0 in the highest bits */
    DTI_BLOCK_BYTES, /* one per byte; always used for 8-bit codes */
};
/* Precomputed parameters of a block format. */
struct dti_block_parts {
    struct dti_encoder encoder;       /* for float elements: nearest even, saturating */
    struct dti_encoder scale_encoder; /* for scales that are neither powers of two nor fp32:
                                       * nearest even; fp8: saturating */
    struct dti_decoder scale_decoder;
    float numbers[256]; /* value of each element code, without the scale */
    float scales[256];  /* value of each 8-bit scale code */
};
void dti_block_parts_init(struct dti_block_parts *ret, const struct dti_block_recipe *recipe);

/* NVFP4: a block's scale, as fp32, is multiplied by `factor` and divided by `divisor`; one of
 * them is 1, so there is only one rounding. */
struct dti_nv_tensor {
    float factor, divisor;
};
static inline struct dti_nv_tensor dti_nv_tensor(const struct dti_block_recipe *recipe)
{
    struct dti_nv_tensor ret = {1, 1};
    if (recipe->tensor_divisor)
        memcpy(&ret.divisor, &recipe->tensor_divisor, sizeof ret.divisor);
    else
        memcpy(&ret.factor, &recipe->tensor_scale, sizeof ret.factor);
    return ret;
}

struct dti_block_args {
    const struct dti_block_recipe *recipe;
    const struct dti_block_parts *parts; /* of recipe */
    enum dti_block_order order;
    size_t code_stride, scale_stride; /* distance between blocks in bytes: a block's own size if
                                       * codes and scales are in separate dense arrays */
    const struct dti_streaming *stream;
};
/* Loads the factors of the elements of n blocks; scales are args->scale_stride apart. */
void dti_block_scales_load(const struct dti_block_args *args, const void *scales, size_t n,
                           float *ret);

/* n elements in consecutive blocks, the last of which may be short; its last byte is padded with
 * zero bits. Scales are little-endian. */
typedef void dti_blocks_quantize_fn(const struct dti_block_args *args, void *codes, void *scales,
                                    const float *x, size_t n, struct dti_quant_count *count);
typedef void dti_blocks_dequantize_fn(const struct dti_block_args *args, float *x,
                                      const void *codes, const void *scales, size_t n);

/* The codes that a row of affine kernels supports. */
enum dti_quant_codes {
    DTI_QUANT_CODES_ANY,
    DTI_QUANT_CODES_8,  /* integers of 8 bits or less in bytes */
    DTI_QUANT_CODES_16, /* int16, uint16 */
    DTI_QUANT_CODES_FLOAT,
};
struct dti_quant_kernel {
    const char *name;
    enum dti_level level;
    enum dti_quant_work {
        DTI_QUANT_RANGE,
        DTI_QUANT_RANGE_COLUMNS,
        DTI_QUANT_AFFINE,
        DTI_QUANT_AFFINE_BACK,
        DTI_QUANT_BIASED,
        DTI_QUANT_BIASED_BACK,
        DTI_QUANT_ROTATE,
        DTI_QUANT_UNROTATE,
        DTI_QUANT_BLOCKS,
        DTI_QUANT_BLOCKS_BACK
    } work;
    enum dti_quant_codes codes; /* affine */
    bool columns;               /* affine: supports args->scales (and not just args->scale) */
    uint32_t blocks;            /* blocks: set of 1 << enum dti_block */
    uint32_t orders;            /* blocks: set of 1 << enum dti_block_order */
    union {
        dti_range_fn *range;
        dti_range_columns_fn *range_columns;
        dti_affine_quantize_fn *affine;
        dti_affine_dequantize_fn *affine_back;
        dti_biased_quantize_fn *biased;
        dti_biased_dequantize_fn *biased_back;
        dti_rotate_fn *rotate;
        dti_unrotate_fn *unrotate;
        dti_blocks_quantize_fn *blocks;
        dti_blocks_dequantize_fn *blocks_back;
    } run;
};
extern const struct dti_quant_kernel dti_quant_kernels[];
extern const size_t dti_quant_kernel_count;

/* The first row at the allowed level that fits; args as they will be passed to the kernel (NULL
 * for ranges). Never NULL: the portable rows support everything. */
const struct dti_quant_kernel *dti_quant_find_range(bool columns, enum dti_level allowed);
const struct dti_quant_kernel *dti_quant_find_affine(bool back, const struct dti_affine_args *args,
                                                     enum dti_level allowed);
const struct dti_quant_kernel *dti_quant_find_biased(bool back, enum dti_level allowed);
const struct dti_quant_kernel *dti_quant_find_rotate(bool back, enum dti_level allowed);
const struct dti_quant_kernel *dti_quant_find_blocks(bool back, const struct dti_block_args *args,
                                                     enum dti_level allowed);

#endif
