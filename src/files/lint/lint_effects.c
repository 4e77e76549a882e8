/* SPDX-License-Identifier: MIT
 *
 * How programs react when they load a checkpoint that breaks a rule: the rows of lint_effects.def.
 */
#include <stdint.h>

#include "files/lint/lint.h"

const struct dti_lint_effect dti_lint_effects[] = {
#define LINT_EFFECT(rule, loader, outcome, about, source) \
    {DTI_LINT_##rule, loader, DTI_LINT_##outcome, about, source},
#include "files/lint/lint_effects.def"
#undef LINT_EFFECT
};
const size_t dti_lint_effect_count = sizeof dti_lint_effects / sizeof *dti_lint_effects;

const char *const dti_lint_outcomes[DTI_LINT_OUTCOMES] = {"unknown", "none", "slow", "refuse",
                                                          "misread"};

#define LINT_EFFECT(rule, ...) | UINT64_C(1) << DTI_LINT_##rule
_Static_assert(DTI_LINT_RULES < 64, "too many rules for a set of 64 bits");
_Static_assert((UINT64_C(0)
#include "files/lint/lint_effects.def"
                    ) == (UINT64_C(1) << DTI_LINT_RULES) - 1,
               "a rule of lint_rules.def has no row in lint_effects.def");
#undef LINT_EFFECT

enum dti_lint_outcome dti_lint_worst(enum dti_lint_rule rule)
{
    enum dti_lint_outcome worst = DTI_LINT_UNKNOWN;
    for (size_t i = 0; i < dti_lint_effect_count; i++) {
        if (dti_lint_effects[i].rule == rule && dti_lint_effects[i].outcome > worst)
            worst = dti_lint_effects[i].outcome;
    }
    return worst;
}
