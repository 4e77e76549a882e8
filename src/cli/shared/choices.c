/* SPDX-License-Identifier: MIT
 *
 * The named policies, one row each. */
#include "cli/shared/choices.h"

#include <assert.h>

#include "cli/shared/file_source.h"
#include "cli/shared/progress.h"
#include "dtinfo/stack.h"
#include "dtinfo/storage.h"

const struct dti_choice dti_choice_round[] = {
#define ROUND(id, nm, text)        {.name = nm, .value = DTI_ROUND_##id, .help = text},
#define ROUND_SEEDED(id, nm, text) ROUND(id, nm, text "; see --seed")
#include "dtinfo/policies.def"
#undef ROUND
    {.name = NULL},
};

const struct dti_choice dti_choice_overflow[] = {
#define OVERFLOW_POLICY(id, nm, text) {.name = nm, .value = DTI_OVERFLOW_##id, .help = text},
#include "dtinfo/policies.def"
#undef OVERFLOW_POLICY
    {.name = NULL},
};

const struct dti_choice dti_choice_nan[] = {
#define NAN_POLICY(id, nm, text) {.name = nm, .value = DTI_NAN_##id, .help = text},
#include "dtinfo/policies.def"
#undef NAN_POLICY
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
#define PACKING(id, nm, text) {.name = nm, .value = DTI_PACKING_##id, .help = text},
#include "dtinfo/policies.def"
#undef PACKING
    {.name = NULL},
};

const struct dti_choice dti_choice_progress[] = {
    {.name = "auto",
     .value = DTI_PROGRESS_AUTO,
     .help = "on a terminal, after half a second (the default)"},
    {.name = "always", .value = DTI_PROGRESS_ALWAYS, .help = "also where there is none"},
    {.name = "never", .value = DTI_PROGRESS_NEVER, .help = "not at all"},
    {.name = NULL},
};

const struct dti_choice dti_choice_endian[] = {
    {.name = "little", .value = DTI_ENDIAN_LITTLE, .help = "lowest byte first (the default)"},
    {.name = "big", .value = DTI_ENDIAN_BIG, .help = "highest byte first"},
    {.name = NULL},
};

const char *dti_choice_name(const struct dti_choice *table, int value)
{
    while (table->name && table->value != value)
        table++;
    assert(table->name);
    return table->name;
}
