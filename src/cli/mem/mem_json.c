/* SPDX-License-Identifier: MIT
 *
 * What memory is needed as JSON: schema dtinfo.mem/1. */
#include <string.h>

#include "cli/mem/mem.h"
#include "cli/shared/file_json.h"
#include "cli/shared/tensor_words.h"

static enum dti_status no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* The nearest fp64 of the quotient; null without numbers. */
static void put_ratio(struct dti_json *json, const char *key, uint64_t bytes, uint64_t numbers,
                      unsigned per)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    if (numbers == 0) {
        dti_json_null(json, key);
        return;
    }
    const double ratio = dti_mem_ratio(bytes, numbers, per);
    uint64_t code;
    memcpy(&code, &ratio, sizeof code);
    dti_decode(dti_format_get(DTI_FP64), code, &value);
    dti_json_number(json, key, text, dti_spell_text(text, &value));
}

static void put_options(const struct mem_job *job, struct dti_json *json)
{
    const struct mem_args *const args = job->args;
    dti_json_object(json, "options");
    dti_json_string(json, "only", args->only);
    dti_json_string(json, "keep", args->keep);
    dti_json_array(json, "train");
    for (unsigned i = 0; i < DTI_TRAINING_COUNT; i++) {
        if (args->train & 1 << i)
            dti_json_string(json, NULL, dti_training_get((enum dti_training)i)->name);
    }
    dti_json_end(json);
    dti_json_string(json, "gradients", args->gradients);
    dti_json_string(json, "master", args->master);
    dti_json_string(json, "states", args->states);
    dti_json_string(json, "fit", args->fit);
    dti_json_end(json);
}

static enum dti_status put_tensor(const struct mem_item *item, struct dti_json *json,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = item->tensor;
    dti_json_object(json, NULL);
    const enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", tensor->name, tensor->name_length, reterr);
    dti_json_string(json, "dtype", dti_tensor_dtype(tensor));
    dti_json_shape(json, "shape", tensor);
    dti_json_uint(json, "elements", tensor->elements);
    dti_json_uint(json, "stored_bytes", item->stored_bytes);
    dti_json_bool(json, "takes_dtype", item->takes_dtype);
    dti_json_end(json);
    return status;
}

static enum dti_status put_operand(const struct mem_job *job, const struct mem_operand *operand,
                                   struct dti_json *json, struct dti_error *reterr)
{
    static const char *const kinds[] = {
        [MEM_COUNT] = "count", [MEM_SHAPE] = "shape", [MEM_FILE] = "file"};
    const bool file = operand->kind == MEM_FILE;
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "text", "text_hex", operand->text, strlen(operand->text), reterr);
    dti_json_string(json, "kind", kinds[operand->kind]);
    dti_json_string(json, "format", file ? dti_container_name(operand->container->kind) : NULL);
    if (operand->kind == MEM_SHAPE) {
        dti_json_array(json, "shape");
        for (unsigned i = 0; i < operand->rank; i++)
            dti_json_uint(json, NULL, operand->shape[i]);
        dti_json_end(json);
    } else {
        dti_json_null(json, "shape");
    }
    dti_json_uint(json, "elements", operand->elements);
    dti_json_uint(json, "numbers", operand->numbers);
    if (file)
        dti_json_uint(json, "stored_bytes", operand->stored_bytes);
    else
        dti_json_null(json, "stored_bytes");
    if (!file || !job->cx->verbose) {
        dti_json_null(json, "tensors");
    } else {
        dti_json_array(json, "tensors");
        for (size_t i = 0; i < operand->count && status == DTI_OK; i++)
            status = put_tensor(&job->items[operand->first + i], json, reterr);
        dti_json_end(json);
    }
    dti_json_end(json);
    return status;
}

static void put_verdict(const struct mem_job *job, const struct mem_verdict *verdict,
                        struct dti_json *json)
{
    if (!job->capacity.asked) {
        dti_json_null(json, "fits");
        dti_json_null(json, "left_bytes");
        dti_json_null(json, "missing_bytes");
        return;
    }
    dti_json_bool(json, "fits", verdict->fits);
    dti_json_uint(json, "left_bytes", verdict->fits ? verdict->bytes : 0);
    dti_json_uint(json, "missing_bytes", verdict->fits ? 0 : verdict->bytes);
}

