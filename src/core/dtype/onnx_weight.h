/* SPDX-License-Identifier: MIT
 *
 * Quantized weights of ONNX models. Codes and scales are initializers, or values of Constant
 * nodes, with arbitrary names; the graph node that dequantizes them links them. */
#ifndef CORE_DTYPE_ONNX_WEIGHT_H
#define CORE_DTYPE_ONNX_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"

/* The operators, in the order of the table in onnx_read.c. The last two are from onnxruntime. */
enum dti_onnx_operator {
    DTI_ONNX_DEQUANTIZE_LINEAR,
    DTI_ONNX_MATMUL_NBITS,
    DTI_ONNX_GATHER_BLOCK_QUANTIZED,
    DTI_ONNX_OPERATORS
};

/* What a node states about its codes. */
struct dti_onnx_weight {
    enum dti_onnx_operator op;
    const char *problem; /* why it cannot be read, to print after the codes' name; or NULL */
    size_t scale, zero; /* tensors of the container; zero is SIZE_MAX if there are no zero points */
    int64_t axis;
    int64_t block;                   /* elements along the axis that share a scale; 0: all */
    int64_t bits, n, k;              /* for MatMulNBits; bits for GatherBlockQuantized, too */
    const struct dti_format *output; /* dtype of the numbers; NULL: the dtype of the scales */
};

#endif
