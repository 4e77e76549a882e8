/* SPDX-License-Identifier: MIT
 *
 * What is asked of a result: how far its elements are from the truth. */
#include <limits.h>
#include <stdlib.h>

#include "calc/evaluate.h"

void dti_calc_result_free(struct dti_calc_result *result)
{
    dti_calc_array_free(&result->value);
    free(result->steps);
    dti_truth_free(result->truth);
    result->steps = NULL;
    result->truth = NULL;
}

static void get_stored(const struct dti_calc_result *result, size_t element, struct dti_value *ret)
{
    dti_decode(&result->value.format, dti_calc_code(&result->value, element), ret);
}

void dti_calc_true_get(const struct dti_calc_result *result, size_t element,
                       struct dti_calc_true *ret)
{
    struct dti_value stored;
    *ret = (struct dti_calc_true){.known = false};
    if (!result->truth)
        return;
    get_stored(result, element, &stored);
    ret->known = dti_truth_value(result->truth, element, &ret->value);
    ret->undefined = !ret->known && dti_truth_bits(result->truth, element) == UINT_MAX;
    ret->known |= ret->undefined;
    ret->exact = dti_truth_text_is_exact(result->truth, element);
    ret->has_error =
        dti_truth_error(result->truth, element, &stored, &ret->absolute, &ret->relative);
}

bool dti_calc_true_text(const struct dti_calc_result *result, size_t element,
                        struct dti_buffer *ret)
{
    return result->truth && dti_truth_text(result->truth, element, ret);
}

/* How bad an element is: 0 right or not known, 1 off by a share of the truth, 2 off from 0, 3 no
 * number where there is one or the other way round. */
static int rank_error(const struct dti_calc_true *truth, const struct dti_value *stored)
{
    const bool number = stored->class == DTI_CLASS_ZERO || stored->class == DTI_CLASS_FINITE;
    if (!truth->known)
        return 0;
    if (truth->undefined)
        return stored->class == DTI_CLASS_NAN ? 0 : 3;
    if (!number)
        return stored->class == truth->value.class && stored->negative == truth->value.negative ? 0
                                                                                                : 3;
    if (!truth->has_error)
        return 3;
    if (truth->absolute.class == DTI_CLASS_ZERO)
        return 0;
    return truth->relative.class == DTI_CLASS_NAN ? 2 : 1;
}

bool dti_calc_worst(const struct dti_calc_result *result, size_t *ret_element,
                    uint64_t *ret_different)
{
    struct dti_value worst = {.class = DTI_CLASS_ZERO};
    uint64_t different = 0;
    size_t element = 0;
    int worst_rank = 0;
    if (!result->truth)
        return false;
    for (size_t i = 0; i < result->value.count; i++) {
        struct dti_calc_true truth;
        struct dti_value stored;
        dti_calc_true_get(result, i, &truth);
        get_stored(result, i, &stored);
        const int rank = rank_error(&truth, &stored);
        different += rank > 0;
        struct dti_value error = rank == 1 ? truth.relative : truth.absolute;
        error.negative = false;
        if (rank < worst_rank || rank == 0 ||
            (rank == worst_rank && (rank == 3 || dti_value_compare(&error, &worst) <= 0)))
            continue;
        worst_rank = rank;
        worst = error;
        element = i;
    }
    *ret_element = element;
    *ret_different = different;
    return true;
}
