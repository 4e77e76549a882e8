/* SPDX-License-Identifier: MIT
 *
 * Sums the bytes of the request, and checks whether they fit on a device.
 *
 * Parses amounts of numbers exactly: 7B, 1.5e9, 2^20, 32x1024x4096. */
#include <stdlib.h>
#include <string.h>

#include "answers/mem/mem.h"
#include "answers/tensors.h"
#include "core/number/number.h"
#include "devices/machine/machine.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"

static enum dti_status too_large(const struct dti_mem *mem, const char *dtype,
                                 struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_VALUE, "the bytes of %llu numbers in %s exceed 64 bits",
                    (unsigned long long)mem->numbers, dtype);
}

static bool sum_size(const struct dti_mem *mem, struct dti_mem_size *size)
{
    if (size->as_stored) {
        size->numbers.bytes = mem->stored_bytes - mem->other_bytes;
        size->numbers.scale_bytes = mem->scale_bytes;
        size->bytes = mem->stored_bytes;
        return true;
    }
    for (size_t i = 0; i < mem->item_count; i++) {
        const struct dti_mem_item *const item = &mem->items[i];
        struct dti_footprint footprint;
        if (item->takes_dtype && (!dti_footprint_of(&size->as, &item->extent, &footprint) ||
                                  !dti_footprint_add(&size->numbers, &footprint)))
            return false;
    }
    return dti_add_u64(size->numbers.bytes, mem->other_bytes, &size->bytes);
}

enum dti_status dti_mem_sum(struct dti_mem *mem, struct dti_error *reterr)
{
    for (size_t i = 0; i < mem->size_count; i++) {
        if (!sum_size(mem, &mem->sizes[i]))
            return too_large(mem, dti_stored_name(&mem->sizes[i].as), reterr);
    }
    return DTI_OK;
}

enum dti_status dti_mem_add_training(struct dti_mem *mem, const struct dti_training_plan *plan,
                                     struct dti_error *reterr)
{
    struct dti_mem_training training = {.plan = *plan, .bytes = mem->other_bytes};
    bool fits = true;
    for (size_t i = 0; i < mem->item_count && fits; i++)
        fits = !mem->items[i].takes_dtype ||
               dti_training_add(plan, &mem->items[i].extent, training.parts);
    for (unsigned part = 0; part < DTI_TRAINING_PARTS && fits; part++)
        fits = dti_add_u64(training.bytes, training.parts[part].bytes, &training.bytes);
    if (!fits)
        return too_large(mem, "training", reterr);
    struct dti_mem_training *const larger =
        dti_realloc(mem->trainings, (mem->training_count + 1) * sizeof *larger);
    if (!larger)
        return dti_no_memory(reterr);
    mem->trainings = larger;
    larger[mem->training_count++] = training;
    return DTI_OK;
}

