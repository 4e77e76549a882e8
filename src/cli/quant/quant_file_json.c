/* SPDX-License-Identifier: MIT
 *
 * A file's quantization as JSON: schema dtinfo.quant_file/1. Tensors are written one after another,
 * so that any number of them takes little memory. */
#include <string.h>

#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/choices.h"
#include "cli/shared/file_json.h"
#include "cli/shared/loss_json.h"
#include "cli/shared/number_json.h"
#include "cli/shared/tensor_words.h"

static enum dti_status put_fp32(struct dti_json *json, const char *key, bool there, float number,
                                struct dti_error *reterr)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return dti_json_code(json, key, dti_format_get(DTI_FP32), there, code, reterr);
}

static enum dti_status put_output(const struct quant_file *file, struct dti_json *json,
                                  struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    dti_json_object(json, "output");
    enum dti_status status = dti_json_path(json, file->out_path, reterr);
    dti_json_string(json, "kind", dti_container_name(file->output.kind));
    dti_json_string(json, "dtype", file->target->name);
    dti_json_string(json, "layout", dti_quant_layout_name(quant->request.layout));
    dti_json_uint(json, "data_bytes", quant->output_bytes);
    dti_json_array(json, "files");
    for (size_t i = 0; i < quant->files.count && status == DTI_OK; i++) {
        dti_json_object(json, NULL);
        status = dti_json_path(json, file->out_path ? quant->files.list[i].path : NULL, reterr);
        dti_json_uint(json, "bytes", quant->files.list[i].size);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

static void put_options(const struct quant_file *file, struct dti_json *json)
{
    const struct quant_args *const args = file->args;
    dti_json_object(json, "options");
    dti_json_string(json, "like",
                    args->like_given ? dti_choice_name(dti_choice_quant_like, args->like) : NULL);
    dti_json_string(json, "nibble", file->target->order == DTI_BLOCK_HIGH ? "high" : "low");
    if (file->target->has_axis)
        dti_json_int(json, "axis", file->target->axis);
    else
        dti_json_null(json, "axis");
    dti_json_bool(json, "pad", args->pad);
    dti_json_end(json);
}

static void put_host(const struct quant_file *file, struct dti_json *json)
{
    const struct dti_file_quant *const quant = file->quant;
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_json_object(json, "host"); /* all that differs between machines */
    dti_json_string(json, "level", dti_level_name(file->level));
    if (file->args->dry_run)
        dti_json_null(json, "threads");
    else
        dti_json_uint(json, "threads", file->threads);
    dti_json_string(json, "kernels",
                    quant->plan_count > 0 ? dti_quant_plan_describe(quant->plans[0], false, kernels)
                                          : NULL);
    dti_json_end(json);
}

/* Counts and losses; null with --dry-run. */
static enum dti_status put_figures(const struct quant_file *file, struct dti_json *json, bool there,
                                   const struct dti_quant_count *count,
                                   const struct dti_loss_summary *loss, struct dti_error *reterr)
{
    const bool blocks = file->target->scheme.block != NULL;
    if (!there) {
        dti_json_null(json, "clipped");
        dti_json_null(json, "clipped_blocks");
        dti_json_null(json, "special");
        dti_json_null(json, "loss");
        return DTI_OK;
    }
    dti_json_uint(json, "clipped", count->clipped);
    if (blocks)
        dti_json_uint(json, "clipped_blocks", count->blocks);
    else
        dti_json_null(json, "clipped_blocks");
    dti_json_uint(json, "special", count->special);
    return dti_loss_json(json, "loss", loss, reterr);
}

/* The whole: the largest error is in the tensor of that place among "tensors". */
static enum dti_status put_totals(const struct quant_file *file, struct dti_json *json,
                                  struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    struct dti_loss_summary loss;
    const bool there = !file->args->dry_run;
    dti_loss_summarize(&quant->loss, &loss);
    loss.max_index = quant->tensor_count > 0 ? quant->tensors[quant->max_tensor].loss.max_index : 0;
    dti_json_object(json, "totals");
    dti_json_uint(json, "tensors", quant->tensor_count);
    dti_json_uint(json, "quantized", quant->quantized_count);
    dti_json_uint(json, "kept", quant->tensor_count - quant->quantized_count);
    dti_json_uint(json, "quantized_input_bytes", quant->quantized_input);
    dti_json_uint(json, "quantized_bytes", quant->quantized_output);
    if (there)
        dti_json_uint(json, "elements", loss.elements);
    else
        dti_json_null(json, "elements");
    const enum dti_status status = put_figures(file, json, there, &quant->count, &loss, reterr);
    if (there && loss.max_absolute > 0)
        dti_json_uint(json, "max_absolute_error_tensor", quant->max_tensor);
    else
        dti_json_null(json, "max_absolute_error_tensor");
    dti_json_end(json);
    return status;
}

static const char *const fates[DTI_QUANT_FATE_COUNT] = {
    [DTI_QUANT_FATE_QUANTIZED] = "quantized", [DTI_QUANT_FATE_KEEP] = "keep",
    [DTI_QUANT_FATE_ONLY] = "not_only",       [DTI_QUANT_FATE_INTEGER] = "integer",
    [DTI_QUANT_FATE_COMPLEX] = "complex",     [DTI_QUANT_FATE_NARROW] = "narrow",
    [DTI_QUANT_FATE_SCALAR] = "scalar",       [DTI_QUANT_FATE_PART] = "part",
};
static const char *const part_names[DTI_PART_COUNT] = {
    [DTI_PART_CODES] = "codes",           [DTI_PART_SCALE] = "scale",
    [DTI_PART_ZERO_POINT] = "zero_point", [DTI_PART_TENSOR_SCALE] = "tensor_scale",
    [DTI_PART_SHAPE] = "shape",
};

static enum dti_status put_part_name(const struct quant_file *file, struct dti_json *json,
                                     size_t at, const char *suffix, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_quant_file_source(file, at);
    struct dti_buffer name;
    dti_buffer_init(&name);
    dti_buffer_append(&name, source->name, source->name_length);
    dti_buffer_puts(&name, suffix);
    enum dti_status status = DTI_OK;
    if (name.failed)
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    else
        status = dti_json_bytes(json, "name", "name_hex", name.data, name.length, reterr);
    dti_buffer_free(&name);
    return status;
}

/* What is written of a tensor. */
static enum dti_status put_parts(const struct quant_file *file, struct dti_json *json, size_t at,
                                 struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    const struct dti_file_quant_tensor *const tensor = &quant->tensors[at];
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    dti_file_quant_stored(quant, at, &stored);
    enum dti_status status = dti_quant_parts(&stored, parts, reterr);
    dti_json_array(json, "parts");
    for (size_t i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
        if (!parts[i].there)
            continue;
        dti_json_object(json, NULL);
        dti_json_string(json, "part", part_names[i]);
        status = put_part_name(file, json, at, dti_quant_suffix(quant->row, (enum dti_quant_part)i),
                               reterr);
        dti_json_string(json, "dtype", dti_format_get(parts[i].dtype)->name);
        dti_json_array(json, "shape");
        for (unsigned j = 0; j < parts[i].rank; j++)
            dti_json_uint(json, NULL, parts[i].shape[j]);
        dti_json_end(json);
        dti_json_uint(json, "file", tensor->part[i].file);
        dti_json_uint(json, "offset", tensor->part[i].offset);
        dti_json_uint(json, "bytes", tensor->part[i].bytes);
        dti_json_end(json);
    }
    dti_json_end(json);
    return status;
}

static enum dti_status put_kept_part(const struct quant_file *file, struct dti_json *json,
                                     size_t at, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_quant_file_source(file, at);
    const struct dti_file_quant_part *const part = &file->quant->tensors[at].part[DTI_PART_CODES];
    dti_json_array(json, "parts");
    dti_json_object(json, NULL);
    dti_json_string(json, "part", "tensor");
    const enum dti_status status = put_part_name(file, json, at, "", reterr);
    dti_json_string(json, "dtype", source->format->name);
    dti_json_shape(json, "shape", source);
    dti_json_uint(json, "file", part->file);
    dti_json_uint(json, "offset", part->offset);
    dti_json_uint(json, "bytes", part->bytes);
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

static enum dti_status put_scale(const struct quant_file *file, struct dti_json *json, size_t at,
                                 bool there, struct dti_error *reterr)
{
    const struct dti_file_quant_tensor *const tensor = &file->quant->tensors[at];
    const bool ranged = there && tensor->min <= tensor->max;
    enum dti_status status = put_fp32(json, "min", ranged, tensor->min, reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "max", ranged, tensor->max, reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "scale", there && tensor->scale > 0, tensor->scale, reterr);
    if (there && tensor->scale > 0 && file->quant->zero_points)
        dti_json_int(json, "zero_point", tensor->zero_point);
    else
        dti_json_null(json, "zero_point");
    return status;
}

static enum dti_status put_tensor(const struct quant_file *file, struct dti_json *json, size_t at,
                                  struct dti_error *reterr)
{
    const struct dti_file_quant_tensor *const tensor = &file->quant->tensors[at];
    const struct dti_tensor *const source = dti_quant_file_source(file, at);
    const bool quantized = tensor->fate == DTI_QUANT_FATE_QUANTIZED;
    const bool there = quantized && !file->args->dry_run;
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", source->name, source->name_length, reterr);
    dti_json_string(json, "fate", fates[tensor->fate]);
    dti_json_string(json, "from", source->format->name);
    dti_json_string(json, "to", quantized ? file->target->name : source->format->name);
    dti_json_shape(json, "shape", source);
    dti_json_uint(json, "elements", source->elements);
    dti_json_uint(json, "input_bytes", source->bytes);
    dti_json_uint(json, "bytes", tensor->bytes);
    if (quantized && file->target->scheme.per != DTI_PER_TENSOR)
        dti_json_uint(json, "axis", tensor->axis);
    else
        dti_json_null(json, "axis");
    if (status == DTI_OK)
        status = put_scale(file, json, at, there, reterr);
    if (status == DTI_OK)
        status =
            quantized ? put_parts(file, json, at, reterr) : put_kept_part(file, json, at, reterr);
    if (status == DTI_OK)
        status = put_figures(file, json, there, &tensor->count, &tensor->loss, reterr);
    dti_json_end(json);
    return status;
}

static void put_warnings(const struct quant_file *file, struct dti_json *json)
{
    dti_json_array(json, "warnings");
    if (file->target->note)
        dti_json_warning(json, "dtype_name", file->target->name, 0, file->target->note);
    for (size_t i = 0; i < file->source.note_count; i++)
        dti_json_warning(json, "dtype_name", NULL, 0, file->source.notes[i]);
    for (size_t i = 0; i < file->warning_count; i++)
        dti_json_warning(json, file->warnings[i].code, NULL, 0, file->warnings[i].text);
    dti_json_end(json);
}

static enum dti_status put_document(const struct quant_file *file, struct dti_json *json,
                                    struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    dti_json_begin(json, "dtinfo.quant_file/1");
    enum dti_status status =
        dti_json_container(json, "input", file->path, file->container, quant->input_bytes, reterr);
    if (status == DTI_OK)
        status = put_output(file, json, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_bool(json, "dry_run", file->args->dry_run);
    dti_quant_json_recipe(json, file->target);
    put_options(file, json);
    put_host(file, json);
    status = put_totals(file, json, reterr);
    dti_json_array(json, "tensors");
    dti_json_stream(json, file->cx->out);
    for (size_t i = 0; i < quant->tensor_count && status == DTI_OK; i++)
        status = put_tensor(file, json, i, reterr);
    dti_json_end(json);
    if (status != DTI_OK)
        return status;
    put_warnings(file, json);
    return dti_json_write(json, file->cx->out, reterr);
}

enum dti_status dti_quant_file_json(const struct quant_file *file, struct dti_error *reterr)
{
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const enum dti_status status = put_document(file, json, reterr);
    dti_json_free(json);
    return status;
}
