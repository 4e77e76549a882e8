/* SPDX-License-Identifier: MIT
 *
 * What casts of values, arrays and files share: destinations and policies from the command line,
 * warnings, a device. */
#ifndef REQUESTS_CAST_JOB_H
#define REQUESTS_CAST_JOB_H

#include "answers/cast/cast.h"
#include "answers/common.h"
#include "answers/rewrite/recipe.h"
#include "requests/asker.h"
#include "requests/cast_device.h"

/* Options. */
struct dti_policy_args {
    struct dti_recipe recipe; /* must be first, as in the arguments of cast */
    const char *device;
    int fail_on;
};

struct dti_cast_job {
    const struct dti_policy_args *args;
    const struct dti_asker *asker;
    struct dti_cast_target *targets;
    size_t target_count;
    size_t via_count;
    struct dti_format via[DTI_VIA_MAX];
    struct dti_warnings warnings; /* for documents */
    struct dti_cast_device device;
};

/* From the options and the dtype operand ("bf16", "fp16,bf16", "all"). Free the job on success. */
enum dti_status dti_cast_job_init(struct dti_cast_job *ret, const struct dti_policy_args *args,
                                  const struct dti_asker *asker, const char *dtypes,
                                  struct dti_error *reterr);
void dti_cast_job_free(struct dti_cast_job *job);

/* Passes a note to the asker and to the job's list: a dti_warn_fn. */
void dti_cast_job_warn(void *job, const struct dti_note *note);
/* The same: that the work of a job fell back from a device. */
void dti_cast_device_warn(struct dti_cast_job *job);

/* The policies for an answer. cast: the cast of an array or a file, with the rounding mode of its
 * last stage; NULL: those of the command line. */
struct dti_policies_answer dti_cast_job_policies(const struct dti_cast_job *job,
                                                 const struct dti_cast *cast);
/* Adds the hint about --overflow saturate if numbers overflowed. */
void dti_cast_job_hint(struct dti_cast_job *job, const struct dti_cast *cast,
                       const struct dti_stack_rule *rule, uint64_t overflowed);

/* What another overflow policy would store for a number beyond the range; false if it is the same.
 */
bool dti_loss_saturated(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                        char ret_native[DTI_TEXT_SIZE], char ret_text[DTI_TEXT_SIZE]);

#endif
