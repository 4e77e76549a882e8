/* SPDX-License-Identifier: MIT
 *
 * Lists made of few numbers. In those of rand and randn each element follows from the seed, the
 * generator's place among those of the expression, and its index, so that every machine makes the
 * same list. */
#include "calc/generate.h"

#include <string.h>

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

/* The leading `precision` of 64 random bits behind the point: a number that the dtype has, but for
 * the smallest ones of narrow dtypes, which are rounded toward zero so that no 1 is ever made. */
static void uniform(struct dti_value *ret, uint64_t bits, const struct dti_format *format)
{
    const unsigned precision = format->man_bits + 1u;
    const unsigned cut = precision < 64 ? 64 - precision : 0;
    dti_value_set(ret, false, bits >> cut << cut, -64);
}

/* rand and randn. */
static enum dti_status random_list(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const struct dti_format *const format = dti_calc_node_format(engine, node);
    struct dti_calc_slot *const slot = &engine->slots[node];
    const uint64_t seed = engine->options->policy.seed;
    const size_t generator = engine->generators++;
    struct dti_calc_recorder recorder;
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    struct dti_calc_rounded rounded;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < n->count && status == DTI_OK; i++)
        status = dti_generate_count(engine, node, i, &shape[i]);
    if (status == DTI_OK)
        status = dti_calc_array_new(engine, format, (unsigned)n->count, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, dti_calc_op_get(n->op)->name, format);
    if (n->op == DTI_CALC_RAND)
        recorder.policy.round = DTI_ROUND_ZERO;
    for (size_t i = 0; i < slot->array.count; i++) {
        e.index = i;
        if (n->op == DTI_CALC_RAND)
            uniform(&e.exact, dti_generate_bits(seed, generator, i), format);
        else
            dti_generate_normal(&e.exact, seed, generator, i);
        dti_calc_round(&recorder, &e, &rounded);
        dti_calc_put(&slot->array, i, rounded.code);
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
        return random_list(engine, node);
    }
}
