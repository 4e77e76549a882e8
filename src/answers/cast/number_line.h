/* SPDX-License-Identifier: MIT
 *
 * A number between its neighbours in a format, as a picture of three lines. */
#ifndef ANSWERS_CAST_NUMBER_LINE_H
#define ANSWERS_CAST_NUMBER_LINE_H

#include "answers/cast/cast.h"
#include "report/table.h"

/* A neighbour of the given number. */
struct dti_neighbour {
    bool there, finite, chosen;
    char text[DTI_TEXT_SIZE], code[DTI_TEXT_SIZE];
    /* The distance, and all its digits or ""; only if it and the given number are finite. */
    struct dti_value distance;
    struct dti_buffer exact;
    char room[DTI_EXACT_ROOM];
};

/* Finds both, the lower one first. False when out of memory. Free them in either case. */
bool dti_neighbours_find(const struct dti_cast_operand *operand, const struct dti_format *format,
                         const struct dti_scalar *scalar, struct dti_neighbour ret[2]);
void dti_neighbours_free(struct dti_neighbour ends[2]);

/* Draws a rounded number between its neighbours after an empty line, from column `indent` on and
 * not wider than `room`; nothing if it is exact, or without room. */
void dti_number_line_put(struct dti_line *line, const struct dti_cast_operand *operand,
                         const struct dti_scalar *scalar, const struct dti_neighbour ends[2],
                         size_t indent, size_t room, bool ascii);

#endif
