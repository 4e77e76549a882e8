/* SPDX-License-Identifier: MIT
 *
 * Quantization: numbers become codes through a scale, and come back through it. What is here is the
 * definition, one number or one block at a time, in integer arithmetic; the array kernels are held
 * against it.
 *
 * All of it is arithmetic of fp32, as everywhere in practice: x is an fp32 number (others are
 * rounded to fp32 first), so are scales (those of fewer bits decode to fp32 exactly) and what comes
 * back. "Rounded" means to nearest even in fp32. Numbers are passed as fp32 codes, uint32_t.
 *
 * Affine: one scale s and one integer zero point z for a tensor, a channel or a group.
 *   code = clamp(round(x / s) + z, low, high)            back = rounded((code - z) s)
 * with round to nearest even after the quotient was formed as enum dti_quant_division says. z is
 * added after rounding (ONNX QuantizeLinear, torch.quantize_per_tensor). A float code (fp8 ...) has
 * z = 0 and is the quotient encoded, saturating; back = rounded(number s).
 *
 * Blocks: rows of blocks.def; see enum dti_block_family at dti_block_quantize(). */
#ifndef DTINFO_QUANT_H
#define DTINFO_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/dtype.h"
#include "dtinfo/value.h"

enum dti_quant_division {
    DTI_DIVIDE_TRUE,       /* x / s, rounded: ONNX */
    DTI_DIVIDE_RECIPROCAL, /* x (1 / s), both rounded: torch */
    DTI_DIVIDE_EXACT,      /* the quotient itself: one rounding, to the code */
};

/* What the specials of an array become in an integer code. In a float code: a NaN is its NaN (the
 * zero where it has none), infinities saturate. */
enum dti_quant_specials {
    DTI_QUANT_CLAMP,    /* NaN is the zero point, infinities are the nearest end of the range */
    DTI_QUANT_AS_TORCH, /* as torch on x86 stores them: see quant.c */
};

/* How codes of a run are made. */
struct dti_affine {
    struct dti_format code; /* int2 ... int16, uint2 ... uint16; or a float of 8 bits or less */
    int32_t low, high;      /* the codes that are used; integers only */
    enum dti_quant_division division;
    enum dti_quant_specials specials;
};

/* A scale as fp32 code, positive and finite, not zero; the zero point is in low..high. */
struct dti_affine_scale {
    uint32_t scale;
    int32_t zero_point;
};

/* How a scale comes from a range. */
enum dti_quant_symmetry {
    DTI_SYMMETRY_NONE, /* from min and max, widened to hold zero: z such that 0 is a code */
    DTI_SYMMETRY_FULL, /* amax / high with z in the middle (0; unsigned: 2^(bits-1)); codes from
                        * -high: int8's -128 is not used */
    DTI_SYMMETRY_HALF, /* amax / ((highest - lowest code) / 2), 127.5 for int8: torch */
};
enum dti_quant_zero {
    DTI_ZERO_ONNX,  /* z = clamp(round(low - min / s)): DynamicQuantizeLinear */
    DTI_ZERO_TORCH, /* z = clamp(low - round(min / s)): MinMaxObserver; s not below fp32's eps */
};

/* The whole recipe of an affine quantization. */
struct dti_affine_recipe {
    struct dti_affine affine;
    enum dti_quant_symmetry symmetry;
    enum dti_quant_zero zero;
};
/* Fills low and high from code and symmetry (dti_affine.low/high are then those of the format; with
 * DTI_SYMMETRY_FULL low is -high for signed codes, 1 for unsigned ones). False when the format is
 * not one that can be quantized to. */
bool dti_affine_recipe_init(struct dti_affine_recipe *ret, const struct dti_format *code,
                            enum dti_quant_symmetry symmetry);
/* The scale for finite numbers from min to max (fp32 codes). Float codes: amax / largest finite. A
 * range that is zero alone has scale 1. A scale that would be zero (or subnormal beyond use) or
 * overflow is clamped to the smallest normal or the largest finite fp32. */
void dti_affine_choose(const struct dti_affine_recipe *recipe, uint32_t min, uint32_t max,
                       struct dti_affine_scale *ret);

/* What became of a number. */
struct dti_quantized {
    uint32_t code;
    bool clipped; /* finite, and beyond the range after rounding */
    bool special; /* NaN or infinity */
};
void dti_affine_quantize(const struct dti_affine *affine, const struct dti_affine_scale *scale,
                         uint32_t x, struct dti_quantized *ret);
