/* SPDX-License-Identifier: MIT
 *
 * Shared by short and long spellings. */
#ifndef DTINFO_CORE_SPELL_PARTS_H
#define DTINFO_CORE_SPELL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/value.h"

/* "nan", "inf", "-inf" with their terminator; false for numbers. */
bool dti_spell_digitless(char *buffer, const struct dti_value *value, size_t *ret_length);

#endif
