/* SPDX-License-Identifier: MIT
 *
 * The words of quant's options. */
#include "cli/quant/quant_args.h"

const struct dti_choice dti_choice_symmetry[] = {
    {.name = "full",
     .value = DTI_SYMMETRY_FULL,
     .help = "largest magnitude / 127 for 8 bits; -128 is not used (the default)"},
    {.name = "half",
     .value = DTI_SYMMETRY_HALF,
     .help = "largest magnitude / 127.5, half the range of codes (torch)"},
    {.name = NULL},
};

const struct dti_choice dti_choice_division[] = {
    {.name = "true", .value = DTI_DIVIDE_TRUE, .help = "x / scale in fp32 (ONNX; the default)"},
    {.name = "reciprocal",
     .value = DTI_DIVIDE_RECIPROCAL,
     .help = "x times 1 / scale, both in fp32 (torch)"},
    {.name = "exact",
     .value = DTI_DIVIDE_EXACT,
     .help = "the exact quotient: only the code is rounded"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_like[] = {
    {.name = "torch",
     .value = DTI_QUANT_LIKE_TORCH,
     .help = "quantize_per_tensor with the scale of MinMaxObserver"},
    {.name = "onnx",
     .value = DTI_QUANT_LIKE_ONNX,
     .help = "QuantizeLinear with the scale of DynamicQuantizeLinear"},
    {.name = NULL},
};

const struct dti_choice dti_choice_mx_scale[] = {
    {.name = "floor", .value = DTI_MX_FLOOR, .help = "as OCP MX 1.0 says (the default)"},
    {.name = "ceil", .value = DTI_MX_CEIL, .help = "the next power of two up"},
    {.name = "rceil",
     .value = DTI_MX_RCEIL,
     .help = "the lowest with which nothing clips (NVIDIA)"},
    {.name = "even",
     .value = DTI_MX_EVEN,
     .help = "floor, of the magnitude rounded as the element (AMD Quark)"},
    {.name = NULL},
};

const struct dti_choice dti_choice_per[] = {
    {.name = "tensor", .value = DTI_PER_TENSOR, .help = "one scale (the default)"},
    {.name = "channel", .value = DTI_PER_CHANNEL, .help = "one for each place along --axis"},
    {.name = "block", .value = DTI_PER_GROUP, .help = "one for each --block N neighbours"},
    {.name = NULL},
};

const struct dti_choice dti_choice_nibble[] = {
    {.name = "low", .value = DTI_BLOCK_LOW, .help = "the first in the lowest bits (the default)"},
    {.name = "high", .value = DTI_BLOCK_HIGH, .help = "the first in the highest bits"},
    {.name = NULL},
};

const struct dti_choice dti_choice_tensor_scale[] = {
    {.name = "auto",
     .value = DTI_TENSOR_SCALE_AUTO,
     .help = "largest magnitude / 2688 (the default)"},
    {.name = "none", .value = DTI_TENSOR_SCALE_NONE, .help = "1: scales of blocks alone"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_event[] = {
    {.name = "clipped",
     .value = DTI_QUANT_CLIPPED,
     .help = "a number lies beyond the range of codes"},
    {.name = "special", .value = DTI_QUANT_SPECIAL, .help = "there is a NaN or an infinity"},
    {.name = "inexact", .value = DTI_QUANT_INEXACT, .help = "a number comes back as another"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_layout[] = {
    {.name = "compressed-tensors",
     .value = 0,
     .help = "as vLLM's compressed-tensors (the default)"},
    {.name = "modelopt", .value = 1, .help = "as NVIDIA's ModelOpt"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_as[] = {
    {.name = "npy", .value = QUANT_AS_NPY, .help = "NumPy arrays"},
    {.name = "safetensors", .value = QUANT_AS_SAFETENSORS, .help = "a safetensors file"},
    {.name = NULL},
};
