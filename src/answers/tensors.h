/* SPDX-License-Identifier: MIT
 *
 * Tensors in words: shapes, places, dtypes; and figures. */
#ifndef ANSWERS_TENSORS_H
#define ANSWERS_TENSORS_H

#include "containers/container.h"
#include "core/number/spell.h"

/* "[2, 3]"; with very many dimensions "[2, 3, ...]". Returns buffer. */
enum { DTI_SHAPE_SIZE = 160 };
const char *dti_shape_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor);

/* The coordinates of the element with a global index: "[1, 3]". An array of complex numbers counts
 * as one of parts: "[1, 3] real". */
const char *dti_place_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor,
                            uint64_t index);

/* The same as a list of numbers; for complex numbers the indices of the element. Index UINT64_MAX
 * is no place: its tensor is NULL. */
struct dti_json;
struct dti_place {
    const struct dti_tensor *tensor;
    uint64_t index, stride; /* the index not yet split, and the stride */
    unsigned next;
};
struct dti_place dti_place_of(const struct dti_tensor *tensor, uint64_t index);
void dti_put_place(struct dti_json *json, struct dti_place place); /* null for none */

/* The program's name of the dtype or blocks, else the file's own. */
const char *dti_tensor_dtype(const struct dti_tensor *tensor);

/* Indices of the tensors whose names match a list of patterns, or of all if it is NULL. Free the
 * array; NULL when out of memory. */
size_t *dti_tensors_named(const struct dti_container *container, const char *only,
                          size_t *ret_count);

/* Whether another float dtype could hold its numbers: neither integers nor scales. Unknown blocks
 * are GGUF blocks, which hold numbers like the others. */
bool dti_tensor_holds_floats(const struct dti_container *container,
                             const struct dti_tensor *tensor);

/* With a given number of significant digits; "-" for NaN. Returns buffer. */
const char *dti_figure_words(char buffer[DTI_TEXT_SIZE], double figure, unsigned digits);

#endif
