/* SPDX-License-Identifier: MIT
 *
 * Quantization: converts numbers to codes with a scale, and codes back to numbers. This is the
 * definition, one number or one block at a time, in integer arithmetic; the array kernels are
 * tested against it.
 *
 * All arithmetic is in fp32, as in common practice: inputs x (others are rounded to fp32 first),
 * scales (narrower ones decode to fp32 exactly) and dequantized numbers. "Rounded" means to
 * nearest even in fp32, with subnormals and with overflow to infinity. Numbers are passed as
 * fp32 codes, uint32_t. Every dequantized NaN is 0x7fc00000.
 *
 * Affine: one scale s and one integer zero point z for a tensor, a channel or a group:
 *
 * code = clamp(round(x / s) + z, low, high); back = rounded((code - z) s)
 *
 * round is to nearest even; enum dti_quant_division defines the quotient. z is added after
 * rounding (ONNX QuantizeLinear, torch.quantize_per_tensor). A float code (fp8 ...) has z = 0
 * and is the quotient encoded with saturation; back = rounded(number s). -0 gives z, or the
 * float code of -0.
 *
 * Blocks: rows of blocks.def; see enum dti_block_family at dti_block_quantize(). */
#ifndef CORE_BLOCK_QUANT_H
#define CORE_BLOCK_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "core/value.h"

enum dti_quant_division {
    DTI_DIVIDE_TRUE,       /* x / s, rounded: ONNX */
    DTI_DIVIDE_RECIPROCAL, /* x (1 / s), both rounded: torch */
    DTI_DIVIDE_EXACT,      /* the exact quotient: rounded once, to the code */
};

/* The integer code for a quotient that is not a number in range. (A quotient can be NaN or
 * infinite although x is not: 1 / s overflows for s < 2^-128.) Float codes ignore `specials`:
 * NaN gives the canonical NaN (the code of zero if there is none), infinities saturate.
 *
 * torch 2.15 on x86 with AVX2 or AVX-512, as measured, the same for every length and position:
 *
 * quantize_per_tensor (fbgemm): a quotient above 2147483520, or a NaN, becomes 2147483520; one
 * below -2^31 becomes -2^31; z is added modulo 2^32, then the sum is clamped. So NaN, inf and
 * 1e10 give high if z <= 127 and low if z > 127; -inf and -1e10 give low if z >= 0, high if z <
 * 0.
 *
 * quantize_per_channel: NaN gives code 0 whatever z is; everything else is clamped. */
enum dti_quant_specials {
    DTI_QUANT_CLAMP,            /* NaN gives the zero point; others the nearest end of the range */
    DTI_QUANT_AS_TORCH,         /* as torch.quantize_per_tensor */
    DTI_QUANT_AS_TORCH_CHANNEL, /* as torch.quantize_per_channel */
};

/* How numbers are converted to codes. */
struct dti_affine {
    struct dti_format code; /* int2 ... int16, uint2 ... uint16; or a float of at most 8 bits */
    int32_t low, high;      /* range of the codes in use; integers only */
    enum dti_quant_division division;
    enum dti_quant_specials specials;
};

/* A scale as fp32 code, positive and finite; the zero point is in low..high. */
struct dti_affine_scale {
    uint32_t scale;
    int32_t zero_point;
};

/* How a scale is derived from a range. */
enum dti_quant_symmetry {
    DTI_SYMMETRY_NONE, /* from min and max, extended to include zero; z makes 0 a code */
    DTI_SYMMETRY_FULL, /* amax / high with z in the middle (0; unsigned: 2^(bits-1)); codes start at
                        * -high: int8's -128 is unused */
    DTI_SYMMETRY_HALF, /* amax / ((highest - lowest code) / 2), 127.5 for int8: torch */
};
enum dti_quant_zero {
    DTI_ZERO_ONNX,  /* z = clamp(round(low - min / s)), each step rounded: DynamicQuantizeLinear */
    DTI_ZERO_TORCH, /* z = clamp(low - round(min / s)): MinMaxObserver; s is at least fp32's eps,
                     * also for an all-zero range; float codes as for ONNX */
};

/* A complete recipe for affine quantization. */
struct dti_affine_recipe {
    struct dti_affine affine;
    enum dti_quant_symmetry symmetry;
    enum dti_quant_zero zero;
    uint32_t least; /* fp32 code: scales are at least this, also for an all-zero range; 0: as
                     * dti_affine_choose() says */
};
/* Fills low and high from code and symmetry: the format's limits, but with DTI_SYMMETRY_FULL low
 * is -high for signed codes and 1 for unsigned ones; 0 for floats. The other members get the
 * first value of each enum. Returns false if the format is not supported: integers of 2 to 16
 * bits and signed floats of at most 8 bits are, without those whose precision depends on the
 * exponent. */
bool dti_affine_recipe_init(struct dti_affine_recipe *ret, const struct dti_format *code,
                            enum dti_quant_symmetry symmetry);
