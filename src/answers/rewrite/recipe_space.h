/* SPDX-License-Identifier: MIT
 *
 * Whether a tensor was made from another one by a recipe, and the recipes that could have made it.
 */
#ifndef ANSWERS_REWRITE_RECIPE_SPACE_H
#define ANSWERS_REWRITE_RECIPE_SPACE_H

#include "answers/rewrite/recipe.h"
#include "files/judge/judge.h"

/* The indices of two tensors to compare. */
struct dti_recipe_pair {
    size_t a, b; /* in the two containers, which may be views */
};
struct dti_recipe_files {
    struct dti_container *a, *b;
    struct dti_judge_other other;   /* b as stored */
    struct dti_fused_ranges *fused; /* of a, once a recipe needs them; else NULL */
    struct dti_fused_own fused_own; /* their group of the user's */
    enum dti_level level;
};
enum dti_status dti_recipe_files_init(struct dti_recipe_files *ret, struct dti_container *a,
                                      struct dti_container *b, enum dti_level level,
                                      struct dti_error *reterr);
void dti_recipe_files_free(struct dti_recipe_files *files); /* does not free the containers */

/* Whether a recipe works element by element, so that a prefix of a tensor can be made alone. */
static inline bool dti_recipe_is_elementwise(const struct dti_recipe *recipe)
{
    return (recipe->by == DTI_VERB_CAST || recipe->by == DTI_VERB_DEQUANT) &&
           recipe->arrangement == DTI_ARRANGED_AS_MADE;
}

/* Makes `count` tensors of a by the recipe, and fills in a verdict for each pair. *ret_refused: the
 * recipe cannot make them, for the reason in reterr, and there are no verdicts. Fails as
 * dti_judge_rewrite() does. */
enum dti_status dti_recipe_judge(struct dti_recipe_files *files, const struct dti_recipe *recipe,
                                 const struct dti_recipe_pair *pairs, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 bool *ret_refused, struct dti_error *reterr);
/* The maximum number of pairs per call. */
size_t dti_recipe_pairs_most(const struct dti_recipe_files *files);

/* The recipes that could have made one tensor from the other, simplest first. Grows the list, which
 * the caller frees; its texts are static. False when out of memory. */
struct dti_recipe_list {
    struct dti_recipe *list;
    size_t count, capacity;
    bool failed;
};
/* Whether loaders may fuse the tensor with others; the space then includes scales of the tensor
 * alone. */
bool dti_recipe_may_be_fused(const struct dti_tensor *to);
/* The shapes are the same, or those of matrices that may be transposed. */
bool dti_recipe_space(struct dti_recipe_list *ret, const struct dti_container *a,
                      const struct dti_tensor *from, const struct dti_container *b,
                      const struct dti_tensor *to);

#endif
