/* SPDX-License-Identifier: MIT
 *
 * Rules for modules by name, in the order of the configuration, and lookup of the rule for a
 * module. "model.layers.0.mlp.up_proj" is the module of the tensor with that name plus
 * ".weight". */
#ifndef FILES_CONFIG_QUANT_MODULES_H
#define FILES_CONFIG_QUANT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* How to match the text of a rule; a bit set. */
enum {
    DTI_MODULE_NAME = 1,     /* the whole name */
    DTI_MODULE_END = 2,      /* the end of the name */
    DTI_MODULE_REGEX = 4,    /* a regular expression, anchored at the start */
    DTI_MODULE_PART = 8,     /* same, but the match must end before or after a dot, or at the end */
    DTI_MODULE_WILDCARD = 16 /* * and ?, matching the whole name */
};

enum { DTI_RULE_NO_HINT = UINT16_MAX };
struct dti_module_rule {
    const char *text; /* not copied, not NUL-terminated */
    size_t length;
    unsigned prefix;     /* bytes before the name or pattern: "re:" */
    bool ignore;         /* the module is not quantized; otherwise the members below apply */
    unsigned bits;       /* 0: not specified */
    unsigned hint;       /* index in the configuration, or DTI_RULE_NO_HINT */
    bool has_group;      /* a group size is given: */
    uint64_t group_size; /* 0: one group */
};

struct dti_quant_modules;
struct dti_quant_modules *dti_quant_modules_new(void);          /* NULL: memory ran out */
void dti_quant_modules_free(struct dti_quant_modules *modules); /* NULL is fine */

/* Adds a rule after the existing ones. Fails with DTI_BAD_INPUT for an unsupported regular
 * expression, with text that continues the expression. */
enum dti_status dti_quant_modules_add(struct dti_quant_modules *modules, unsigned meanings,
                                      const struct dti_module_rule *rule, struct dti_error *reterr);
/* *ret_first: the first rule that matches. *ret_other: of the matching rules that do not ignore the
 * module, the one that compressed-tensors uses: the one equal to the whole name, else the first in
 * text order. Either is NULL if there is none. Not thread-safe. Fails as dti_regexes_match()
 * does. */
enum dti_status dti_quant_modules_find(struct dti_quant_modules *modules, const char *name,
                                       size_t length, const struct dti_module_rule **ret_first,
                                       const struct dti_module_rule **ret_other,
                                       struct dti_error *reterr);

/* dti_quant_modules_use() marks all rules that match as used. dti_quant_modules_unused() returns
 * the next unused rule from *at on; NULL: no more. Of equal names, the first is marked for all.
 * Fails as dti_regexes_match() does. */
enum dti_status dti_quant_modules_use(struct dti_quant_modules *modules, const char *name,
                                      size_t length, struct dti_error *reterr);
/* Clears these marks and removes the step limit from now on: for names that were already matched
 * within it. */
void dti_quant_modules_trust(struct dti_quant_modules *modules);
const struct dti_module_rule *dti_quant_modules_unused(struct dti_quant_modules *modules,
                                                       size_t *at);

#endif
