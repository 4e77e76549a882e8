/* SPDX-License-Identifier: MIT
 *
 * Matrices that the user gave: cast once to the dtype that is measured, and their product before
 * that. */
#include <stdlib.h>

#include "bench/measure/operands.h"
#include "bench/workloads/matmul_parts.h"

/* Products and sums below the normal numbers of the result lose up to one of its least normal
 * numbers, and so do factors where subnormals are zeros. */
static double lost(const struct dti_matrices *matrices, const struct dti_bench_operand *operands)
{
    const double least = matrices->result == DTI_FP64 ? 0x1p-1022 : 0x1p-126;
    return matrices->result == DTI_INT32
               ? 0
               : (double)matrices->k * least * (1 + operands[0].amax + operands[1].amax);
}

enum dti_status dti_matrices_load(struct dti_matrices *matrices, unsigned char *memory,
                                  const struct dti_bench_request *request, struct dti_error *reterr)
{
    const struct dti_bench_operand *const operands = request->operands;
    const uint64_t at[] = {matrices->a_at, 0};
    if (!operands)
        return dti_matrices_fill(matrices, memory, request->seed, reterr);
    for (size_t i = 0; i < 2; i++) {
        if (dti_operands_are_scaled(matrices->dtype))
            matrices->scales[i] =
                dti_operand_scale(matrices->dtype, dti_operand_amax(&operands[i]));
        dti_operand_load(memory + at[i], matrices->dtype, matrices->scales[i], &operands[i]);
    }
    matrices->lost = lost(matrices, operands);
    return DTI_OK;
}

static void multiply(const struct dti_matmul_truth *truth, const struct dti_bench_operand *operands,
                     double *b)
{
    for (uint64_t at = 0; at < truth->k; at++) {
        for (uint64_t j = 0; j < truth->n; j++)
            b[j] = dti_operand_at(&operands[1], at * truth->n + j);
        for (uint64_t i = 0; i < truth->rows; i++) {
            double *const restrict sums = truth->product + i * truth->n;
            const double factor =
                dti_operand_at(&operands[0], dti_matmul_truth_row(truth, i) * truth->k + at);
            for (uint64_t j = 0; j < truth->n; j++)
                sums[j] += factor * b[j];
        }
    }
}

enum dti_status dti_matmul_truth_of(struct dti_matmul_truth **ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr)
{
    if (!request->operands)
        return dti_matmul_truth_new(ret, request->m, request->n, request->k, request->seed, reterr);
    double *const b = malloc((size_t)request->n * sizeof *b);
    struct dti_matmul_truth *truth;
    const enum dti_status status =
        b ? dti_matmul_truth_alloc(&truth, request->m, request->n, request->k, reterr)
          : dti_no_memory(reterr);
    if (status == DTI_OK) {
        multiply(truth, request->operands, b);
        *ret = truth;
    }
    free(b);
    return status;
}
