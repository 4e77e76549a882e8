/* SPDX-License-Identifier: MIT
 *
 * Recipes: how tensors are made from others, as options with the meaning that they have in the
 * commands which make files. `cast` and `quant` fill a recipe, `explain` searches for one, `verify`
 * reads one; the rewrite is derived from it. */
#ifndef ANSWERS_REWRITE_RECIPE_H
#define ANSWERS_REWRITE_RECIPE_H

#include "answers/rewrite/quantized.h"
#include "files/rewrite/rewrite.h"

enum dti_recipe_verb {
    DTI_VERB_KEEP,   /* the same bytes under the same dtype */
    DTI_VERB_RENAME, /* the same bytes under another dtype */
    DTI_VERB_CAST,
    DTI_VERB_QUANT,
    DTI_VERB_DEQUANT, /* to dtype; with `then`: to fp32, which is then cast */
};

/* Zeros are the defaults. An option whose _given flag is false has its default. Texts are owned by
 * the caller. */
struct dti_recipe {
    enum dti_recipe_verb by;
    const char *dtype;
    /* casts */
    bool then;       /* DTI_VERB_DEQUANT: the cast options apply, too */
    const char *via; /* comma-separated dtypes, or NULL */
    int round, overflow, nan, like, packing, from_packing;
    uint64_t seed;
    bool round_given, overflow_given, nan_given, like_given, seed_given, packing_given,
        from_packing_given;
    bool ints;
    /* DTI_VERB_QUANT */
    struct dti_quant_rules rules; /* without the numbers in these texts: */
    /* Numbers or words, or NULL; min is at most max. */
    const char *min, *max, *scale, *zero_point, *tensor_scale, *axis;
    const char *fused; /* a group of fused modules, or NULL */
    bool quant_like_given, symmetry_given, division_given, mx_scale_given, nv_scale_given,
        per_given, block_given, order_given, layout_given;
    int layout; /* enum dti_quant_layout */
    bool pad, nested;
    uint64_t convrot; /* columns of a group that is rotated; 0: none */
    bool convrot_given;
    bool dequant; /* DTI_VERB_DEQUANT */
    /* explain and verify: the result is in another order (enum dti_arrangement) */
    int arrangement;
    uint64_t head; /* rows of a head */
};

/* Elements that share a scale and a bias in the layout mlx, if no option says it. */
enum { DTI_RECIPE_MLX_GROUP = 64 };

/* recipe_options.c: the options of quantization, by the names that they have in `dtinfo quant`.
 * dashes: what stands before the names of options in errors: "--", or "". */
/* Sets an option that has words. Fails with DTI_UNKNOWN_OPTION. */
enum dti_status dti_recipe_set_word(struct dti_recipe *recipe, const char *name, const char *word,
                                    struct dti_error *reterr);
/* Fails with DTI_USAGE for options that exclude or need each other for every dtype. */
enum dti_status dti_recipe_check(const struct dti_recipe *recipe, const char *dashes,
                                 struct dti_error *reterr);
/* The same for options that none of the targets takes, and for a range in the wrong order. */
enum dti_status dti_recipe_fit(const struct dti_recipe *recipe,
                               const struct dti_quant_target *targets, size_t count,
                               const char *dashes, struct dti_error *reterr);
/* The same for a range with a single end. what: "a file". */
enum dti_status dti_recipe_fit_array(const struct dti_recipe *recipe, const char *what,
                                     const char *dashes, struct dti_error *reterr);
/* The same for blocks of GGUF; blocks: "block" has no effect either. */
enum dti_status dti_recipe_fit_gguf(const struct dti_recipe *recipe, bool blocks,
                                    const char *dashes, struct dti_error *reterr);

/* Turns a recipe into a rewrite request, which points to its quantization, *target. The caller adds
 * the container and, for DTI_VERB_DEQUANT, the view. Only for DTI_VERB_CAST, DTI_VERB_QUANT and
 * DTI_VERB_DEQUANT. Fails as lookups do, with DTI_USAGE and DTI_BAD_VALUE. */
enum dti_status dti_recipe_prepare(struct dti_rewrite_request *ret, struct dti_quant_target *target,
                                   const struct dti_recipe *recipe, struct dti_error *reterr);

/* Its steps, for dtypes that were looked up elsewhere. Casts: the policy; then the complete
 * request, with a stack's rule or NULL. */
static inline struct dti_policy dti_recipe_policy(const struct dti_recipe *recipe)
{
    return (struct dti_policy){.round = (enum dti_round)recipe->round,
                               .overflow = (enum dti_overflow)recipe->overflow,
                               .nan = (enum dti_nan)recipe->nan,
                               .seed = recipe->seed};
}
void dti_recipe_request_cast(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                             const struct dti_cast *cast, const struct dti_stack_rule *rule);
/* Quantization: the rules with the layout applied, without the numbers given as text; then the
 * rules with these numbers, applied to a dtype; and the request. */
/* Whether tensors of the dtype are rotated first. */
bool dti_recipe_rotates(const struct dti_recipe *recipe, const struct dti_quant_target *target);
struct dti_quant_rules dti_recipe_rules(const struct dti_recipe *recipe);
enum dti_status dti_recipe_settle(struct dti_quant_target *target, const struct dti_recipe *recipe,
                                  struct dti_error *reterr);
void dti_recipe_request_quant(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                              const struct dti_quant_target *target);

#endif
