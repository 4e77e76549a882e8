/* SPDX-License-Identifier: MIT
 *
 * A device as a cross-check: numbers that the scalar core has cast are cast by the device as well,
 * and the codes must be the same. A number goes there as an fp64, or as an integer of 64 bits,
 * where the one rounding gives the same as for the number itself; other numbers are not asked. */
#ifndef CONVERT_CROSS_CHECK_H
#define CONVERT_CROSS_CHECK_H

#include "convert/runner.h"
#include "core/code/scalar.h"
#include "core/code/stack.h"

struct dti_cross_check;

/* For one destination. rule: as in struct dti_request. The runner must live longer, and be on an
 * explicitly requested device. It is not used yet. Fails with DTI_NO_MEMORY. */
enum dti_status dti_cross_check_new(struct dti_cross_check **ret, const struct dti_cast *cast,
                                    const struct dti_stack_rule *rule, struct dti_runner *runner,
                                    enum dti_level level, struct dti_error *reterr);
void dti_cross_check_free(struct dti_cross_check *cross_check); /* NULL is fine */

/* A number and what was stored for it. */
struct dti_stored_number {
    struct dti_value value;
    bool integer_literal; /* as for dti_stack_cast(); means nothing without a rule */
    uint64_t code;
};

/* Asks about n numbers, the first of which is element `index`. *ret_asked: how many could be asked
 * about; *ret_why: why one could not, or NULL. Fails with DTI_BUG, naming both codes, when the
 * device stores another one; with DTI_DEVICE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_cross_check_ask(struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, size_t *ret_asked, const char **ret_why,
                                    struct dti_error *reterr);

#endif
