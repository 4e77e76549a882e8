/* SPDX-License-Identifier: MIT
 *
 * A file's cast as JSON: schema dtinfo.cast_file/1. Tensors are written one after another, so that
 * any number of them takes little memory. */
#include <string.h>

#include "cli/cast/cast_file.h"
#include "cli/shared/file_json.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/loss_json.h"
#include "cli/shared/tensor_words.h"

enum dti_status dti_cast_file_json_output(const struct cast_file *file, struct dti_error *reterr)
{
    struct dti_json *const json = file->job.json;
    const struct dti_file_cast *const cast = file->cast;
    enum dti_status status = DTI_OK;
    dti_json_object(json, "output");
    status = dti_json_path(json, file->out_path, reterr);
    dti_json_string(json, "kind", file->to_text ? "text" : dti_container_name(file->target.kind));
    dti_json_string(json, "dtype", cast->request.cast.dst.name);
    if (file->to_text && file->args->dry_run)
        dti_json_null(json, "data_bytes");
    else
        dti_json_uint(json, "data_bytes", file->to_text ? file->output_bytes : cast->output_bytes);
    dti_json_array(json, "files");
    for (size_t i = 0; i < cast->files.count && status == DTI_OK; i++) {
        dti_json_object(json, NULL);
        status = dti_json_path(json, file->out_path ? cast->files.list[i].path : NULL, reterr);
        if (file->to_text && file->args->dry_run)
            dti_json_null(json, "bytes");
        else
            dti_json_uint(json, "bytes",
                          file->to_text ? file->output_bytes : cast->files.list[i].size);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

static void put_host(const struct cast_file *file)
{
    struct dti_json *const json = file->job.json;
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_json_object(json, "host"); /* all that differs between machines */
    dti_json_string(json, "level", dti_level_name(file->level));
    if (file->args->dry_run)
        dti_json_null(json, "threads");
    else
        dti_json_uint(json, "threads", file->threads);
    dti_json_array(json, "kernels");
    for (size_t i = 0; i < file->cast->plan_count; i++)
        dti_json_string(json, NULL, dti_plan_describe_device(file->cast->plans[i], kernels));
    dti_json_end(json);
    dti_json_end(json);
}

/* The largest error is in the tensor of that place among "tensors". */
enum dti_status dti_cast_file_json_loss(const struct cast_file *file, bool there,
                                        struct dti_error *reterr)
{
    struct dti_json *const json = file->job.json;
    const struct dti_file_cast *const cast = file->cast;
    struct dti_loss_summary loss;
    if (!there) {
        dti_json_null(json, "elements");
        dti_json_null(json, "loss");
        dti_json_null(json, "max_absolute_error_tensor");
        return DTI_OK;
    }
    dti_loss_summarize(&cast->loss, &loss);
    loss.max_index = cast->tensor_count > 0 ? cast->tensors[cast->max_tensor].loss.max_index : 0;
    dti_json_uint(json, "elements", loss.elements);
    const enum dti_status status = dti_loss_json(json, "loss", &loss, reterr);
    if (loss.max_absolute > 0)
        dti_json_uint(json, "max_absolute_error_tensor", cast->max_tensor);
    else
        dti_json_null(json, "max_absolute_error_tensor");
    return status;
}

static enum dti_status put_totals(const struct cast_file *file, struct dti_error *reterr)
{
    struct dti_json *const json = file->job.json;
    const struct dti_file_cast *const cast = file->cast;
    dti_json_object(json, "totals");
    dti_json_uint(json, "tensors", cast->tensor_count);
    dti_json_uint(json, "cast", cast->cast_count);
    dti_json_uint(json, "kept", cast->tensor_count - cast->cast_count);
    const enum dti_status status = dti_cast_file_json_loss(file, !file->args->dry_run, reterr);
    dti_json_end(json);
    return status;
}

static const char *const fates[DTI_FATE_COUNT] = {
    [DTI_FATE_CAST] = "cast",     [DTI_FATE_SAME] = "same_dtype", [DTI_FATE_KEEP] = "keep",
    [DTI_FATE_ONLY] = "not_only", [DTI_FATE_INTEGER] = "integer", [DTI_FATE_COMPLEX] = "complex",
};

static enum dti_status put_tensor(const struct cast_file *file, size_t at, struct dti_error *reterr)
{
    struct dti_json *const json = file->job.json;
    const struct dti_file_cast_tensor *const tensor = &file->cast->tensors[at];
    const struct dti_tensor *const source = &file->container->tensors[tensor->source];
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", source->name, source->name_length, reterr);
    dti_json_string(json, "fate", fates[tensor->fate]);
    dti_json_string(json, "from", source->format->name);
    dti_json_string(json, "to", tensor->format->name);
    dti_json_shape(json, "shape", source);
    dti_json_uint(json, "elements", source->elements);
    dti_json_uint(json, "input_bytes", source->bytes);
    if (file->to_text) {
        dti_json_null(json, "bytes");
        dti_json_null(json, "offset");
    } else {
        dti_json_uint(json, "bytes", tensor->bytes);
        dti_json_uint(json, "offset", tensor->offset);
    }
    dti_json_uint(json, "file", tensor->file);
    if (status == DTI_OK && tensor->fate == DTI_FATE_CAST && !file->args->dry_run)
        status = dti_loss_json(json, "loss", &tensor->loss, reterr);
    else
        dti_json_null(json, "loss");
    dti_json_end(json);
    return status;
}

static void put_hints(struct cast_file *file)
{
    const struct dti_file_cast_request *const request = &file->cast->request;
    char native[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE], message[2 * DTI_TEXT_SIZE + 64];
    if (file->cast->loss.overflowed == 0 ||
        !dti_loss_saturated(&request->cast, request->rule, native, other))
        return;
    (void)snprintf(message, sizeof message, "--overflow saturate stores %s instead of %s", other,
                   native);
    dti_cast_json_warn(&file->job, "saturate_differs", request->cast.dst.name, 0, message);
}

enum dti_status dti_cast_file_json(struct cast_file *file, struct dti_error *reterr)
{
    struct dti_json *const json = file->job.json;
    const struct dti_cast *const cast = &file->cast->request.cast;
    struct dti_policy policy = cast->policy;
    policy.round = dti_cast_round(cast, &cast->dst);

    dti_json_begin(json, "dtinfo.cast_file/1");
    enum dti_status status = dti_json_container(json, "input", file->path, file->container,
                                                file->cast->input_bytes, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_json_output(file, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_bool(json, "dry_run", file->args->dry_run);
    dti_cast_json_options(&file->job, &policy);
    dti_cast_device_json(json, &file->job.device);
    put_host(file);
    status = put_totals(file, reterr);
    dti_json_array(json, "tensors");
    dti_json_stream(json, file->cx->out);
    for (size_t i = 0; i < file->cast->tensor_count && status == DTI_OK; i++)
        status = put_tensor(file, i, reterr);
    dti_json_end(json);
    if (status != DTI_OK)
        return status;
    put_hints(file);
    return dti_cast_json_close(&file->job, reterr);
}
