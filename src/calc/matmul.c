/* SPDX-License-Identifier: MIT
 *
 * Matrix products: a dot product for each element, of lists and of matrices as numpy has them. */
#include "calc/reduce.h"

enum dti_status dti_reduce_mismatch(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    struct dti_buffer text;
    char room[512];
    dti_buffer_borrow(&text, room, sizeof room);
    for (size_t i = 0; i < 2; i++) {
        const struct dti_calc_array *const a =
            &engine->slots[dti_calc_child(engine, node, i)].array;
        dti_buffer_puts(&text, i > 0 ? " and " : "");
        dti_calc_shape_text(&text, a->rank, a->shape);
    }
    const enum dti_status status =
        dti_fail(engine->error, DTI_BAD_VALUE, "the shapes in %s do not match: %s",
                 DTI_QUOTED(engine->tree->source + n->text, n->length), text.data);
    dti_buffer_free(&text);
    return status;
}

enum dti_status dti_calc_multiply_matrices(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_slot *const a = &engine->slots[dti_calc_child(engine, node, 0)];
    const struct dti_calc_slot *const b = &engine->slots[dti_calc_child(engine, node, 1)];
    const unsigned a_rank = a->array.rank, b_rank = b->array.rank;
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct dti_reducer r;
    uint64_t shape[2];
    unsigned rank = 0;
    if (a_rank < 1 || a_rank > 2 || b_rank < 1 || b_rank > 2 ||
        a->array.shape[a_rank - 1] != b->array.shape[0])
        return dti_reduce_mismatch(engine, node);
    const size_t length = (size_t)b->array.shape[0];
    const size_t rows = a_rank == 2 ? (size_t)a->array.shape[0] : 1;
    const size_t columns = b_rank == 2 ? (size_t)b->array.shape[1] : 1;
    if (a_rank == 2)
        shape[rank++] = rows;
    if (b_rank == 2)
        shape[rank++] = columns;
    const struct dti_format *const format = dti_reduce_format(engine, node);
    enum dti_status status = dti_calc_array_new(engine, format, rank, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, "matmul", format);
    dti_reducer_begin(&r, &recorder, DTI_CALC_DOT);
    r.converts = !dti_calc_same_format(&a->array.format, format);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            r.a = (struct dti_strided){.slot = a, .first = i * length, .step = 1};
            r.b = (struct dti_strided){.slot = b, .first = j, .step = columns};
            const struct dti_partial partial = dti_reduce_list(&r, length);
            dti_reduce_store(slot, i * columns + j, &partial, &r);
        }
    }
    return dti_reduce_end(engine, node, &recorder);
}
