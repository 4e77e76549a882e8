/* SPDX-License-Identifier: MIT
 *
 * Words to what is stored and to what as: amounts, files of tensors, dtypes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mem/mem.h"
#include "cli/shared/tensor_words.h"
#include "dtinfo/checked.h"
#include "dtinfo/glob.h"
#include "dtinfo/nearest.h"

static enum dti_status no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static enum dti_status too_many(const char *text, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_VALUE, "%s: together more than 64 bits count",
                    dti_quote(quoted, text, strlen(text)));
}

/* A dtype or a block format. */
static enum dti_status look_up(const char *name, struct mem_size *ret, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    char quoted[DTI_QUOTE_SIZE];
    struct dti_error error;
    *ret = (struct mem_size){.as.block = dti_block_lookup(name)};
    if (ret->as.block)
        return DTI_OK;
    const enum dti_status status = dti_format_lookup(name, &ret->as.format, &ret->note, &error);
    if (status == DTI_OK)
        return DTI_OK;
    dti_nearest_init(&nearest, name, strlen(name));
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        dti_nearest_offer(&nearest, dti_format_get((enum dti_dtype)id)->name);
    for (size_t i = 0; i < dti_block_format_count; i++)
        dti_nearest_offer(&nearest, dti_block_formats[i].name);
    if (status != DTI_UNKNOWN_DTYPE || nearest.count == 0) {
        if (reterr)
            *reterr = error;
        return status;
    }
    (void)dti_fail(reterr, status, "unknown dtype %s", dti_quote(quoted, name, strlen(name)));
    dti_error_argument(reterr, name, strlen(name));
    dti_nearest_suggest(&nearest, reterr);
    return status;
}

static struct mem_size *new_size(struct mem_job *job)
{
    if (job->size_count == job->size_capacity) {
        const size_t capacity = job->size_capacity > 0 ? 2 * job->size_capacity : 16;
        struct mem_size *const sizes = realloc(job->sizes, capacity * sizeof *sizes);
        if (!sizes)
            return NULL;
        job->sizes = sizes;
        job->size_capacity = capacity;
    }
    struct mem_size *const size = &job->sizes[job->size_count++];
    *size = (struct mem_size){.as_stored = false};
    return size;
}

/* "bf16,mxfp4" */
static enum dti_status add_dtypes(struct mem_job *job, const char *list, struct dti_error *reterr)
{
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        char name[128] = "";
        struct mem_size *const size = new_size(job);
        if (!size)
            return no_memory(reterr);
        if (length < sizeof name)
            memcpy(name, at, length);
        const enum dti_status status = look_up(length < sizeof name ? name : at, size, reterr);
        if (status != DTI_OK)
            return status;
        if (size->note)
            dti_warn(job->cx, "%s", size->note);
        at += length;
        if (*at == '\0')
            return DTI_OK;
    }
}

/* Whether a word is a list of dtypes as far as its first name tells, be it an ambiguous one. */
static bool names_dtype(const char *word)
{
    struct mem_size size;
    struct dti_error error;
    char name[128] = "";
    const size_t length = strcspn(word, ",");
    if (length >= sizeof name)
        return false;
    memcpy(name, word, length);
    return look_up(name, &size, &error) != DTI_UNKNOWN_DTYPE;
}

static struct mem_item *new_item(struct mem_job *job)
{
    if (job->item_count == job->item_capacity) {
        const size_t capacity = job->item_capacity > 0 ? 2 * job->item_capacity : 64;
        struct mem_item *const items = realloc(job->items, capacity * sizeof *items);
        if (!items)
            return NULL;
        job->items = items;
        job->item_capacity = capacity;
    }
    return &job->items[job->item_count++];
}

/* Into the sums of its operand and of the job. */
static bool count_item(struct mem_job *job, struct mem_operand *operand,
                       const struct mem_item *item)
{
    const uint64_t elements = item->extent.elements;
    const bool numbers = item->takes_dtype;
    return dti_add_u64(operand->elements, elements, &operand->elements) &&
           dti_add_u64(operand->numbers, numbers ? elements : 0, &operand->numbers) &&
           dti_add_u64(operand->stored_bytes, item->stored_bytes, &operand->stored_bytes) &&
           dti_add_u64(job->elements, elements, &job->elements) &&
           dti_add_u64(job->numbers, numbers ? elements : 0, &job->numbers) &&
           dti_add_u64(job->others, numbers ? 0 : elements, &job->others) &&
           dti_add_u64(job->other_bytes, numbers ? 0 : item->stored_bytes, &job->other_bytes) &&
           dti_add_u64(job->stored_bytes, item->stored_bytes, &job->stored_bytes);
}

static enum dti_status add_item(struct mem_job *job, struct mem_operand *operand,
                                const struct mem_item *item, struct dti_error *reterr)
{
    struct mem_item *const place = new_item(job);
    if (!place)
        return no_memory(reterr);
    *place = *item;
    operand->count++;
    return count_item(job, operand, item) ? DTI_OK : too_many(operand->text, reterr);
}

static enum dti_status add_tensors(struct mem_job *job, struct mem_operand *operand,
                                   struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    const struct dti_container *const container = operand->container;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct mem_item item = {.tensor = tensor, .stored_bytes = tensor->bytes};
        if (args->only && !dti_glob_list_match(args->only, tensor->name, tensor->name_length))
            continue;
        if (!dti_extent_of(tensor->shape, tensor->rank, &item.extent))
            return too_many(operand->text, reterr);
        item.takes_dtype =
            dti_tensor_holds_floats(container, tensor) &&
            !(args->keep && dti_glob_list_match(args->keep, tensor->name, tensor->name_length));
        status = add_item(job, operand, &item, reterr);
    }
    return status;
}

