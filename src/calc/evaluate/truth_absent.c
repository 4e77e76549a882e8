/* SPDX-License-Identifier: MIT
 *
 * Stubs for builds without the MPFR headers: loading fails with a message, no result has a true
 * value, and functions cannot be computed. */
#include "calc/evaluate/evaluate.h"

enum dti_status dti_multi_load(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "true values and functions: not built in; build with libmpfr-dev installed");
}

enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr)
{
    return compute(context, reterr);
}

enum dti_status dti_calc_walk_truth(struct dti_calc_engine *engine)
{
    return dti_multi_load(engine->error);
}

void dti_truth_free(struct dti_calc_truth_list *list)
{
    (void)list;
}

void dti_calc_true_get(const struct dti_calc_result *result, size_t element,
                       struct dti_calc_true *ret)
{
    (void)result, (void)element;
    *ret = (struct dti_calc_true){.known = false};
}

bool dti_calc_true_text(const struct dti_calc_result *result, size_t element,
                        struct dti_buffer *ret)
{
    (void)result, (void)element, (void)ret;
    return false;
}

unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x)
{
    (void)op, (void)power, (void)x;
    *ret = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    return 0;
}
