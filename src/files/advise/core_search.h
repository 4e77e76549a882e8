/* SPDX-License-Identifier: MIT
 *
 * From the solution of the linear program to the best whole one. */
#ifndef FILES_ADVISE_CORE_SEARCH_H
#define FILES_ADVISE_CORE_SEARCH_H

#include "files/advise/relax.h"

struct dti_core_result {
    uint64_t units, bound;
    bool proved;
};

/* relax: in units. base: the items at the first step that does not fit, `step`. items: a whole
 * choice within the budget, of `ret->units` units; becomes the best one. */
enum dti_status dti_core_search(const struct dti_relax *relax, uint64_t budget, uint32_t step,
                                const uint32_t *base, uint32_t *items, struct dti_core_result *ret,
                                struct dti_error *reterr);

#endif
