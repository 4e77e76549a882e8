/* SPDX-License-Identifier: MIT
 *
 * Escapes untrusted text for a terminal, without truncating it. */
#ifndef UTIL_TEXT_ESCAPE_H
#define UTIL_TEXT_ESCAPE_H

#include "util/buffer.h"

/* Appends text with the escapes of dti_quote(), but without quotes or truncation. */
void dti_escape(struct dti_buffer *buffer, const char *text, size_t length);

#endif
