/* SPDX-License-Identifier: MIT
 *
 * How functions report errors. Functions that can fail return an enum dti_status and fill a struct
 * dti_error, their last parameter, on failure only; main() alone turns the status into an exit
 * code. It prints the error too, through dti_complain(), as `cast` does for each bad line of a
 * stream after which it continues. */
#ifndef DTINFO_ERROR_H
#define DTINFO_ERROR_H

#include <stddef.h>

#include "dtinfo/remedy.h"

enum dti_status {
#define STATUS(id, exit_code, code, meaning) DTI_##id,
#include "dtinfo/status.def"
#undef STATUS
    DTI_STATUS_COUNT
};

enum { DTI_ERROR_TEXT = 512, DTI_ERROR_SUGGESTIONS = 4 };

struct dti_error {
    enum dti_status status;
    enum dti_remedy remedy;    /* what the text leaves to the caller's words */
    char text[DTI_ERROR_TEXT]; /* one line without the program's name; safe for a terminal */
    char argument[128];        /* the offending text, raw but cut to fit; "" when there is none */
    char suggestions[DTI_ERROR_SUGGESTIONS][32]; /* nearest right spellings, "" after the last */
};

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
/* The same with the id of what to do about it; dti_fail() leaves DTI_REMEDY_NONE. */
enum dti_status dti_fail_remedy(struct dti_error *reterr, enum dti_status status,
                                enum dti_remedy remedy, const char *format, ...) DTI_PRINTF(4, 5);

/* What everybody says whose memory ran out. */
enum dti_status dti_no_memory(struct dti_error *reterr);

/* Adds to an error already made; both accept reterr == NULL and cut what does not fit. */
void dti_error_argument(struct dti_error *reterr, const char *text, size_t length);
void dti_error_suggest(struct dti_error *reterr, const char *suggestion);

/* An error about a word, which becomes its argument; the format's text is as in dti_fail(). */
enum dti_status dti_fail_word(struct dti_error *reterr, enum dti_status status, const char *word,
                              size_t length, const char *format, ...) DTI_PRINTF(5, 6);

/* The exit code (0..70), the JSON code ("unknown_dtype") and the meaning of a status. */
int dti_status_exit(enum dti_status status);
const char *dti_status_code(enum dti_status status);
const char *dti_status_meaning(enum dti_status status);

/* Writes text in single quotes, with control characters, DEL, C1, bidi controls and invalid UTF-8
 * as \xHH or \u{...}, cut to about 60 characters with "..." when longer. Returns buffer. */
enum { DTI_QUOTE_SIZE = 320 };
const char *dti_quote(char buffer[DTI_QUOTE_SIZE], const char *text, size_t length);
/* dti_quote() into a buffer that lives as long as the block around it. */
#define DTI_QUOTED(text, length) dti_quote((char[DTI_QUOTE_SIZE]){""}, text, length)

#endif
