/* SPDX-License-Identifier: MIT
 *
 * Recipes from the words of the command line: "cast bf16 --overflow saturate". */
#ifndef CLI_VERIFY_RECIPE_READ_H
#define CLI_VERIFY_RECIPE_READ_H

#include "answers/rewrite/recipe_space.h"

/* The inverse of dti_recipe_words(). text is modified, and must live as long as *ret. Fails with
 * DTI_USAGE, DTI_UNKNOWN_OPTION, DTI_UNKNOWN_DTYPE and so on. */
enum dti_status dti_recipe_read(struct dti_recipe *ret, char *text, struct dti_error *reterr);

#endif
