/* SPDX-License-Identifier: MIT
 *
 * How functions report errors. A function that can fail returns an enum dti_status and, on failure
 * only, fills a struct dti_error, its last parameter. dti_command_line() alone turns the status
 * into an exit code. It prints the error through dti_complain(), as `cast` does for each bad line
 * of a stream before it continues. */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

#include <stddef.h>

#include "dtinfo/base.h"
#include "util/remedy.h"

/* Statuses, and those that the command line can have: a library's caller cancels. */
enum { DTI_STATUS_COUNT = DTI_CANCELLED + 1, DTI_STATUS_COMMAND_LINE = DTI_CANCELLED };

#if defined(__GNUC__)
#define DTI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define DTI_PRINTF(format_index, first)
#endif

/* Fills *reterr (may be NULL; argument and suggestions become empty) and returns status:
 *     return dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s", quoted);
 * Untrusted text goes into the format's arguments through dti_quote() only. */
enum dti_status dti_fail(struct dti_error *reterr, enum dti_status status, const char *format, ...)
    DTI_PRINTF(3, 4);
/* The same with the id of a remedy; dti_fail() leaves DTI_REMEDY_NONE. */
enum dti_status dti_fail_remedy(struct dti_error *reterr, enum dti_status status,
                                enum dti_remedy remedy, const char *format, ...) DTI_PRINTF(4, 5);

/* The error for a failed allocation. */
enum dti_status dti_no_memory(struct dti_error *reterr);

/* Adds to an existing error; both functions accept reterr == NULL and truncate what does not
 * fit. */
void dti_error_argument(struct dti_error *reterr, const char *text, size_t length);
void dti_error_suggest(struct dti_error *reterr, const char *suggestion);

/* An error about a word, which becomes its argument; format and arguments as in dti_fail(). */
enum dti_status dti_fail_word(struct dti_error *reterr, enum dti_status status, const char *word,
                              size_t length, const char *format, ...) DTI_PRINTF(5, 6);

/* The exit code (0..130), and the meaning of a status. */
int dti_status_exit(enum dti_status status);
const char *dti_status_meaning(enum dti_status status);

/* Writes text in single quotes, with control characters, DEL, C1, bidi controls and invalid UTF-8
 * as \xHH or \u{...}, cut to about 60 characters with "..." when longer. Returns buffer. */
enum { DTI_QUOTE_SIZE = 320 };
const char *dti_quote(char buffer[DTI_QUOTE_SIZE], const char *text, size_t length);
/* dti_quote() into a buffer that lives as long as the block around it. */
#define DTI_QUOTED(text, length) dti_quote((char[DTI_QUOTE_SIZE]){""}, text, length)

#endif