/* The scale for finite numbers from min to max (fp32 codes):
 *
 * NONE: rounded(rounded(max - min) / (high - low)), for the range extended to include zero. The
 * difference may exceed the largest fp32; it is then rounded as if the exponent range were
 * larger.
 *
 * FULL: rounded(amax / (high - z)). HALF: rounded(amax / ((high - low) / 2)).
 *
 * Float codes: rounded(amax / largest finite).
 *
 * An all-zero range has scale 1 (DTI_ZERO_TORCH: eps). The scale is clamped to the normal fp32
 * numbers. */
void dti_affine_choose(const struct dti_affine_recipe *recipe, uint32_t min, uint32_t max,
                       struct dti_affine_scale *ret);

/* The result of quantizing a number. */
struct dti_quantized_number {
    uint32_t code; /* in the low bits; bits above the code's width are 0 */
    bool clipped;  /* x is finite, but out of range after rounding */
    bool special;  /* x is NaN or infinity */
};
void dti_affine_quantize(const struct dti_affine *affine, const struct dti_affine_scale *scale,
                         uint32_t x, struct dti_quantized_number *ret);
/* Dequantizes a code; returns an fp32 code. */
uint32_t dti_affine_dequantize(const struct dti_affine *affine,
                               const struct dti_affine_scale *scale, uint32_t code);

/* The power-of-two scale of an MX block, from its largest magnitude amax (OCP MX 1.0, 6.3, and
 * variants in use). max: the element's largest finite number; emax: its exponent. */
enum dti_mx_scale {
    DTI_MX_FLOOR,  /* floor(log2 amax) - emax */
    DTI_MX_CEIL,   /* ceil(log2 amax) - emax */
    DTI_MX_RCEIL,  /* ceil(log2(amax / max)) of the exact quotient */
    DTI_MX_EVEN,   /* floor(log2 amax') - emax, amax' being amax rounded to the element's mantissa
                    * width (bits after the leading one; subnormals too), halves up */
    DTI_MX_RFLOOR, /* floor(log2(amax / max)) of the exact quotient: amax is always clipped,
                    * unless the quotient is a power of two */
};
/* mxint8: max 127/64, emax 0, 6 mantissa bits. */

/* What the largest magnitude of an nvfp4 block maps to: */
enum dti_nv_scale {
    DTI_NV_SIX,       /* 6, the largest element */
    DTI_NV_FOUR_SIX,  /* 6 or 4, whichever has the smaller squared error; 6 on a tie: "Four
                       * Over Six", arXiv 2512.02010. 4 avoids the gap of 2 below the largest */
    DTI_NV_UNROUNDED, /* 6; and codes are computed with the scale as it is before it is rounded */
};

struct dti_block_recipe {
    const struct dti_block_format *format;
    enum dti_mx_scale mx;             /* DTI_BLOCKS_MX */
    enum dti_nv_scale nv;             /* DTI_BLOCKS_NV */
    enum dti_quant_division division; /* DTI_BLOCKS_NV, DTI_BLOCKS_NF; for exact powers of two all
                                       * are equal; ggml's formats have their own rule */
    uint32_t tensor_scale; /* DTI_BLOCKS_NV: fp32 code, positive; the code of 1 if there is none */
    /* DTI_BLOCKS_NV, for layouts that store the divisor of scales: the divisor, whose reciprocal
     * is tensor_scale; 0: none. If set, "S tensor_scale" below is S / tensor_divisor, rounded
     * once. */
    uint32_t tensor_divisor;
};
/* nvfp4's scale of a whole tensor: amax / (448 x 6), rounded; 1 if that is 0 or amax is not
 * finite. FOUR_SIX: amax / (256 x 6), so that the scale for 4, which is half as large again,
 * does not exceed 448. */
uint32_t dti_nv_tensor_scale(enum dti_nv_scale rule, uint32_t amax);

