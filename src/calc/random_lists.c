/* SPDX-License-Identifier: MIT
 *
 * rand and randn: each element follows from the seed, the generator's place among those of the
 * expression, and its index, so that every machine makes the same list. */
#include "calc/generate.h"

/* Streams of their own: those of roundings count up from 0. */
static const uint32_t first_stream = UINT32_C(0x80000000);

uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index)
{
    const uint32_t stream = first_stream + (uint32_t)generator;
    return (uint64_t)dti_random_bits(seed, stream, 2 * index) << 32 |
           dti_random_bits(seed, stream, 2 * index + 1);
}

/* The leading `precision` of 64 random bits behind the point: a number that the dtype has, but for
 * the smallest ones of narrow dtypes, which are rounded toward zero so that no 1 is ever made. */
static void uniform(struct dti_value *ret, uint64_t bits, const struct dti_format *format)
{
    const unsigned precision = format->man_bits + 1u;
    const unsigned cut = precision < 64 ? 64 - precision : 0;
    dti_value_set(ret, false, bits >> cut << cut, -64);
}

enum dti_status dti_generate_random(struct dti_calc_engine *engine, size_t node)
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
