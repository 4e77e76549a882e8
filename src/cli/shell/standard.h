/* SPDX-License-Identifier: MIT
 *
 * The three standard streams: made safe at the start, and the fate of what stands for stdout
 * checked at the end. */
#ifndef DTINFO_CLI_STANDARD_H
#define DTINFO_CLI_STANDARD_H

#include <stdio.h>

#include "dtinfo/error.h"

/* Fills descriptors 0 to 2 that are closed, and buffers stdout. */
void dti_standard_open(void);

/* Flushes out before a command goes on with work that only makes sense when somebody reads.
 * Fails with DTI_WRITE_FAILED and no text: dti_standard_close() says why. */
enum dti_status dti_standard_flush(FILE *out, struct dti_error *reterr);

/* To be called right after a write to stdout that failed, while errno is that of the write. Only
 * the first cause is kept. */
void dti_standard_note_failure(void);

/* What dti_standard_close() adds to its message: the file of that name is complete. label: quoted.
 */
void dti_standard_note_complete(const char *label);

/* Flushes and closes out. Fails with DTI_WRITE_FAILED when anything that was ever written to it
 * was lost; the text is empty when nobody reads any more, which deserves no message. */
enum dti_status dti_standard_close(FILE *out, struct dti_error *reterr);

#endif
