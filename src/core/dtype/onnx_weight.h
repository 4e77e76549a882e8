/* SPDX-License-Identifier: MIT
 *
 * Quantized weights of ONNX models. Codes and scales are initializers, or values of Constant nodes,
 * with any names; that they belong together is said by a node of the graph, which makes numbers of
 * them. */
#ifndef CORE_DTYPE_ONNX_WEIGHT_H
#define CORE_DTYPE_ONNX_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "dtinfo/dtype.h"

/* The nodes, in the order of their table in onnx_read.c. The last two are of onnxruntime. */
enum dti_onnx_operator {
    DTI_ONNX_DEQUANTIZE_LINEAR,
    DTI_ONNX_MATMUL_NBITS,
    DTI_ONNX_GATHER_BLOCK_QUANTIZED,
    DTI_ONNX_OPERATORS
};

/* What a node says of its codes. */
struct dti_onnx_weight {
    enum dti_onnx_operator op;
    const char *problem; /* why it cannot be read, after the name of the codes; or NULL */
    size_t scale, zero;  /* tensors of the container; zero SIZE_MAX: there are no zero points */
    int64_t axis;
    int64_t block;                   /* elements along the axis that share a scale; 0: all */
    int64_t bits, n, k;              /* of MatMulNBits; bits of GatherBlockQuantized, too */
    const struct dti_format *output; /* dtype of the numbers; NULL: that of scales */
};

#endif
