/* SPDX-License-Identifier: MIT
 *
 * What can be wrong with a quantized checkpoint whose files are valid. The readers find the
 * problems; files/lint reports them. */
#ifndef FILES_LINT_RULE_H
#define FILES_LINT_RULE_H

enum dti_lint_rule {
#define LINT_RULE(id, ...) DTI_LINT_##id,
#include "files/lint_rules.def"
#undef LINT_RULE
    DTI_LINT_RULES
};

#endif
