/* SPDX-License-Identifier: MIT
 *
 * The generators: what they are told, and the lists that they make. */
#ifndef DTINFO_CALC_GENERATE_H
#define DTINFO_CALC_GENERATE_H

#include "calc/evaluate.h"

/* The literal integer that argument i is, from 1 to DTI_CALC_ELEMENTS_MAX. */
enum dti_status dti_generate_count(struct dti_calc_engine *engine, size_t node, size_t i,
                                   uint64_t *ret);

/* linspace(a, b, n) and arange(a, b, step): element i is the exact a + i (b - a)/(n - 1), or
 * a + i step, rounded once. A literal is exactly what it says, another argument is what it came to
 * in the dtype. */
enum dti_status dti_generate_progression(struct dti_calc_engine *engine, size_t node);

/* Random numbers of generator `generator`, element `index`: 64 bits, from streams that no rounding
 * uses. */
uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index);

/* Element `index` of a standard normal list: Box and Muller's transform of the generator's random
 * bits, to more bits than any dtype has. */
void dti_generate_normal(struct dti_value *ret, uint64_t seed, size_t generator, uint64_t index);

#endif
