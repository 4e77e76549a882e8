/* SPDX-License-Identifier: MIT
 *
 * What the layers below say, with the options by which a user follows their advice. */
#ifndef DTINFO_CLI_REMEDY_WORDS_H
#define DTINFO_CLI_REMEDY_WORDS_H

#include "dtinfo/error.h"

/* A dti_remedy_words_fn. */
const char *dti_remedy_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                             const char *text);
/* The same of a note; and of an error, cut as its text is. */
const char *dti_note_words(char buffer[DTI_REMEDY_WORDS], const struct dti_note *note);
const char *dti_error_words(char buffer[DTI_ERROR_TEXT], const struct dti_error *error);

/* dti_status_meaning() */
const char *dti_status_words(enum dti_status status);

#endif
