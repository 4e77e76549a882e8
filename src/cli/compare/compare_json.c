/* SPDX-License-Identifier: MIT
 *
 * A comparison as JSON: schema dtinfo.compare/1. Tensors are written as they are built, so that
 * their number does not matter. */
#include <math.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/shared/file_json.h"
#include "cli/shared/tensor_words.h"

static enum dti_status put_file(struct dti_json *json, const char *key,
                                const struct dti_container *container, struct dti_error *reterr)
{
    dti_json_object(json, key);
    const enum dti_status status =
        dti_json_bytes(json, "path", "path_hex", container->path, strlen(container->path), reterr);
    dti_json_string(json, "kind", dti_container_name(container->kind));
    dti_json_uint(json, "tensors", container->tensor_count);
    dti_json_end(json);
    return status;
}

static enum dti_status put_options(struct dti_json *json, const struct compare_job *job,
                                   struct dti_error *reterr)
{
    const struct compare_args *const args = job->args;
    const char *const only = args->only;
    dti_json_object(json, "options");
    enum dti_status status = dti_json_figure(json, "atol", args->atol, job->atol, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "rtol", args->rtol, job->rtol, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "max_ulp", args->max_ulp, job->max_ulp, reterr);
    dti_json_bool(json, "bitwise", args->bitwise);
    dti_json_bool(json, "ignore_missing", args->ignore_missing);
    dti_json_text(json, "only", only, only ? strlen(only) : 0);
    dti_json_end(json);
    return status;
}

static void put_index(struct dti_json *json, const char *key, uint64_t index)
{
    if (index == UINT64_MAX)
        dti_json_null(json, key);
    else
        dti_json_uint(json, key, index);
}

