/* SPDX-License-Identifier: MIT
 *
 * explain: its options, and what is explained. */
#ifndef REQUESTS_EXPLAIN_EXPLAIN_REQUEST_H
#define REQUESTS_EXPLAIN_EXPLAIN_REQUEST_H

#include "answers/explain/explain.h"
#include "requests/file_source.h"

struct explain_args {
    struct dti_file_args file;
};

extern const struct dti_option dti_explain_options[];

/* Points into itself: it must not be copied. */
struct explain_job {
    const struct explain_args *args;
    const struct dti_asker *asker;
    struct dti_file_source source;
    struct dti_explain explain;
};

/* Reads the options, but opens nothing. dti_explain_free(&ret->explain) in any case. */
enum dti_status dti_explain_init(struct explain_job *ret, const struct explain_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr);
/* Opens the two files, pairs their tensors and searches recipes. */
enum dti_status dti_explain_ask(struct explain_job *job, const char *const *paths,
                                struct dti_error *reterr);
/* DTI_OK if every tensor is explained, else DTI_ANSWER_NO. */
enum dti_status dti_explain_verdict(const struct dti_explain *explain, struct dti_error *reterr);

#endif
