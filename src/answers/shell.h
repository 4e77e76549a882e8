/* SPDX-License-Identifier: MIT
 *
 * What every command may answer: an error, and the version. */
#ifndef DTINFO_ANSWERS_SHELL_H
#define DTINFO_ANSWERS_SHELL_H

#include "dtinfo/error.h"
#include "dtinfo/json.h"

struct dti_error_answer {
    const struct dti_error *error;
    const char *message; /* what it says and what to do */
    uint64_t line;       /* of standard input, or 0 */
};
void dti_document_error(struct dti_json *json, const struct dti_error_answer *error);

struct dti_version_answer {
    const char *compiler;
};
void dti_document_version(struct dti_json *json, const struct dti_version_answer *version);

#endif
