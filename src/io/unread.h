/* SPDX-License-Identifier: MIT
 *
 * Read failures, for callers that would otherwise take an error for a verdict about the file's
 * contents. */
#ifndef IO_UNREAD_H
#define IO_UNREAD_H

#include <stdbool.h>

/* Whether a read of an input has failed in this thread since the last call. */
bool dti_input_was_unread(void);

#endif
