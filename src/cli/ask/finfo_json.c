/* SPDX-License-Identifier: MIT
 *
 * finfo as JSON: schema dtinfo.finfo/1. */
#include <string.h>

#include "cli/ask/finfo.h"
#include "cli/shared/dtype_json.h"
#include "dtinfo/limits.h"
#include "dtinfo/spell.h"

/* *status is kept when it already is a failure. */
static void put_limit(struct dti_json *json, const char *key, const struct dti_format *format,
                      const struct dti_limit *limit, enum dti_status *status,
                      struct dti_error *reterr)
{
    if (*status == DTI_OK)
        *status = dti_json_limit(json, key, format, limit, reterr);
}

static void put_integer(struct dti_json *json, const char *key, bool present, int32_t value)
{
    if (present)
        dti_json_int(json, key, value);
    else
        dti_json_null(json, key);
}

/* 10^-digits10 is no number of base 2, so that it has no hexfloat and no bits. */
static void put_resolution(struct dti_json *json, unsigned digits10)
{
    char text[DTI_RESOLUTION_SIZE], exact[DTI_RESOLUTION_SIZE];
    dti_resolution_text(text, digits10);
    dti_resolution_exact(exact, digits10);
    dti_json_object(json, "resolution");
    dti_json_number(json, "value", text, strlen(text));
    dti_json_string(json, "text", text);
    dti_json_null(json, "shortest");
    dti_json_string(json, "exact", exact);
    dti_json_null(json, "hexfloat");
    dti_json_null(json, "bits");
    dti_json_end(json);
}

static enum dti_status put_limits(struct dti_json *json, const struct dti_format *format,
                                  struct dti_error *reterr)
{
    struct dti_limits limits;
    char code[DTI_TEXT_SIZE];
    enum dti_status status = DTI_OK;
    dti_limits_compute(&limits, format);

    dti_json_uint(json, "precision", limits.precision);
    dti_json_uint(json, "digits10", limits.digits10);
    dti_json_uint(json, "max_digits10", limits.max_digits10);
    put_limit(json, "max", format, &limits.max, &status, reterr);
    put_limit(json, "lowest", format, &limits.lowest, &status, reterr);
    put_limit(json, "smallest_normal", format, &limits.smallest_normal, &status, reterr);
    put_limit(json, "smallest_subnormal", format, &limits.smallest_subnormal, &status, reterr);
    put_limit(json, "eps", format, &limits.eps, &status, reterr);
    put_limit(json, "epsneg", format, &limits.epsneg, &status, reterr);
    put_integer(json, "machep", limits.eps.present, limits.machep);
    put_integer(json, "negep", limits.epsneg.present, limits.negep);
    put_integer(json, "minexp", limits.smallest_normal.present, limits.minexp);
    put_integer(json, "maxexp", true, limits.maxexp);
    put_resolution(json, limits.digits10);
    dti_json_uint(json, "integers_exact_up_to", limits.integers_up_to);
    put_limit(json, "step_at_max", format, &limits.step_at_max, &status, reterr);
    put_limit(json, "overflow_from", format, &limits.overflow_from, &status, reterr);
    dti_json_bool(json, "overflow_inclusive", limits.overflow_inclusive);
    put_limit(json, "to_zero_up_to", format, &limits.to_zero_up_to, &status, reterr);
    dti_json_bool(json, "to_zero_inclusive", limits.to_zero_inclusive);
    dti_json_bool(json, "has_inf", limits.has_inf);
    dti_json_bool(json, "has_nan", limits.has_nan);
    dti_json_bool(json, "has_minus_zero", limits.has_minus_zero);
    dti_json_bool(json, "has_subnormals", limits.has_subnormals);
    dti_json_uint(json, "inf_codes", limits.inf_codes);
    dti_json_uint(json, "nan_codes", limits.nan_codes);
    dti_json_uint(json, "finite_codes", limits.finite_codes);
    if (limits.has_nan_code)
        dti_json_text(json, "nan_bits", code, dti_spell_code(code, limits.nan_code, format->width));
    else
        dti_json_null(json, "nan_bits");
    return status;
}

static enum dti_status put_result(struct dti_json *json, const struct dti_format *dtype,
                                  struct dti_error *reterr)
{
    const struct dti_format *format = dti_real_format(dtype);
    dti_json_object(json, NULL);
    dti_json_string(json, "dtype", dtype->name);
    dti_json_uint(json, "bits", dtype->width);
    dti_json_string(json, "kind", dti_kind_name(dtype->kind));
    dti_json_string(json, "part", dtype->kind == DTI_KIND_COMPLEX ? format->name : NULL);
    dti_json_layout(json, format);
    enum dti_status status = put_limits(json, format, reterr);
    dti_json_dtype_names(json, dtype);
    dti_json_end(json);
    return status;
}

enum dti_status dti_finfo_json(const struct dti_dtype_operand *list, size_t count,
                               struct dti_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    struct dti_json *json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.finfo/1");
    dti_json_array(json, "results");
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = put_result(json, &list[i].format, reterr);
    dti_json_end(json);
    dti_json_operand_notes(json, list, count);
    if (status == DTI_OK)
        status = dti_json_write(json, cx->out, reterr);
    dti_json_free(json);
    return status;
}
