/* SPDX-License-Identifier: MIT
 *
 * Quantization of arrays in memory: codes with scales. Formats are called as for `dtinfo quant`: a
 * dtype ("int8", "uint4", "fp8_e4m3fn": affine, with a scale for the tensor, a channel or a group),
 * a block format ("mxfp8_e4m3", "mxfp4", "nvfp4", "nf4" ...), or a block type of GGUF ("q4_k"),
 * whose scales lie within its codes.
 *
 * The arithmetic is fp32: numbers of other formats are rounded to it first, and so is a number on
 * its way back (to nearest even). Codes, scales and counts are the same for every CPU level and
 * thread count, and are those of the files that `dtinfo quant` writes. */
#ifndef DTINFO_BLOCK_H
#define DTINFO_BLOCK_H

#include "dtinfo/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts on a block format, or on a block type of GGUF. */
struct dti_block_info {
    size_t size; /* sizeof(struct dti_block_info) */
    const char *name;
    const char *summary;            /* NULL for types of GGUF */
    const struct dti_format *code;  /* the dtype of its codes; NULL for types of GGUF */
    const struct dti_format *scale; /* likewise */
    unsigned length;                /* elements of a block */
    unsigned bytes;                 /* of a block with its scale */
    bool gguf;                      /* a type of GGUF */
    bool encodes;                   /* dti_quantizer_run() can make it; all can be read */
};
/* By index from 0: block formats, then types of GGUF, of which some have the same names (q8_0,
 * q4_0, mxfp4, nvfp4). Fills the first ret->size bytes of *ret, whose `size` the caller sets. False
 * after the last. */
DTI_PUBLIC bool dti_block_at(size_t index, struct dti_block_info *ret);

/* A planned quantization. Constant after dti_quantizer_new(): threads may share it. */
struct dti_quantizer;

/* What to quantize to, and how. Texts are those of the options of `dtinfo quant` of the same names
 * (zero_point: "zero-point"), with the same defaults for NULL; options that have no effect on the
 * format are errors. */
struct dti_quantize_spec {
    size_t size; /* sizeof(struct dti_quantize_spec) */
    const char *format;
    bool gguf; /* blocks of GGUF. Needed for names that are also formats with parts: q8_0 ... */
    /* Of the array, and what dti_quantizer_back() makes, which must be a float then; not complex.
     * NULL: fp32. Below 8 bits: one number per byte. */
    const struct dti_format *number;
    size_t rank;              /* at most DTI_RANK_MAX; 0: a single number */
    const uint64_t *shape;    /* rank dimensions, row-major */
    const char *per;          /* affine: "tensor" (the default), "channel", "block" */
    int axis;                 /* of channels, groups and blocks; negative: from the last one */
    bool axis_given;          /* false: channels along axis 0, groups and blocks along the last.
                                 True without `per` and `block`: channels */
    uint64_t block;           /* affine: elements that share a scale; 0: not given */
    bool symmetric, affine;   /* integers; neither: symmetric for signed codes, with zero points for
                                 unsigned ones */
    const char *symmetry;     /* "full" (the default), "half" */
    const char *division;     /* "true" (the default), "reciprocal", "exact" */
    const char *like;         /* "torch", "onnx": their rules in place of the two above */
    const char *mx_scale;     /* "floor" (the default), "ceil", "rceil", "even", "rfloor" */
    const char *nv_scale;     /* "six" (the default), "four-six", "unrounded" */
    const char *tensor_scale; /* nvfp4: "auto" (the default), "none", or a positive number */
    /* Affine per tensor, numbers as dti_value_read() takes them: a range in place of that of the
     * array, both ends or none; or a scale, and for integers a zero point (default: 0). */
    const char *min, *max, *scale, *zero_point;
    const char *packing; /* of codes below 8 bits: "low" (the default), "high" */
    bool nested; /* nf4, bnb_fp4: scales are quantized to 8 bits too, and the array is flattened.
                    bitsandbytes packs "high" and divides by "reciprocal" */
    bool pad;    /* pad rows with zeros to whole blocks or groups; false: the last may be short */
};

