/* SPDX-License-Identifier: MIT
 *
 * The reference for quantization plans. */
#ifndef DTINFO_TESTS_QUANT_REFERENCE_H
#define DTINFO_TESTS_QUANT_REFERENCE_H

#include "convert/quant_plan.h"

/* Runs every element through quant.h, with the plan's layout and, in the report, its tiles. Zero
 * points are required. report: results are added to it. */
void dti_quant_reference(const struct dti_quant_plan *plan, const void *numbers,
                         struct dti_quantized_array *array, struct dti_quant_report *report);
void dti_quant_reference_back(const struct dti_quant_plan *plan,
                              const struct dti_quantized_array *array, void *numbers);

#endif
