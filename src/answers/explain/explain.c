/* SPDX-License-Identifier: MIT
 *
 * Explanations as text and as JSON. */
#include "answers/explain/explain.h"

#include <stdio.h>
#include <string.h>

#include "answers/part_words.h"
#include "answers/rows.h"
#include "answers/tensors.h"

DTI_WORDS(part_words, DTI_PART_WORDS)

const struct dti_tensor *dti_explain_tensor(const struct dti_explain *explain,
                                            const struct dti_explain_result *result)
{
    return result->outcome == DTI_EXPLAIN_ONLY_A ? &explain->a->tensors[result->pair.a]
                                                 : &explain->b->tensors[result->pair.b];
}

const char *dti_verdict_reason(char buffer[DTI_EXPLAIN_REASON], const struct dti_container *other,
                               const struct dti_verdict *verdict)
{
    const struct dti_tensor *const tensor =
        verdict->tensor < other->tensor_count ? &other->tensors[verdict->tensor] : NULL;
    const bool codes = verdict->part == DTI_PART_CODES;
    const char *const part = part_words(verdict->part);
    const char *const made = verdict->made_dtype < DTI_DTYPE_COUNT
                                 ? dti_format_get(verdict->made_dtype)->name
                                 : "another dtype";
    char shape[DTI_SHAPE_SIZE];
    buffer[0] = '\0';
    char subject[48] = "it";
    if (!codes)
        (void)snprintf(subject, sizeof subject, "the part %s", part);
    if (verdict->kind == DTI_VERDICT_MISSING)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "the part %s is missing", part);
    else if (verdict->kind == DTI_VERDICT_MORE)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "there are more parts than the recipe makes");
    else if (verdict->kind == DTI_VERDICT_DTYPE && tensor)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "%s is %.40s, and the recipe makes %s", subject,
                       dti_tensor_dtype(tensor), made);
    else if (verdict->kind == DTI_VERDICT_SHAPE && tensor)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON,
                       "%s has the shape %s, and the recipe makes another", subject,
                       dti_shape_words(shape, tensor));
    else if (verdict->kind == DTI_VERDICT_ORDER)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON,
                       "its bytes are in the other order, which recipes do not write");
    return buffer;
}

const char *dti_explain_reason(char buffer[DTI_EXPLAIN_REASON], const struct dti_explain *explain,
                               const struct dti_explain_result *result)
{
    buffer[0] = '\0';
    if (result->outcome != DTI_EXPLAIN_NONE)
        return buffer;
    const struct dti_tensor *const a = &explain->a->tensors[result->pair.a];
    const struct dti_tensor *const b = &explain->b->tensors[result->pair.b];
    char one[DTI_SHAPE_SIZE], two[DTI_SHAPE_SIZE];
    const bool same = a->rank == b->rank &&
                      (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
    if (!same)
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "the shapes %s and %s differ",
                       dti_shape_words(one, a), dti_shape_words(two, b));
    else if (result->tried)
        return dti_verdict_reason(buffer, dti_stored_container(explain->b), &result->verdict);
    else if (dti_tensor_form(b) && !dti_holds_texts(explain->b->kind))
        (void)snprintf(buffer, DTI_EXPLAIN_REASON,
                       "its parts are not in one safetensors file or its shards");
    else if (dti_tensor_form(a) && dti_tensor_form(b))
        (void)snprintf(buffer, DTI_EXPLAIN_REASON,
                       "it is quantized in both files, and not kept; no recipe translates codes");
    else if (dti_tensor_form(b))
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "no recipe writes %.40s in the layout %.40s",
                       dti_tensor_form(b)->is->dtype, dti_tensor_form(b)->is->layout);
    else if (!a->format || !b->format || dti_tensor_refusal(a) || dti_tensor_refusal(b))
        (void)explain->remedy_words(
            buffer, b->format && !dti_tensor_refusal(b) ? a->remedy : b->remedy,
            b->format && !dti_tensor_refusal(b) ? "its values cannot be read in the first file"
                                                : "its values cannot be read in the second file");
    else
        (void)snprintf(buffer, DTI_EXPLAIN_REASON, "no recipe leads from %.40s to %.40s",
                       dti_tensor_dtype(a), dti_tensor_dtype(b));
    return buffer;
}

DTI_WORDS(outcome_words, "explained", "different", "no_recipe", "only_in_a", "only_in_b")

static const char *verdict_words(size_t index)
{
    return index < 2 ? outcome_words(index) : NULL;
}

/* Precomputed values for the rows in explain.def. */
struct explained_difference {
    const struct dti_verdict *verdict;
    const struct dti_tensor *tensor;
};
struct explained_tensor {
    const struct dti_explain_result *result;
    const struct dti_tensor *tensor;
    const char *recipe, *reason;                  /* or NULL, */
    const struct dti_byte_difference *difference; /* and of the best recipe */
};

static void fill_difference(struct explained_difference *ret, const struct dti_byte_difference *of)
{
    *ret = (struct explained_difference){of->verdict, &of->other->tensors[of->verdict->tensor]};
}

static void put_warnings(struct dti_json *json, const struct dti_explain *explain)
{
    dti_put_logical_warnings(json, explain->a, explain->remedy_words);
    dti_put_logical_warnings(json, explain->b, explain->remedy_words);
}

static void put_tensors(struct dti_json *json, const struct dti_explain *explain);

#define DTI_ROWS "answers/explain/explain.def"
#include "answers/rows.h"

static void put_tensors(struct dti_json *json, const struct dti_explain *explain)
{
    dti_json_stream(json, explain->out);
    for (size_t i = 0; i < explain->result_count; i++) {
        const struct dti_explain_result *const result = &explain->results[i];
        const bool none = result->outcome == DTI_EXPLAIN_NONE;
        char words[DTI_RECIPE_WORDS], reason[DTI_EXPLAIN_REASON];
        const struct explained_tensor explained = {
            .result = result,
            .tensor = dti_explain_tensor(explain, result),
            .recipe = result->recipe ? explain->words(words, result->recipe) : NULL,
            .reason = none ? dti_explain_reason(reason, explain, result) : NULL,
            .difference = result->outcome == DTI_EXPLAIN_DIFFERS
                              ? &(struct dti_byte_difference){dti_stored_container(explain->b),
                                                              &result->verdict}
                              : NULL};
        dti_put_explained_tensor(json, NULL, &explained);
    }
}
