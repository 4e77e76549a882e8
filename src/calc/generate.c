/* SPDX-License-Identifier: MIT
 *
 * Lists made of few numbers. Lengths are literals: a dtype may not hold them. */
#include "calc/generate.h"

#include <string.h>

enum dti_status dti_generate_count(struct dti_calc_engine *engine, size_t node, size_t i,
                                   uint64_t *ret)
{
    const struct dti_calc_node *const child = &engine->tree->nodes[dti_calc_child(engine, node, i)];
    const char *const name = dti_calc_op_get(engine->tree->nodes[node].op)->name;
    const char *const text = DTI_QUOTED(engine->tree->source + child->text, child->length);
    struct dti_value value;
    if (child->kind != DTI_NODE_NUMBER)
        return dti_fail(engine->error, DTI_BAD_VALUE,
                        "a length that '%s' is given must be written as a number, not %s", name,
                        text);
    if (!dti_number_value(child->number, &value))
        return dti_no_memory(engine->error);
    const bool finite = value.class == DTI_CLASS_FINITE && !value.negative;
    if (!finite || value.exponent < 0 ||
        (value.exponent < 63 && (value.hi << (value.exponent + 1) || value.lo || value.sticky)))
        return dti_fail(engine->error, DTI_BAD_VALUE,
                        "%s is no length; '%s' takes an integer from 1 on", text, name);
    if (value.exponent >= 63 || value.hi >> (63 - value.exponent) > DTI_CALC_ELEMENTS_MAX)
        return dti_fail(engine->error, DTI_BAD_VALUE, "%s elements are too many; the limit is %d",
                        text, DTI_CALC_ELEMENTS_MAX);
    *ret = value.hi >> (63 - value.exponent);
    return DTI_OK;
}

/* Copies of codes: nothing is rounded. */
static enum dti_status repeat(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_slot *const from = &engine->slots[dti_calc_child(engine, node, 0)];
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status = dti_generate_count(engine, node, 1, &shape[0]);
    if (status == DTI_OK && from->array.rank == DTI_CALC_RANK_MAX)
        status = dti_fail(engine->error, DTI_BAD_VALUE, "arrays have at most %d dimensions",
                          DTI_CALC_RANK_MAX);
    if (status != DTI_OK)
        return status;
    memcpy(shape + 1, from->array.shape, from->array.rank * sizeof *shape);
    status =
        dti_calc_array_new(engine, &from->array.format, from->array.rank + 1, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, "repeat", &from->array.format);
    const size_t width = dti_calc_code_bytes(&from->array.format);
    const size_t piece = from->array.count * width, size = slot->array.count * width;
    char *const codes = slot->array.codes;
    memcpy(codes, from->array.codes, size ? piece : 0);
    for (size_t done = piece; done < size;) {
        const size_t more = done < size - done ? done : size - done;
        memcpy(codes + done, codes, more);
        done += more;
    }
    if (from->rounded) {
        for (size_t i = 0; i < slot->array.count; i++) {
            if (dti_calc_is_marked(from, i % from->array.count))
                dti_calc_mark(slot, i);
            if (!slot->marks && slot->rounded)
                break;
        }
    }
    return dti_calc_step_end(&recorder, &slot->array);
}

enum dti_status dti_calc_generate(struct dti_calc_engine *engine, size_t node)
{
    switch (engine->tree->nodes[node].op) {
    case DTI_CALC_REPEAT:
        return repeat(engine, node);
    case DTI_CALC_LINSPACE:
    case DTI_CALC_ARANGE:
        return dti_generate_progression(engine, node);
    default:
        return dti_generate_random(engine, node);
    }
}
