/* SPDX-License-Identifier: MIT
 *
 * One number as JSON. */
#include "cli/shared/number_json.h"

#include <string.h>

#include "dtinfo/buffer.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"

void dti_json_number_text(struct dti_json *json, const struct dti_format *format, uint64_t code,
                          const struct dti_value *value)
{
    char text[DTI_TEXT_SIZE];
    size_t length =
        format ? dti_spell_stored(text, format, code, value) : dti_spell_text(text, value);
    bool written_out = (format && dti_format_is_integer(format)) || dti_value_fits_json(value);
    if (value->class > DTI_CLASS_FINITE || !written_out)
        dti_json_null(json, "value");
    else if (value->class == DTI_CLASS_ZERO && value->negative)
        dti_json_number(json, "value", "-0.0", 4); /* many readers take "-0" for the integer 0 */
    else
        dti_json_number(json, "value", text, length);
    dti_json_text(json, "text", text, length);
}

enum dti_status dti_json_number_members(struct dti_json *json, const struct dti_format *format,
                                        uint64_t code, const struct dti_value *value,
                                        struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    bool finite = value->class <= DTI_CLASS_FINITE;
    struct dti_buffer exact;
    dti_json_number_text(json, format, code, value);
    dti_json_text(json, "shortest", text, dti_spell_shortest(text, format, code));

    dti_buffer_init(&exact);
    bool has_exact = finite && dti_spell_exact(&exact, value);
    if (has_exact)
        dti_json_text(json, "exact", exact.data, exact.length);
    else
        dti_json_null(json, "exact");
    bool failed = exact.failed;
    dti_buffer_free(&exact);
    if (finite)
        dti_json_text(json, "hexfloat", text, dti_spell_hexfloat(text, value));
    else
        dti_json_null(json, "hexfloat");
    dti_json_text(json, "bits", text, dti_spell_code(text, code, format->width));
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

enum dti_status dti_json_code(struct dti_json *json, const char *key,
                              const struct dti_format *format, bool there, uint64_t code,
                              struct dti_error *reterr)
{
    struct dti_value value;
    if (!there) {
        dti_json_null(json, key);
        return DTI_OK;
    }
    dti_decode(format, code, &value);
    dti_json_object(json, key);
    enum dti_status status = dti_json_number_members(json, format, code, &value, reterr);
    dti_json_end(json);
    return status;
}

void dti_json_fields(struct dti_json *json, const struct dti_format *format, uint64_t code)
{
    char digits[DTI_BINARY_SIZE];
    if (!dti_format_is_float(format)) {
        dti_json_null(json, "fields");
        return;
    }
    size_t sign = dti_format_is_signed(format);
    dti_spell_binary(digits, code, format->width);
    dti_json_object(json, "fields");
    dti_json_text(json, "sign", digits, sign);
    dti_json_text(json, "exponent", digits + sign, format->exp_bits);
    dti_json_text(json, "mantissa", digits + sign + format->exp_bits, format->man_bits);
    dti_json_end(json);
}
