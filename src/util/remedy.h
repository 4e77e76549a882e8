/* SPDX-License-Identifier: MIT
 *
 * Advice on an error or a note. The layers below the command line do not know any options: they
 * provide a finished sentence and a remedy id. The caller has its own words for the id: the command
 * line appends "; --keep leaves it as it is", a Python module would name the argument keep=. */
#ifndef UTIL_REMEDY_H
#define UTIL_REMEDY_H

enum dti_remedy {
#define REMEDY(id, ...) DTI_REMEDY_##id,
#include "util/remedies.def"
#undef REMEDY
    DTI_REMEDY_COUNT
};

/* A warning: something unusual that is not an error: "total_size says 100 bytes, the tensors have
 * 96". */
struct dti_note {
    const char *code; /* for JSON, snake_case: "total_size" */
    const char *text; /* one line, safe for a terminal */
    enum dti_remedy remedy;
};
/* The note need not outlive the call. */
typedef void dti_warn_fn(void *context, const struct dti_note *note);

/* A caller's words for a remedy: returns the text extended with them in buffer, or text itself (may
 * be NULL) if there are none. */
enum { DTI_REMEDY_WORDS = 1024 };
typedef const char *dti_remedy_words_fn(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                                        const char *text);

#endif