/* DTI_UNKNOWN is the largest number, so the minimum ignores it. */
static enum dti_status cpu_capacity(struct dti_mem_capacity *capacity, struct dti_error *reterr)
{
    struct dti_machine machine;
    const enum dti_status status = dti_machine_read(&machine, NULL, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t limit = machine.memory_limit_bytes, available = machine.available_bytes;
    memcpy(capacity->device, "cpu", sizeof "cpu");
    capacity->bytes = limit < available ? limit : available;
    capacity->all = limit < machine.memory_bytes ? limit : machine.memory_bytes;
    return DTI_OK;
}

static enum dti_status no_such_gpu(const char *text, const struct dti_gpu_list *list,
                                   struct dti_error *reterr)
{
    const bool none = list->count == 0;
    return dti_fail_word(
        reterr, DTI_UNAVAILABLE, text, strlen(text),
        none ? "device %s is not available: %s" : "no device %s; the last one is %s",
        DTI_QUOTED(text, strlen(text)), none ? list->why_not : list->gpus[list->count - 1].id);
}

static void gpu_capacity(struct dti_mem_capacity *capacity, const struct dti_gpu_facts *gpu)
{
    memcpy(capacity->device, gpu->id, sizeof gpu->id);
    capacity->all = gpu->memory_bytes;
    capacity->bytes = gpu->free_bytes;
}

static enum dti_status find_gpu(struct dti_mem_capacity *capacity,
                                const struct dti_device_choice *choice, const char *text,
                                struct dti_error *reterr)
{
    struct dti_gpu_list list = {.gpus = NULL};
    size_t at = 0;
    enum dti_status status = dti_gpu_probe(&list, reterr);
    while (choice->kind == DTI_DEVICE_CUDA && at < list.count &&
           list.gpus[at].number != choice->number)
        at++;
    if (status == DTI_OK && at < list.count)
        gpu_capacity(capacity, &list.gpus[at]);
    else if (status == DTI_OK && choice->kind == DTI_DEVICE_AUTO)
        status = cpu_capacity(capacity, reterr);
    else if (status == DTI_OK)
        status = no_such_gpu(text, &list, reterr);
    dti_gpu_list_free(&list);
    return status;
}

enum dti_status dti_mem_device_capacity(struct dti_mem_capacity *ret,
                                        const struct dti_device_choice *choice, const char *text,
                                        struct dti_error *reterr)
{
    struct dti_mem_capacity capacity = {.asked = true, .devices = 1};
    const enum dti_status status = choice->kind == DTI_DEVICE_CPU
                                       ? cpu_capacity(&capacity, reterr)
                                       : find_gpu(&capacity, choice, text, reterr);
    if (status != DTI_OK)
        return status;
    if (capacity.bytes == DTI_UNKNOWN)
        capacity.bytes = capacity.all;
    *ret = capacity;
    return DTI_OK;
}

static bool judge(const struct dti_mem_capacity *capacity, uint64_t bytes,
                  struct dti_mem_verdict *ret)
{
    const uint64_t each = capacity->bytes, room = each * capacity->devices;
    ret->asked = true;
    ret->fits = bytes <= room;
    ret->bytes = ret->fits ? room - bytes : bytes - room;
    ret->bytes_each = ret->fits ? ret->bytes / capacity->devices : 0;
    ret->devices = each == 0 || bytes == 0 ? 0 : (bytes - 1) / each + 1;
    return ret->fits;
}

bool dti_mem_judge(struct dti_mem *mem)
{
    bool any = false;
    for (size_t i = 0; mem->cache && i < mem->cache->total_count; i++)
        any |= judge(&mem->capacity, mem->cache->totals[i].bytes, &mem->cache->totals[i].verdict);
    if (mem->cache)
        return any;
    for (size_t i = 0; i < mem->size_count; i++)
        any |= judge(&mem->capacity, mem->sizes[i].bytes, &mem->sizes[i].verdict) && !mem->train;
    for (size_t i = 0; i < mem->training_count; i++)
        any |= judge(&mem->capacity, mem->trainings[i].bytes, &mem->trainings[i].verdict);
    return any;
}

static const char suffixes[] = "kmbt"; /* powers of 1000 */

bool dti_mem_is_amount(const char *text)
{
    const char *const body = text + (text[0] == '+' || text[0] == '-');
    return dti_ascii_digit(body[0]) || (body[0] == '.' && dti_ascii_digit(body[1])) ||
           text[0] == '[' || text[0] == '(';
}

static enum dti_status refuse(const char *text, const char *why, struct dti_error *reterr)
{
    return dti_fail_word(reterr, DTI_BAD_VALUE, text, strlen(text), "%s %s",
                         DTI_QUOTED(text, strlen(text)), why);
}

/* Whether the value is a whole number of 64 bits, and not 0. */
static bool whole_number(const struct dti_value *value, uint64_t *ret_number)
{
    if (value->kind != DTI_CLASS_FINITE || value->sticky || value->lo != 0 || value->exponent < 0 ||
        value->exponent > 63)
        return false;
    const unsigned below = 63 - (unsigned)value->exponent;
    if ((value->hi & dti_low_bits(below)) != 0)
        return false;
    *ret_number = value->hi >> below;
    return true;
}

/* "2^20" */
static bool power(const char *text, uint64_t *ret_number)
{
    size_t length = strlen(text);
    uint64_t base, exponent, number = 1;
    if (!dti_amount_digits(&text, &length, &base) || length == 0 || *text != '^')
        return false;
    text++, length--;
    if (!dti_amount_digits(&text, &length, &exponent) || length != 0 || base < 2)
        return false;
    for (uint64_t i = 0; i < exponent; i++) {
        if (!dti_mul_u64(number, base, &number))
            return false;
    }
    *ret_number = number;
    return true;
}

static enum dti_status read_count(const char *text, uint64_t *ret_count, struct dti_error *reterr)
{
    char spelled[64];
    const size_t length = strlen(text);
    struct dti_value value;
    if (strchr(text, '^'))
        return power(text, ret_count)
                   ? DTI_OK
                   : refuse(text, "is not a power within 64 bits; write 2^20", reterr);
    const char *const suffix = strchr(suffixes, dti_ascii_lower(text[length - 1]));
    const size_t digits = suffix ? length - 1 : length;
    if (digits + 4 > sizeof spelled)
        return refuse(text, "is too long for a count; write 7B or 7e9", reterr);
    for (size_t i = 0; i < digits; i++) {
        if (!dti_ascii_digit(text[i]) && !strchr("+-._eE", text[i]))
            return refuse(text,
                          "is not a count; write 7000000000, 7e9 or 7B: K, M, B and T are 1e3, "
                          "1e6, 1e9 and 1e12",
                          reterr);
    }
    memcpy(spelled, text, digits);
    spelled[digits] = '\0';
    if (suffix) {
        const unsigned thousands = (unsigned)(suffix - suffixes) + 1;
        const unsigned exponent = 3 * thousands;
        size_t at = digits;
        spelled[at++] = 'e';
        if (exponent >= 10)
            spelled[at++] = '1';
        spelled[at++] = (char)('0' + exponent % 10);
        spelled[at] = '\0';
    }
    struct dti_error error;
    const enum dti_status status = dti_value_parse(&value, spelled, strlen(spelled), &error);
    if (status == DTI_NO_MEMORY) {
        *reterr = error;
        return status;
    }
    if (status != DTI_OK)
        return refuse(text, "is not a count; write 7000000000, 7e9 or 7B", reterr);
    if (value.kind == DTI_CLASS_ZERO) {
        *ret_count = 0;
        return DTI_OK;
    }
    if (value.negative)
        return refuse(text, "is negative; write 7e9 or 7B", reterr);
    if (value.exponent > 63)
        return refuse(text, "numbers exceed 64 bits", reterr);
    if (!whole_number(&value, ret_count))
        return refuse(
            text,
            "is not a whole number; K, M, B and T are 1e3, 1e6, 1e9 and 1e12: 1.5B is 1500000000",
            reterr);
    return DTI_OK;
}

static enum dti_status read_shape(struct dti_mem_operand *ret, const char *text,
                                  struct dti_error *reterr)
{
    struct dti_extent extent;
    if (!dti_shape_parse(text, strlen(text), ret->shape, &ret->rank) || ret->rank == 0)
        return refuse(text, "is not a shape; write 32x1024x4096 or 32,1024,4096", reterr);
    if (!dti_extent_of(ret->shape, ret->rank, &extent))
        return refuse(text, "has more elements than 64 bits can count", reterr);
    ret->kind = DTI_MEM_SHAPE;
    return DTI_OK;
}

/* A count has rank 1 and its own kind. Fails with DTI_BAD_VALUE. */
static enum dti_status amount(struct dti_mem_operand *ret, const char *text,
                              struct dti_error *reterr)
{
    const bool signed_ = text[0] == '-' || text[0] == '+';
    ret->text = text;
    if (!signed_ && strpbrk(text, ",x[("))
        return read_shape(ret, text, reterr);
    ret->kind = DTI_MEM_COUNT;
    ret->rank = 1;
    return read_count(text, &ret->shape[0], reterr);
}

static enum dti_status no_memory(struct dti_error *reterr)
{
    return dti_no_memory(reterr);
}

static enum dti_status too_many(const char *text, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_VALUE, "%s: the total exceeds 64 bits",
                    DTI_QUOTED(text, strlen(text)));
}

