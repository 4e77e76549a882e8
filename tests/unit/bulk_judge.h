/* SPDX-License-Identifier: MIT
 *
 * The reference for operations on lists: test codes, and the exact core's result of one operation
 * with the events that calc.h defines. */
#ifndef DTINFO_TESTS_BULK_JUDGE_H
#define DTINFO_TESTS_BULK_JUDGE_H

#include "calc/evaluate/bulk.h"
#include "core/code/arith.h"
#include "kernels/arith/arith_kernel.h"
#include "unit.h"

enum { SAMPLE = 256, PAIRS = SAMPLE * SAMPLE };

static uint64_t random_state = 20260921;

/* Machines with excess precision have no kernels. */
static inline bool has_kernels(void)
{
    const void *const operands[3] = {"\0\0\0", "\0\0\0", NULL};
    static const bool scalar[3] = {false};
    const struct dti_calc_options options = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}};
    struct dti_calc_bulk_counts counts;
    uint32_t code;
    return dti_arith_kernel_find(DTI_LEVEL_SCALAR) != NULL ||
           !CHECK(!dti_calc_bulk(DTI_CALC_ADD, dti_format_get(DTI_FP32), &options, &code, operands,
                                 scalar, 1, &counts));
}

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* All codes of up to 8 bits. Else combines 32 exponents (all, or both ends and the middle), four
 * mantissas and both signs. */
static inline uint32_t sample_code(const struct dti_format *f, unsigned i)
{
    if (f->width <= 8)
        return i & (uint32_t)dti_low_bits(f->width);
    const uint32_t full = (UINT32_C(1) << f->man_bits) - 1;
    const uint32_t mantissas[] = {0, 1, full / 2 + 2, full};
    const unsigned at = i >> 3, last = (1U << f->exp_bits) - 1;
    const unsigned exponent = last == 31 ? at
                              : at < 6   ? at
                              : at < 26  ? last / 2 - 10 + at - 6
                                         : last - 31 + at;
    const uint32_t sign = (i & 1) << (f->width - 1);
    return sign | exponent << f->man_bits | mantissas[i >> 1 & 3];
}

static inline uint32_t code_at(const struct dti_format *f, const void *codes, size_t i)
{
    uint32_t word;
    uint16_t half;
    if (f->width == 32)
        return memcpy(&word, (const char *)codes + 4 * i, 4), word;
    if (f->width <= 8)
        return ((const unsigned char *)codes)[i];
    return memcpy(&half, (const char *)codes + 2 * i, 2), half;
}

static inline void set_code(const struct dti_format *f, void *codes, size_t i, uint32_t code)
{
    const uint16_t half = (uint16_t)code;
    if (f->width == 32)
        memcpy((char *)codes + 4 * i, &code, 4);
    else if (f->width <= 8)
        ((unsigned char *)codes)[i] = (unsigned char)code;
    else
        memcpy((char *)codes + 2 * i, &half, 2);
}

static inline void note(struct dti_calc_bulk_counts *counts, enum dti_calc_event_kind kind,
                        size_t place)
{
    if (counts->events[kind]++ == 0 || place < counts->first[kind])
        counts->first[kind] = place;
}

static inline bool is_number(const struct dti_value *v)
{
    return v->kind == DTI_CLASS_ZERO || v->kind == DTI_CLASS_FINITE;
}

static enum dti_overflow judge_overflow = DTI_OVERFLOW_NATIVE;

