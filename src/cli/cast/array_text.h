/* SPDX-License-Identifier: MIT
 *
 * Array casts in which one side is text: what both directions share. */
#ifndef DTINFO_CLI_CAST_ARRAY_TEXT_H
#define DTINFO_CLI_CAST_ARRAY_TEXT_H

#include "cli/cast/array.h"
#include "dtinfo/block_queue.h"

/* Appends a number on a line. */
void dti_text_put_number(struct dti_buffer *text, const struct dti_format *format, uint64_t code);

/* Writes the next bytes of the output, in order. */
enum dti_status dti_cast_array_write(struct cast_array *array, const struct dti_buffer *bytes,
                                     struct dti_error *reterr);

/* Runs a queue with array->threads members. */
enum dti_status dti_cast_array_queue(struct cast_array *array, const struct dti_queue *queue,
                                     struct dti_error *reterr);

#endif
