/* SPDX-License-Identifier: MIT
 *
 * The parts of the search for recipes: one tensor after another (explain_run.c), or many small ones
 * at once (explain_together.c). */
#ifndef DTINFO_ANSWERS_EXPLAIN_SEARCH_H
#define DTINFO_ANSWERS_EXPLAIN_SEARCH_H

#include "answers/explain.h"

/* What a space follows from. Without padding, compared as bytes. */
struct explain_kind {
    const struct dti_format *from, *to;
    const struct dti_block_format *from_block, *to_block;
    const char *dtype, *layout;
    uint64_t group[2], rest; /* rest: of the axis by the group */
    uint64_t per, axis, rank, flags;
};

struct explain_work {
    struct explain_kind kind;
    size_t result;
};

struct explain_search {
    struct dti_explain *explain;
    struct dti_made_files files;
    struct dti_made_list space;
    bool *explains; /* of the space: tensors of the kind */
    struct dti_verdict *verdicts;
    struct dti_made_pair *pairs;
    size_t room; /* of both */
};

static inline struct dti_explain_result *dti_explain_result_of(const struct explain_search *search,
                                                               const struct explain_work *work)
{
    return &search->explain->results[work->result];
}

/* One recipe, one tensor. */
enum dti_status dti_explain_try(struct explain_search *search, size_t recipe,
                                const struct dti_made_pair *pair, bool stop,
                                struct dti_verdict *ret, bool *ret_refused,
                                struct dti_error *reterr);
/* Keeps a recipe for the results that it explains, or explains best. */
enum dti_status dti_explain_keep(struct explain_search *search, size_t recipe,
                                 const struct dti_recipe **ret, struct dti_error *reterr);

/* Settles all small tensors of a kind that are left: as a search for each would, but that each gets
 * the first recipe of the space, and others are not counted. */
enum dti_status dti_explain_together(struct explain_search *search, const struct explain_work *work,
                                     size_t count, struct dti_error *reterr);

#endif
