/* SPDX-License-Identifier: MIT
 *
 * Shared by the functions on single numbers. */
#ifndef LIBRARY_SINGLE_VALUES_H
#define LIBRARY_SINGLE_VALUES_H

#include "answers/cast/cast.h"

/* Whether a caller's value is one that the functions of the layers below return. */
bool dti_value_is_normal(const struct dti_value *value);

/* Copies as much of a text as there is room for, and returns its length. */
size_t dti_text_give(const char *text, size_t length, char *buffer, size_t capacity);

/* DTI_SPELL_SHORTEST of dti_value_spell(). */
size_t dti_value_shortest(char text[DTI_TEXT_SIZE], const struct dti_value *value,
                          const struct dti_format *format);

/* The value as an operand without text, which dti_cast_operand_free() need not free. */
void dti_cast_operand_of_value(struct dti_cast_operand *ret, const struct dti_value *value);

#endif
