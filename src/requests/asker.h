/* SPDX-License-Identifier: MIT
 *
 * Who asks: the command line, or a caller of the library. A request is made of settings in the same
 * way for both. */
#ifndef REQUESTS_ASKER_H
#define REQUESTS_ASKER_H

#include "answers/ask.h"
#include "util/remedy.h"

struct dti_asker {
    const char *command; /* whose settings they are: "cast" */
    dti_warn_fn *warn;   /* takes notes at once; NULL: documents have them */
    void (*complain)(void *context, const struct dti_error *error); /* work goes on; or NULL */
    void *warn_context;                                             /* of both */
    dti_remedy_words_fn *words; /* the asker's words for remedies, for documents */
    const char *cpu_level;      /* the highest level to use; NULL: what the CPU has */
    size_t threads;             /* at most so many; 0: as many as are useful */
    bool document;              /* the answer is a document */
    bool quiet;                 /* there is no answer but the status and new files */
};

void dti_asker_warn(const struct dti_asker *asker, const struct dti_note *note);

/* Looks up a dtype, and passes on the note about its name. Fails as dti_format_lookup() does. */
enum dti_status dti_asker_dtype(const struct dti_asker *asker, const char *name,
                                struct dti_dtype_operand *ret, struct dti_error *reterr);

#endif