enum { DTI_BLOCK_LENGTH_MAX = 64 };
struct dti_quantized_block {
    uint32_t amax;  /* the largest magnitude, fp32 code; NaN if the block has a NaN or
                     * infinity */
    uint32_t scale; /* code of the format's scale dtype */
    uint32_t code[DTI_BLOCK_LENGTH_MAX]; /* n of them, of the element's dtype, unpacked */
    unsigned clipped;                    /* number of elements out of range after rounding */
    uint64_t clipped_at;                 /* bit mask: bit i for element i */
    bool special;                        /* the block contains a NaN or an infinity */
};
/* Quantizes one block of n elements, 1 <= n <= format->length: the last block of a row may be
 * short.
 *
 * MX: X = 2^e by recipe->mx, e clamped to -127..127 (amax 0: -127); code = x / X encoded to
 * nearest even, saturating. mxint8: 64 x / X to nearest even, clamped to -128..127. The quotient
 * needs no rounding: where x 2^-e is subnormal in fp32, it is far below every element.
 *
 * NV: S = fp8_e4m3fn(amax / 6 / tensor_scale), saturating, both quotients rounded; p = rounded(S
 * tensor_scale); code = fp4(rounded(x / p)), saturating. Reciprocal (torchao): code =
 * fp4(rounded(x r)), r = rounded(rounded(1 / tensor_scale) / S). Exact: S = fp8_e4m3fn of the
 * exact quotient, code = fp4(x / p). If S or p is 0, all codes are 0, whatever the sign of x.
 *
 * FOUR_SIX: tries both, the other one with S = fp8_e4m3fn(1.5 amax / 6 / tensor_scale), where
 * the product is rounded too. The error is the sum of (dequantized - x)^2; the difference is
 * rounded to fp32, the sum to fp64 after each element, in order.
 *
 * UNROUNDED: S as before; the codes use u = rounded(rounded(amax / 6) / tensor_scale) in its place;
 * exact: p = rounded(amax / 6). If p is 0, all codes are 0.
 *
 * NF: S = amax (fp32); code: the table entry nearest to x / S, the lower one on a tie; if S is
 * 0, the code of zero, 7. bnb_fp4: the code by dti_bnb_fp4_limits and the sign of x / S. Nothing
 * is clipped.
 *
 * Q8 (ggml): d = amax / 127, rounded; code = x (1 / d), both rounded, to the nearest integer,
 * halves away from zero; S = fp16(d). If d is 0 or 1 / d overflows, codes are 0.
 *
 * Q4 (ggml): m = the first x of the largest magnitude (+0 if all are zero), d = m / -8; code =
 * min(15, trunc(rounded(rounded(x (1 / d)) + 8.5))), 1 / d rounded; S = fp16(d), of either sign:
 * 0x8000 for zeros. If d is 0 or 1 / d overflows, codes are 8. A 16 reduced to 15 counts as
 * clipped.
 *
 * NV and NF by reciprocal: if it overflows, the true quotient is used. fp16(d) is to nearest
 * even and may be 0 or infinite while the codes stay unchanged, as in ggml; with an infinite S
 * all n elements count as clipped. Underflow, of elements or of S, never counts as clipped.
 *
 * With a NaN or an infinity: S is the NaN of the scale's dtype (0xff, 0x7f, 0x7e00, 0x7fc00000),
 * codes are 0 (nf4: 7, q4_0: 8; dti_block_zero()), none is clipped. */
void dti_block_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *ret);
/* Decodes a scale's code, without the tensor scale, and an element's code, unscaled. */
void dti_block_scale_value(const struct dti_block_recipe *recipe, uint32_t scale,
                           struct dti_value *ret);
void dti_block_element_value(const struct dti_block_recipe *recipe, uint32_t code,
                             struct dti_value *ret);
/* Dequantizes an element to an fp32 code: its number times the scale, rounded once; NV: (S
 * tensor_scale, rounded) times the number, rounded. IEEE 754 rules apply: q4_0's code 8 is -0
 * under a negative scale, and 0 under an infinite scale is NaN. */
uint32_t dti_block_dequantize(const struct dti_block_recipe *recipe, uint32_t scale, uint32_t code);

/* A quantization scheme for a whole array: affine or blocks. The array is viewed as outer x
 * length x inner elements; blocks, groups and channels lie along the middle axis. */
enum dti_quant_per {
    DTI_PER_TENSOR,  /* one scale */
    DTI_PER_CHANNEL, /* one per index along the axis */
    DTI_PER_GROUP,   /* one per `group` consecutive elements along the axis */
};
struct dti_quant_scheme {
    const struct dti_block_format *block; /* NULL: affine */
    struct dti_block_recipe blocks;       /* without tensor_scale */
    bool tensor_scale;                    /* DTI_BLOCKS_NV: derived from the array's amax */
    bool nested; /* DTI_BLOCKS_NF: scales are quantized too: nested_scales.h */
    struct dti_affine_recipe affine;
    bool biased; /* affine, unsigned codes in groups: each group has a bias instead of a zero point,
                  * by MLX's rule: dti_biased_quantize_fn in kernels/quant/quant_kernel.h */
    enum dti_quant_per per; /* affine */
    uint32_t group;         /* DTI_PER_GROUP; blocks: the format's length */
    bool fixed;             /* affine: use `scale` instead of a range */
    struct dti_affine_scale scale;
};

/* Whether zero points are stored: symmetric signed codes and floats have none. */
bool dti_quant_has_zero_points(const struct dti_quant_scheme *scheme);

/* Family NF: the numbers of all codes as fp32 codes; those of nf4 ascend. */
extern const uint32_t dti_nf4_table[16], dti_bnb_fp4_table[16];
const uint32_t *dti_block_table(const struct dti_block_format *format);
/* bnb_fp4: thresholds of magnitudes (fp32 codes), and the code for each number of thresholds
 * exceeded. */
enum { DTI_BNB_FP4_LIMITS = 7 };
extern const uint32_t dti_bnb_fp4_limits[DTI_BNB_FP4_LIMITS];
extern const uint8_t dti_bnb_fp4_order[DTI_BNB_FP4_LIMITS + 1];
/* The code of zero: 0, except for some tables and for codes with an offset. */
uint32_t dti_block_zero(const struct dti_block_format *format);

#endif
