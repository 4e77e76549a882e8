/* SPDX-License-Identifier: MIT
 *
 * The words for the parts of a quantized tensor in documents. */
#ifndef ANSWERS_PART_WORDS_H
#define ANSWERS_PART_WORDS_H

#include "files/stored/quant_layout.h"

#define DTI_PART_WORDS                                                                            \
    [DTI_PART_CODES] = "codes", [DTI_PART_SCALE] = "scale", [DTI_PART_ZERO_POINT] = "zero_point", \
    [DTI_PART_TENSOR_SCALE] = "tensor_scale", [DTI_PART_SHAPE] = "shape", [DTI_PART_MAP] = "map", \
    [DTI_PART_NESTED_SCALE] = "nested_scale", [DTI_PART_NESTED_MAP] = "nested_map",               \
    [DTI_PART_STATE] = "state", [DTI_PART_ORDER] = "order", [DTI_PART_BIAS] = "bias"

#endif
