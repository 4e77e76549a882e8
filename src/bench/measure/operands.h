/* SPDX-License-Identifier: MIT
 *
 * Conversion of the fp32 operands of a computation to another dtype: rounding, or quantization with
 * one symmetric scale per tensor. */
#ifndef BENCH_MEASURE_OPERANDS_H
#define BENCH_MEASURE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bench/measure/bench_table.h"
#include "dtinfo/dtype.h"

/* Whether operands of that dtype have a scale: integers, and floats of 8 bits. */
bool dti_operands_are_scaled(enum dti_dtype dtype);
/* The scale for numbers up to amax; 1 for a dtype that has none. */
float dti_operand_scale(enum dti_dtype dtype, float amax);
/* n numbers, which are finite, as codes. */
void dti_operand_codes(void *codes, enum dti_dtype dtype, float scale, const float *numbers,
                       size_t n);

/* Of an operand: a number, the largest magnitude in fp32, and all numbers as codes, each rounded
 * once from what the file has; scaled ones from fp32. */
double dti_operand_at(const struct dti_bench_operand *from, uint64_t i);
float dti_operand_amax(const struct dti_bench_operand *from);
void dti_operand_load(void *codes, enum dti_dtype dtype, float scale,
                      const struct dti_bench_operand *from);

/* A number as a code of fp32. */
static inline uint32_t dti_operand_bits(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}
/* Element i of an array, exactly; tf32 is kept as fp32. */
double dti_operand_number(enum dti_dtype dtype, const void *array, uint64_t i);

/* The error of results against exact ones: all zero at first, compared one by one, then summed up.
 */
struct dti_total_error {
    double errors, squares, exact_squares; /* of errors, of exact results */
    struct dti_bench_total total;
};
void dti_total_error_add(struct dti_total_error *error, double got, double exact);
void dti_total_error_end(const struct dti_total_error *error, struct dti_bench_total *ret);

#endif
