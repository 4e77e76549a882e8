/* SPDX-License-Identifier: MIT
 *
 * Recipes in the words of the command line: "cast bf16 --overflow saturate". */
#ifndef REQUESTS_EXPLAIN_RECIPE_WORDS_H
#define REQUESTS_EXPLAIN_RECIPE_WORDS_H

#include "answers/rewrite/recipe_space.h"
#include "requests/option.h"

/* A dti_recipe_words_fn. */
const char *dti_recipe_words(char *buffer, const struct dti_recipe *recipe);

/* Options of cast and quant that recipes may have, in writing order. */
extern const char dti_recipe_cast_names[], dti_recipe_quant_names[];
/* The command's rows for these names, each with one spelling; its arguments must begin with a
 * recipe. */
enum { DTI_RECIPE_OPTIONS = 20 };
void dti_recipe_options(struct dti_option ret[DTI_RECIPE_OPTIONS], const char *command,
                        const char *names);

/* By enum dti_arrangement, from DTI_ARRANGED_NIBBLES on: those with heads are followed by a number.
 */
extern const char *const dti_recipe_arrangements[];
bool dti_recipe_has_heads(int arrangement);

#endif
