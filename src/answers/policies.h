/* SPDX-License-Identifier: MIT
 *
 * For rows: the policies of a cast, the member "options" of its answers; and the names of each
 * policy, by its enumerator. */
#ifndef DTINFO_ANSWERS_POLICIES_H
#define DTINFO_ANSWERS_POLICIES_H

#include "answers/document.h"
#include "dtinfo/json.h"
#include "dtinfo/scalar.h"

const char *dti_round_words(size_t index);
const char *dti_overflow_words(size_t index);
const char *dti_nan_words(size_t index);
const char *dti_packing_words(size_t index);

struct dti_policies_answer {
    struct dti_policy policy;
    const char *like; /* the stack that sets them, or NULL */
    const struct dti_format *via;
    size_t via_count;
};

extern const struct dti_object dti_object_cast_options;
void dti_put_cast_options(struct dti_json *json, const char *key,
                          const struct dti_policies_answer *policies);

/* "fp32,bf16", or NULL without any. Returns buffer. */
enum { DTI_VIA_TEXT_SIZE = DTI_VIA_MAX * DTI_NAME_SIZE };
const char *dti_via_text(char buffer[DTI_VIA_TEXT_SIZE], const struct dti_format *via,
                         size_t count);

#endif
