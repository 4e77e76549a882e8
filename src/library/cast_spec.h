/* SPDX-License-Identifier: MIT
 *
 * A struct dti_cast_spec as the layers below take it. */
#ifndef LIBRARY_CAST_SPEC_H
#define LIBRARY_CAST_SPEC_H

#include "core/code/stack.h"

/* Takes and checks what the caller gave: the formats from dst on, route, policies and `like`. For
 * complex dst, *ret_cast casts its parts. *ret_rule: NULL without `like`; else *ret_cast has no
 * route and no policies. *ret has the members for arrays. Fails as dti_value_cast() does, except
 * that dst may be complex. */
enum dti_status dti_cast_spec_take(struct dti_cast_spec *ret, struct dti_cast *ret_cast,
                                   const struct dti_stack_rule **ret_rule,
                                   const struct dti_cast_spec *given, struct dti_error *reterr);

#endif
