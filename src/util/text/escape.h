/* SPDX-License-Identifier: MIT
 *
 * Untrusted text, made safe for a terminal and otherwise whole. */
#ifndef UTIL_TEXT_ESCAPE_H
#define UTIL_TEXT_ESCAPE_H

#include "util/buffer.h"

/* Appends text with the escapes of dti_quote(), without quotes and without a cut. */
void dti_escape(struct dti_buffer *buffer, const char *text, size_t length);

#endif
