/* SPDX-License-Identifier: MIT
 *
 * One operation on lists of signed floats of at most 32 bits, such as fp32, bf16 and fp8_e4m3fn,
 * rounded to nearest even: runs the array kernels, with the same codes and counts as dti_value_*()
 * and dti_encode() element by element.
 * Single-threaded. */
#ifndef CALC_EVALUATE_BULK_H
#define CALC_EVALUATE_BULK_H

#include "calc/calc.h"

/* Event counts, and the first element of each kind. The kinds are those of calc.h, for finite
 * operands except for NAN. ABSORBED: the rounded sum or difference of two nonzero numbers equals
 * one of them or the negative of the other; for FMA, a*b + c = c although a*b is not zero, or a*b
 * although c is not. SUBNORMAL: inexact and not zero. CANCELLATION is counted only with marks, as
 * it depends on where the operands come from.
 *
 * SUM and DOT count every addition and every product the same way. An addition is attributed to
 * the element where its right operand starts, so each element from 1 to count - 1 has exactly
 * one. Kahan's corrections are not counted, nor is what the running sum absorbs, because the
 * correction preserves it. */
struct dti_calc_bulk_counts {
    uint64_t events[DTI_CALC_EVENT_COUNT];
    size_t first[DTI_CALC_EVENT_COUNT]; /* valid where events[] is not 0 */
    uint64_t inexact;                   /* roundings that changed the value */
};

/* ADD, SUBTRACT, MULTIPLY, DIVIDE, SQRT, FMA: writes count codes to *ret, which may be the array
 * of an operand. scalar[i]: operands[i] is a single code for all elements.
 *
 * SUM of operands[0], DOT of operands[0] and operands[1]: writes one code, adding in the order
 * of the options. The first term is what the others are added to, so a sum of -0 is -0. count is
 * at least 1. DOT with options->fma: products are not rounded, except the first of a block.
 *
 * `format` is the format of the computation: the caller handles options->accumulates. Options
 * that are read: policy, flush, fma, order, block. Returns false and writes nothing if there is
 * no fast path; use the exact one then. */
bool dti_calc_bulk(enum dti_calc_op op, const struct dti_format *format,
                   const struct dti_calc_options *options, void *ret, const void *const operands[],
                   const bool scalar[], size_t count, struct dti_calc_bulk_counts *counts);

/* Which elements of the operands are inexact, or computed from inexact ones. */
struct dti_calc_bulk_marks {
    const uint8_t *operand[3]; /* a 1 for each of them, else a 0; NULL: */
    bool all[3];               /* all of them, or none */
    bool selects;              /* differences of 0 do not cancel */
    uint8_t *ret;              /* the results', but not of SUM and DOT */
};

/* The same with reusable state, for frequent calls: finding the kernels takes longer than a
 * short list. `format` and `options` must outlive it. NULL: no fast path for any operation, or
 * no memory. */
struct dti_bulk;
struct dti_bulk *dti_bulk_open(const struct dti_format *format,
                               const struct dti_calc_options *options);
void dti_bulk_close(struct dti_bulk *bulk); /* NULL is fine */
bool dti_bulk_compute(struct dti_bulk *bulk, enum dti_calc_op op, void *ret,
                      const void *const operands[], const bool scalar[], size_t count,
                      const struct dti_calc_bulk_marks *marks, /* NULL: not kept */
                      struct dti_calc_bulk_counts *counts);

/* A product of matrices, stored row by row, whose sums are sequential. */
struct dti_bulk_product {
    const void *a, *b;
    size_t rows, length, columns; /* a has `length` columns, b as many rows; none is 0 */
    bool a_all, b_all;            /* marks, as in dti_calc_bulk_marks; ret_marks NULL: not kept */
    const uint8_t *a_marks, *b_marks;
    void *ret;
    uint8_t *ret_marks;
};
/* Each element is the DOT of a row and a column, as dti_bulk_compute() computes it. counts->first
 * are elements of the result. False as above, or if memory ran out. */
bool dti_bulk_multiply(struct dti_bulk *bulk, const struct dti_bulk_product *product,
                       struct dti_calc_bulk_counts *counts);

#endif
