/* SPDX-License-Identifier: MIT
 *
 * Operands of `bench dot` and `bench matmul` from files. */
#ifndef ANSWERS_BENCH_BENCH_OPERANDS_H
#define ANSWERS_BENCH_BENCH_OPERANDS_H

#include "answers/bench/bench_answer.h"
#include "calc/calc.h"

struct dti_bench_operands {
    struct dti_calc_array arrays[2];
    struct dti_bench_operand list[2]; /* views of the arrays */
};

/* Reads A and B, each "FILE" or "FILE:TENSOR", and derives the size from their shapes: two vectors
 * for a kind that takes elements, else matrices, where a vector is a row of A or a column of B.
 * Fails as containers do, with DTI_WRONG_KIND, and with DTI_BAD_VALUE if shapes do not match or a
 * number is not finite. */
enum dti_status dti_bench_operands_read(struct dti_bench_operands *ret,
                                        const struct dti_bench_kind *kind, const char *a,
                                        const char *b, struct dti_bench_size *ret_size,
                                        struct dti_error *reterr);
void dti_bench_operands_free(struct dti_bench_operands *operands); /* accepts a zeroed struct */

#endif
