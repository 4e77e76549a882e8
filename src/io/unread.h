/* SPDX-License-Identifier: MIT
 *
 * Failures of a read, for those who would take a refusal for a verdict about the bytes. */
#ifndef IO_UNREAD_H
#define IO_UNREAD_H

#include <stdbool.h>

/* Whether a read of an input failed in this thread since the last call. */
bool dti_input_was_unread(void);

#endif
