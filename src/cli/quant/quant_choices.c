/* SPDX-License-Identifier: MIT
 *
 * The words of quant's options. */
#include "cli/quant/quant_args.h"

#define CHOICE(value_, name_, help_) {.name = name_, .value = value_, .help = help_},

const struct dti_choice dti_choice_symmetry[] = {DTI_QUANT_SYMMETRIES(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_division[] = {DTI_QUANT_DIVISIONS(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_quant_like[] = {DTI_QUANT_LIKES(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_mx_scale[] = {DTI_QUANT_MX_SCALES(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_nibble[] = {DTI_QUANT_ORDERS(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_tensor_scale[] = {DTI_QUANT_TENSOR_SCALES(CHOICE){.name = NULL}};

const struct dti_choice dti_choice_per[] = {
    {.name = "tensor", .value = DTI_PER_TENSOR, .help = "one scale (the default)"},
    {.name = "channel", .value = DTI_PER_CHANNEL, .help = "one for each place along --axis"},
    {.name = "block", .value = DTI_PER_GROUP, .help = "one for each --block N neighbours"},
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
    {.name = "npy", .value = DTI_AS_NPY, .help = "NumPy arrays"},
    {.name = "safetensors", .value = DTI_AS_SAFETENSORS, .help = "a safetensors file"},
    {.name = NULL},
};
