/* SPDX-License-Identifier: MIT
 *
 * The numbers of a quantization: texts to fp32, all of them before anything is computed, as the
 * scale is made from all. */
#include <stdlib.h>
#include <string.h>

#include "answers/quantized.h"
#include "core/quant_parts.h"

void dti_quant_inputs_init(struct dti_quant_inputs *ret)
{
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
}

void dti_quant_inputs_free(struct dti_quant_inputs *numbers)
{
    dti_buffer_free(&numbers->texts);
    free(numbers->list);
}

static bool grow(struct dti_quant_inputs *numbers)
{
    const size_t capacity = numbers->capacity > 0 ? 2 * numbers->capacity : 64;
    if (capacity > SIZE_MAX / sizeof *numbers->list)
        return false;
    struct dti_quant_input *const list = realloc(numbers->list, capacity * sizeof *list);
    if (!list)
        return false;
    numbers->list = list;
    numbers->capacity = capacity;
    return true;
}

enum dti_status dti_quant_inputs_add(struct dti_quant_inputs *numbers, const char *text,
                                     size_t length, struct dti_error *reterr)
{
    struct dti_value value, rounded;
    const enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    const size_t place = numbers->texts.length;
    dti_buffer_append(&numbers->texts, text, length);
    dti_buffer_append(&numbers->texts, "", 1);
    if (numbers->texts.failed || (numbers->count == numbers->capacity && !grow(numbers)))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    struct dti_quant_input *const number = &numbers->list[numbers->count++];
    *number = (struct dti_quant_input){.text = place, .x = dti_fp32_round(&value)};
    dti_fp32_value(number->x, &rounded);
    number->rounded = value.class <= DTI_CLASS_FINITE && (rounded.class > DTI_CLASS_FINITE ||
                                                          dti_value_compare(&value, &rounded) != 0);
    numbers->rounded += number->rounded;
    return DTI_OK;
}