static enum dti_status add_file(struct mem_job *job, const char *path, struct dti_error *reterr)
{
    struct mem_operand *const operand = &job->operands[job->operand_count++];
    *operand = (struct mem_operand){.text = path, .kind = MEM_FILE, .first = job->item_count};
    const enum dti_status status =
        dti_container_open(&operand->container, path, &job->source.options, reterr);
    return status == DTI_OK ? add_tensors(job, operand, reterr) : status;
}

static enum dti_status add_amount(struct mem_job *job, const char *word, struct dti_error *reterr)
{
    struct mem_operand *const operand = &job->operands[job->operand_count++];
    struct mem_item item = {.takes_dtype = true};
    *operand = (struct mem_operand){.first = job->item_count};
    const enum dti_status status = dti_mem_amount(operand, word, reterr);
    if (status != DTI_OK)
        return status;
    (void)dti_extent_of(operand->shape, operand->rank, &item.extent); /* was found to be possible */
    job->files = false;
    return add_item(job, operand, &item, reterr);
}

static enum dti_status add_word(struct mem_job *job, const char *word, struct dti_error *reterr)
{
    const bool first = job->operand_count == 0;
    char quoted[DTI_QUOTE_SIZE];
    if (dti_mem_is_amount(word))
        return add_amount(job, word, reterr);
    const bool dtype = names_dtype(word);
    if (dtype && !first)
        return add_dtypes(job, word, reterr);
    if (dti_input_there(word) != ENOENT || strcmp(word, "-") == 0 || strchr(word, '/') ||
        dti_container_is(word))
        return add_file(job, word, reterr);
    if (!first)
        return add_dtypes(job, word, reterr); /* which says what is wrong with it */
    if (dtype)
        return dti_fail(reterr, DTI_USAGE,
                        "%s of what? give an amount or a file before it, as in 'dtinfo mem 7B "
                        "bf16'",
                        dti_quote(quoted, word, strlen(word)));
    (void)dti_fail(reterr, DTI_BAD_VALUE,
                   "%s is neither a count (7B, 176e9), nor a shape (32x1024x4096), nor a file",
                   dti_quote(quoted, word, strlen(word)));
    dti_error_argument(reterr, word, strlen(word));
    return DTI_BAD_VALUE;
}

/* What is shown when nothing is asked for: as the files are, the sizes of plain dtypes, all blocks.
 */
static enum dti_status add_ladder(struct mem_job *job, struct dti_error *reterr)
{
    struct mem_size *size;
    job->ladder = true;
    if (job->files) {
        size = new_size(job);
        if (!size)
            return no_memory(reterr);
        size->as_stored = true;
    }
    const enum dti_status status = add_dtypes(job, "fp32,bf16,fp8_e4m3fn", reterr);
    for (size_t i = 0; i < dti_block_format_count && status == DTI_OK; i++) {
        size = new_size(job);
        if (!size)
            return no_memory(reterr);
        size->as.block = &dti_block_formats[i];
    }
    return status;
}

/* The one float dtype that all tensors of the files have; else fp32. */
static enum dti_status add_training_dtype(struct mem_job *job, struct dti_error *reterr)
{
    const struct dti_format *common = NULL;
    for (size_t i = 0; i < job->item_count; i++) {
        const struct mem_item *const item = &job->items[i];
        if (!item->takes_dtype)
            continue;
        if (!item->tensor || !item->tensor->format ||
            (common && strcmp(common->name, item->tensor->format->name) != 0))
            return add_dtypes(job, "fp32", reterr);
        common = item->tensor->format;
    }
    return add_dtypes(job, common ? common->name : "fp32", reterr);
}

static enum dti_status check_selection(const struct mem_job *job, struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    const char *const option = args->only ? "--only" : args->keep ? "--keep" : NULL;
    char quoted[DTI_QUOTE_SIZE];
    bool files = false;
    for (size_t i = 0; i < job->operand_count; i++)
        files |= job->operands[i].kind == MEM_FILE;
    if (option && !files)
        return dti_fail(reterr, DTI_USAGE, "%s is for tensors of files; leave it out", option);
    if (args->only && job->item_count == 0)
        return dti_fail(reterr, DTI_USAGE, "--only %s fits no tensor",
                        dti_quote(quoted, args->only, strlen(args->only)));
    if (args->train && job->numbers == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "no tensor is of floats: there are no parameters to train");
    return DTI_OK;
}

enum dti_status dti_mem_operands(struct mem_job *job, char **words, int count,
                                 struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    enum dti_status status = DTI_OK;
    if (count == 0 && !args->input)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to store; give a count, a shape or a file, as in 'dtinfo mem 7B "
                        "bf16'");
    job->operands = calloc((size_t)count + 1, sizeof *job->operands);
    if (!job->operands)
        return no_memory(reterr);
    job->files = true;
    if (args->input)
        status = add_file(job, args->input, reterr);
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = add_word(job, words[i], reterr);
    if (status == DTI_OK)
        status = check_selection(job, reterr);
    if (status == DTI_OK && args->dtype && job->size_count > 0)
        return dti_fail(reterr, DTI_USAGE, "dtypes are given twice: behind %s and by --dtype",
                        job->files ? "the file" : "the amount");
    if (status == DTI_OK && args->dtype)
        status = add_dtypes(job, args->dtype, reterr);
    if (status == DTI_OK && job->size_count == 0)
        status = args->train ? add_training_dtype(job, reterr) : add_ladder(job, reterr);
    return status;
}

void dti_mem_free(struct mem_job *job)
{
    for (size_t i = 0; i < job->operand_count; i++)
        dti_container_free(job->operands[i].container);
    free(job->operands);
    free(job->items);
    free(job->sizes);
    free(job->trainings);
}
