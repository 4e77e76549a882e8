/* SPDX-License-Identifier: MIT
 *
 * What is stored and what as: operands, their arrays, dtypes. */
#include <stdlib.h>
#include <string.h>

#include "answers/mem.h"
#include "answers/tensors.h"
#include "dtinfo/checked.h"
#include "dtinfo/glob.h"

static enum dti_status no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static enum dti_status too_many(const char *text, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_VALUE, "%s: together more than 64 bits count",
                    DTI_QUOTED(text, strlen(text)));
}

/* Makes room for one more in a list. NULL when memory ran out. */
static void *grow(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    const size_t larger = *capacity > 0 ? 2 * *capacity : 16;
    void *const grown = realloc(list, larger * size);
    if (grown)
        *capacity = larger;
    return grown;
}

static struct dti_mem_operand *add_operand(struct dti_mem *mem, const char *text,
                                           enum dti_mem_kind kind)
{
    struct dti_mem_operand *const grown =
        grow(mem->operands, mem->operand_count, &mem->operand_capacity, sizeof *grown);
    if (!grown)
        return NULL;
    mem->operands = grown;
    struct dti_mem_operand *const operand = &grown[mem->operand_count++];
    *operand = (struct dti_mem_operand){.text = text, .kind = kind, .first = mem->item_count};
    return operand;
}

/* Into the sums of its operand and of all. */
static bool count_item(struct dti_mem *mem, struct dti_mem_operand *operand,
                       const struct dti_mem_item *item)
{
    const uint64_t elements = item->extent.elements;
    const bool numbers = item->takes_dtype;
    return dti_add_u64(operand->elements, elements, &operand->elements) &&
           dti_add_u64(operand->numbers, numbers ? elements : 0, &operand->numbers) &&
           dti_add_u64(operand->stored_bytes, item->stored_bytes, &operand->stored_bytes) &&
           dti_add_u64(mem->elements, elements, &mem->elements) &&
           dti_add_u64(mem->numbers, numbers ? elements : 0, &mem->numbers) &&
           dti_add_u64(mem->others, numbers ? 0 : elements, &mem->others) &&
           dti_add_u64(mem->other_bytes, numbers ? 0 : item->stored_bytes, &mem->other_bytes) &&
           dti_add_u64(mem->stored_bytes, item->stored_bytes, &mem->stored_bytes);
}

static enum dti_status add_item(struct dti_mem *mem, struct dti_mem_operand *operand,
                                const struct dti_mem_item *item, struct dti_error *reterr)
{
    struct dti_mem_item *const grown =
        grow(mem->items, mem->item_count, &mem->item_capacity, sizeof *grown);
    if (!grown)
        return no_memory(reterr);
    mem->items = grown;
    grown[mem->item_count++] = *item;
    operand->count++;
    return count_item(mem, operand, item) ? DTI_OK : too_many(operand->text, reterr);
}

enum dti_status dti_mem_add_file(struct dti_mem *mem, const char *path,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct dti_mem_operand *const operand = add_operand(mem, path, DTI_MEM_FILE);
    if (!operand)
        return no_memory(reterr);
    enum dti_status status = dti_container_open(&operand->container, path, options, reterr);
    const struct dti_container *const container = operand->container;
    for (size_t i = 0; status == DTI_OK && i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct dti_mem_item item = {.tensor = tensor, .stored_bytes = tensor->bytes};
        if (mem->only && !dti_glob_list_match(mem->only, tensor->name, tensor->name_length))
            continue;
        if (!dti_extent_of(tensor->shape, tensor->rank, &item.extent))
            return too_many(operand->text, reterr);
        item.takes_dtype =
            dti_tensor_holds_floats(container, tensor) &&
            !(mem->keep && dti_glob_list_match(mem->keep, tensor->name, tensor->name_length));
        status = add_item(mem, operand, &item, reterr);
    }
    return status;
}

enum dti_status dti_mem_add_amount(struct dti_mem *mem, const char *text, struct dti_error *reterr)
{
    struct dti_mem_operand *const operand = add_operand(mem, text, DTI_MEM_COUNT);
    struct dti_mem_item item = {.takes_dtype = true};
    if (!operand)
        return no_memory(reterr);
    const enum dti_status status = dti_mem_amount(operand, text, reterr);
    if (status != DTI_OK)
        return status;
    (void)dti_extent_of(operand->shape, operand->rank, &item.extent); /* was found to be possible */
    mem->amounts = true;
    return add_item(mem, operand, &item, reterr);
}

enum dti_status dti_mem_add_size(struct dti_mem *mem, const struct dti_mem_size *size,
                                 struct dti_error *reterr)
{
    struct dti_mem_size *const grown =
        grow(mem->sizes, mem->size_count, &mem->size_capacity, sizeof *grown);
    if (!grown)
        return no_memory(reterr);
    mem->sizes = grown;
    grown[mem->size_count++] = *size;
    return DTI_OK;
}

static enum dti_status add_dtype(struct dti_mem *mem, const struct dti_format *format,
                                 struct dti_error *reterr)
{
    return dti_mem_add_size(mem, &(struct dti_mem_size){.as.format = *format}, reterr);
}

/* The one float dtype that all arrays of numbers have, or fp32. */
static const struct dti_format *training_dtype(const struct dti_mem *mem)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32), *common = NULL;
    for (size_t i = 0; i < mem->item_count; i++) {
        const struct dti_tensor *const tensor = mem->items[i].tensor;
        if (!mem->items[i].takes_dtype)
            continue;
        if (!tensor || !tensor->format ||
            (common && strcmp(common->name, tensor->format->name) != 0))
            return fp32;
        common = tensor->format;
    }
    return common ? common : fp32;
}

/* As the files are, the sizes of plain dtypes, all blocks. */
enum dti_status dti_mem_add_ladder(struct dti_mem *mem, struct dti_error *reterr)
{
    static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_BF16, DTI_FP8_E4M3FN};
    enum dti_status status = DTI_OK;
    if (mem->train)
        return add_dtype(mem, training_dtype(mem), reterr);
    mem->ladder = true;
    if (!mem->amounts)
        status = dti_mem_add_size(mem, &(struct dti_mem_size){.as_stored = true}, reterr);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes && status == DTI_OK; i++)
        status = add_dtype(mem, dti_format_get(dtypes[i]), reterr);
    for (size_t i = 0; i < dti_block_format_count && status == DTI_OK; i++)
        status = dti_mem_add_size(mem, &(struct dti_mem_size){.as.block = &dti_block_formats[i]},
                                  reterr);
    return status;
}

void dti_mem_free(struct dti_mem *mem)
{
    for (size_t i = 0; i < mem->operand_count; i++)
        dti_container_free(mem->operands[i].container);
    free(mem->operands);
    free(mem->items);
    free(mem->sizes);
    free(mem->trainings);
}