static struct dti_mem_operand *add_operand(struct dti_mem *mem, const char *text,
                                           enum dti_mem_kind kind)
{
    struct dti_mem_operand *const grown =
        dti_grown(mem->operands, mem->operand_count, &mem->operand_capacity, sizeof *grown);
    if (!grown)
        return NULL;
    mem->operands = grown;
    struct dti_mem_operand *const operand = &grown[mem->operand_count++];
    *operand = (struct dti_mem_operand){.text = text, .kind = kind, .first = mem->item_count};
    return operand;
}

/* Adds to the sums of its operand and of all. */
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
           dti_add_u64(mem->scale_bytes, numbers ? item->scale_bytes : 0, &mem->scale_bytes) &&
           dti_add_u64(mem->stored_bytes, item->stored_bytes, &mem->stored_bytes);
}

static enum dti_status add_item(struct dti_mem *mem, struct dti_mem_operand *operand,
                                const struct dti_mem_item *item, struct dti_error *reterr)
{
    struct dti_mem_item *const grown =
        dti_grown(mem->items, mem->item_count, &mem->item_capacity, sizeof *grown);
    if (!grown)
        return no_memory(reterr);
    mem->items = grown;
    grown[mem->item_count++] = *item;
    operand->count++;
    return count_item(mem, operand, item) ? DTI_OK : too_many(operand->text, reterr);
}

