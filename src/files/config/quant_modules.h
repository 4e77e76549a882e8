/* SPDX-License-Identifier: MIT
 *
 * Rules about modules by their names, in the order of a configuration: which rule is about a
 * module. "model.layers.0.mlp.up_proj" is the module of the tensor of that name and ".weight". */
#ifndef FILES_CONFIG_QUANT_MODULES_H
#define FILES_CONFIG_QUANT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"

/* How the text of a rule is meant: a set. */
enum {
    DTI_MODULE_NAME = 1,     /* the whole name */
    DTI_MODULE_END = 2,      /* its end */
    DTI_MODULE_REGEX = 4,    /* a regular expression from the start on */
    DTI_MODULE_PART = 8,     /* the same, up to a dot or behind one, or to the end */
    DTI_MODULE_WILDCARD = 16 /* * and ?, of the whole name */
};

enum { DTI_RULE_NO_HINT = UINT16_MAX };
struct dti_module_rule {
    const char *text; /* not copied, and not ended by a NUL */
    size_t length;
    unsigned prefix;     /* bytes of it before the name or pattern: "re:" */
    bool ignore;         /* the module is not quantized; else what is said of it: */
    unsigned bits;       /* 0: nothing */
    unsigned hint;       /* of the configuration; or DTI_RULE_NO_HINT */
    bool has_group;      /* there is a length of groups: */
    uint64_t group_size; /* 0: one group */
};

struct dti_quant_modules;
struct dti_quant_modules *dti_quant_modules_new(void);          /* NULL: memory ran out */
void dti_quant_modules_free(struct dti_quant_modules *modules); /* NULL is fine */

/* Adds a rule after those that there are. Fails with DTI_BAD_INPUT for a regular expression that is
 * not supported, in words that follow its text. */
enum dti_status dti_quant_modules_add(struct dti_quant_modules *modules, unsigned meanings,
                                      const struct dti_module_rule *rule, struct dti_error *reterr);
/* The first rule that matches, and among those that do not ignore the one that compressed-tensors
 * takes: by the whole name, else the first in the order of their texts; NULL: there is none. Not
 * from several threads. Fails as dti_regexes_match() does. */
enum dti_status dti_quant_modules_find(struct dti_quant_modules *modules, const char *name,
                                       size_t length, const struct dti_module_rule **ret_first,
                                       const struct dti_module_rule **ret_other,
                                       struct dti_error *reterr);

/* Remembers all rules that match; and the next one, from *at on, that matched none: NULL, there is
 * no more. Of equal names the first is remembered for all. Fails as dti_regexes_match() does. */
enum dti_status dti_quant_modules_use(struct dti_quant_modules *modules, const char *name,
                                      size_t length, struct dti_error *reterr);
/* Forgets that, and has no limit on steps from now on: for names that were matched within it. */
void dti_quant_modules_trust(struct dti_quant_modules *modules);
const struct dti_module_rule *dti_quant_modules_unused(struct dti_quant_modules *modules,
                                                       size_t *at);

#endif
