/* SPDX-License-Identifier: MIT
 *
 * Writing a JSON string. */
#ifndef CONTAINERS_JSON_QUOTED_H
#define CONTAINERS_JSON_QUOTED_H

#include "util/buffer.h"

/* Appends text as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD; returns whether
 * there were none. */
bool dti_json_quoted(struct dti_buffer *buffer, const char *text, size_t length);

#endif
