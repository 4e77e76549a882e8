/* SPDX-License-Identifier: MIT
 *
 * A dtype as JSON members that several commands share. */
#include "cli/shared/dtype_json.h"

#include "cli/shared/number_json.h"
#include "dtinfo/buffer.h"
#include "dtinfo/spell.h"

/* Borders and the like, which lie between the numbers of the format. */
static enum dti_status put_other_number(struct dti_json *json, const char *key,
                                        const struct dti_value *value, struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    struct dti_buffer exact;
    dti_json_object(json, key);
    dti_json_number_text(json, NULL, 0, value);
    dti_json_null(json, "shortest");
    dti_buffer_init(&exact);
    if (dti_spell_exact(&exact, value))
        dti_json_text(json, "exact", exact.data, exact.length);
    else
        dti_json_null(json, "exact");
    bool failed = exact.failed;
    dti_buffer_free(&exact);
    dti_json_text(json, "hexfloat", text, dti_spell_hexfloat(text, value));
    dti_json_null(json, "bits");
    dti_json_end(json);
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

enum dti_status dti_json_limit(struct dti_json *json, const char *key,
                               const struct dti_format *format, const struct dti_limit *limit,
                               struct dti_error *reterr)
{
    if (limit->present && !limit->has_code)
        return put_other_number(json, key, &limit->value, reterr);
    return dti_json_code(json, key, format, limit->present, limit->code, reterr);
}

void dti_json_layout(struct dti_json *json, const struct dti_format *format)
{
    bool has_layout = format->kind != DTI_KIND_COMPLEX;
    if (has_layout) {
        dti_json_uint(json, "sign_bits", dti_format_is_signed(format) ? 1 : 0);
        dti_json_uint(json, "exponent_bits", format->exp_bits);
        dti_json_uint(json, "mantissa_bits", format->man_bits);
    } else {
        dti_json_null(json, "sign_bits");
        dti_json_null(json, "exponent_bits");
        dti_json_null(json, "mantissa_bits");
    }
    if (dti_format_is_float(format))
        dti_json_int(json, "bias", format->bias);
    else
        dti_json_null(json, "bias");
}

void dti_json_dtype_names(struct dti_json *json, const struct dti_format *format)
{
    dti_json_array(json, "names");
    for (size_t i = 0; i < dti_dtype_name_count && format->id != DTI_NONE; i++) {
        const struct dti_dtype_name *row = &dti_dtype_names[i];
        if (row->dtype != format->id)
            continue;
        dti_json_object(json, NULL);
        dti_json_string(json, "system", dti_system_title(row->system));
        dti_json_string(json, "name", row->name);
        if (row->number >= 0)
            dti_json_int(json, "number", row->number);
        else
            dti_json_null(json, "number");
        dti_json_end(json);
    }
    dti_json_end(json);
}
