/* SPDX-License-Identifier: MIT
 *
 * The view of an input in which quantized tensors are numbers. */
#include <string.h>

#include "requests/rewrite/rewrite_job.h"

enum dti_status dti_dequant_view(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_tensor_args *const tensors = job->tensors;
    char quoted[DTI_QUOTE_SIZE];
    struct dti_file_dequant_request request = job->view;
    request.only = tensors->only;
    request.keep = tensors->keep;
    request.select = tensors->select;
    request.level = job->request.level;
    request.open = job->source.options;
    const enum dti_status status =
        dti_file_dequant_new(&job->request.dequant, job->container, &request, reterr);
    if (status != DTI_OK || dti_file_dequant_count(job->request.dequant) > 0)
        return status;
    dti_quote(quoted, job->path, strlen(job->path));
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: no quantized tensors found%s; 'dtinfo cast' casts floats to other dtypes",
                    quoted,
                    tensors->only || tensors->keep || tensors->select ? " in the selection"
                    : request.layout_given                            ? " in that layout"
                                                                      : "");
}