static void put_size(const struct mem_job *job, const struct mem_size *size, struct dti_json *json)
{
    const struct dti_block_format *const block = size->as.block;
    dti_json_object(json, NULL);
    dti_json_string(json, "dtype", size->as_stored ? NULL : dti_stored_name(&size->as));
    dti_json_uint(json, "bytes", size->bytes);
    put_ratio(json, "bits_per_number", size->numbers.bytes, job->numbers, 8);
    dti_json_uint(json, "scale_bytes", size->numbers.scale_bytes);
    dti_json_uint(json, "blocks", size->numbers.blocks);
    if (block)
        dti_json_uint(json, "block_elements", block->length);
    else
        dti_json_null(json, "block_elements");
    dti_json_uint(json, "padding_elements", size->numbers.padding);
    put_verdict(job, &size->verdict, json);
    dti_json_end(json);
}

static enum dti_status put_training(const struct mem_job *job, const struct mem_training *training,
                                    struct dti_json *json, struct dti_error *reterr)
{
    const struct dti_training_plan *const plan = &training->plan;
    const struct dti_training_row *const row = dti_training_get(plan->training);
    struct dti_buffer rule;
    dti_buffer_init(&rule);
    dti_mem_rule(&rule, job, training);
    const bool failed = rule.failed;
    dti_json_object(json, NULL);
    dti_json_string(json, "optimizer", row->name);
    dti_json_string(json, "source", row->source);
    dti_json_string(json, "dtype", dti_stored_name(&plan->weights));
    dti_json_array(json, "parts");
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        if (!dti_training_has(plan, part))
            continue;
        dti_json_object(json, NULL);
        dti_json_string(json, "part", dti_mem_part_name(plan, part));
        dti_json_string(json, "dtype", dti_mem_part_dtype(plan, part));
        dti_json_uint(json, "bytes", training->parts[i].bytes);
        dti_json_uint(json, "scale_bytes", training->parts[i].scale_bytes);
        put_ratio(json, "bytes_per_parameter", training->parts[i].bytes, job->numbers, 1);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_uint(json, "bytes", training->bytes);
    put_ratio(json, "bytes_per_parameter", training->bytes - job->other_bytes, job->numbers, 1);
    dti_json_string(json, "rule", rule.data);
    put_verdict(job, &training->verdict, json);
    dti_json_end(json);
    dti_buffer_free(&rule);
    return failed ? no_memory(reterr) : DTI_OK;
}

static void put_capacity(const struct mem_job *job, struct dti_json *json)
{
    const struct mem_capacity *const capacity = &job->capacity;
    if (!capacity->asked) {
        dti_json_null(json, "room");
        return;
    }
    dti_json_object(json, "room");
    dti_json_string(json, "device", capacity->device[0] != '\0' ? capacity->device : NULL);
    dti_json_uint(json, "bytes", capacity->bytes);
    if (capacity->all != UINT64_MAX)
        dti_json_uint(json, "memory_bytes", capacity->all);
    else
        dti_json_null(json, "memory_bytes");
    dti_json_end(json);
}

static void put_warnings(const struct mem_job *job, struct dti_json *json)
{
    dti_json_array(json, "warnings");
    for (size_t i = 0; i < job->source.note_count; i++)
        dti_json_warning(json, "dtype_name", NULL, 0, job->source.notes[i]);
    for (size_t i = 0; i < job->size_count; i++) {
        const struct mem_size *const size = &job->sizes[i];
        if (size->note)
            dti_json_warning(json, "dtype_name", size->as.format.name, 0, size->note);
    }
    dti_json_end(json);
}

static enum dti_status put_document(const struct mem_job *job, struct dti_json *json,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    dti_json_begin(json, "dtinfo.mem/1");
    put_options(job, json);
    dti_json_array(json, "operands");
    for (size_t i = 0; i < job->operand_count && status == DTI_OK; i++)
        status = put_operand(job, &job->operands[i], json, reterr);
    dti_json_end(json);
    dti_json_uint(json, "elements", job->elements);
    dti_json_uint(json, "numbers", job->numbers);
    dti_json_uint(json, "other_bytes", job->other_bytes);
    dti_json_array(json, "sizes");
    for (size_t i = 0; i < job->size_count && !job->args->train; i++)
        put_size(job, &job->sizes[i], json);
    dti_json_end(json);
    dti_json_array(json, "trainings");
    for (size_t i = 0; i < job->training_count && status == DTI_OK; i++)
        status = put_training(job, &job->trainings[i], json, reterr);
    dti_json_end(json);
    put_capacity(job, json);
    put_warnings(job, json);
    return status == DTI_OK ? dti_json_write(json, job->cx->out, reterr) : status;
}

enum dti_status dti_mem_json(const struct mem_job *job, struct dti_error *reterr)
{
    struct dti_json *const json = dti_json_new();
    if (!json)
        return no_memory(reterr);
    const enum dti_status status = put_document(job, json, reterr);
    dti_json_free(json);
    return status;
}
