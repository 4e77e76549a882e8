/* SPDX-License-Identifier: MIT
 *
 * The convex hull over all groups: their own hulls' steps, the steepest first. */
#include <math.h>

#include "files/advise/choose.h"
#include "files/advise/choose_set.h"
#include "files/advise/relax.h"
#include "kernels/exact_sum.h"
#include "util/run/allocate.h"

/* The smallest choices, and a point for each step. */
static void walk(const struct dti_relax *relax, struct dti_frontier_point *points)
{
    struct dti_exact_sum error;
    uint64_t bytes = 0;
    dti_exact_sum_init(&error);
    for (uint32_t group = 0; group < relax->n_groups; group++) {
        const struct dti_relax_item *const item = &relax->items[relax->starts[group]];
        bytes += item->bytes;
        dti_exact_sum_add(&error, item->error);
    }
    points[0] = (struct dti_frontier_point){bytes, dti_exact_sum_value(&error), DTI_FRONTIER_START,
                                            DTI_FRONTIER_START};
    for (uint32_t i = 0; i < relax->n_steps; i++) {
        const struct dti_relax_step *const step = &relax->steps[i];
        const struct dti_relax_item *const to = &relax->items[step->to];
        bytes += step->run;
        dti_exact_sum_add(&error, -relax->items[step->from].error);
        dti_exact_sum_add(&error, to->error);
        points[i + 1] = (struct dti_frontier_point){bytes, dti_exact_sum_value(&error), step->group,
                                                    to->choice};
    }
}

enum dti_status dti_frontier(const struct dti_choice_set *set, struct dti_frontier_point **ret,
                             size_t *ret_n, struct dti_error *reterr)
{
    uint64_t least;
    struct dti_relax relax;
    enum dti_status status = dti_choice_set_look(set, &least, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_relax_new(set, INFINITY, NULL, &relax, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_frontier_point *const points = dti_calloc((size_t)relax.n_steps + 1, sizeof *points);
    if (points) {
        dti_relax_sort(&relax);
        walk(&relax, points);
        *ret = points;
        *ret_n = (size_t)relax.n_steps + 1;
    }
    dti_relax_free(&relax);
    return points ? DTI_OK : dti_no_memory(reterr);
}
