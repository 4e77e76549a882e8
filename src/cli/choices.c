/* SPDX-License-Identifier: MIT
 *
 * The named policies, one row each. */
#include "cli/choices.h"

#include <assert.h>

#include "dtinfo/stack.h"

const struct dti_choice dti_choice_round[] = {
    {"nearest-even", DTI_ROUND_NEAREST_EVEN, "to nearest, ties to even"},
    {"nearest-away", DTI_ROUND_NEAREST_AWAY, "to nearest, ties away from zero"},
    {"zero", DTI_ROUND_ZERO, "toward zero"},
    {"up", DTI_ROUND_UP, "toward positive infinity"},
    {"down", DTI_ROUND_DOWN, "toward negative infinity"},
    {"odd", DTI_ROUND_ODD, "inexact results to the odd neighbour"},
    {"stochastic", DTI_ROUND_STOCHASTIC, "up or down by chance, in proportion; see --seed"},
    {.name = NULL},
};

const struct dti_choice dti_choice_overflow[] = {
    {"native", DTI_OVERFLOW_NATIVE, "infinity, else NaN, else the largest finite"},
    {"saturate", DTI_OVERFLOW_SATURATE, "clamp to the largest finite, infinity too"},
    {"saturate-finite", DTI_OVERFLOW_SATURATE_FINITE, "clamp, but keep infinity"},
    {"wrap", DTI_OVERFLOW_WRAP, "keep the low bits (integer dtypes)"},
    {.name = NULL},
};

const struct dti_choice dti_choice_nan[] = {
    {"quiet", DTI_NAN_QUIET, "keep sign and payload, set the quiet bit"},
    {"canonical", DTI_NAN_CANONICAL, "the dtype's positive NaN without payload"},
    {.name = NULL},
};

const struct dti_choice dti_choice_stack[] = {
    {"torch", DTI_STACK_TORCH, "torch 2.13 and newer"},
    {"torch-2.12", DTI_STACK_TORCH_2_12, "torch 2.12 and older"},
    {"numpy", DTI_STACK_NUMPY, "numpy astype"},
    {"ml_dtypes", DTI_STACK_ML_DTYPES, "ml_dtypes astype, JAX"},
    {"onnx", DTI_STACK_ONNX, "ONNX Cast with saturate=1"},
    {"onnx-nosat", DTI_STACK_ONNX_NOSAT, "ONNX Cast with saturate=0"},
    {"cuda", DTI_STACK_CUDA, "CUDA C++ conversions"},
    {.name = NULL},
};

const struct dti_choice dti_choice_fail_on[] = {
    {"inexact", DTI_FLAG_INEXACT, "a stored number differs from the given one"},
    {"overflow", DTI_FLAG_OVERFLOW, "a number lies beyond the dtype's range"},
    {"underflow", DTI_FLAG_UNDERFLOW, "a number was lost to zero or to a subnormal"},
    {"invalid", DTI_FLAG_INVALID, "a NaN or infinity has no counterpart in the dtype"},
    {.name = NULL},
};

const char *dti_choice_name(const struct dti_choice *table, int value)
{
    while (table->name && table->value != value)
        table++;
    assert(table->name);
    return table->name;
}
