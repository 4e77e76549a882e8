/* SPDX-License-Identifier: MIT
 *
 * Recipes in the words of the command line: "cast bf16 --overflow saturate". */
#ifndef CLI_SHARED_RECIPE_WORDS_H
#define CLI_SHARED_RECIPE_WORDS_H

#include "answers/rewrite/recipe_space.h"

/* A dti_recipe_words_fn. */
const char *dti_recipe_words(char *buffer, const struct dti_recipe *recipe);

/* The inverse. text is modified, and must live as long as *ret. Fails with DTI_USAGE,
 * DTI_UNKNOWN_OPTION, DTI_UNKNOWN_DTYPE and so on. */
enum dti_status dti_recipe_read(struct dti_recipe *ret, char *text, struct dti_error *reterr);

#endif
