/* SPDX-License-Identifier: MIT
 *
 * The cast of a container: its beginning and its end. */
#include "dtinfo/file_cast.h"

#include <stdlib.h>

#include "files/file_cast_parts.h"

enum dti_status dti_file_cast_no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* Whether a NaN may meet a dtype that has none: found by counting. */
static bool may_refuse(const struct dti_file_cast_request *request)
{
    const struct dti_cast *const cast = &request->cast;
    return cast->via_count > 0 ||
           (dti_format_is_float(&cast->dst) && !dti_format_has_nan(&cast->dst) &&
            cast->policy.overflow == DTI_OVERFLOW_NATIVE);
}

static enum dti_status decide(struct dti_file_cast *cast, struct dti_error *reterr)
{
    struct dti_new_tensor *tensors = NULL;
    enum dti_status status = dti_file_cast_choose(cast, reterr);
    if (status == DTI_OK)
        status = dti_file_cast_plan(cast, &tensors, reterr);
    if (status == DTI_OK)
        status = dti_file_cast_layout(cast, tensors, reterr);
    free(tensors);
    return status;
}

enum dti_status dti_file_cast_new(struct dti_file_cast **ret, struct dti_container *container,
                                  const struct dti_file_cast_request *request,
                                  struct dti_error *reterr)
{
    struct dti_file_cast *const cast = calloc(1, sizeof *cast);
    if (!cast)
        return dti_file_cast_no_memory(reterr);
    cast->request = *request;
    cast->container = container;
    dti_new_files_init(&cast->files, container, request->kind, request->path);
    cast->counts = request->counted || request->flags || may_refuse(request);
    dti_loss_init(&cast->loss);
    const enum dti_status status = decide(cast, reterr);
    if (status == DTI_OK)
        *ret = cast;
    else
        dti_file_cast_free(cast);
    return status;
}

void dti_file_cast_free(struct dti_file_cast *cast)
{
    if (!cast)
        return;
    dti_new_files_free(&cast->files);
    for (size_t i = 0; i < cast->plan_count; i++)
        dti_plan_free(cast->plans[i]);
    free(cast->plans);
    free(cast->tensors);
    free(cast);
}
