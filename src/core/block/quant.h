/* SPDX-License-Identifier: MIT
 *
 * Quantization: numbers become codes through a scale, and codes become numbers again. What is here
 * is the definition, one number or one block at a time, in integer arithmetic; the array kernels
 * are tested against it.
 *
 * All arithmetic is in fp32, as in common practice: x is an fp32 number (others are rounded to fp32
 * first), so are scales (those of fewer bits decode to fp32 exactly) and what comes back. "Rounded"
 * means to nearest even in fp32, with subnormals and overflow to infinity. Numbers are passed as
 * fp32 codes, uint32_t. Every NaN that comes back is 0x7fc00000.
 *
 * Affine: one scale s and one integer zero point z for a tensor, a channel or a group.
 *   code = clamp(round(x / s) + z, low, high)            back = rounded((code - z) s)
 * with round to nearest even after the quotient was formed as enum dti_quant_division says. z is
 * added after rounding (ONNX QuantizeLinear, torch.quantize_per_tensor). A float code (fp8 ...) has
 * z = 0 and is the quotient encoded, saturating; back = rounded(number s). -0 is z, or the float
 * code of -0.
 *
 * Blocks: rows of blocks.def; see enum dti_block_family at dti_block_quantize(). */
#ifndef CORE_BLOCK_QUANT_H
#define CORE_BLOCK_QUANT_H

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

/* What a quotient that is no number of the range becomes in an integer code. (A quotient can be NaN
 * or infinite where x is not: 1 / s overflows when s < 2^-128.) A float code: a NaN is its
 * canonical NaN (the code of zero where it has none), infinities saturate; `specials` is not looked
 * at.
 *
 * torch 2.15 on x86 with AVX2 or AVX-512, measured, the same for every length and place:
 *
 * quantize_per_tensor (fbgemm): the quotient is cut to 2147483520 from above, a NaN too; below
 * -2^31 it is -2^31; z is added modulo 2^32, then it is clamped. So NaN, inf and 1e10 are high
 * where z <= 127 and low where z > 127; -inf and -1e10 are low where z >= 0, high where z < 0.
 *
 * quantize_per_channel: NaN is the code 0 whatever z is; all else is clamped. */
enum dti_quant_specials {
    DTI_QUANT_CLAMP,            /* NaN is the zero point, the rest the nearest end of the range */
    DTI_QUANT_AS_TORCH,         /* as torch.quantize_per_tensor */
    DTI_QUANT_AS_TORCH_CHANNEL, /* as torch.quantize_per_channel */
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
    DTI_ZERO_ONNX,  /* z = clamp(round(low - min / s)), each step rounded: DynamicQuantizeLinear */
    DTI_ZERO_TORCH, /* z = clamp(low - round(min / s)): MinMaxObserver; s not below fp32's eps, also
                     * for a range that is zero alone; of a float code as ONNX */
};

/* The whole recipe of an affine quantization. */
struct dti_affine_recipe {
    struct dti_affine affine;
    enum dti_quant_symmetry symmetry;
    enum dti_quant_zero zero;
};
/* Fills low and high from code and symmetry (dti_affine.low/high are then those of the format; with
 * DTI_SYMMETRY_FULL low is -high for signed codes, 1 for unsigned ones; 0 for floats); the rest is
 * the first of each enum. False when the format is not one that can be quantized to: integers of 2
 * to 16 bits, signed floats of 8 bits or less. */
bool dti_affine_recipe_init(struct dti_affine_recipe *ret, const struct dti_format *code,
                            enum dti_quant_symmetry symmetry);
/* The scale for finite numbers from min to max (fp32 codes):
 *
 * NONE: rounded(rounded(max - min) / (high - low)) of the range widened to zero; the difference may
 * exceed the largest fp32, and is then rounded as if there were more exponents.
 *
 * FULL: rounded(amax / (high - z)). HALF: rounded(amax / ((high - low) / 2)).
 *
 * Float codes: rounded(amax / largest finite).
 *
 * A range that is zero alone has scale 1 (DTI_ZERO_TORCH: eps). A scale below the smallest normal
 * or beyond the largest finite fp32 is clamped there. */
