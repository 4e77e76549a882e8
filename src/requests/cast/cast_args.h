/* SPDX-License-Identifier: MIT
 *
 * Casts: their options, and the work on files. */
#ifndef REQUESTS_CAST_CAST_ARGS_H
#define REQUESTS_CAST_CAST_ARGS_H

#include "requests/rewrite/rewrite_job.h"

struct cast_args {
    struct dti_policy_args policy; /* must be first: recipe words rely on it */
    uint64_t digits;               /* of values */
    bool digits_given, stacks;
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
};

extern const struct dti_option dti_cast_options[];

/* Whether the output is a file of tensors: decides what raw codes become. */
bool dti_transfer_makes_file(const struct dti_transfer_args *args);

/* path: of the input; dtype: the one to cast to. */
enum dti_status dti_cast_file_run(const struct cast_args *args,
                                  const struct dti_rewrite_front *front, const char *path,
                                  const char *dtype, struct dti_error *reterr);

#endif
