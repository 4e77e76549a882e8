/* SPDX-License-Identifier: MIT
 *
 * Tensors and figures in words: shapes, places in a tensor, dtypes, doubles. */
#ifndef DTINFO_CLI_TENSOR_WORDS_H
#define DTINFO_CLI_TENSOR_WORDS_H

#include "dtinfo/container.h"
#include "dtinfo/json.h"
#include "dtinfo/spell.h"

/* "[2, 3]"; with very many dimensions "[2, 3, ...]". Returns buffer. */
enum { DTI_SHAPE_SIZE = 160 };
const char *dti_shape_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor);

/* Where the element of a global index stands: "[1, 3]". An array of complex numbers is taken as one
 * of parts: "[1, 3] real". */
const char *dti_place_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor,
                            uint64_t index);

/* Our name of the dtype or of the blocks, else what the file calls it. */
const char *dti_tensor_dtype(const struct dti_tensor *tensor);

/* Whether it has numbers that another float dtype could hold: not integers, not scales. Blocks that
 * are unknown here are those of GGUF, which hold numbers like the others. */
bool dti_tensor_holds_floats(const struct dti_container *container,
                             const struct dti_tensor *tensor);

/* With so many significant digits; "-" for a NaN. Returns buffer. */
const char *dti_figure_words(char buffer[DTI_TEXT_SIZE], double figure, unsigned digits);
/* As a percentage: "0.391 %". */
const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits);

/* The shape as an array of numbers; the place likewise, null for UINT64_MAX. Of complex numbers it
 * is that of the element. */
void dti_json_shape(struct dti_json *json, const char *key, const struct dti_tensor *tensor);
void dti_json_place(struct dti_json *json, const char *key, const struct dti_tensor *tensor,
                    uint64_t index);

#endif
