/* SPDX-License-Identifier: MIT
 *
 * Makes the tensors of a file again from those of another by given recipes, and compares them. */
#ifndef ANSWERS_VERIFY_VERIFY_H
#define ANSWERS_VERIFY_VERIFY_H

#include "answers/explain/explain.h"

/* The recipes as given. */
struct dti_verify_row {
    const char *name; /* name of a tensor */
    size_t name_length;
    const struct dti_recipe *recipe; /* NULL: the tensor is not made */
};

struct dti_verify_problem {
    const char *name; /* name of the tensor */
    size_t name_length;
    const char *reason; /* why it could not be compared; NULL: its bytes differ, see: */
    const struct dti_byte_difference *difference; /* or NULL */
};

struct dti_verify {
    struct dti_container *a, *b;
    struct dti_logical_options options;
    struct dti_reading reading;
    dti_remedy_words_fn *remedy_words;
    dti_recipe_words_fn *words; /* for attestations */
    const char *recipe_path;
    size_t row_count;
    const struct dti_verify_row *rows;
    const struct dti_recipe *all; /* for tensors that no row names, or NULL */
    /* results */
    size_t tensors;                           /* tensors that were compared */
    uint64_t bytes;                           /* bytes of their parts in the second file */
    const struct dti_verify_problem *problem; /* the first problem; NULL: everything is verified */
    struct dti_verify_problem found;          /* storage for problem and what it points to */
    struct dti_byte_difference difference;
    struct dti_verdict verdict;
    char why[DTI_EXPLAIN_REASON];
};

/* Stops at the first problem, in the order of the recipes, then of the second file's tensors. */
enum dti_status dti_verify_run(struct dti_verify *verify, struct dti_error *reterr);
void dti_verify_free(struct dti_verify *verify); /* frees what the run opened */
void dti_document_verify(struct dti_json *json, const struct dti_verify *verify);

#endif
