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
#include "core/dtype/dtype.h"

/* Whether operands of a dtype have a scale: integers and 8-bit floats do. */
bool dti_operands_are_scaled(enum dti_dtype dtype);
/* The scale for magnitudes up to amax; 1 for a dtype without a scale. */
float dti_operand_scale(enum dti_dtype dtype, float amax);
/* Encodes n finite numbers. */
void dti_operand_codes(void *codes, enum dti_dtype dtype, float scale, const float *numbers,
                       size_t n);

/* For an operand: one number; the largest magnitude in fp32; all numbers encoded, each rounded
 * once from the file's value, or from fp32 if scaled. */
double dti_operand_at(const struct dti_bench_operand *from, uint64_t i);
float dti_operand_amax(const struct dti_bench_operand *from);
void dti_operand_load(void *codes, enum dti_dtype dtype, float scale,
                      const struct dti_bench_operand *from);

/* The fp32 bits of a number. */
static inline uint32_t dti_operand_bits(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}
/* Element i of an array, exactly; tf32 is stored as fp32. */
double dti_operand_number(enum dti_dtype dtype, const void *array, uint64_t i);

/* Accumulates the error of results: starts zeroed, gets one comparison at a time, and is summed
 * up at the end. */
struct dti_total_error {
    double errors, squares, exact_squares; /* of errors, of exact results */
    struct dti_bench_total total;
};
void dti_total_error_add(struct dti_total_error *error, double got, double exact);
void dti_total_error_end(const struct dti_total_error *error, struct dti_bench_total *ret);

#endif
