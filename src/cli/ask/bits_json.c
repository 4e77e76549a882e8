/* SPDX-License-Identifier: MIT
 *
 * Readings of a bit pattern as JSON: schema dtinfo.bits/1. */
#include <string.h>

#include "cli/ask/bits.h"
#include "cli/shared/number_json.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"

static enum dti_status put_part(struct dti_json *json, const struct dti_format *f, uint64_t code,
                                struct dti_error *reterr)
{
    struct dti_value value;
    dti_decode(f, code, &value);
    enum dti_status status = dti_json_number_members(json, f, code, &value, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_fields(json, f, code);
    dti_json_string(json, "class", dti_number_class_name(dti_code_class(f, code)));
    bool numeric = dti_format_is_float(f) && value.class <= DTI_CLASS_FINITE;
    if (!numeric) {
        dti_json_null(json, "exponent");
        dti_json_null(json, "significand");
        return DTI_OK;
    }
    struct bits_anatomy anatomy = dti_bits_dissect(f, code);
    char text[DTI_TEXT_SIZE];
    dti_json_int(json, "exponent", anatomy.exponent);
    dti_json_number(json, "significand", text, dti_spell_text(text, &anatomy.significand));
    return DTI_OK;
}

enum dti_status dti_bits_json(const struct dti_context *cx, const char *text, bool pattern,
                              const struct bits_reading *readings, size_t count, const char *note,
                              struct dti_error *reterr)
{
    static const char *const names[] = {"real", "imaginary"};
    enum dti_status status = DTI_OK;
    struct dti_json *json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.bits/1");
    dti_json_object(json, "input");
    dti_json_string(json, "text", text);
    dti_json_string(json, "kind", pattern ? "pattern" : "value");
    dti_json_end(json);
    dti_json_array(json, "results");
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct bits_reading *reading = &readings[i];
        dti_json_object(json, NULL);
        dti_json_string(json, "dtype", reading->dtype.name);
        dti_json_uint(json, "width_bits", reading->dtype.width);
        if (reading->components == 1) {
            status = put_part(json, &reading->component, reading->code[0], reterr);
        } else {
            for (size_t part = 0; part < 2 && status == DTI_OK; part++) {
                dti_json_object(json, names[part]);
                status = put_part(json, &reading->component, reading->code[part], reterr);
                dti_json_end(json);
            }
        }
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_array(json, "warnings");
    if (note)
        dti_json_warning(json, "dtype_name", readings[0].dtype.name, 0, note);
    for (size_t i = 0; i < count; i++) {
        if (dti_bits_noncanonical(&readings[i]))
            dti_json_warning(json, "noncanonical_bool", readings[i].dtype.name, 0,
                             BITS_NONCANONICAL);
    }
    dti_json_end(json);
    if (status == DTI_OK)
        status = dti_json_write(json, cx->out, reterr);
    dti_json_free(json);
    return status;
}
