/* SPDX-License-Identifier: MIT
 *
 * Parsing of amounts and shapes, and the number of threads for an amount of bytes. */
#ifndef ANSWERS_AMOUNTS_H
#define ANSWERS_AMOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses the digits at *text and advances past them; false if there are none, or too many for 64
 * bits. */
bool dti_amount_digits(const char **text, size_t *length, uint64_t *ret_number);

/* "2,3", "2x3", "[2, 3]", "(2, 3)"; "" and "[]" are a scalar. False for any other form. */
enum { DTI_SHAPE_RANK_MAX = 64 };
bool dti_shape_parse(const char *text, size_t length, uint64_t shape[DTI_SHAPE_RANK_MAX],
                     unsigned *ret_rank);

/* The number of threads worth starting for this many input bytes: at most one per CPU. */
size_t dti_amount_useful_threads(uint64_t bytes);
/* The same, at most `most`; 0: no limit. */
static inline size_t dti_amount_threads_within(uint64_t bytes, size_t most)
{
    const size_t useful = dti_amount_useful_threads(bytes);
    return most > 0 && most < useful ? most : useful;
}

#endif
