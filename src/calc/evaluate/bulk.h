/* SPDX-License-Identifier: MIT
 *
 * One operation on long lists of fp32, fp16 or bf16, rounded to nearest even: through the array
 * kernels, with the same codes and the same counts as dti_value_*() and dti_encode() element by
 * element. One thread. */
#ifndef CALC_EVALUATE_BULK_H
#define CALC_EVALUATE_BULK_H

#include "calc/calc.h"

/* What happened: how many elements, and the first of them. The kinds are those of calc.h, of finite
 * operands but for NAN. ABSORBED: the rounded sum (difference) of two numbers that are not zero is
 * one of them, or the other's opposite; a*b + c = c where a*b is not zero. SUBNORMAL: inexact, not
 * zero. CANCELLATION is not counted: it depends on where the operands come from.
 *
 * SUM and DOT count each addition and each product in the same way; an addition is that of the
 * element that its right operand starts at, so that every one from 1 to count - 1 has one. Kahan's
 * corrections are not counted, nor what the running sum absorbs, since the correction keeps it. */
struct dti_calc_bulk_counts {
    uint64_t events[DTI_CALC_EVENT_COUNT];
    size_t first[DTI_CALC_EVENT_COUNT]; /* where events[] is not 0 */
    uint64_t inexact;                   /* roundings that changed a number */
};

/* ADD, SUBTRACT, MULTIPLY, DIVIDE, SQRT, FMA: count codes in *ret, which may be an operand's array.
 * scalar[i]: operands[i] is one code for all elements.
 *
 * SUM of operands[0], DOT of operands[0] and operands[1]: one code, in the order that the options
 * ask for; the first term is what the others are added to, so that a sum of -0 is -0. count is at
 * least 1. DOT with options->fma: products are not rounded, but for the first of a block.
 *
 * `format` is what is computed in: options->accumulates is the caller's. What is read: policy,
 * flush, fma, order, block. False, and nothing written: no fast way; take the exact one. */
bool dti_calc_bulk(enum dti_calc_op op, const struct dti_format *format,
                   const struct dti_calc_options *options, void *ret, const void *const operands[],
                   const bool scalar[], size_t count, struct dti_calc_bulk_counts *counts);

/* The same in parts, for who calls often: finding the kernels takes longer than a short list.
 * `format` and `options` outlive it. NULL: no fast way for any operation, or no memory. */
struct dti_bulk;
struct dti_bulk *dti_bulk_open(const struct dti_format *format,
                               const struct dti_calc_options *options);
void dti_bulk_close(struct dti_bulk *bulk); /* NULL is fine */
bool dti_bulk_compute(struct dti_bulk *bulk, enum dti_calc_op op, void *ret,
                      const void *const operands[], const bool scalar[], size_t count,
                      struct dti_calc_bulk_counts *counts);

#endif
