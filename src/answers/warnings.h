/* SPDX-License-Identifier: MIT
 *
 * Warnings that an answer collects while it is found: the member "warnings" of its document. The
 * first of them are kept, the others counted. */
#ifndef DTINFO_ANSWERS_WARNINGS_H
#define DTINFO_ANSWERS_WARNINGS_H

#include "answers/document.h"
#include "dtinfo/dtype.h"
#include "dtinfo/json.h"

enum { DTI_WARNINGS_MAX = 100 };

struct dti_warning {
    const char *code;          /* snake_case, a literal */
    char dtype[DTI_NAME_SIZE]; /* "" for none */
    uint64_t line;             /* of standard input; 0 for none */
    char message[320];
};

/* Starts zeroed. */
struct dti_warnings {
    struct dti_warning *list; /* NULL until the first one */
    size_t count, total;
    bool failed; /* memory ran out */
};

/* dtype may be NULL; texts are copied. */
void dti_warnings_add(struct dti_warnings *warnings, const char *code, const char *dtype,
                      uint64_t line, const char *message);
void dti_warnings_clear(struct dti_warnings *warnings); /* keeps the memory */
void dti_warnings_free(struct dti_warnings *warnings);

extern const struct dti_object dti_object_warnings;
void dti_put_members_warnings(struct dti_json *json, const struct dti_warnings *warnings);

#endif