enum dti_status dti_mem_add_file(struct dti_mem *mem, const char *path, struct dti_error *reterr)
{
    struct dti_mem_operand *const operand = add_operand(mem, path, DTI_MEM_FILE);
    if (!operand)
        return no_memory(reterr);
    enum dti_status status = dti_logical_open(&operand->container, path, &mem->options, reterr);
    const struct dti_container *const container = operand->container;
    for (size_t i = 0; status == DTI_OK && i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct dti_mem_item item = {
            .tensor = tensor,
            .stored_bytes = tensor->bytes,
            .scale_bytes =
                dti_tensor_form(tensor) ? dti_logical_scale_bytes(dti_tensor_form(tensor)) : 0};
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

enum dti_status dti_mem_add_config(struct dti_mem *mem, const char *path, struct dti_error *reterr)
{
    return add_operand(mem, path, DTI_MEM_CONFIG) ? DTI_OK : no_memory(reterr);
}

enum dti_status dti_mem_add_amount(struct dti_mem *mem, const char *text, struct dti_error *reterr)
{
    struct dti_mem_operand *const operand = add_operand(mem, text, DTI_MEM_COUNT);
    struct dti_mem_item item = {.takes_dtype = true};
    if (!operand)
        return no_memory(reterr);
    const enum dti_status status = amount(operand, text, reterr);
    if (status != DTI_OK)
        return status;
    (void)dti_extent_of(operand->shape, operand->rank, &item.extent); /* checked before */
    mem->amounts = true;
    return add_item(mem, operand, &item, reterr);
}

enum dti_status dti_mem_add_size(struct dti_mem *mem, const struct dti_mem_size *size,
                                 struct dti_error *reterr)
{
    struct dti_mem_size *const grown =
        dti_grown(mem->sizes, mem->size_count, &mem->size_capacity, sizeof *grown);
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

/* The float dtype that all arrays of numbers share, else fp32. */
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

/* The default sizes: as stored, plain dtypes, all blocks. */
enum dti_status dti_mem_add_ladder(struct dti_mem *mem, struct dti_error *reterr)
{
    static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_BF16, DTI_FP8_E4M3FN};
    enum dti_status status = DTI_OK;
    if (mem->train)
        return add_dtype(mem, training_dtype(mem), reterr);
    mem->ladder = true;
    if (mem->cache) /* of a model that is served */
        return dti_mem_add_size(mem, &(struct dti_mem_size){.as_stored = true}, reterr);
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
        dti_logical_close(mem->operands[i].container);
    dti_free(mem->operands);
    dti_free(mem->items);
    dti_free(mem->sizes);
    dti_free(mem->trainings);
}