void dti_affine_choose(const struct dti_affine_recipe *recipe, uint32_t min, uint32_t max,
                       struct dti_affine_scale *ret);

/* What became of a number. */
struct dti_quantized {
    uint32_t code; /* the bits of the code's width, those above are 0 */
    bool clipped;  /* x is finite, and beyond the range after rounding */
    bool special;  /* x is NaN or infinity */
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
    DTI_MX_EVEN,  /* floor(log2 amax') - emax, amax' being amax rounded to the element's mantissa
                   * (its bits after the leading one, subnormals too), halves up */
};
/* mxint8: max 127/64, emax 0, a mantissa of 6 bits. */

/* What the largest magnitude of an nvfp4 block becomes: */
enum dti_nv_scale {
    DTI_NV_SIX,      /* 6, the largest element */
    DTI_NV_FOUR_SIX, /* 6 or 4, whichever has the smaller squared error, 6 of two equal ones: "Four
                      * Over Six", arXiv 2512.02010. 4 leaves no gap of 2 below the largest */
};

struct dti_block_recipe {
    const struct dti_block_format *format;
    enum dti_mx_scale mx;             /* DTI_BLOCKS_MX */
    enum dti_nv_scale nv;             /* DTI_BLOCKS_NV */
    enum dti_quant_division division; /* DTI_BLOCKS_NV, DTI_BLOCKS_NF; exact powers of two have but
                                       * one quotient; ggml's formats have their own rule */
    uint32_t tensor_scale; /* DTI_BLOCKS_NV: fp32 code, positive; that of 1 where there is none */
    /* DTI_BLOCKS_NV, of layouts that store what scales are divided by: it, where its reciprocal is
     * tensor_scale; 0: none. Then "S tensor_scale" below is S / tensor_divisor, rounded once. */
    uint32_t tensor_divisor;
};
/* nvfp4's scale of a whole tensor: amax / (448 x 6), rounded; 1 when that is 0 or amax not finite.
 * FOUR_SIX: amax / (256 x 6), so that no scale of 4, one half more, is beyond 448. */
uint32_t dti_nv_tensor_scale(enum dti_nv_scale rule, uint32_t amax);

enum { DTI_BLOCK_LENGTH_MAX = 64 };
struct dti_quantized_block {
    uint32_t amax;  /* the largest magnitude, fp32 code; NaN when the block holds a NaN or an
                     * infinity */
    uint32_t scale; /* code of the format's scale dtype */
    uint32_t code[DTI_BLOCK_LENGTH_MAX]; /* n of them, of the element's dtype, not packed */
    unsigned clipped;                    /* elements beyond the largest code after rounding */
    uint64_t clipped_at;                 /* which: bit i for element i */
    bool special;                        /* the block has a NaN or an infinity */
};
/* One block of n elements, 1 <= n <= format->length: the last of a row may be short.
 *
 * MX: X = 2^e by recipe->mx, e clamped to -127..127 (amax 0: -127); code = x / X encoded to nearest
 * even, saturating. mxint8: 64 x / X to nearest even, clamped to -128..127. The quotient needs no
 * rounding: where x 2^-e is subnormal in fp32 it is far below every element.
 *
 * NV: S = fp8_e4m3fn(amax / 6 / tensor_scale), saturating, both quotients rounded; p = rounded(S
 * tensor_scale); code = fp4(rounded(x / p)), saturating. By the reciprocal (torchao): code =
 * fp4(rounded(x r)), r = rounded(rounded(1 / tensor_scale) / S). Exact: S = fp8_e4m3fn of the exact
 * quotient, code = fp4(x / p). Where S or p is 0 codes are 0, of either sign of x.
 * FOUR_SIX: both are tried, the other with S = fp8_e4m3fn(1.5 amax / 6 / tensor_scale), the product
 * rounded too. The error is the sum of (what comes back - x)^2, the difference rounded to fp32, the
 * sum after each element, in order, to fp64.
 *
 * NF: S = amax (fp32); code: the entry of the table nearest to x / S, of two equally near ones the
 * lower; where S is 0 the code of zero, 7. bnb_fp4: the code by dti_bnb_fp4_limits and the sign of
 * x / S. Nothing is clipped.
 *
 * Q8 (ggml): d = amax / 127, rounded; code = x (1 / d), both rounded, to the nearest integer,
 * halves away from zero; S = fp16(d). Where d is 0 or 1 / d overflows codes are 0.
 *
 * Q4 (ggml): m = the first x of the largest magnitude (+0 when all are zeros), d = m / -8; code =
 * min(15, trunc(rounded(rounded(x (1 / d)) + 8.5))), 1 / d rounded; S = fp16(d), of either sign:
 * 0x8000 for zeros. Where d is 0 or 1 / d overflows codes are 8. A 16 that became 15 is clipped.
 *
 * NV and NF by the reciprocal: where it overflows the true quotient is taken. fp16(d) is to nearest
 * even and may be 0 or infinite while codes stay what they are, as in ggml; with an infinite S all
 * n elements count as clipped. An underflow, of elements or of S, is never clipped.
 *
 * A NaN or an infinity: S is the NaN of the scale's dtype (0xff, 0x7f, 0x7e00, 0x7fc00000), codes
 * are 0 (nf4: 7, q4_0: 8; dti_block_zero()), none is clipped. */
