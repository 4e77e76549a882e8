/* SPDX-License-Identifier: MIT
 *
 * Cross-checks the scalar core on a device: the device casts the same numbers and must produce
 * the same codes. A number is passed as fp64, or as a 64-bit integer, if the single rounding
 * then gives the same result as for the number itself; other numbers are skipped. */
#ifndef CONVERT_CROSS_CHECK_H
#define CONVERT_CROSS_CHECK_H

#include "convert/runner.h"
#include "core/code/scalar.h"
#include "core/code/stack.h"

struct dti_cross_check;

/* Creates a cross-check for one destination, without using the device yet. rule: as in struct
 * dti_request. The runner must outlive it and be on an explicitly requested device. Fails with
 * DTI_NO_MEMORY. */
enum dti_status dti_cross_check_new(struct dti_cross_check **ret, const struct dti_cast *cast,
                                    const struct dti_stack_rule *rule, struct dti_runner *runner,
                                    enum dti_level level, struct dti_error *reterr);
void dti_cross_check_free(struct dti_cross_check *cross_check); /* NULL is fine */

/* A number and the code stored for it. */
struct dti_stored_number {
    struct dti_value value;
    bool integer_literal; /* as for dti_stack_cast(); ignored without a rule */
    uint64_t code;
};

/* Checks n numbers; the first is element `index`. *ret_asked: how many could be checked;
 * *ret_why: why one could not, or NULL. Fails with DTI_BUG, naming both codes, if the device
 * stores a different code; with DTI_DEVICE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_cross_check_ask(struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, size_t *ret_asked, const char **ret_why,
                                    struct dti_error *reterr);

#endif
