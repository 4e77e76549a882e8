/* SPDX-License-Identifier: MIT
 *
 * What was dequantized as JSON: schema dtinfo.dequant/1. Tensors are written one after another. */
#include <string.h>

#include "cli/quant/quant_dequant.h"
#include "cli/shared/file_json.h"
#include "cli/shared/loss_json.h"
#include "cli/shared/tensor_words.h"

static void put_host(const struct quant_dequant *job)
{
    struct dti_json *const json = job->file.cx->json;
    dti_json_object(json, "host"); /* all that differs between machines */
    dti_json_string(json, "level", dti_level_name(job->file.level));
    if (job->args->dry_run)
        dti_json_null(json, "threads");
    else
        dti_json_uint(json, "threads", job->file.threads);
    dti_json_end(json);
}

/* A count that a dry run does not know. */
static void put_count(const struct quant_dequant *job, const char *key, bool there, uint64_t count)
{
    struct dti_json *const json = job->file.cx->json;
    if (there && !job->args->dry_run)
        dti_json_uint(json, key, count);
    else
        dti_json_null(json, key);
}

/* What was said about codes, and by whom besides the file. */
static void put_reading(const struct quant_dequant *job)
{
    const struct quant_args *const args = job->args;
    const char *const config = dti_file_dequant_config(job->dequant);
    struct dti_json *const json = job->file.cx->json;
    dti_json_object(json, "options");
    if (args->bits_given)
        dti_json_uint(json, "bits", args->bits);
    else
        dti_json_null(json, "bits");
    if (args->block_given)
        dti_json_uint(json, "block", args->block);
    else
        dti_json_null(json, "block");
    dti_json_end(json);
    if (config)
        dti_json_string(json, "config", config);
    else
        dti_json_null(json, "config");
}

static void put_totals(const struct quant_dequant *job)
{
    const struct dti_file_cast *const cast = job->file.cast;
    struct dti_json *const json = job->file.cx->json;
    size_t dequantized = 0, others = 0;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        const bool quantized = dti_quant_form(job, i)->dtype != NULL;
        dequantized += quantized;
        others += !quantized && cast->tensors[i].fate == DTI_FATE_CAST;
    }
    dti_json_object(json, "totals");
    dti_json_uint(json, "tensors", cast->tensor_count);
    dti_json_uint(json, "dequantized", dequantized);
    dti_json_uint(json, "cast", others);
    dti_json_uint(json, "kept", cast->tensor_count - dequantized - others);
    put_count(job, "nan", true, job->nan);
    put_count(job, "inf", true, job->inf);
    dti_put_members_cast_loss(
        json, &(struct dti_cast_loss){cast, !job->args->dry_run && cast->cast_count > 0});
    dti_json_end(json);
}

static void put_form(struct dti_json *json, const struct dti_dequant_form *form)
{
    static const char *const pers[] = {"tensor", "channel", "group"};
    if (!form->dtype) {
        dti_json_null(json, "quantized");
        return;
    }
    dti_json_object(json, "quantized");
    dti_json_string(json, "layout", form->layout);
    dti_json_string(json, "per", pers[form->per]);
    if (form->per == DTI_PER_TENSOR)
        dti_json_null(json, "axis");
    else
        dti_json_uint(json, "axis", form->axis);
    if (form->per == DTI_PER_GROUP)
        dti_json_uint(json, "group", form->group[1]);
    else
        dti_json_null(json, "group");
    if (form->group[0] > 0)
        dti_json_uint(json, "group_rows", form->group[0]);
    else
        dti_json_null(json, "group_rows");
    dti_json_bool(json, "zero_points", form->zero_points);
    dti_json_bool(json, "tensor_scale", form->tensor_scale);
    dti_json_uint(json, "parts", form->part_count);
    dti_json_end(json);
}

static const char *fate_name(const struct quant_dequant *job, size_t at)
{
    static const char *const fates[DTI_FATE_COUNT] = {
        [DTI_FATE_CAST] = "cast",       [DTI_FATE_SAME] = "same_dtype",
        [DTI_FATE_KEEP] = "keep",       [DTI_FATE_ONLY] = "not_only",
        [DTI_FATE_INTEGER] = "integer", [DTI_FATE_COMPLEX] = "complex",
    };
    return dti_quant_form(job, at)->dtype ? "dequantized" : fates[job->file.cast->tensors[at].fate];
}

static enum dti_status put_tensor(const struct quant_dequant *job, size_t at,
                                  struct dti_error *reterr)
{
    const struct dti_file_cast_tensor *const tensor = &job->file.cast->tensors[at];
    const struct dti_tensor *const source = &job->file.viewed->tensors[tensor->source];
    const struct dti_dequant_form *const form = dti_quant_form(job, at);
    struct dti_json *const json = job->file.cx->json;
    uint64_t nan, inf;
    dti_file_dequant_specials(job->dequant, tensor->source, &nan, &inf);
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", source->name, source->name_length, reterr);
    dti_json_string(json, "fate", fate_name(job, at));
    dti_json_string(json, "from", form->dtype ? form->dtype : source->format->name);
    put_form(json, form);
    dti_json_string(json, "to", tensor->format->name);
    dti_json_shape(json, "shape", source);
    dti_json_uint(json, "elements", source->elements);
    dti_json_uint(json, "input_bytes", form->dtype ? form->stored_bytes : source->bytes);
    dti_json_uint(json, "bytes", tensor->bytes);
    dti_json_uint(json, "offset", tensor->offset);
    dti_json_uint(json, "file", tensor->file);
    put_count(job, "nan", form->dtype != NULL, nan);
    put_count(job, "inf", form->dtype != NULL, inf);
    if (status == DTI_OK && tensor->fate == DTI_FATE_CAST && !job->args->dry_run)
        status = dti_loss_json(json, "loss", &tensor->loss, reterr);
    else
        dti_json_null(json, "loss");
    dti_json_end(json);
    return status;
}

enum dti_status dti_quant_dequant_json(struct quant_dequant *job, struct dti_error *reterr)
{
    struct dti_cast_file *const file = &job->file;
    struct dti_json *const json = file->cx->json;
    dti_json_begin(json, "dtinfo.dequant/1");
    enum dti_status status =
        dti_json_container(json, "input", file->path, file->viewed, job->stored_bytes, reterr);
    const struct dti_cast_output output = dti_cast_file_output(file);
    dti_put_cast_output(json, "output", &output);
    if (status != DTI_OK)
        return status;
    dti_json_bool(json, "dry_run", job->args->dry_run);
    put_reading(job);
    put_host(job);
    put_totals(job);
    dti_json_array(json, "tensors");
    dti_json_stream(json, file->cx->out);
    for (size_t i = 0; i < file->cast->tensor_count && status == DTI_OK; i++)
        status = put_tensor(job, i, reterr);
    dti_json_end(json);
    dti_put_members_warnings(json, &file->job.warnings);
    return status == DTI_OK ? dti_json_write(json, file->cx->out, reterr) : status;
}
