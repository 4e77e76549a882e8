/* SPDX-License-Identifier: MIT
 *
 * The cast of a container: its beginning and its end. */
#include "dtinfo/file_cast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/file_cast_parts.h"

enum dti_status dti_file_cast_no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

const char *dti_file_cast_place(const struct dti_file_cast *cast, size_t source,
                                char buffer[DTI_FILE_CAST_PLACE])
{
    const struct dti_tensor *const tensor = &cast->container->tensors[source];
    char label[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    dti_input_label(&cast->container->files[tensor->file].input, label);
    dti_quote(name, tensor->name, tensor->name_length);
    (void)snprintf(buffer, DTI_FILE_CAST_PLACE, "%s: tensor %s", label, name);
    return buffer;
}

void dti_file_cast_blame(const struct dti_file_cast *cast, size_t source, struct dti_error *reterr)
{
    char place[DTI_FILE_CAST_PLACE];
    if (!reterr)
        return;
    const struct dti_error error = *reterr;
    (void)dti_fail(reterr, error.status, "%s: %s", dti_file_cast_place(cast, source, place),
                   error.text);
    dti_error_argument(reterr, error.argument, strlen(error.argument));
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
    for (size_t i = 0; i < cast->file_count; i++) {
        dti_output_discard(cast->files[i].output);
        dti_buffer_free(&cast->files[i].head);
        free(cast->files[i].path);
    }
    dti_output_folder_discard(&cast->folder);
    for (size_t i = 0; i < cast->plan_count; i++)
        dti_plan_free(cast->plans[i]);
    free(cast->plans);
    free(cast->files);
    free(cast->tensors);
    free(cast);
}
