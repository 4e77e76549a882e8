/* SPDX-License-Identifier: MIT
 *
 * Matrix products: a dot product for each element, of lists and of matrices as numpy has them. */
#include "calc/hurry.h"
#include "calc/reduce.h"
#include <stdlib.h>

/* The transpose of a matrix, for columns that lie together. */
static enum dti_status turn(struct dti_calc_engine *engine, const struct dti_calc_slot *from,
                            struct dti_calc_slot *ret)
{
    const size_t rows = (size_t)from->array.shape[0], columns = (size_t)from->array.shape[1];
    const uint64_t shape[2] = {columns, rows};
    const enum dti_status status =
        dti_calc_array_new(engine, &from->array.format, 2, shape, &ret->array);
    for (size_t i = 0; i < rows && status == DTI_OK; i++) {
        for (size_t j = 0; j < columns; j++) {
            dti_calc_put(&ret->array, j * rows + i, dti_calc_code(&from->array, i * columns + j));
            if (dti_calc_is_marked(from, i * columns + j))
                dti_calc_mark(ret, j * rows + i);
        }
    }
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
    struct dti_calc_slot turned = {.rounded = false}; /* its columns as rows */
    const bool turns = columns > 1 && dti_calc_is_long(a->array.count + b->array.count);
    if (turns)
        status = turn(engine, b, &turned);
    if (status == DTI_OK)
        status = dti_reducer_operands(&r, a, turns ? &turned : b);
    for (size_t i = 0; i < rows && status == DTI_OK; i++) {
        for (size_t j = 0; j < columns; j++) {
            r.a.first = i * length;
            r.b.first = turns ? j * length : j;
            r.b.step = turns ? 1 : columns;
            const struct dti_partial partial = dti_reduce_list(&r, length);
            dti_reduce_store(slot, i * columns + j, &partial, &r);
        }
    }
    dti_reducer_free(&r);
    dti_calc_array_drop(engine, &turned.array);
    free(turned.marks);
    return status == DTI_OK ? dti_reduce_end(engine, node, &recorder) : status;
}
