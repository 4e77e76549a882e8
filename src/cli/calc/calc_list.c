/* SPDX-License-Identifier: MIT
 *
 * Lists of numbers for people: as numpy prints them, the middle of a long one left out. */
#include <string.h>

#include "cli/calc/calc_job.h"

enum {
    WHOLE = 16,          /* elements of a list that is shown whole, */
    EDGE = 3,            /* else so many at both ends */
    WHOLE_ON_A_LINE = 6, /* the same of a list within a line */
    SHORT = 8,           /* digits that need no shortening */
    DIGITS = 6,
};

void dti_calc_number_text(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    if (dti_spell_stored(buffer, format, code, &value) > SHORT && dti_format_is_float(format))
        (void)dti_spell_shortest_value(buffer, format, &value);
}

enum dti_style dti_calc_style(const struct dti_calc_result *result, size_t element)
{
    const uint64_t code = dti_calc_code(&result->value, element);
    struct dti_calc_true truth;
    struct dti_value stored;
    dti_decode(&result->value.format, code, &stored);
    dti_calc_true_get(result, element, &truth);
    const bool is_number = truth.known && !truth.undefined;
    if (stored.class == DTI_CLASS_ZERO)
        return is_number && truth.value.class != DTI_CLASS_ZERO ? DTI_STYLE_WARN : DTI_STYLE_BOLD;
    if (stored.class == DTI_CLASS_FINITE)
        return DTI_STYLE_BOLD;
    const bool same = truth.undefined ? stored.class == DTI_CLASS_NAN
                      : is_number     ? stored.class == truth.value.class
                                      : !result->went_wrong;
    return same ? DTI_STYLE_BOLD : DTI_STYLE_BAD;
}

/* Whether elements before this one are left out. */
static bool is_after_gap(uint64_t index, uint64_t count, uint64_t whole)
{
    return count > whole && index == count - EDGE;
}

/* The next one that is shown. */
static uint64_t next_shown(uint64_t index, uint64_t count, uint64_t whole)
{
    return count > whole && index + 1 == EDGE ? count - EDGE : index + 1;
}

static const char *separator(uint64_t index, uint64_t count, uint64_t whole)
{
    return is_after_gap(index, count, whole) ? ", ..., " : index > 0 ? ", " : "";
}

typedef bool put_number_fn(struct dti_buffer *buffer, const void *list, size_t index);

/* "[0, 0.001, 0.002, ..., 1]"; false where a number is not known. */
static bool put_list(struct dti_buffer *buffer, const void *list, size_t first, uint64_t count,
                     uint64_t whole, put_number_fn *put)
{
    bool done = true;
    dti_buffer_puts(buffer, "[");
    for (uint64_t i = 0; i < count && done; i = next_shown(i, count, whole)) {
        dti_buffer_puts(buffer, separator(i, count, whole));
        done = put(buffer, list, first + (size_t)i);
    }
    dti_buffer_puts(buffer, "]");
    return done;
}

static bool put_stored(struct dti_buffer *buffer, const void *list, size_t index)
{
    const struct dti_calc_array *const array = list;
    char text[DTI_TEXT_SIZE];
    dti_calc_number_text(text, &array->format, dti_calc_code(array, index));
    dti_buffer_puts(buffer, text);
    return true;
}

static bool put_true(struct dti_buffer *buffer, const void *list, size_t index)
{
    struct dti_calc_true truth;
    char text[DTI_TEXT_SIZE];
    dti_calc_true_get(list, index, &truth);
    if (!truth.known)
        return false;
    if (truth.undefined)
        memcpy(text, "nan", 4);
    else
        dti_spell_digits(text, &truth.value, DIGITS);
    dti_buffer_puts(buffer, text);
    return true;
}

void dti_calc_list_text(struct dti_buffer *buffer, const struct dti_calc_array *array)
{
    (void)put_list(buffer, array, 0, array->count, WHOLE_ON_A_LINE, put_stored);
}

bool dti_calc_truths_text(struct dti_buffer *buffer, const struct dti_calc_result *result)
{
    return result->truth &&
           put_list(buffer, result, 0, result->value.count, WHOLE_ON_A_LINE, put_true);
}

void dti_calc_count_text(struct dti_buffer *buffer, const struct dti_calc_array *array)
{
    char text[DTI_TEXT_SIZE];
    for (unsigned i = 0; i < array->rank; i++) {
        dti_buffer_puts(buffer, i > 0 ? " x " : "");
        dti_spell_u64(text, array->shape[i]);
        dti_buffer_puts(buffer, text);
    }
    dti_buffer_puts(buffer, array->count == 1 ? " element" : " elements");
}

/* The same on a line, each number in its style. */
static void put_styled(struct dti_line *line, const struct dti_calc_result *result, size_t first,
                       uint64_t count, uint64_t whole)
{
    const struct dti_calc_array *const array = &result->value;
    char text[DTI_TEXT_SIZE];
    dti_line_text(line, "[");
    for (uint64_t i = 0; i < count; i = next_shown(i, count, whole)) {
        const size_t element = first + (size_t)i;
        dti_line_text(line, separator(i, count, whole));
        dti_calc_number_text(text, &array->format, dti_calc_code(array, element));
        dti_line_put(line, dti_calc_style(result, element), text);
    }
    dti_line_text(line, "]");
}

/* Matrices have a line for each row that is shown; what has more dimensions is one list. */
void dti_calc_list_put(const struct dti_context *cx, const struct dti_calc_result *result)
{
    const struct dti_calc_array *const array = &result->value;
    const bool matrix = array->rank == 2 && array->count > 0;
    const uint64_t rows = matrix ? array->shape[0] : 1;
    const uint64_t length = matrix ? array->shape[1] : array->count;
    for (uint64_t i = 0; i < rows; i = next_shown(i, rows, WHOLE)) {
        struct dti_line line = dti_context_line(cx);
        if (is_after_gap(i, rows, WHOLE))
            dti_put_line(cx, DTI_STYLE_PLAIN, 3, "...");
        dti_line_to(&line, 2);
        dti_line_text(&line, !matrix ? "" : i == 0 ? "[" : " ");
        put_styled(&line, result, (size_t)(i * length), length, matrix ? WHOLE_ON_A_LINE : WHOLE);
        dti_line_text(&line, !matrix ? "" : i + 1 < rows ? "," : "]");
        dti_line_end(&line);
    }
}

void dti_calc_values_print(FILE *out, const struct dti_calc_array *array)
{
    char text[DTI_TEXT_SIZE];
    for (size_t i = 0; i < array->count; i++) {
        const uint64_t code = dti_calc_code(array, i);
        struct dti_value value;
        dti_decode(&array->format, code, &value);
        (void)dti_spell_stored(text, &array->format, code, &value);
        (void)fprintf(out, "%s\n", text);
    }
}