void dti_block_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *ret);
/* What a scale's code is, without the tensor scale, and what an element's code is, unscaled. */
void dti_block_scale_value(const struct dti_block_recipe *recipe, uint32_t scale,
                           struct dti_value *ret);
void dti_block_element_value(const struct dti_block_recipe *recipe, uint32_t code,
                             struct dti_value *ret);
/* What an element comes back as, fp32 code: its number times the scale, rounded once; NV: (S
 * tensor_scale rounded) times the number, rounded. By the rules of IEEE 754: of q4_0 code 8 is -0
 * under a negative scale, 0 under an infinite one NaN. */
uint32_t dti_block_dequantize(const struct dti_block_recipe *recipe, uint32_t scale, uint32_t code);

/* The request for a whole array: affine, or blocks. The array is seen as outer x length x inner
 * elements, the middle one being the axis along which blocks, groups and channels lie. */
enum dti_quant_per {
    DTI_PER_TENSOR,  /* one scale */
    DTI_PER_CHANNEL, /* one for each place along the axis */
    DTI_PER_GROUP,   /* one for each `group` neighbours along the axis */
};
struct dti_quant_scheme {
    const struct dti_block_format *block; /* NULL: affine */
    struct dti_block_recipe blocks;       /* without tensor_scale */
    bool tensor_scale;                    /* DTI_BLOCKS_NV: made from the array's amax */
    bool nested; /* DTI_BLOCKS_NF: scales are quantized again: nested_scales.h */
    struct dti_affine_recipe affine;
    enum dti_quant_per per; /* affine */
    uint32_t group;         /* DTI_PER_GROUP; blocks: the format's length */
    bool fixed;             /* affine: no range is looked for, scale is given */
    struct dti_affine_scale scale;
};

/* Of family NF: the numbers of all codes as fp32 codes; those of nf4 rise. */
extern const uint32_t dti_nf4_table[16], dti_bnb_fp4_table[16];
const uint32_t *dti_block_table(const struct dti_block_format *format);
/* bnb_fp4: the limits of magnitudes, fp32 codes, and the codes of what lies beyond so many of them.
 */
enum { DTI_BNB_FP4_LIMITS = 7 };
extern const uint32_t dti_bnb_fp4_limits[DTI_BNB_FP4_LIMITS];
extern const uint8_t dti_bnb_fp4_order[DTI_BNB_FP4_LIMITS + 1];
/* The code of zero: 0, but of some tables and of codes with an offset. */
uint32_t dti_block_zero(const struct dti_block_format *format);

#endif
