/* SPDX-License-Identifier: MIT
 *
 * Pairs the tensors of two files. */
#include <stdlib.h>

#include "answers/explain/explain.h"
#include "containers/name_order.h"
#include "util/run/allocate.h"

static void pair(struct dti_explain *explain, const struct dti_name_order *names, bool *taken)
{
    const struct dti_container *const a = explain->a, *const b = explain->b;
    const bool alone = a->tensor_count == 1 && b->tensor_count == 1;
    struct dti_explain_result *result = explain->results;
    for (size_t i = 0; i < b->tensor_count; i++, result++) {
        const struct dti_tensor *const tensor = &b->tensors[i];
        size_t at = 0;
        result->pair.b = i;
        result->outcome = DTI_EXPLAIN_ONLY_B;
        if (!alone && !dti_name_order_find(names, tensor->name, tensor->name_length, &at))
            continue;
        taken[at] = true;
        result->pair.a = at;
        result->outcome = DTI_EXPLAIN_NONE;
    }
    for (size_t i = 0; i < a->tensor_count; i++) {
        if (taken[i])
            continue;
        result->pair.a = i;
        result++->outcome = DTI_EXPLAIN_ONLY_A;
    }
    explain->result_count = (size_t)(result - explain->results);
    explain->tensors = b->tensor_count;
}

enum dti_status dti_explain_pair(struct dti_explain *explain, struct dti_error *reterr)
{
    const struct dti_container *const a = explain->a, *const b = explain->b;
    struct dti_name_order names = {0};
    bool *const taken = dti_calloc(a->tensor_count + 1, sizeof *taken);
    explain->results = dti_calloc(a->tensor_count + b->tensor_count + 1, sizeof *explain->results);
    enum dti_status status = DTI_OK;
    if (taken && explain->results &&
        dti_name_order_of(&names, a->tensors, a->tensor_count, DTI_NAMED(struct dti_tensor, name)))
        pair(explain, &names, taken);
    else
        status = dti_no_memory(reterr);
    dti_name_order_free(&names);
    dti_free(taken);
    return status;
}

void dti_explain_free(struct dti_explain *explain)
{
    for (size_t i = 0; i < explain->made_count; i++)
        dti_free(explain->recipe[i]);
    dti_free(explain->recipe);
    dti_free(explain->results);
    dti_logical_close(explain->a);
    dti_logical_close(explain->b);
}
