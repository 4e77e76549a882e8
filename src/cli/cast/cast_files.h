/* SPDX-License-Identifier: MIT
 *
 * `cast` of a file of tensors. */
#ifndef DTINFO_CLI_CAST_FILES_H
#define DTINFO_CLI_CAST_FILES_H

#include "cli/shared/rewrite_job.h"

struct dti_cast_file_args {
    const struct dti_policy_args *policy;
    const struct dti_transfer_args *transfer;
    const struct dti_tensor_args *tensors;
    const char *surplus; /* a given option that is only for values, or NULL */
};

/* Runs the whole cast. */
enum dti_status dti_cast_files(const struct dti_cast_file_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr);

#endif