/* One rounded operation; counts its events as calc.h defines them. */
static inline uint32_t judge(const struct dti_format *f, enum dti_calc_op op,
                             const uint32_t code[3], size_t place,
                             struct dti_calc_bulk_counts *counts)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN, .overflow = judge_overflow};
    struct dti_value v[3], exact, product, stored;
    struct dti_outcome outcome;
    unsigned flags = 0;
    for (unsigned k = 0; k < 3; k++)
        dti_decode(f, code[k], &v[k]);
    if (op == DTI_CALC_ADD)
        flags = dti_value_add(&exact, &v[0], &v[1], policy.round);
    else if (op == DTI_CALC_SUBTRACT)
        flags = dti_value_subtract(&exact, &v[0], &v[1], policy.round);
    else if (op == DTI_CALC_MULTIPLY)
        flags = dti_value_multiply(&exact, &v[0], &v[1]);
    else if (op == DTI_CALC_DIVIDE)
        flags = dti_value_divide(&exact, &v[0], &v[1]);
    else if (op == DTI_CALC_SQRT)
        flags = dti_value_sqrt(&exact, &v[0]);
    else
        flags = dti_value_fma(&exact, &v[0], &v[1], &v[2], policy.round);
    dti_encode(f, &exact, &policy, 0, &outcome);
    dti_decode(f, outcome.code, &stored);

    const bool inexact = (outcome.flags & DTI_FLAG_INEXACT) != 0;
    counts->inexact += inexact;
    const bool invalid = (flags & DTI_ARITH_INVALID) &&
                         !(op == DTI_CALC_FMA && v[2].kind == DTI_CLASS_NAN); /* a new NaN */
    if (invalid)
        note(counts, DTI_CALC_NAN, place);
    if (flags & DTI_ARITH_DIVIDE_BY_ZERO)
        note(counts, DTI_CALC_DIVIDE_BY_ZERO, place);
    else if (outcome.flags & DTI_FLAG_OVERFLOW)
        note(counts, DTI_CALC_OVERFLOW, place);
    if (invalid || (flags & DTI_ARITH_DIVIDE_BY_ZERO) || (outcome.flags & DTI_FLAG_OVERFLOW))
        return (uint32_t)outcome.code;
    if (stored.kind == DTI_CLASS_ZERO && exact.kind == DTI_CLASS_FINITE)
        note(counts, DTI_CALC_TO_ZERO, place);
    if (inexact && stored.kind == DTI_CLASS_FINITE && (outcome.flags & DTI_FLAG_UNDERFLOW))
        note(counts, DTI_CALC_SUBNORMAL, place);
    (void)dti_value_multiply(&product, &v[0], &v[1]);
    const bool both = v[0].kind == DTI_CLASS_FINITE && v[1].kind == DTI_CLASS_FINITE;
    struct dti_value other = v[1];
    other.negative = op == DTI_CALC_SUBTRACT ? !other.negative : other.negative;
    if ((op == DTI_CALC_ADD || op == DTI_CALC_SUBTRACT) && both && is_number(&stored) &&
        (dti_value_compare(&stored, &v[0]) == 0 || dti_value_compare(&stored, &other) == 0))
        note(counts, DTI_CALC_ABSORBED, place);
    if (op == DTI_CALC_FMA && both && v[2].kind == DTI_CLASS_FINITE && is_number(&stored) &&
        (dti_value_compare(&stored, &v[2]) == 0 || dti_value_compare(&stored, &product) == 0))
        note(counts, DTI_CALC_ABSORBED, place);
    return (uint32_t)outcome.code;
}

static inline bool same_counts(const struct dti_calc_bulk_counts *got,
                               const struct dti_calc_bulk_counts *want)
{
    bool same = CHECK_U64(got->inexact, want->inexact);
    for (unsigned k = 0; k < DTI_CALC_EVENT_COUNT; k++) {
        if (!CHECK_U64(got->events[k], want->events[k]) ||
            (want->events[k] && !CHECK_U64(got->first[k], want->first[k]))) {
            printf("    (%s)\n", dti_calc_event_name((enum dti_calc_event_kind)k));
            same = false;
        }
    }
    return same;
}

static const enum dti_dtype bulk_dtypes[] = {DTI_FP32,         DTI_FP16,     DTI_BF16,
                                             DTI_FP8_E4M3FN,   DTI_FP8_E5M2, DTI_FP8_E4M3FNUZ,
                                             DTI_FP8_E5M2FNUZ, DTI_FP6_E3M2, DTI_FP4_E2M1};
enum { BULK_DTYPES = sizeof bulk_dtypes / sizeof bulk_dtypes[0] };

#endif
