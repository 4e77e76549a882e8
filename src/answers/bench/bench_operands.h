/* SPDX-License-Identifier: MIT
 *
 * Operands of `bench dot` and `bench matmul` from files. */
#ifndef ANSWERS_BENCH_BENCH_OPERANDS_H
#define ANSWERS_BENCH_BENCH_OPERANDS_H

#include "answers/bench/bench_answer.h"
#include "calc/calc.h"

struct dti_bench_operands {
    struct dti_calc_array arrays[2];
    struct dti_bench_operand list[2]; /* of the arrays */
};

/* Reads A and B, each "FILE" or "FILE:TENSOR", and the size that their shapes give: of two vectors
 * for a kind of elements, else of matrices, where a vector is a row of A or a column of B. Fails as
 * containers do, with DTI_WRONG_KIND, and with DTI_BAD_VALUE where shapes do not fit or a number is
 * not finite. */
enum dti_status dti_bench_operands_read(struct dti_bench_operands *ret,
                                        const struct dti_bench_kind *kind, const char *a,
                                        const char *b, struct dti_bench_size *ret_size,
                                        struct dti_error *reterr);
void dti_bench_operands_free(struct dti_bench_operands *operands); /* zeros are fine */

#endif
