/* SPDX-License-Identifier: MIT
 *
 * The three standard streams: made safe at the start, and stdout checked for write errors at the
 * end. */
#ifndef CLI_SHELL_STANDARD_H
#define CLI_SHELL_STANDARD_H

#include <stdio.h>

#include "report/json.h"
#include "util/error.h"
#include "util/sink.h"

/* Fills descriptors 0 to 2 that are closed, and buffers stdout. */
void dti_standard_open(void);

/* Flushes out before work that is useless without a reader. Fails with DTI_WRITE_FAILED and no
 * text: dti_standard_close() reports why. */
enum dti_status dti_standard_flush(FILE *out, struct dti_error *reterr);

/* Call right after a failed write to stdout, while errno is that of the write. Only the first cause
 * is kept. */
void dti_standard_note_failure(void);

/* Bytes to a stream. */
struct dti_sink dti_sink_to_file(FILE *file);

/* dti_json_write() to stdout, which notes a failure. */
enum dti_status dti_document_write(struct dti_json *json, FILE *out, struct dti_error *reterr);

/* Makes dti_standard_close() add that the file of that name is complete. label: quoted.
 */
void dti_standard_note_complete(const char *label);

/* Flushes and closes out. Fails with DTI_WRITE_FAILED if any output was lost; the text is empty if
 * the reader is gone, which needs no message. */
enum dti_status dti_standard_close(FILE *out, struct dti_error *reterr);

#endif
