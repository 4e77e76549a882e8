/* SPDX-License-Identifier: MIT
 *
 * An attestation of a verification: an in-toto statement (v1) whose predicate is SLSA provenance
 * (v1). Its subjects are the files of the second container, its parameters the recipes, its
 * dependencies the files of the first. */
#ifndef ANSWERS_VERIFY_ATTEST_H
#define ANSWERS_VERIFY_ATTEST_H

#include "answers/verify/verify.h"

/* Appends the statement: the same bytes for the same files and recipes. Reads the files again, for
 * their digests. Fails as dti_digest_files() does. */
enum dti_status dti_attest(struct dti_json *json, const struct dti_verify *verify,
                           struct dti_buffer *ret, struct dti_error *reterr);

#endif
