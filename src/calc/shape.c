/* SPDX-License-Identifier: MIT
 *
 * The operands of elementwise operations, and arrays of unlike shapes: numpy's rules of
 * broadcasting. */
#include <string.h>

#include "calc/evaluate.h"

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
        dti_calc_shape_text(&text, array->rank, array->shape);
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
    for (unsigned axis = 0; axis < rank; axis++) { /* from the last one */
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
