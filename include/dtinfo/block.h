/* SPDX-License-Identifier: MIT
 *
 * Quantization of arrays in memory: codes with scales. Formats are called as for `dtinfo quant`: a
 * dtype ("int8", "uint4", "fp8_e4m3fn": affine, with a scale for the tensor, a channel or a group),
 * a block format ("mxfp8_e4m3", "mxfp4", "nvfp4", "nf4" ...), or a block type of GGUF ("q4_k"),
 * whose scales lie within its codes. */
#ifndef DTINFO_BLOCK_H
#define DTINFO_BLOCK_H

#include "dtinfo/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts on a block format, or on a block type of GGUF. */
struct dti_block_info {
    size_t size; /* sizeof(struct dti_block_info) */
    const char *name, *summary;
    const struct dti_format *code;  /* NULL for types of GGUF with parts of their own */
    const struct dti_format *scale; /* likewise */
    unsigned length;                /* elements of a block */
    unsigned bytes;                 /* of a block with its scale */
    bool encodes;                   /* dti_quantizer_run() can make it; all can be read */
};
/* By index from 0; false after the last. */
DTI_PUBLIC bool dti_block_at(size_t index, struct dti_block_info *ret);

/* A planned quantization. Constant after dti_quantizer_new(): threads may share it. */
struct dti_quantizer;

/* Words are those of the options of `dtinfo quant` of the same name; NULL is their default. */
struct dti_quantize_spec {
    size_t size; /* sizeof(struct dti_quantize_spec) */
    const char *format;
    const struct dti_format
        *number; /* of the array, or what dti_quantizer_back() makes; NULL: fp32 */
    size_t rank;
    const uint64_t *shape;  /* rank dimensions, row-major */
    const char *per;        /* affine: "tensor" (the default), "channel", "block" */
    int axis;               /* of channels and groups, from the last one for negative numbers */
    bool axis_given;        /* false: channels along axis 0, groups and blocks along the last */
    uint64_t block;         /* affine, "block": elements that share a scale */
    bool symmetric, affine; /* neither: symmetric for signed codes, with zero points for unsigned */
    const char *symmetry, *division, *mx_scale, *nv_scale, *like, *packing;
    bool no_tensor_scale; /* nvfp4: no scale of the whole tensor */
    bool nested;          /* nf4, bnb_fp4: scales are quantized to 8 bits too */
    bool pad;             /* pad rows with zeros to whole blocks; false: the last may be short */
};

/* Sizes of the parts, in bytes; 0 for parts that the format does not have. */
struct dti_quantized_sizes {
    size_t size;      /* sizeof(struct dti_quantized_sizes) */
    uint64_t numbers; /* elements */
    size_t codes, scales, zero_points;
    size_t nested_scales, nested_map;
    const struct dti_format *code_format, *scale_format; /* NULL for types of GGUF */
    size_t scale_rank;
    uint64_t scale_shape[DTI_RANK_MAX]; /* of scales and zero points */
    bool has_tensor_scale;
};

/* Buffers of the parts, of the sizes above and any alignment; those of absent parts are ignored. */
struct dti_quantized {
    size_t size; /* sizeof(struct dti_quantized) */
    void *codes, *scales;
    int32_t *zero_points;
    void *nested_scales, *nested_map;
    float tensor_scale; /* scale of the whole tensor (nvfp4); nested: the offset of the scales */
};

struct dti_quantize_report {
    size_t size; /* sizeof(struct dti_quantize_report) */
    uint64_t elements, clipped, special, inexact;
    double max_absolute, max_relative, mean_absolute, root_mean_square, sqnr_db;
};

/* Plans a quantization. Fails with DTI_UNKNOWN_DTYPE, DTI_UNKNOWN_OPTION (a word), DTI_USAGE (words
 * that have no effect on this format, a shape that does not fit), DTI_WRONG_KIND, DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_quantizer_new(struct dti_quantizer **ret,
                                             struct dti_context *context,
                                             const struct dti_quantize_spec *spec,
                                             struct dti_error *reterr);
DTI_PUBLIC void dti_quantizer_free(struct dti_quantizer *quantizer); /* NULL is fine */
DTI_PUBLIC void dti_quantizer_sizes(const struct dti_quantizer *quantizer,
                                    struct dti_quantized_sizes *ret);
/* Fills the buffers of *ret and its tensor_scale. ret_report (NULL: not counted, which is faster)
 * is the error after the way back. */
DTI_PUBLIC enum dti_status dti_quantizer_run(const struct dti_quantizer *quantizer,
                                             const void *numbers, struct dti_quantized *ret,
                                             struct dti_quantize_report *ret_report,
                                             struct dti_error *reterr);
/* The way back: numbers of `number` from the parts. */
DTI_PUBLIC enum dti_status dti_quantizer_back(const struct dti_quantizer *quantizer,
                                              const struct dti_quantized *parts, void *ret_numbers,
                                              struct dti_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
