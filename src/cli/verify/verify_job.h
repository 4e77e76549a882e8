/* SPDX-License-Identifier: MIT
 *
 * The parts of the verify command. */
#ifndef DTINFO_CLI_VERIFY_H
#define DTINFO_CLI_VERIFY_H

#include "answers/verify.h"
#include "cli/shared/file_source.h"
#include "cli/shell/command.h"

struct verify_args {
    struct dti_file_args file;
    const char *recipe, *attest;
};

/* A file of recipes: a document of explain, or the part of one that says the recipes. */
struct recipe_file {
    struct dti_buffer texts;
    struct dti_verify_row *rows;
    struct dti_recipe *made; /* each recipe once, in the order of the file */
    const struct dti_recipe *all;
    size_t count;
};
/* recipe_file.c. Free it in any case. Fails with DTI_BAD_INPUT and the place in the file. */
enum dti_status dti_recipe_file_read(struct recipe_file *ret, const char *path,
                                     struct dti_error *reterr);
void dti_recipe_file_free(struct recipe_file *file);

#endif
