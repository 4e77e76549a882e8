/* SPDX-License-Identifier: MIT
 *
 * What loops over elements ask now and then: whether to go on. */
#ifndef CALC_EVALUATE_STEP_PROGRESS_H
#define CALC_EVALUATE_STEP_PROGRESS_H

#include "calc/calc.h"
#include "util/run/caller.h"

/* In loops over pieces of a step: tells how many of its elements are done (total 0: nothing).
 * False: the call is cancelled; leave the rest. The operation then has a result that is dropped. */
static inline bool dti_calc_goes_on(const struct dti_calc_options *options, uint64_t done,
                                    uint64_t total)
{
    if (options->progress && total > 0)
        options->progress(options->progress_context, done, total);
    return !dti_interrupted();
}

/* The same in loops over elements, from i on: every now and then. */
static inline bool dti_calc_next(const struct dti_calc_options *options, size_t i, uint64_t total)
{
    return i % 64 != 0 || dti_calc_goes_on(options, i, total);
}

#endif
