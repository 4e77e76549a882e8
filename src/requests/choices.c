/* SPDX-License-Identifier: MIT
 *
 * The named policies, one row each. */
#include "requests/option_rows.h"

#include <assert.h>

#include "core/code/policies.def"
#include "core/code/stack.h"
#include "core/dtype/storage.h"

#define ROW(value_, name_, help_)    {.name = name_, .value = value_, .help = help_},
#define WORD(value_, name_)          {.name = name_, .value = value_, .help = ""},
#define SEEDED(value_, name_, help_) ROW(value_, name_, help_ "; see --seed")

const struct dti_choice dti_choice_round[] = {DTI_ROUNDS(ROW, SEEDED)
                                                  DTI_ROUND_WORDS(WORD){.name = NULL}};
const struct dti_choice dti_choice_overflow[] = {DTI_OVERFLOWS(ROW)
                                                     DTI_OVERFLOW_WORDS(WORD){.name = NULL}};
const struct dti_choice dti_choice_nan[] = {DTI_NANS(ROW){.name = NULL}};
const struct dti_choice dti_choice_packing[] = {DTI_PACKINGS(ROW){.name = NULL}};

const struct dti_choice dti_choice_stack[] = {
#define STACK(id, kind, nm, title, version) \
    {.name = nm, .value = DTI_STACK_##id, .help = title " (as of " version ")"},
#include "core/code/stacks.def"
#undef STACK
    WORD(DTI_STACK_TORCH, "pytorch") WORD(DTI_STACK_ML_DTYPES, "jax")
        WORD(DTI_STACK_NUMPY, "np"){.name = NULL},
};

const struct dti_choice dti_choice_fail_on[] = {
    {"inexact", DTI_FLAG_INEXACT, "a stored number differs from the given one"},
    {"overflow", DTI_FLAG_OVERFLOW, "a number is beyond the dtype's range"},
    {"underflow", DTI_FLAG_UNDERFLOW, "a number became zero or subnormal"},
    {"invalid", DTI_FLAG_INVALID, "the dtype lacks a NaN or infinity"},
    {.name = NULL},
};

const struct dti_choice dti_choice_progress[] = {
    {"auto", DTI_PROGRESS_AUTO, "on a terminal, after half a second (the default)"},
    {"always", DTI_PROGRESS_ALWAYS, "even without a terminal"},
    {"never", DTI_PROGRESS_NEVER, "not at all"},
    {.name = NULL},
};

const struct dti_choice dti_choice_endian[] = {
    {"little", DTI_ENDIAN_LITTLE, "lowest byte first (the default)"},
    {"big", DTI_ENDIAN_BIG, "highest byte first"},
    {.name = NULL},
};

const char *dti_choice_name(const struct dti_choice *table, int value)
{
    while (table->name && table->value != value)
        table++;
    assert(table->name);
    return table->name;
}
