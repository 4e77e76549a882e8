/* SPDX-License-Identifier: MIT
 *
 * Arrays for tests of quantization plans: critical numbers, the results of a plan and of its
 * reference, and their comparison. */
#ifndef DTINFO_TESTS_QUANT_ARRAYS_H
#define DTINFO_TESTS_QUANT_ARRAYS_H

#include <stdlib.h>

#include "convert/quant_plan.h"
#include "unit.h"

enum { GUARD = 0xa5, GUARD_BYTES = 32 };

static uint64_t random_state = 1;

static inline uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

static inline uint64_t below(uint64_t n)
{
    return (next_random() >> 16) % n;
}

/* Memory of exactly this size at an unaligned address, followed by a guard. */
struct guarded {
    unsigned char *memory, *at;
    size_t bytes;
};

static inline struct guarded guarded_new(uint64_t bytes, unsigned offset)
{
    struct guarded guarded = {.bytes = (size_t)bytes};
    guarded.memory = malloc(guarded.bytes + offset + GUARD_BYTES);
    if (!guarded.memory)
        abort();
    guarded.at = guarded.memory + offset;
    memset(guarded.memory, GUARD, guarded.bytes + offset + GUARD_BYTES);
    return guarded;
}

static inline bool guarded_is_whole(const struct guarded *guarded)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (guarded->at[guarded->bytes + i] != GUARD)
            return false;
    return true;
}

static inline void guarded_free(struct guarded *guarded)
{
    free(guarded->memory);
}

/* A quantized array. */
struct made {
    struct guarded codes, scales;
    int32_t *zero_points;
    struct dti_quantized_array array;
    struct dti_quant_report report;
};

static inline struct made made_new(const struct dti_quant_plan *plan, unsigned offset)
{
    struct dti_quant_sizes sizes;
    struct made made;
    dti_quant_plan_sizes(plan, &sizes);
    made.codes = guarded_new(sizes.code_bytes, offset);
    made.scales = guarded_new(sizes.scale_bytes, offset);
    made.zero_points = calloc((size_t)sizes.scales + 1, sizeof(int32_t));
    made.array = (struct dti_quantized_array){
        .codes = made.codes.at, .scales = made.scales.at, .zero_points = made.zero_points};
    if (!made.zero_points)
        abort();
    dti_quant_report_init(&made.report);
    return made;
}

static inline void made_free(struct made *made)
{
    guarded_free(&made->codes);
    guarded_free(&made->scales);
    free(made->zero_points);
}

/* NaN equals NaN. */
static inline bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

static inline bool same_report(const struct dti_quant_report *a, const struct dti_quant_report *b)
{
    const struct dti_loss *const x = &a->loss, *const y = &b->loss;
    return a->count.clipped == b->count.clipped && a->count.blocks == b->count.blocks &&
           a->count.special == b->count.special && x->elements == y->elements &&
           x->inexact == y->inexact && x->overflowed == y->overflowed && x->to_zero == y->to_zero &&
           x->to_subnormal == y->to_subnormal && x->nan_in == y->nan_in && x->inf_in == y->inf_in &&
           x->compared == y->compared && same_number(x->max_absolute, y->max_absolute) &&
           x->max_index == y->max_index && same_number(x->max_relative, y->max_relative) &&
           same_number(dti_loss_mean_absolute(x), dti_loss_mean_absolute(y)) &&
           same_number(dti_loss_root_mean_square(x), dti_loss_root_mean_square(y)) &&
           same_number(dti_loss_sqnr_db(x), dti_loss_sqnr_db(y));
}

static inline bool same_made(const struct dti_quant_plan *plan, const struct made *a,
                             const struct made *b)
{
    struct dti_quant_sizes sizes;
    dti_quant_plan_sizes(plan, &sizes);
    const bool affine = !dti_quant_plan_request(plan)->scheme.block;
    return CHECK(memcmp(a->codes.at, b->codes.at, a->codes.bytes) == 0) &&
           CHECK(memcmp(a->scales.at, b->scales.at, a->scales.bytes) == 0) &&
           CHECK(!affine || memcmp(a->zero_points, b->zero_points,
                                   (size_t)sizes.scales * sizeof(int32_t)) == 0) &&
           CHECK(memcmp(&a->array.tensor_scale, &b->array.tensor_scale, sizeof(float)) == 0) &&
           CHECK(guarded_is_whole(&a->codes)) && CHECK(guarded_is_whole(&a->scales));
}

/* Kinds of numbers: ordinary magnitude, near halves of steps, tiny, random bits, occasional
 * specials, mostly zeros. */
enum kind { ORDINARY, HALVES, TINY, ANY_BITS, SPECIALS, ZEROS, KINDS };

static inline uint64_t number_code(const struct dti_format *format, enum kind kind)
{
    const struct dti_policy odd = {.round = DTI_ROUND_ODD};
    const uint64_t bits = next_random();
    struct dti_value value;
    struct dti_outcome outcome;
    int64_t exponent = -30;
    if (kind == ANY_BITS || (kind == SPECIALS && below(50) == 0))
        return bits & dti_low_bits(format->width);
    if (kind == ZEROS && below(40) != 0)
        return 0;
    if (kind == HALVES) {
        dti_value_set(&value, bits & 1, bits >> 57, -1);
    } else {
        if (kind == TINY)
            exponent = -160 - (int64_t)below(8);
        dti_value_set(&value, bits & 1, bits >> 31 >> below(6), exponent);
    }
    dti_encode(format, &value, &odd, 0, &outcome);
    return outcome.code;
}

static inline struct guarded numbers_new(const struct dti_quant_request *r, uint64_t elements,
                                         unsigned offset, enum kind kind)
{
    uint64_t bytes = 0;
    CHECK(dti_format_bytes(&r->number, &r->layout, elements, &bytes));
    struct guarded guarded = guarded_new(bytes, offset);
    memset(guarded.at, 0, guarded.bytes);
    for (uint64_t i = 0; i < elements; i++)
        dti_storage_put(&r->number, &r->layout, guarded.at, i, number_code(&r->number, kind));
    return guarded;
}

/* Creates the plan directly, or from a plan of another shape. */
static inline bool plan_new(struct dti_quant_plan **ret, struct dti_quant_plan **ret_like,
                            const struct dti_quant_request *request, enum dti_level level)
{
    if (below(2) == 0)
        return CHECK(dti_quant_plan_new(ret, request, level, NULL) == DTI_OK);
    struct dti_quant_request other = *request;
    other.outer = 1 + below(4);
    other.length = 1 + below(3000);
    other.inner = 1 + below(2) * below(40);
    other.pad = below(2) == 0;
    return CHECK(dti_quant_plan_new(ret_like, &other, level, NULL) == DTI_OK) &&
           CHECK(dti_quant_plan_new_like(ret, request, *ret_like, NULL) == DTI_OK);
}

#endif
