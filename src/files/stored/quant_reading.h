/* SPDX-License-Identifier: MIT
 *
 * What the shapes of a quantized tensor leave open: how many bits its codes have, and how many
 * neighbours share a scale. The reader rejects a file where there are two answers; the writer
 * records in the metadata what a reader could not know. */
#ifndef FILES_STORED_QUANT_READING_H
#define FILES_STORED_QUANT_READING_H

#include <stdbool.h>
#include <stdint.h>

enum { DTI_QUANT_SIDE = 128 }; /* of rectangles, where nothing else is said */

/* Whether a row of `columns` codes of so many bits takes so many 32-bit words: without gaps or, as
 * compressed-tensors had it before June 2026, with whole codes in each word. */
bool dti_quant_fills_words(uint64_t columns, uint64_t words, unsigned bits);
/* The widths from 1 to 8 that do: a set, in which bit N stands for N bits. */
unsigned dti_quant_widths(uint64_t columns, uint64_t words);

/* The lengths that an axis divided into `count` parts may have them in. */
struct dti_quant_lengths {
    uint64_t length; /* the likeliest; 0: there is none */
    uint64_t other;  /* another one, with which other numbers would come out; 0: there is none */
};
/* Groups along an axis are equal. Where a power of two fits with a shorter last group, and the
 * equal length is none, there are two lengths; and where only rectangles fit, dti_quant_sides_of()
 * says their side. or_sides: the parts may be the sides of rectangles as well, which need not be
 * equal. */
struct dti_quant_lengths dti_quant_lengths_of(uint64_t length, uint64_t count, bool or_sides);
/* Sides of rectangles are DTI_QUANT_SIDE, where nothing is said. fixed: the layout has no others,
 * but equal ones that fit as well are a doubt; else only equal ones are certain. */
struct dti_quant_lengths dti_quant_sides_of(uint64_t length, uint64_t count, bool fixed);
/* Whether parts along the axis may be sides of rectangles: of a matrix of one row or one column. */
bool dti_quant_is_thin(const uint64_t *shape, unsigned rank, unsigned axis);

#endif
