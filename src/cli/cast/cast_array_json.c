/* SPDX-License-Identifier: MIT
 *
 * An array cast as JSON: schema dtinfo.cast_array/1. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/cast_array.h"
#include "cli/shared/choices.h"
#include "cli/shared/file_json.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/loss_json.h"

/* One side: where it is, and how its numbers are written. format is NULL for text that is not the
 * text of a dtype. */
static enum dti_status put_side(struct dti_json *json, const char *key, const char *path, bool text,
                                const struct dti_format *format, const struct dti_layout *layout,
                                bool big, uint64_t bytes, struct dti_error *reterr)
{
    const bool packed = !text && format->width < 8;
    const bool ordered = !text && dti_format_container(format) > 1;
    dti_json_object(json, key);
    const enum dti_status status =
        dti_json_bytes(json, "path", "path_hex", path, strlen(path), reterr);
    dti_json_string(json, "form", text ? "text" : "raw");
    dti_json_string(json, "dtype", format ? format->name : NULL);
    dti_json_string(json, "packing",
                    packed ? dti_choice_name(dti_choice_packing, (int)layout->packing) : NULL);
    dti_json_string(json, "byte_order", ordered ? big ? "big" : "little" : NULL);
    dti_json_uint(json, "bytes", bytes);
    dti_json_end(json);
    return status;
}

static void put_hints(struct cast_array *array)
{
    char native[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE], message[2 * DTI_TEXT_SIZE + 64];
    if (array->loss.overflowed == 0 ||
        !dti_loss_saturated(&array->request.cast, array->request.rule, native, other))
        return;
    (void)snprintf(message, sizeof message, "--overflow saturate stores %s instead of %s", other,
                   native);
    dti_cast_json_warn(&array->job, "saturate_differs", array->request.cast.dst.name, 0, message);
}

enum dti_status dti_cast_array_json(struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_request *request = &array->request;
    const struct dti_format *dst = &request->cast.dst;
    struct dti_json *json = array->job.json;
    struct dti_policy policy = request->cast.policy;
    char kernels[DTI_PLAN_TEXT_SIZE];
    policy.round = dti_cast_round(&request->cast, dst);

    dti_json_begin(json, "dtinfo.cast_array/1");
    enum dti_status status = put_side(
        json, "input", array->path, array->from_text, array->from_text ? NULL : &request->src,
        &request->src_layout, array->args->endian == CAST_ENDIAN_BIG, array->input_bytes, reterr);
    if (status == DTI_OK)
        status = put_side(json, "output", array->out_path, array->to_text, dst,
                          &request->dst_layout, false, array->output_bytes, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_uint(json, "elements", array->elements);
    dti_cast_json_options(&array->job, &policy);
    dti_cast_device_json(json, &array->job.device);
    dti_json_object(json, "host"); /* all that differs between machines */
    dti_json_string(json, "level", dti_level_name(array->level));
    dti_json_string(json, "kernel",
                    array->plan ? dti_plan_describe_device(array->plan, kernels) : NULL);
    dti_json_uint(json, "threads", array->threads);
    dti_json_end(json);
    struct dti_loss_summary loss;
    dti_loss_summarize(&array->loss, &loss);
    status = dti_loss_json(json, "loss", &loss, reterr);
    if (status != DTI_OK)
        return status;
    put_hints(array);
    return dti_cast_json_close(&array->job, reterr);
}
