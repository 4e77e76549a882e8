/* SPDX-License-Identifier: MIT
 *
 * The named policies, one row each. */
#include "cli/shared/choices.h"

#include <assert.h>

#include "cli/cast/cast_array.h"
#include "dtinfo/stack.h"
#include "dtinfo/storage.h"

const struct dti_choice dti_choice_round[] = {
    {.name = "nearest-even", .value = DTI_ROUND_NEAREST_EVEN, .help = "to nearest, ties to even"},
    {.name = "nearest-away",
     .value = DTI_ROUND_NEAREST_AWAY,
     .help = "to nearest, ties away from zero"},
    {.name = "zero", .value = DTI_ROUND_ZERO, .help = "toward zero"},
    {.name = "up", .value = DTI_ROUND_UP, .help = "toward positive infinity"},
    {.name = "down", .value = DTI_ROUND_DOWN, .help = "toward negative infinity"},
    {.name = "odd", .value = DTI_ROUND_ODD, .help = "inexact results to the odd neighbour"},
    {.name = "stochastic",
     .value = DTI_ROUND_STOCHASTIC,
     .help = "up or down by chance, in proportion; see --seed"},
    {.name = NULL},
};

const struct dti_choice dti_choice_overflow[] = {
    {.name = "native",
     .value = DTI_OVERFLOW_NATIVE,
     .help = "infinity, else NaN, else the largest finite"},
    {.name = "saturate",
     .value = DTI_OVERFLOW_SATURATE,
     .help = "clamp to the largest finite, infinity too"},
    {.name = "saturate-finite",
     .value = DTI_OVERFLOW_SATURATE_FINITE,
     .help = "clamp, but keep infinity"},
    {.name = "wrap", .value = DTI_OVERFLOW_WRAP, .help = "keep the low bits (integer dtypes)"},
    {.name = NULL},
};

const struct dti_choice dti_choice_nan[] = {
    {.name = "quiet", .value = DTI_NAN_QUIET, .help = "keep sign and payload, set the quiet bit"},
    {.name = "canonical",
     .value = DTI_NAN_CANONICAL,
     .help = "the dtype's positive NaN without payload"},
    {.name = NULL},
};

const struct dti_choice dti_choice_stack[] = {
#define STACK(id, nm, title) {.name = nm, .value = DTI_STACK_##id, .help = title},
#include "dtinfo/stacks.def"
#undef STACK
    {.name = NULL},
};

const struct dti_choice dti_choice_fail_on[] = {
    {.name = "inexact",
     .value = DTI_FLAG_INEXACT,
     .help = "a stored number differs from the given one"},
    {.name = "overflow",
     .value = DTI_FLAG_OVERFLOW,
     .help = "a number lies beyond the dtype's range"},
    {.name = "underflow",
     .value = DTI_FLAG_UNDERFLOW,
     .help = "a number was lost to zero or to a subnormal"},
    {.name = "invalid",
     .value = DTI_FLAG_INVALID,
     .help = "a NaN or infinity has no counterpart in the dtype"},
    {.name = NULL},
};

const struct dti_choice dti_choice_packing[] = {
    {.name = "low",
     .value = DTI_PACKING_LOW,
     .help = "without gaps, the first in the lowest bits (ONNX, torch; the default)"},
    {.name = "high",
     .value = DTI_PACKING_HIGH,
     .help = "without gaps, the first in the highest bits (bitsandbytes)"},
    {.name = "bytes",
     .value = DTI_PACKING_BYTES,
     .help = "one a byte, in its low bits (ml_dtypes, numpy)"},
    {.name = NULL},
};

const struct dti_choice dti_choice_progress[] = {
    {.name = "auto",
     .value = CAST_PROGRESS_AUTO,
     .help = "on a terminal, after half a second (the default)"},
    {.name = "always", .value = CAST_PROGRESS_ALWAYS, .help = "also where there is none"},
    {.name = "never", .value = CAST_PROGRESS_NEVER, .help = "not at all"},
    {.name = NULL},
};

const char *dti_choice_name(const struct dti_choice *table, int value)
{
    while (table->name && table->value != value)
        table++;
    assert(table->name);
    return table->name;
}