/* The parts of a quantized array. A part that the format does not have has 0 bytes. */
struct dti_quantized_sizes {
    size_t size;       /* sizeof(struct dti_quantized_sizes) */
    uint64_t elements; /* of the array */
    /* Bytes. zero_points: int32_t, one for each scale. With `nested`, the scales are codes of 8
     * bits, nested_map has the 256 floats that they stand for, and nested_scales a float for every
     * 256 of them. */
    size_t codes, scales, zero_points, nested_scales, nested_map;
    /* The dtype of codes and scales; NULL for types of GGUF. Codes of 8 bits and more have
     * containers of whole bytes; others are packed, without gaps except that a short last block of
     * a row ends at a whole byte. */
    const struct dti_format *code_format, *scale_format;
    /* The shape of the codes, which is that of the array except for `pad` (longer axis), `nested`
     * (flat) and GGUF (bytes of rows); and that of scales and zero points: the array's with its
     * axis reduced to one entry a group, the length of the axis for channels, rank 0 for one. */
    size_t code_rank, scale_rank;
    uint64_t code_shape[DTI_RANK_MAX], scale_shape[DTI_RANK_MAX];
    bool has_tensor_scale; /* dti_quantized.tensor_scale is a part */
};

/* Buffers of the parts, of the sizes above and any alignment; those of absent parts are ignored. */
struct dti_quantized {
    size_t size; /* sizeof(struct dti_quantized) */
    void *codes, *scales;
    int32_t *zero_points;
    void *nested_scales, *nested_map;
    float tensor_scale; /* nvfp4: the scale of the whole tensor, which multiplies those of blocks;
                           nested: the offset of the scales */
};

/* The error of dequantized - given, as for a cast; and what became of the numbers. */
struct dti_quantize_report {
    size_t size; /* sizeof(struct dti_quantize_report) */
    uint64_t elements;
    uint64_t inexact; /* the dequantized number differs */
    uint64_t clipped; /* finite, but beyond the codes */
    uint64_t special; /* affine: NaNs and infinities; blocks that have one */
    uint64_t compared;
    double max_absolute;
    uint64_t max_index;
    double max_relative, mean_absolute, root_mean_square, sqnr_db;
};

/* Plans a quantization; the spec is copied. Fails with DTI_UNKNOWN_DTYPE, DTI_AMBIGUOUS_DTYPE,
 * DTI_UNKNOWN_OPTION (a word, with suggestions), DTI_BAD_VALUE (a number), DTI_USAGE (options that
 * exclude each other or have no effect on this format, an axis that the shape does not have, a
 * shape whose size overflows), DTI_WRONG_KIND (a dtype that cannot have scales, or numbers that
 * cannot be quantized; GGUF: rows that are not whole blocks), DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_quantizer_new(struct dti_quantizer **ret,
                                             struct dti_context *context,
                                             const struct dti_quantize_spec *spec,
                                             struct dti_error *reterr);
DTI_PUBLIC void dti_quantizer_free(struct dti_quantizer *quantizer); /* NULL is fine */
/* Fills the first ret->size bytes of *ret, whose `size` the caller sets. */
DTI_PUBLIC void dti_quantizer_sizes(const struct dti_quantizer *quantizer,
                                    struct dti_quantized_sizes *ret);
/* Quantizes an array, with the context's threads if that pays: fills the buffers that *ret points
 * to, and its tensor_scale. `numbers`: contiguous, of any alignment; it must not overlap the
 * buffers. ret_report (NULL: not counted, which is faster): its `size` is set by the caller. Fails
 * with DTI_USAGE (a buffer is missing), DTI_WRONG_KIND (a type of GGUF that can only be read),
 * DTI_NOT_REPRESENTABLE (GGUF, nested: a NaN or an infinity; GGUF: a scale beyond fp16),
 * DTI_CANCELLED, DTI_NO_MEMORY; the buffers are then undefined. */
DTI_PUBLIC enum dti_status dti_quantizer_run(const struct dti_quantizer *quantizer,
                                             const void *numbers, struct dti_quantized *ret,
                                             struct dti_quantize_report *ret_report,
                                             struct dti_error *reterr);
/* The way back: numbers of `number` from the parts, which are as dti_quantizer_run() makes them.
 * Fails with DTI_USAGE (a buffer is missing), DTI_WRONG_KIND (`number` is not a float),
 * DTI_CANCELLED, DTI_NO_MEMORY; *ret_numbers is then undefined. */
DTI_PUBLIC enum dti_status dti_quantizer_back(const struct dti_quantizer *quantizer,
                                              const struct dti_quantized *parts, void *ret_numbers,
                                              struct dti_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