static enum dti_status put_figures(struct dti_json *json, const struct compare_figures *figures,
                                   struct dti_error *reterr)
{
    const struct {
        const char *key;
        double figure;
    } rows[] = {
        {"max_absolute", figures->max_absolute},
        {"mean_absolute", figures->mean_absolute},
        {"root_mean_square", figures->root_mean_square},
        {"max_relative", figures->max_relative},
        {"max_ulp", figures->max_ulp},
        {"cosine", figures->cosine},
    };
    dti_json_uint(json, "elements", figures->elements);
    dti_json_uint(json, "differing", figures->differing);
    dti_json_uint(json, "unmatched", figures->unmatched);
    dti_json_uint(json, "exceeding", figures->exceeding);
    dti_json_uint(json, "compared", figures->compared);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool there = figures->compared > 0 && !isnan(rows[i].figure);
        const enum dti_status status =
            dti_json_figure(json, rows[i].key, there, rows[i].figure, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

static enum dti_status put_pair(struct dti_json *json, const struct compare_job *job,
                                const struct compare_result *result, struct dti_error *reterr)
{
    const struct compare_figures *const figures = &result->figures;
    if (result->way != COMPARE_NUMBERS) {
        dti_json_null(json, "figures");
        return DTI_OK;
    }
    const struct dti_tensor *const tensor = &job->a->tensors[result->a];
    dti_json_object(json, "figures");
    const enum dti_status status = put_figures(json, figures, reterr);
    dti_json_bool(json, "identical", figures->identical);
    dti_json_place(json, "max_absolute_at", tensor, figures->max_index);
    dti_json_place(json, "first_differing_at", tensor, figures->first_differing);
    dti_json_place(json, "first_unmatched_at", tensor, figures->first_unmatched);
    dti_json_end(json);
    return status;
}

/* One side of a pair; null for a tensor that it lacks. */
static enum dti_status put_side(struct dti_json *json, const char *key,
                                const struct dti_tensor *tensor, struct dti_error *reterr)
{
    if (!tensor) {
        dti_json_null(json, key);
        return DTI_OK;
    }
    dti_json_object(json, key);
    const enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", tensor->name, tensor->name_length, reterr);
    dti_json_string(json, "dtype", tensor->format ? tensor->format->name : NULL);
    dti_json_string(json, "stored_as", tensor->stored_as);
    dti_json_shape(json, "shape", tensor);
    dti_json_end(json);
    return status;
}

static enum dti_status put_result(struct dti_json *json, const struct compare_job *job,
                                  const struct compare_result *result, struct dti_error *reterr)
{
    static const char *const ways[] = {
        [COMPARE_NUMBERS] = "numbers",      [COMPARE_BYTES] = "bytes",
        [COMPARE_NEVER] = "not_comparable", [COMPARE_ONLY_A] = "only_in_a",
        [COMPARE_ONLY_B] = "only_in_b",
    };
    static const char *const outcomes[] = {
        [COMPARE_EQUAL] = "equal",
        [COMPARE_IGNORED] = "ignored",
        [COMPARE_WITHIN] = "within_tolerance",
        [COMPARE_DIFFERS] = "different",
    };
    char reason[COMPARE_REASON_SIZE];
    const bool in_a = result->way != COMPARE_ONLY_B, in_b = result->way != COMPARE_ONLY_A;
    const bool reasoned = result->way == COMPARE_NEVER;
    dti_json_object(json, NULL);
    dti_json_string(json, "compared_as", ways[result->way]);
    dti_json_string(json, "outcome", outcomes[result->outcome]);
    dti_json_string(json, "reason", reasoned ? dti_compare_reason(reason, job, result) : NULL);
    enum dti_status status = put_side(json, "a", in_a ? &job->a->tensors[result->a] : NULL, reterr);
    if (status == DTI_OK)
        status = put_side(json, "b", in_b ? &job->b->tensors[result->b] : NULL, reterr);
    if (status == DTI_OK)
        status = put_pair(json, job, result, reterr);
    put_index(json, "first_differing_byte",
              result->way == COMPARE_BYTES ? result->first_byte : UINT64_MAX);
    dti_json_end(json);
    return status;
}

static void put_counts(struct dti_json *json, const struct compare_job *job)
{
    size_t only_a = 0, only_b = 0;
    for (size_t i = 0; i < job->result_count; i++) {
        only_a += job->results[i].way == COMPARE_ONLY_A;
        only_b += job->results[i].way == COMPARE_ONLY_B;
    }
    dti_json_object(json, "counts");
    dti_json_uint(json, "tensors", job->result_count);
    dti_json_uint(json, "equal", job->tensors[COMPARE_EQUAL]);
    dti_json_uint(json, "within_tolerance", job->tensors[COMPARE_WITHIN]);
    dti_json_uint(json, "different", job->tensors[COMPARE_DIFFERS]);
    dti_json_uint(json, "ignored", job->tensors[COMPARE_IGNORED]);
    dti_json_uint(json, "only_in_a", only_a);
    dti_json_uint(json, "only_in_b", only_b);
    dti_json_end(json);
}

static enum dti_status put_head(struct dti_json *json, const struct compare_job *job,
                                struct dti_error *reterr)
{
    enum dti_status status = put_file(json, "a", job->a, reterr);
    if (status == DTI_OK)
        status = put_file(json, "b", job->b, reterr);
    if (status == DTI_OK)
        status = put_options(json, job, reterr);
    dti_json_string(json, "outcome",
                    job->tensors[COMPARE_DIFFERS] > 0  ? "different"
                    : job->tensors[COMPARE_WITHIN] > 0 ? "within_tolerance"
                                                       : "equal");
    put_counts(json, job);
    dti_json_object(json, "total");
    if (status == DTI_OK)
        status = put_figures(json, &job->total, reterr);
    dti_json_end(json);
    dti_json_source_notes(json, &job->source);
    return status;
}

enum dti_status dti_compare_json(const struct compare_job *job, struct dti_error *reterr)
{
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.compare/1");
    enum dti_status status = put_head(json, job, reterr);
    dti_json_array(json, "tensors");
    dti_json_stream(json, job->cx->out);
    for (size_t i = 0; i < job->result_count && status == DTI_OK; i++)
        status = put_result(json, job, &job->results[i], reterr);
    dti_json_end(json);
    if (status == DTI_OK)
        status = dti_json_write(json, job->cx->out, reterr);
    dti_json_free(json);
    return status;
}
