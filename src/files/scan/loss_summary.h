/* SPDX-License-Identifier: MIT
 *
 * The figures of a loss without the sums they were computed from, so that keeping many is cheap. */
#ifndef FILES_SCAN_LOSS_SUMMARY_H
#define FILES_SCAN_LOSS_SUMMARY_H

#include "kernels/scan/loss.h"

/* Members as in struct dti_loss, and the results of its functions. */
struct dti_loss_summary {
    uint64_t elements, inexact, overflowed, to_zero, to_subnormal;
    uint64_t nan_in, inf_in, no_code, stray, compared;
    double max_absolute;
    uint64_t max_index;
    double max_relative;
    double mean_absolute, root_mean_square, sqnr_db;
};
void dti_loss_summarize(const struct dti_loss *loss, struct dti_loss_summary *ret);

/* Set of enum dti_flag: loss->flags and those that the counts imply: the events of --fail-on. */
unsigned dti_loss_flags(const struct dti_loss *loss);

/* The dtype, intermediate or final, in which a NaN of the array has no code although the policies
 * require one; NULL: there was none. Such a cast is refused. */
const struct dti_format *dti_loss_without_nan(const struct dti_loss *loss,
                                              const struct dti_cast *cast,
                                              const struct dti_stack_rule *rule);

#endif
