/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file made again from those of another by given recipes, and compared. */
#ifndef ANSWERS_VERIFY_VERIFY_H
#define ANSWERS_VERIFY_VERIFY_H

#include "answers/explain/explain.h"

/* Recipes as they were given. */
struct dti_verify_row {
    const char *name; /* of a tensor */
    size_t name_length;
    const struct dti_recipe *recipe; /* NULL: it is not made */
};

struct dti_verify_problem {
    const char *name; /* of the tensor that it is about */
    size_t name_length;
    const char *reason; /* why it could not be compared; NULL: its bytes differ, and where: */
    const struct dti_byte_difference *difference; /* or NULL */
};

struct dti_verify {
    struct dti_container *a, *b;
    struct dti_logical_options options;
    struct dti_reading reading;
    dti_remedy_words_fn *remedy_words;
    dti_recipe_words_fn *words; /* of attestations */
    const char *recipe_path;
    size_t row_count;
    const struct dti_verify_row *rows;
    const struct dti_recipe *all; /* of tensors that no row names; or NULL */
    /* what came of it */
    size_t tensors;                           /* that were compared */
    uint64_t bytes;                           /* of the second file, their parts */
    const struct dti_verify_problem *problem; /* the first one; NULL: all is verified */
    struct dti_verify_problem found;          /* what it points at, and what that does */
    struct dti_byte_difference difference;
    struct dti_verdict verdict;
    char why[DTI_EXPLAIN_REASON];
};

/* Ends at the first problem, in the order of the recipes, and of the second file's tensors. */
enum dti_status dti_verify_run(struct dti_verify *verify, struct dti_error *reterr);
void dti_verify_free(struct dti_verify *verify); /* what it has opened */
void dti_document_verify(struct dti_json *json, const struct dti_verify *verify);

#endif
