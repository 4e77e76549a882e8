/* SPDX-License-Identifier: MIT
 *
 * Whether a tensor was made from another one by a recipe, and the recipes that could have made it.
 */
#ifndef ANSWERS_REWRITE_MADE_H
#define ANSWERS_REWRITE_MADE_H

#include "answers/rewrite/recipe.h"
#include "files/judge/judge.h"

/* Which tensors of one file are held against which of another. */
struct dti_made_pair {
    size_t a, b; /* of the two containers, which may be views */
};
struct dti_made_files {
    struct dti_container *a, *b;
    struct dti_judge_other other;   /* b as stored */
    struct dti_fused_ranges *fused; /* of a, once a recipe needed them; else NULL */
    enum dti_level level;
};
enum dti_status dti_made_files_init(struct dti_made_files *ret, struct dti_container *a,
                                    struct dti_container *b, enum dti_level level,
                                    struct dti_error *reterr);
void dti_made_files_free(struct dti_made_files *files); /* not the containers */

/* Whether a recipe works element by element, so that the beginning of a tensor can be made. */
static inline bool dti_made_is_elementwise(const struct dti_recipe *made)
{
    return made->by == DTI_MADE_CAST || made->by == DTI_MADE_DEQUANT;
}

/* Makes so many tensors of a by the recipe, and fills a verdict for each pair. *ret_refused: the
 * recipe cannot make them, for the reason in reterr, and there is no verdict. Fails as
 * dti_judge_rewrite() does. */
enum dti_status dti_made_judge(struct dti_made_files *files, const struct dti_recipe *made,
                               const struct dti_made_pair *pairs, size_t count,
                               const struct dti_judge_options *options, struct dti_verdict *ret,
                               bool *ret_refused, struct dti_error *reterr);
/* How many pairs may be given at once. */
size_t dti_made_most(const struct dti_made_files *files);

/* The recipes that could have made one tensor from the other, the simplest first. Grows the list,
 * which is to be freed; texts in it last as long as the program. False: memory ran out. */
struct dti_made_list {
    struct dti_recipe *list;
    size_t count, capacity;
    bool failed;
};
/* Whether loaders may fuse it with others: then the space has scales of their own too. */
bool dti_made_may_be_fused(const struct dti_tensor *to);
bool dti_made_space(struct dti_made_list *ret, const struct dti_container *a,
                    const struct dti_tensor *from, const struct dti_container *b,
                    const struct dti_tensor *to);

#endif
