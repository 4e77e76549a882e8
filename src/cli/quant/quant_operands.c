/* SPDX-License-Identifier: MIT
 *
 * The values of quant: texts to fp32, all of them before anything is computed, as the scale is made
 * from all. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_values.h"
#include "cli/shared/text_numbers.h"
#include "core/quant_parts.h"

void dti_quant_numbers_init(struct quant_numbers *ret)
{
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
}

void dti_quant_numbers_free(struct quant_numbers *numbers)
{
    dti_buffer_free(&numbers->texts);
    free(numbers->list);
}

static bool grow(struct quant_numbers *numbers)
{
    const size_t capacity = numbers->capacity > 0 ? 2 * numbers->capacity : 64;
    if (capacity > SIZE_MAX / sizeof *numbers->list)
        return false;
    struct quant_number *const list = realloc(numbers->list, capacity * sizeof *list);
    if (!list)
        return false;
    numbers->list = list;
    numbers->capacity = capacity;
    return true;
}

enum dti_status dti_quant_numbers_add(struct quant_numbers *numbers, const char *text,
                                      size_t length, struct dti_error *reterr)
{
    struct dti_value value, rounded;
    const enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    const size_t place = numbers->texts.length;
    dti_buffer_append(&numbers->texts, text, length);
    if (numbers->texts.failed || (numbers->count == numbers->capacity && !grow(numbers)))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    struct quant_number *const number = &numbers->list[numbers->count++];
    *number = (struct quant_number){.text = place, .length = length, .x = dti_fp32_round(&value)};
    dti_fp32_value(number->x, &rounded);
    number->rounded = value.class <= DTI_CLASS_FINITE && (rounded.class > DTI_CLASS_FINITE ||
                                                          dti_value_compare(&value, &rounded) != 0);
    numbers->rounded += number->rounded;
    return DTI_OK;
}

enum dti_status dti_quant_numbers_read(struct quant_numbers *numbers, struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_text_numbers texts;
    enum dti_status status = dti_input_open(&input, "-", reterr);
    if (status != DTI_OK)
        return status;
    dti_text_numbers_init(&texts, &input);
    for (;;) {
        const char *text;
        size_t length;
        struct dti_error error;
        status = dti_text_numbers_next(&texts, &text, &length, reterr);
        if (status != DTI_OK || !text)
            break;
        status = dti_quant_numbers_add(numbers, text, length, &error);
        if (status != DTI_OK) {
            status = dti_text_numbers_fail(&texts, &error, reterr);
            break;
        }
    }
    dti_text_numbers_free(&texts);
    dti_input_close(&input);
    if (status == DTI_OK && numbers->count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "standard input is empty; give values with white space between them");
    return status;
}
