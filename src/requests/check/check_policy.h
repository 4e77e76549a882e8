/* SPDX-License-Identifier: MIT
 *
 * A policy: a JSON file with comments, whose rules have the options of check as members. */
#ifndef REQUESTS_CHECK_CHECK_POLICY_H
#define REQUESTS_CHECK_CHECK_POLICY_H

#include "report/json.h"
#include "requests/check/check_request.h"
#include "util/run/memory_pool.h"

enum { DTI_POLICY_RULES = 256, DTI_POLICY_SIZE = 1 << 20 };

struct dti_check_rule {
    const char *files; /* patterns */
    struct check_args args;
    size_t line; /* where it begins */
};

struct dti_check_policy {
    struct dti_check_rule *rules;
    size_t count;
    struct dti_pool texts;
};

/* Reads the file run->policy; the rules read files as the other options of the run say. Always free
 * the policy. Fails with DTI_BAD_INPUT and the line, DTI_NO_MEMORY. */
enum dti_status dti_check_policy_read(struct dti_check_policy *ret, const struct check_args *run,
                                      struct dti_error *reterr);
/* The same for a text. label: the file's name in messages. */
enum dti_status dti_check_policy_parse(struct dti_check_policy *ret, const struct check_args *run,
                                       const char *label, const char *text, size_t length,
                                       struct dti_error *reterr);
void dti_check_policy_free(struct dti_check_policy *policy);

/* Puts the file and the line in front of an error about a rule. Returns DTI_BAD_INPUT, or
 * DTI_NO_MEMORY if that was the error. */
enum dti_status dti_check_policy_fail(const char *path, size_t line, struct dti_error *reterr);

/* Whether an option that a rule could have was given. */
bool dti_check_policy_word_given(const struct check_args *args);

/* Adds the JSON Schema of policies, as a member. */
void dti_check_policy_schema_put(struct dti_json *json);

#endif
