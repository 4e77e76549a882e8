/* SPDX-License-Identifier: MIT
 *
 * Figures in words, and what answers say of tensors. */
#ifndef DTINFO_CLI_TENSOR_WORDS_H
#define DTINFO_CLI_TENSOR_WORDS_H

#include "answers/tensors.h"
#include "dtinfo/json.h"

/* As a percentage: "0.391 %". */
const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits);

/* The shape as an array of numbers. */
void dti_json_shape(struct dti_json *json, const char *key, const struct dti_tensor *tensor);

#endif
