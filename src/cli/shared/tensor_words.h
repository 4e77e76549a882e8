/* SPDX-License-Identifier: MIT
 *
 * Figures in words. */
#ifndef DTINFO_CLI_TENSOR_WORDS_H
#define DTINFO_CLI_TENSOR_WORDS_H

#include "answers/tensors.h"

/* As a percentage: "0.391 %". */
const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits);

#endif
