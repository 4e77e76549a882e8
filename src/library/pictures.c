/* SPDX-License-Identifier: MIT
 *
 * A code as a picture. */
#include "dtinfo/dtype.h"

#include <stdio.h>

#include "answers/cast/fields.h"
#include "answers/cast/number_line.h"
#include "library/context.h"
#include "library/single_values.h"

enum { WIDTH = 80 };

/* The given number, without the digits of the limit that stands for what is beyond it. */
static size_t spell_given(char text[DTI_TEXT_SIZE], const struct dti_value *given)
{
    const bool beyond =
        given->kind == DTI_CLASS_FINITE && given->sticky &&
        (given->exponent == DTI_EXPONENT_LIMIT || given->exponent == -DTI_EXPONENT_LIMIT);
    if (!beyond)
        return dti_value_shortest(text, given, NULL);
    const char *const limit = given->exponent > 0 ? "1e+5000000" : "1e-5000000";
    const char *const word = (given->exponent > 0) == given->negative ? "under" : "over";
    const int length =
        snprintf(text, DTI_TEXT_SIZE, "%s %s%s", word, given->negative ? "-" : "", limit);
    return (size_t)length;
}

static bool draw_number(struct dti_line *line, const struct dti_format *format, uint64_t code,
                        const struct dti_value *given, size_t width, bool ascii)
{
    struct dti_cast_operand operand;
    struct dti_neighbour ends[2];
    char text[DTI_TEXT_SIZE];
    struct dti_scalar scalar = {.input = *given, .code = code & dti_low_bits(format->width)};
    dti_decode(format, code, &scalar.stored);
    dti_scalar_compare(&scalar);
    dti_scalar_bracket(format, &scalar);
    dti_cast_operand_of_value(&operand, given);
    operand.text = text;
    operand.length = spell_given(text, given);
    const bool done = dti_neighbours_find(&operand, format, &scalar, ends);
    if (done)
        dti_number_line_put(line, &operand, &scalar, ends, 0, width, ascii);
    dti_neighbours_free(ends);
    return done;
}

size_t dti_value_picture(struct dti_context *context, const struct dti_format *format,
                         uint64_t code, const struct dti_value *given, size_t width, bool ascii,
                         char *buffer, size_t capacity)
{
    struct dti_call call;
    struct dti_buffer text;
    struct dti_line line = {.text = &text};
    size_t length = 0;
    if (capacity > 0)
        buffer[0] = '\0';
    if (format->kind == DTI_KIND_COMPLEX || (given && !dti_value_is_normal(given)))
        return 0;
    dti_call_begin(&call, &context->caller);
    dti_buffer_init(&text);
    dti_fields_put(&line, format, code);
    dti_line_end(&line);
    if (dti_format_is_float(format)) {
        dti_fields_put_names(&line, format, code);
        dti_line_end(&line);
    }
    bool done = true;
    if (given)
        done = draw_number(&line, format, code, given, width > 0 ? width : WIDTH, ascii);
    if (done && !text.failed)
        length = dti_text_give(text.data, text.length, buffer, capacity);
    dti_buffer_free(&text);
    dti_call_end(&call);
    return length;
}
