/* SPDX-License-Identifier: MIT
 *
 * Arrays of codes: their elements, their limits, how their shapes are written. */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate.h"
#include "dtinfo/checked.h"
#include "dtinfo/spell.h"

unsigned dti_calc_code_bytes(const struct dti_format *format)
{
    return format->width <= 8 ? 1 : format->width <= 16 ? 2 : format->width <= 32 ? 4 : 8;
}

uint64_t dti_calc_code(const struct dti_calc_array *array, size_t index)
{
    switch (dti_calc_code_bytes(&array->format)) {
    case 1:
        return ((const uint8_t *)array->codes)[index];
    case 2:
        return ((const uint16_t *)array->codes)[index];
    case 4:
        return ((const uint32_t *)array->codes)[index];
    default:
        return ((const uint64_t *)array->codes)[index];
    }
}

void dti_calc_put(struct dti_calc_array *array, size_t index, uint64_t code)
{
    switch (dti_calc_code_bytes(&array->format)) {
    case 1:
        ((uint8_t *)array->codes)[index] = (uint8_t)code;
        break;
    case 2:
        ((uint16_t *)array->codes)[index] = (uint16_t)code;
        break;
    case 4:
        ((uint32_t *)array->codes)[index] = (uint32_t)code;
        break;
    default:
        ((uint64_t *)array->codes)[index] = code;
    }
}

void dti_calc_array_free(struct dti_calc_array *array)
{
    free(array->codes);
    array->codes = NULL;
}

static enum dti_status too_large(struct dti_calc_engine *engine, unsigned rank,
                                 const uint64_t *shape)
{
    struct dti_buffer text;
    char room[256];
    dti_buffer_borrow(&text, room, sizeof room);
    dti_calc_shape_text(&text, rank, shape);
    const enum dti_status status =
        dti_fail(engine->error, DTI_BAD_VALUE,
                 "an array of shape %s is too large; all arrays together may have %d elements and "
                 "%d MiB",
                 text.data, DTI_CALC_ELEMENTS_MAX, DTI_CALC_BYTES_MAX >> 20);
    dti_buffer_free(&text);
    return status;
}

/* Counts elements as alive. False: too many. */
static bool count_in(struct dti_calc_engine *engine, uint64_t elements, uint64_t bytes)
{
    if (elements > DTI_CALC_ELEMENTS_MAX || bytes > DTI_CALC_BYTES_MAX ||
        engine->elements + elements > DTI_CALC_ELEMENTS_MAX ||
        engine->bytes + bytes > DTI_CALC_BYTES_MAX)
        return false;
    engine->elements += elements;
    engine->bytes += bytes;
    return true;
}

enum dti_status dti_calc_array_new(struct dti_calc_engine *engine, const struct dti_format *format,
                                   unsigned rank, const uint64_t *shape, struct dti_calc_array *ret)
{
    uint64_t count = 1;
    bool fits = rank <= DTI_CALC_RANK_MAX;
    for (unsigned i = 0; i < rank && fits; i++)
        fits = dti_mul_u64(count, shape[i], &count) && count <= DTI_CALC_ELEMENTS_MAX;
    const unsigned width = dti_calc_code_bytes(format);
    if (!fits || !count_in(engine, count, count * width))
        return too_large(engine, rank, shape);
    *ret = (struct dti_calc_array){.format = *format, .rank = rank, .count = (size_t)count};
    if (rank > 0)
        memcpy(ret->shape, shape, rank * sizeof *shape);
    ret->codes = malloc(count ? (size_t)count * width : 1);
    if (ret->codes)
        return DTI_OK;
    engine->elements -= count;
    engine->bytes -= count * width;
    return dti_no_memory(engine->error);
}

enum dti_status dti_calc_array_adopt(struct dti_calc_engine *engine,
                                     const struct dti_calc_array *array)
{
    return count_in(engine, array->count, array->count * dti_calc_code_bytes(&array->format))
               ? DTI_OK
               : too_large(engine, array->rank, array->shape);
}

void dti_calc_array_drop(struct dti_calc_engine *engine, struct dti_calc_array *array)
{
    if (!array->codes)
        return;
    engine->elements -= array->count;
    engine->bytes -= array->count * dti_calc_code_bytes(&array->format);
    dti_calc_array_free(array);
}

void dti_calc_shape_text(struct dti_buffer *buffer, unsigned rank, const uint64_t *shape)
{
    char number[DTI_TEXT_SIZE];
    dti_buffer_puts(buffer, "[");
    for (unsigned i = 0; i < rank; i++) {
        dti_spell_u64(number, shape[i]);
        dti_buffer_puts(buffer, i > 0 ? ", " : "");
        dti_buffer_puts(buffer, number);
    }
    dti_buffer_puts(buffer, "]");
}

bool dti_calc_same_format(const struct dti_format *a, const struct dti_format *b)
{
    return strcmp(a->name, b->name) == 0;
}

void dti_calc_mark(struct dti_calc_slot *slot, size_t i)
{
    if (!slot->rounded && slot->array.count <= DTI_CALC_TRUTH_MAX)
        slot->marks = calloc(slot->array.count, 1); /* without: all may be */
    slot->rounded = true;
    if (slot->marks)
        slot->marks[i] = 1;
}
