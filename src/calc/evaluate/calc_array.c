/* SPDX-License-Identifier: MIT
 *
 * Arrays of codes: elements, limits, and formatting of shapes; operands of elementwise
 * operations, and numpy's broadcasting rules for different shapes. */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/evaluate.h"
#include "core/number/spell.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

unsigned dti_calc_code_bytes(const struct dti_format *format)
{
    return format->width <= 8 ? 1 : format->width <= 16 ? 2 : format->width <= 32 ? 4 : 8;
}

bool dti_calc_codes_are_stored(const struct dti_format *format, const struct dti_layout *layout)
{
    return !layout->swapped && format->kind != DTI_KIND_BOOL &&
           format->width == 8 * dti_calc_code_bytes(format);
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

void *dti_calc_codes_new(const struct dti_format *format, size_t count)
{
    uint64_t bytes;
    if (!dti_mul_u64(count, dti_calc_code_bytes(format), &bytes) || bytes > SIZE_MAX)
        return NULL;
    return bytes < DTI_HUGE_PAGE ? dti_malloc((size_t)bytes) : dti_pages_alloc((size_t)bytes, true);
}

void dti_calc_array_free(struct dti_calc_array *array)
{
    dti_free(array->codes);
    array->codes = NULL;
}

/* "[2, 3]" */
static void put_shape(struct dti_buffer *buffer, unsigned rank, const uint64_t *shape)
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

static enum dti_status too_large(struct dti_calc_engine *engine, unsigned rank,
                                 const uint64_t *shape)
{
    struct dti_buffer text;
    char room[256];
    dti_buffer_borrow(&text, room, sizeof room);
    put_shape(&text, rank, shape);
    const enum dti_status status =
        dti_fail(engine->error, DTI_BAD_VALUE,
                 "an array of shape %s is too large; all arrays together may have %d elements and "
                 "%d MiB",
                 text.data, DTI_CALC_ELEMENTS_MAX, DTI_CALC_BYTES_MAX >> 20);
    dti_buffer_free(&text);
    return status;
}

/* Adds to the counts of live elements. False if there are too many. */
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
    ret->codes = dti_calc_codes_new(format, ret->count);
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

bool dti_calc_keeps_for_truth(const struct dti_calc_engine *engine, size_t count)
{
    const enum dti_calc_truths truth = engine->options->truth;
    return truth == DTI_CALC_TRUTH_YES ||
           (truth == DTI_CALC_TRUTH_AUTO && count <= DTI_CALC_TRUTH_MAX);
}

bool dti_calc_same_format(const struct dti_format *a, const struct dti_format *b)
{
    return strcmp(a->name, b->name) == 0;
}

void dti_calc_mark(struct dti_calc_slot *slot, size_t i)
{
    if (!slot->rounded && slot->array.count <= DTI_CALC_TRUTH_MAX)
        slot->marks = dti_calloc(slot->array.count, 1); /* on failure any element may be inexact */
    slot->rounded = true;
    if (slot->marks)
        slot->marks[i] = 1;
}

unsigned dti_calc_operands(const struct dti_calc_engine *engine, size_t node, size_t ret[3],
                           enum dti_calc_op *ret_op, unsigned *ret_negated)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const size_t fused = engine->slots[node].fused;
    *ret_op = n->op;
    *ret_negated = 0;
    for (size_t i = 0; i < n->count && !fused; i++)
        ret[i] = dti_calc_child(engine, node, i);
    if (!fused)
        return (unsigned)n->count;
    const size_t product = dti_calc_child(engine, node, fused - 1);
    ret[0] = dti_calc_child(engine, product, 0);
    ret[1] = dti_calc_child(engine, product, 1);
    ret[2] = dti_calc_child(engine, node, 2 - fused);
    *ret_op = DTI_CALC_FMA;
    if (n->op == DTI_CALC_SUBTRACT)
        *ret_negated = fused == 1 ? 4 : 1;
    return 3;
}

enum dti_status dti_calc_mismatch(struct dti_calc_engine *engine, size_t node,
                                  const size_t *operands, unsigned count)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    struct dti_buffer text;
    char room[512];
    dti_buffer_borrow(&text, room, sizeof room);
    for (unsigned i = 0; i < count; i++) {
        const struct dti_calc_array *const array = &engine->slots[operands[i]].array;
        dti_buffer_puts(&text, i > 0 ? " and " : "");
        put_shape(&text, array->rank, array->shape);
    }
    const enum dti_status status =
        dti_fail(engine->error, DTI_BAD_VALUE, "the shapes in %s do not match: %s",
                 DTI_QUOTED(engine->tree->source + n->text, n->length), text.data);
    dti_buffer_free(&text);
    return status;
}

enum dti_status dti_calc_broadcast(struct dti_calc_engine *engine, size_t node,
                                   const size_t *operands, unsigned count, unsigned *ret_rank,
                                   uint64_t *ret_shape)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned own = engine->slots[operands[i]].array.rank;
        rank = own > rank ? own : rank;
    }
    for (unsigned axis = 0; axis < rank; axis++) { /* last axis first */
        uint64_t length = 1;
        for (unsigned i = 0; i < count; i++) {
            const struct dti_calc_array *const array = &engine->slots[operands[i]].array;
            const uint64_t own = axis < array->rank ? array->shape[array->rank - 1 - axis] : 1;
            if (own == 1 || own == length)
                continue;
            if (length == 1) {
                length = own;
                continue;
            }
            return dti_calc_mismatch(engine, node, operands, count);
        }
        ret_shape[rank - 1 - axis] = length;
    }
    *ret_rank = rank;
    return DTI_OK;
}

void dti_calc_walk_begin(struct dti_calc_walk *walk, const struct dti_calc_engine *engine,
                         const size_t *operands, unsigned count, unsigned rank,
                         const uint64_t *shape)
{
    *walk = (struct dti_calc_walk){.rank = rank, .operands = count};
    if (rank > 0)
        memcpy(walk->shape, shape, rank * sizeof *shape);
    for (unsigned i = 0; i < count; i++) {
        const struct dti_calc_array *const array = &engine->slots[operands[i]].array;
        size_t stride = 1;
        for (unsigned axis = 0; axis < array->rank; axis++) {
            const uint64_t own = array->shape[array->rank - 1 - axis];
            walk->stride[i][rank - 1 - axis] = own == 1 ? 0 : stride;
            stride *= (size_t)own;
        }
    }
}

void dti_calc_walk_next(struct dti_calc_walk *walk)
{
    for (unsigned axis = walk->rank; axis-- > 0;) {
        const bool carry = ++walk->at[axis] == walk->shape[axis];
        for (unsigned i = 0; i < walk->operands; i++) {
            walk->offset[i] += walk->stride[i][axis];
            if (carry)
                walk->offset[i] -= walk->stride[i][axis] * (size_t)walk->shape[axis];
        }
        if (!carry)
            return;
        walk->at[axis] = 0;
    }
}

void dti_calc_walk_to(struct dti_calc_walk *walk, size_t element)
{
    for (unsigned i = 0; i < walk->operands; i++)
        walk->offset[i] = 0;
    for (unsigned axis = walk->rank; axis-- > 0;) {
        walk->at[axis] = element % walk->shape[axis];
        element /= (size_t)walk->shape[axis];
        for (unsigned i = 0; i < walk->operands; i++)
            walk->offset[i] += walk->stride[i][axis] * (size_t)walk->at[axis];
    }
}
