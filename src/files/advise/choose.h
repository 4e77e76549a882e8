/* SPDX-License-Identifier: MIT
 *
 * One format for each group of tensors: the least error for a size, exactly, and the sizes at which
 * the best choice is also the best exchange of bytes for error. Knows no files and no formats. */
#ifndef FILES_ADVISE_CHOOSE_H
#define FILES_ADVISE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* One format of one group; error is finite and not negative, and already weighted. */
struct dti_format_choice {
    uint64_t bytes;
    double error;
};
/* The choices of group g are choices[starts[g]] up to, not including, choices[starts[g + 1]]: at
 * least one. The largest choices of all groups together stay below 2^63 bytes, and their errors
 * below the largest double. */
struct dti_choice_set {
    const struct dti_format_choice *choices;
    const uint32_t *starts; /* n_groups + 1 */
    uint32_t n_groups;
};

struct dti_chosen {
    uint64_t bytes;
    double error; /* exact sum of the errors, rounded once */
    double bound; /* no choice of that size has less error */
    bool proved;  /* nothing is better; bound is then the error */
};

/* Picks a choice for each group, so that their bytes are at most the budget and their errors the
 * least: ret_picks[g] is an index into choices. It is proved on errors in whole units of less than
 * 2^-59 of the sum, rounded down: what is proved is at most n_groups units above the least.
 *
 * The search ends at a number of steps that depends on nothing but the set: then `proved` is false
 * and the truth lies between bound and error. If even the smallest choices exceed the budget, the
 * status is DTI_ANSWER_NO, and ret->bytes is what they need. */
enum dti_status dti_choose(const struct dti_choice_set *set, uint64_t budget, uint32_t *ret_picks,
                           struct dti_chosen *ret, struct dti_error *reterr);

/* A point differs from the one before in one group, which now has that choice. The first point is
 * the smallest choice of each group; its group is DTI_FRONTIER_START. */
#define DTI_FRONTIER_START UINT32_MAX
struct dti_frontier_point {
    uint64_t bytes;
    double error; /* exact sum, rounded once */
    uint32_t group, choice;
};
/* The lower convex hull of (bytes, error) over all ways to choose, the smallest size first: no
 * choice with the bytes of a point, or fewer, has less error, up to the rounding of slopes to
 * doubles. Freed with dti_free(). */
enum dti_status dti_frontier(const struct dti_choice_set *set, struct dti_frontier_point **ret,
                             size_t *ret_n, struct dti_error *reterr);

#endif
