/* SPDX-License-Identifier: MIT
 *
 * Statistics and exponents as JSON. */
#include <math.h>
#include <string.h>

#include "cli/inspect/inspect.h"
#include "cli/shared/file_json.h"
#include "cli/shared/number_json.h"
#include "cli/shared/tensor_words.h"

/* A number of a tensor, in the twins of the tensor's dtype; magnitudes of integers, which need not
 * be of their dtype (128 of int8), in those of uint64. */
static enum dti_status put_value(struct dti_json *json, const char *key, bool there,
                                 const struct inspect_extreme *extreme, bool magnitude,
                                 struct dti_error *reterr)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *format = dti_format_get(DTI_UINT64);
    struct dti_outcome outcome = {0};
    if (there) {
        const struct dti_format *const part = dti_inspect_component(extreme->tensor);
        if (!magnitude || !dti_format_is_integer(part))
            format = part;
        dti_encode(format, &extreme->value, &policy, 0, &outcome);
    }
    return dti_json_code(json, key, format, there, outcome.code, reterr);
}

/* Of the file: which tensor has it. */
static enum dti_status put_owner(struct dti_json *json, const char *key, const char *hex_key,
                                 bool there, const struct inspect_extreme *extreme,
                                 struct dti_error *reterr)
{
    if (there)
        return dti_json_bytes(json, key, hex_key, extreme->tensor->name,
                              extreme->tensor->name_length, reterr);
    dti_json_null(json, key);
    dti_json_null(json, hex_key);
    return DTI_OK;
}

static void put_place(struct dti_json *json, const char *key, bool there,
                      const struct inspect_extreme *extreme)
{
    if (there)
        dti_json_place(json, key, extreme->tensor, extreme->index);
    else
        dti_json_null(json, key);
}

static enum dti_status put_extremes(struct dti_json *json, const struct inspect_figures *figures,
                                    bool file, struct dti_error *reterr)
{
    const bool there = figures->finite > 0;
    enum dti_status status = put_value(json, "min", there, &figures->min, false, reterr);
    if (status == DTI_OK)
        status = put_value(json, "max", there, &figures->max, false, reterr);
    if (status == DTI_OK)
        status = put_value(json, "absmax", there, &figures->absmax, true, reterr);
    put_place(json, "min_index", there, &figures->min);
    put_place(json, "max_index", there, &figures->max);
    put_place(json, "absmax_index", there, &figures->absmax);
    if (!file || status != DTI_OK)
        return status;
    status = put_owner(json, "min_tensor", "min_tensor_hex", there, &figures->min, reterr);
    if (status == DTI_OK)
        status = put_owner(json, "max_tensor", "max_tensor_hex", there, &figures->max, reterr);
    if (status == DTI_OK)
        status =
            put_owner(json, "absmax_tensor", "absmax_tensor_hex", there, &figures->absmax, reterr);
    return status;
}

static void put_fits(struct dti_json *json, const struct inspect_figures *figures)
{
    dti_json_array(json, "fits");
    for (unsigned i = 0; i < INSPECT_LADDER; i++) {
        if (figures->fits >> i & 1)
            dti_json_string(json, NULL, dti_format_get(dti_inspect_ladder[i])->name);
    }
    dti_json_end(json);
}

enum dti_status dti_inspect_json_stats(struct dti_json *json, const char *key,
                                       const struct inspect_figures *figures,
                                       const struct dti_tensor *tensor, struct dti_error *reterr)
{
    if (!figures) {
        dti_json_null(json, key);
        return DTI_OK;
    }
    dti_json_object(json, key);
    dti_json_uint(json, "elements", figures->elements);
    dti_json_uint(json, "finite", figures->finite);
    dti_json_uint(json, "nan", figures->nan);
    dti_json_uint(json, "inf", figures->inf);
    dti_json_uint(json, "negative_inf", figures->negative_inf);
    dti_json_uint(json, "zeros", figures->zeros);
    dti_json_uint(json, "negative", figures->negative);
    dti_json_uint(json, "subnormals", figures->subnormals);
    if (tensor) {
        dti_json_place(json, "first_nan_index", tensor, figures->first_nan);
        dti_json_place(json, "first_inf_index", tensor, figures->first_inf);
    }
    enum dti_status status = put_extremes(json, figures, !tensor, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "mean", !isnan(figures->mean), figures->mean, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "standard_deviation", !isnan(figures->deviation),
                                 figures->deviation, reterr);
    put_fits(json, figures);
    dti_json_end(json);
    return status;
}

void dti_inspect_json_histogram(struct dti_json *json, const char *key,
                                const struct inspect_figures *figures)
{
    if (!figures) {
        dti_json_null(json, key);
        return;
    }
    const struct inspect_histogram *const histogram = &figures->histogram;
    dti_json_object(json, key);
    dti_json_uint(json, "finite", figures->finite);
    dti_json_uint(json, "zeros", figures->zeros);
    dti_json_array(json, "binades");
    for (unsigned i = 0; i < histogram->count; i++) {
        if (histogram->binade[i] == 0)
            continue;
        dti_json_object(json, NULL);
        dti_json_int(json, "exponent", (int64_t)histogram->first + i - DTI_BINADE_ZERO);
        dti_json_uint(json, "count", histogram->binade[i]);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_array(json, "ranges");
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "dtype", dti_format_get(dti_stats_ranges[i])->name);
        dti_json_uint(json, "overflow", histogram->overflow[i]);
        dti_json_uint(json, "to_zero", histogram->to_zero[i]);
        dti_json_uint(json, "to_subnormal", histogram->to_subnormal[i]);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
}
