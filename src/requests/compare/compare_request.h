/* SPDX-License-Identifier: MIT
 *
 * compare: its options, and what is compared. */
#ifndef REQUESTS_COMPARE_COMPARE_REQUEST_H
#define REQUESTS_COMPARE_COMPARE_REQUEST_H

#include "answers/compare/compare.h"
#include "requests/file_source.h"

struct compare_args {
    struct dti_file_args file;
    const char *atol, *rtol, *max_ulp, *only, *map;
    uint64_t top;
    bool top_given, bitwise, ignore_missing;
};

extern const struct dti_option dti_compare_options[];

/* Points into itself: it must not be copied. */
struct compare_job {
    const struct compare_args *args;
    const struct dti_asker *asker;
    struct dti_file_source source;
    struct dti_compare compare;
};

/* Reads the options, but opens nothing. dti_compare_free(&ret->compare) in any case. */
enum dti_status dti_compare_init(struct compare_job *ret, const struct compare_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr);
/* Opens the two files, pairs their tensors and compares them. */
enum dti_status dti_compare_ask(struct compare_job *job, const char *const *paths,
                                struct dti_error *reterr);
/* DTI_OK, DTI_ANSWER_NO, or with a text DTI_BAD_INPUT: some tensors are unreadable. */
enum dti_status dti_compare_verdict(const struct dti_compare *compare, struct dti_error *reterr);

#endif
