/* SPDX-License-Identifier: MIT
 *
 * The bytes of the request, and whether they fit into a device. */
#include <stdlib.h>
#include <string.h>

#include "answers/mem.h"
#include "dtinfo/checked.h"
#include "dtinfo/machine.h"

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
        realloc(mem->trainings, (mem->training_count + 1) * sizeof *larger);
    if (!larger)
        return dti_no_memory(reterr);
    mem->trainings = larger;
    larger[mem->training_count++] = training;
    return DTI_OK;
}

/* Unknown is the largest number. */
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
                                const struct dti_device_wish *wish, const char *text,
                                struct dti_error *reterr)
{
    struct dti_gpu_list list = {.gpus = NULL};
    size_t at = 0;
    enum dti_status status = dti_gpu_probe(&list, reterr);
    while (wish->kind == DTI_DEVICE_CUDA && at < list.count && list.gpus[at].number != wish->number)
        at++;
    if (status == DTI_OK && at < list.count)
        gpu_capacity(capacity, &list.gpus[at]);
    else if (status == DTI_OK && wish->kind == DTI_DEVICE_AUTO)
        status = cpu_capacity(capacity, reterr);
    else if (status == DTI_OK)
        status = no_such_gpu(text, &list, reterr);
    dti_gpu_list_free(&list);
    return status;
}

enum dti_status dti_mem_device_capacity(struct dti_mem_capacity *ret,
                                        const struct dti_device_wish *wish, const char *text,
                                        struct dti_error *reterr)
{
    struct dti_mem_capacity capacity = {.asked = true, .devices = 1};
    const enum dti_status status = wish->kind == DTI_DEVICE_CPU
                                       ? cpu_capacity(&capacity, reterr)
                                       : find_gpu(&capacity, wish, text, reterr);
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
    for (size_t i = 0; i < mem->size_count; i++)
        any |= judge(&mem->capacity, mem->sizes[i].bytes, &mem->sizes[i].verdict) && !mem->train;
    for (size_t i = 0; i < mem->training_count; i++)
        any |= judge(&mem->capacity, mem->trainings[i].bytes, &mem->trainings[i].verdict);
    return any;
}
