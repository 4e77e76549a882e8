/* SPDX-License-Identifier: MIT
 *
 * Resolves what the shapes of a quantized tensor leave open: how many bits its codes have, and how
 * many neighbours share a scale. The reader rejects an ambiguous file; the writer records in the
 * metadata what a reader cannot derive. */
#ifndef FILES_STORED_QUANT_READING_H
#define FILES_STORED_QUANT_READING_H

#include <stdbool.h>
#include <stdint.h>

enum { DTI_QUANT_SIDE = 128 }; /* default side of rectangles */

/* Whether a row of `columns` codes of `bits` bits takes `words` 32-bit words: packed without gaps
 * or, as in compressed-tensors before June 2026, with only whole codes in each word. */
bool dti_quant_fills_words(uint64_t columns, uint64_t words, unsigned bits);
/* The widths from 1 to 8 that fit, as a bit set: bit N stands for N bits. */
unsigned dti_quant_widths(uint64_t columns, uint64_t words);

/* The possible lengths of the parts of an axis divided into `count` parts. */
struct dti_quant_lengths {
    uint64_t length; /* the likeliest; 0: none */
    uint64_t other;  /* an alternative that would give different numbers; 0: none */
};
/* Groups along an axis are equal. The answer is ambiguous where the equal length is not a power of
 * two, but a power of two with a shorter last group fits as well. Where only rectangles fit,
 * dti_quant_sides_of() gives their side. or_sides: the parts may also be sides of rectangles, which
 * need not be equal. */
struct dti_quant_lengths dti_quant_lengths_of(uint64_t length, uint64_t count, bool or_sides);
/* Sides of rectangles default to DTI_QUANT_SIDE. fixed: the layout has no other sides, and the
 * answer is ambiguous only where equal ones fit as well. Otherwise only sides that divide the axis
 * evenly are certain. */
struct dti_quant_lengths dti_quant_sides_of(uint64_t length, uint64_t count, bool fixed);
/* Whether parts along the axis may be sides of rectangles: true for a matrix of one row or one
 * column. */
bool dti_quant_is_thin(const uint64_t *shape, unsigned rank, unsigned axis);

#endif