/* What comes back, as fp32 code. */
uint32_t dti_affine_dequantize(const struct dti_affine *affine,
                               const struct dti_affine_scale *scale, uint32_t code);

/* The power of two of an MX block, from its largest magnitude amax (OCP MX 1.0, 6.3, and what
 * others do; max is the element's largest finite number, emax the exponent of it): */
enum dti_mx_scale {
    DTI_MX_FLOOR, /* floor(log2 amax) - emax */
    DTI_MX_CEIL,  /* ceil(log2 amax) - emax */
    DTI_MX_RCEIL, /* ceil(log2(amax / max)) of the exact quotient */
    DTI_MX_EVEN,  /* floor(log2 amax') - emax, amax' being amax rounded to the element's mantissa,
                   * halves up */
};

struct dti_block_recipe {
    const struct dti_block_format *format;
    enum dti_mx_scale mx;             /* DTI_BLOCKS_MX */
    enum dti_quant_division division; /* DTI_BLOCKS_NV, DTI_BLOCKS_NF; exact powers of two have but
                                       * one quotient; ggml's formats have their own rule */
    uint32_t tensor_scale; /* DTI_BLOCKS_NV: fp32 code, positive; that of 1 where there is none */
};
/* nvfp4's scale of a whole tensor: amax / (448 x 6), rounded; 1 when amax is 0. */
uint32_t dti_nv_tensor_scale(uint32_t amax);

enum { DTI_BLOCK_LENGTH_MAX = 64 };
struct dti_quantized_block {
    uint32_t amax;  /* the largest magnitude, fp32 code; NaN when the block holds a NaN or an
                     * infinity */
    uint32_t scale; /* code of the format's scale dtype */
    uint32_t code[DTI_BLOCK_LENGTH_MAX]; /* of the element's dtype, not packed */
    unsigned clipped;                    /* elements beyond the largest code after rounding */
    bool special; /* the block has a NaN or an infinity: its scale is NaN (nothing is left of it),
                   * its codes are those of zero */
};
/* One block of n elements, 1 <= n <= format->length: the last of a row may be short.
 *   MX  X = 2^e by recipe->mx, e clamped to -127..127 (amax 0: -127); code = x / X encoded to
 * nearest even, saturating. mxint8: 64 x / X to nearest even, clamped to -128..127. NV  S =
 * fp8_e4m3fn(amax / 6 / tensor_scale), saturating, both quotients rounded (reciprocal: see
 *       division); code = fp4(x / rounded(S tensor_scale)), saturating; where S is 0 codes are 0.
 *   NF  S = amax (fp32); code: the entry of the table nearest to x / S, of two equally near ones
 * the lower; where S is 0 the code of zero, 7. Q8  ggml: d = amax / 127, rounded; code = x (1 / d),
 * both rounded, to the nearest integer, halves away from zero; S = fp16(d). d = 0: codes 0. Q4
 * ggml: m = the first x of the largest magnitude, d = m / -8; code = min(15, trunc(rounded(x (1 /
 * d) + 8.5))), every step rounded; S = fp16(d), of either sign. d = 0: codes 8. */
void dti_block_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *ret);
/* What an element comes back as, fp32 code: its number times the scale, rounded once; NV: (S
 * tensor_scale rounded) times the number, rounded. */
uint32_t dti_block_dequantize(const struct dti_block_recipe *recipe, uint32_t scale, uint32_t code);

/* What is asked for of a whole array: affine, or blocks. The array is seen as outer x length x
 * inner elements, the middle one being the axis along which blocks, groups and channels lie. */
enum dti_quant_per {
    DTI_PER_TENSOR,  /* one scale */
    DTI_PER_CHANNEL, /* one for each place along the axis */
    DTI_PER_GROUP,   /* one for each `group` neighbours along the axis */
};
struct dti_quant_scheme {
    const struct dti_block_format *block; /* NULL: affine */
    struct dti_block_recipe blocks;       /* without tensor_scale */
    bool tensor_scale;                    /* DTI_BLOCKS_NV: made from the array's amax */
    struct dti_affine_recipe affine;
    enum dti_quant_per per; /* affine */
    uint32_t group;         /* DTI_PER_GROUP; blocks: the format's length */
    bool fixed;             /* affine: no range is looked for, scale is given */
    struct dti_affine_scale scale;
};

/* nf4's table, fp32 codes, rising. */
extern const uint32_t dti_nf4_table[16];

#endif
