/* SPDX-License-Identifier: MIT
 *
 * How tensors are made from others: what options say, with the meaning that the commands which make
 * files give them. `cast` and `quant` fill it, `explain` looks for it, `verify` reads it; from it
 * follows the rewrite. */
#ifndef ANSWERS_REWRITE_RECIPE_H
#define ANSWERS_REWRITE_RECIPE_H

#include "answers/rewrite/quantized.h"
#include "files/rewrite/rewrite.h"

enum dti_recipe_verb {
    DTI_VERB_KEEP,   /* the same bytes under the same dtype */
    DTI_VERB_RENAME, /* the same bytes under another dtype */
    DTI_VERB_CAST,
    DTI_VERB_QUANT,
    DTI_VERB_DEQUANT, /* to dtype; with then: to fp32, and that is cast */
};

/* Zeros are the defaults. An option without its _given is its default. Texts are the caller's. */
struct dti_recipe {
    enum dti_recipe_verb by;
    const char *dtype;
    /* casts */
    bool then;       /* DTI_VERB_DEQUANT: these are given too */
    const char *via; /* dtypes with commas, or NULL */
    int round, overflow, nan, like, packing, from_packing;
    uint64_t seed;
    bool round_given, overflow_given, nan_given, like_given, seed_given, packing_given,
        from_packing_given;
    bool ints;
    /* DTI_VERB_QUANT */
    struct dti_quant_rules rules; /* except what the texts say */
    /* Numbers or words, or NULL; min is at most max. */
    const char *min, *max, *scale, *zero_point, *tensor_scale, *axis;
    bool quant_like_given, symmetry_given, division_given, mx_scale_given, nv_scale_given,
        per_given, block_given, order_given, layout_given;
    int layout; /* enum dti_quant_layout */
    bool pad, nested;
    bool dequant; /* DTI_VERB_DEQUANT */
};

/* A recipe as a rewrite, and what its quantization is, at which that points. The container that is
 * written, and the view of DTI_VERB_DEQUANT, are the caller's to add. DTI_VERB_CAST, DTI_VERB_QUANT
 * and DTI_VERB_DEQUANT only. Fails as lookups do, with DTI_USAGE and DTI_BAD_VALUE. */
enum dti_status dti_recipe_prepare(struct dti_rewrite_request *ret, struct dti_quant_target *target,
                                   const struct dti_recipe *recipe, struct dti_error *reterr);

/* Its steps, for dtypes that were looked up in another way. Casts: the policy; then all
 * that a request takes, with the rule of a stack or NULL. */
struct dti_policy dti_recipe_policy(const struct dti_recipe *recipe);
void dti_recipe_request_cast(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                             const struct dti_cast *cast, const struct dti_stack_rule *rule);
/* Quantization: the rules as the layout settles them, without what texts say; the same with the
 * numbers that a dtype takes, applied to it; and the request. */
struct dti_quant_rules dti_recipe_rules(const struct dti_recipe *recipe);
enum dti_status dti_recipe_settle(struct dti_quant_target *target, const struct dti_recipe *recipe,
                                  struct dti_error *reterr);
void dti_recipe_request_quant(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                              const struct dti_quant_target *target);

#endif
