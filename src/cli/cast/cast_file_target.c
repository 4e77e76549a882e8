/* SPDX-License-Identifier: MIT
 *
 * What a cast of a file writes. */
#include "cli/cast/cast_file.h"

static enum dti_container_kind form_of(const struct cast_args *args)
{
    if (!args->as_given)
        return DTI_CONTAINER_COUNT;
    switch ((enum cast_as)args->as) {
    case CAST_AS_NPY:
        return DTI_CONTAINER_NPY;
    case CAST_AS_SAFETENSORS:
        return DTI_CONTAINER_SAFETENSORS;
    default:
        return DTI_CONTAINER_RAW;
    }
}

enum dti_status dti_cast_file_target(struct cast_file *file, struct dti_error *reterr)
{
    return dti_file_target_choose(file->container, file->out_path, form_of(file->args),
                                  &file->target, reterr);
}
