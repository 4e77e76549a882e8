/* SPDX-License-Identifier: MIT
 *
 * The words of quant's options. */
#include "cli/quant/quant_args.h"

#define WORD(value_, name_)          {.name = name_, .value = value_, .help = ""},
#define CHOICE(value_, name_, help_) {.name = name_, .value = value_, .help = help_},

const struct dti_choice dti_choice_symmetry[] = {DTI_QUANT_SYMMETRIES(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_division[] = {DTI_QUANT_DIVISIONS(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_quant_like[] = {
    DTI_QUANT_LIKES(CHOICE) WORD(DTI_QUANT_LIKE_TORCH, "pytorch"){.name = NULL}};
const struct dti_choice dti_choice_mx_scale[] = {DTI_QUANT_MX_SCALES(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_nibble[] = {DTI_QUANT_ORDERS(CHOICE){.name = NULL}};
const struct dti_choice dti_choice_tensor_scale[] = {DTI_QUANT_TENSOR_SCALES(CHOICE){.name = NULL}};

const struct dti_choice dti_choice_per[] = {
    {"tensor", DTI_PER_TENSOR, "one scale (the default)"},
    {"channel", DTI_PER_CHANNEL, "one for each place along --axis"},
    {"block", DTI_PER_GROUP, "one for each --block N neighbours"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_event[] = {
    {"clipped", DTI_QUANT_CLIPPED, "a number lies beyond the range of codes"},
    {"special", DTI_QUANT_SPECIAL, "there is a NaN or an infinity"},
    {"inexact", DTI_QUANT_INEXACT, "a number comes back as another"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_layout[] = {
    {"compressed-tensors", 0, "as vLLM's compressed-tensors (the default)"},
    {"modelopt", 1, "as NVIDIA's ModelOpt"},
    {.name = NULL},
};

const struct dti_choice dti_choice_quant_as[] = {
    {"npy", DTI_AS_NPY, "NumPy arrays"},
    {"safetensors", DTI_AS_SAFETENSORS, "a safetensors file"},
    {.name = NULL},
};
