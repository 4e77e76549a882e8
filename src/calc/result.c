/* SPDX-License-Identifier: MIT
 *
 * What is asked of a result: whether the truth is looked for, and how far its elements are from it.
 */
#include <stdlib.h>

#include "calc/evaluate.h"

enum {
    WORK_MAX = 1 << 21,  /* operations done without being asked for */
    ASKED_MAX = 1 << 22, /* elements of the longest list, where they are asked for */
};

void dti_calc_result_free(struct dti_calc_result *result)
{
    dti_calc_array_free(&result->value);
    free(result->steps);
    dti_truth_free(result->truth);
    result->steps = NULL;
    result->truth = NULL;
}

bool dti_calc_keeps_for_truth(const struct dti_calc_engine *engine, size_t count)
{
    const enum dti_calc_truths truth = engine->options->truth;
    return truth == DTI_CALC_TRUTH_YES ||
           (truth == DTI_CALC_TRUTH_AUTO && count <= DTI_CALC_TRUTH_MAX);
}

/* Whether so much work is done unasked; the reason where it is not. */
static bool is_short(const struct dti_calc_engine *engine, const char **ret_reason)
{
    uint64_t products = 0;
    for (size_t node = 0; node < engine->tree->node_count; node++) {
        const struct dti_calc_node *const n = &engine->tree->nodes[node];
        const struct dti_calc_slot *const slot = &engine->slots[node];
        if (slot->array.count > DTI_CALC_TRUTH_MAX) {
            *ret_reason = "more than 65536 elements";
            return false;
        }
        if (slot->needed && n->kind == DTI_NODE_CALL && n->op == DTI_CALC_MATMUL)
            products +=
                slot->array.count * engine->slots[dti_calc_child(engine, node, 1)].array.shape[0];
    }
    *ret_reason = "a matrix product of more than 2097152 products";
    return products <= WORK_MAX;
}

enum dti_status dti_calc_find_truth(struct dti_calc_engine *engine)
{
    struct dti_calc_result *const result = engine->result;
    const bool asked = engine->options->truth == DTI_CALC_TRUTH_YES;
    const char *reason = NULL;
    if (engine->options->truth == DTI_CALC_TRUTH_NO)
        return DTI_OK;
    if (!is_short(engine, &reason) && !asked) {
        result->truth_reason = reason;
        return DTI_OK;
    }
    for (size_t node = 0; node < engine->tree->node_count; node++) {
        if (engine->slots[node].array.count > ASKED_MAX)
            return dti_fail(engine->error, DTI_BAD_VALUE,
                            "true values of lists of more than %d elements are not computed",
                            ASKED_MAX);
    }
    if (dti_multi_load(asked ? engine->error : NULL) != DTI_OK) {
        result->truth_reason = "libmpfr is not available";
        return asked ? DTI_UNAVAILABLE : DTI_OK;
    }
    return dti_calc_walk_truth(engine);
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
        dti_decode(&result->value.format, dti_calc_code(&result->value, i), &stored);
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
