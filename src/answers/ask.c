/* SPDX-License-Identifier: MIT
 *
 * What dtypes hold: see ask.h. */
#include "answers/ask.h"

#include <math.h>
#include <string.h>

#include "answers/common.h"

void dti_dtype_summarize(const struct dti_format *dtype, struct dti_dtype_summary *ret)
{
    const struct dti_format *const format = dti_real_format(dtype);
    memset(ret, 0, sizeof *ret);
    if (dti_format_is_integer(format)) {
        dti_integer_limits(format, &ret->lowest, &ret->max);
        return;
    }
    struct dti_limits limits;
    dti_limits_compute(&limits, format);
    ret->lowest = limits.lowest;
    ret->max = limits.max;
    ret->smallest =
        limits.smallest_subnormal.present ? limits.smallest_subnormal : limits.smallest_normal;
    ret->has_inf = limits.has_inf;
    ret->has_nan = limits.has_nan;
    ret->has_minus_zero = limits.has_minus_zero;
    ret->has_subnormals = limits.has_subnormals;
}

double dti_block_bits_per_weight(const struct dti_block_format *block)
{
    return 8.0 * (double)block->bytes / (double)block->length;
}

/* 10^-digits10 is not a number of base 2, so it has no hexfloat and no bits. */
static void put_resolution(struct dti_json *json, const char *key, unsigned digits10)
{
    char text[DTI_RESOLUTION_SIZE], exact[DTI_RESOLUTION_SIZE];
    dti_resolution_text(text, digits10);
    dti_resolution_exact(exact, digits10);
    dti_json_object(json, key);
    dti_put_token(json, "value", text);
    dti_json_string(json, "text", text);
    dti_json_null(json, "shortest");
    dti_json_string(json, "exact", exact);
    dti_json_null(json, "hexfloat");
    dti_json_null(json, "bits");
    dti_json_end(json);
}

#define DTI_ROWS "answers/ask.def"
#include "answers/rows.h"
