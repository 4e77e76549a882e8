/* SPDX-License-Identifier: MIT
 *
 * The generators: what they are told, and the lists that they make. */
#ifndef DTINFO_CALC_GENERATE_H
#define DTINFO_CALC_GENERATE_H

#include "calc/evaluate.h"

/* Random numbers of generator `generator`, element `index`: 64 bits, from streams that no rounding
 * uses. */
uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index);

/* Element `index` of a standard normal list: Box and Muller's transform of the generator's random
 * bits, to more bits than any dtype has. */
void dti_generate_normal(struct dti_value *ret, uint64_t seed, size_t generator, uint64_t index);

#endif
