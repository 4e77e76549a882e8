/* SPDX-License-Identifier: MIT
 *
 * The recipes that made the tensors of one file from those of another, found by making them again;
 * and the same check with given recipes. */
#ifndef ANSWERS_EXPLAIN_EXPLAIN_H
#define ANSWERS_EXPLAIN_EXPLAIN_H

#include "answers/reading.h"
#include "answers/rewrite/recipe_space.h"
#include "files/dequant/logical_tensors.h"
#include "report/json.h"
#include "util/sink.h"

enum dti_explain_outcome {
    DTI_EXPLAIN_FOUND,
    DTI_EXPLAIN_DIFFERS, /* the best recipe gives different bytes */
    DTI_EXPLAIN_NONE, /* no recipe of the search space could have made it: dti_explain_reason() */
    DTI_EXPLAIN_ONLY_A,
    DTI_EXPLAIN_ONLY_B,
    DTI_EXPLAIN_OUTCOMES
};

enum { DTI_EXPLAIN_COUNTED = 1 << 20 }; /* elements compared when counting other recipes */

struct dti_explain_result {
    struct dti_recipe_pair pair; /* unset for a side that lacks the tensor */
    enum dti_explain_outcome outcome;
    const struct dti_recipe *recipe; /* FOUND, DIFFERS */
    size_t others; /* FOUND, if counted: other recipes that give the same bytes; for casts, at the
                      beginning of the tensor */
    bool counted;
    struct dti_verdict verdict; /* DIFFERS: the difference; NONE: why the first recipe failed */
    bool tried;                 /* at least one recipe was tried */
};

/* A recipe in the words of the command line. Returns buffer. */
enum { DTI_RECIPE_WORDS = 512 };
typedef const char *dti_recipe_words_fn(char buffer[DTI_RECIPE_WORDS],
                                        const struct dti_recipe *recipe);

struct dti_explain {
    struct dti_container *a, *b;
    struct dti_logical_options options;
    struct dti_reading reading;
    dti_recipe_words_fn *words;
    dti_remedy_words_fn *remedy_words;
    const struct dti_sink *out;
    /* in the order of b, then those only in a */
    struct dti_explain_result *results;
    size_t result_count;
    size_t outcomes[DTI_EXPLAIN_OUTCOMES];
    bool unexplained;           /* some tensor of b is unexplained */
    size_t kept, tensors;       /* tensors of b: those explained as kept, and all */
    struct dti_recipe **recipe; /* the recipes that results point to */
    size_t made_count;
};

/* Pairs tensors by name; if each side has a single tensor, these are a pair regardless of name. */
enum dti_status dti_explain_pair(struct dti_explain *explain, struct dti_error *reterr);
enum dti_status dti_explain_run(struct dti_explain *explain, struct dti_error *reterr);
void dti_explain_free(struct dti_explain *explain);

/* The tensor that names a result. */
const struct dti_tensor *dti_explain_tensor(const struct dti_explain *explain,
                                            const struct dti_explain_result *result);
/* Why there is no recipe. Returns buffer. */
enum { DTI_EXPLAIN_REASON = DTI_REMEDY_WORDS };
const char *dti_explain_reason(char buffer[DTI_EXPLAIN_REASON], const struct dti_explain *explain,
                               const struct dti_explain_result *result);
/* Describes a verdict that is not about bytes. */
const char *dti_verdict_reason(char buffer[DTI_EXPLAIN_REASON], const struct dti_container *other,
                               const struct dti_verdict *verdict);
static inline const struct dti_container *dti_stored_container(const struct dti_container *view)
{
    return view->stored ? view->stored : view;
}

/* Where bytes differ: a member of both documents. */
struct dti_byte_difference {
    const struct dti_container *other; /* as stored */
    const struct dti_verdict *verdict;
};
dti_object_rows dti_object_byte_difference, dti_object_explained_file;
void dti_put_byte_difference(struct dti_json *json, const char *key,
                             const struct dti_byte_difference *difference);
void dti_put_explained_file(struct dti_json *json, const char *key,
                            const struct dti_container *container);

void dti_document_explain(struct dti_json *json, const struct dti_explain *explain);

#endif
