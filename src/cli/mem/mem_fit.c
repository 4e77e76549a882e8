/* SPDX-License-Identifier: MIT
 *
 * How much memory there is, and what fits into it. */
#include <string.h>

#include "cli/mem/mem.h"
#include "dtinfo/machine.h"

static enum dti_status cpu_capacity(struct mem_capacity *capacity, struct dti_error *reterr)
{
    struct dti_machine machine;
    const enum dti_status status = dti_machine_read(&machine, NULL, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t limit = machine.memory_limit_bytes, available = machine.available_bytes;
    memcpy(capacity->device, "cpu", sizeof "cpu");
    capacity->bytes = limit < available ? limit : available; /* unknown is the largest number */
    capacity->all = limit < machine.memory_bytes ? limit : machine.memory_bytes;
    if (capacity->bytes == DTI_UNKNOWN)
        capacity->bytes = capacity->all;
    if (capacity->bytes == DTI_UNKNOWN)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "this system does not tell how much memory is free; give bytes, as in "
                        "--fit 64GiB");
    return DTI_OK;
}

static enum dti_status no_such_gpu(const char *text, const struct dti_gpu_list *list,
                                   struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_quote(quoted, text, strlen(text));
    if (list->count == 0)
        (void)dti_fail(reterr, DTI_UNAVAILABLE, "device %s is not available: %s", quoted,
                       list->why_not);
    else
        (void)dti_fail(reterr, DTI_UNAVAILABLE, "device %s is not there; the last one is %s",
                       quoted, list->gpus[list->count - 1].id);
    dti_error_argument(reterr, text, strlen(text));
    return DTI_UNAVAILABLE;
}

static enum dti_status gpu_capacity(struct mem_capacity *capacity, const char *text,
                                    const struct dti_gpu_facts *gpu, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    memcpy(capacity->device, gpu->id, sizeof gpu->id);
    capacity->all = gpu->memory_bytes;
    capacity->bytes = gpu->free_bytes == DTI_UNKNOWN ? gpu->memory_bytes : gpu->free_bytes;
    if (capacity->bytes == DTI_UNKNOWN)
        return dti_fail(reterr, DTI_UNAVAILABLE, "device %s does not tell its memory; give bytes",
                        dti_quote(quoted, text, strlen(text)));
    return DTI_OK;
}

static enum dti_status device_capacity(struct mem_capacity *capacity, const char *text,
                                       const struct dti_device_wish *wish, struct dti_error *reterr)
{
    struct dti_gpu_list list = {.gpus = NULL};
    size_t at = 0;
    if (wish->kind == DTI_DEVICE_CPU)
        return cpu_capacity(capacity, reterr);
    enum dti_status status = dti_gpu_probe(&list, reterr);
    while (wish->kind == DTI_DEVICE_CUDA && at < list.count && list.gpus[at].number != wish->number)
        at++;
    if (status == DTI_OK && at < list.count)
        status = gpu_capacity(capacity, text, &list.gpus[at], reterr);
    else if (status == DTI_OK && wish->kind == DTI_DEVICE_AUTO)
        status = cpu_capacity(capacity, reterr);
    else if (status == DTI_OK)
        status = no_such_gpu(text, &list, reterr);
    dti_gpu_list_free(&list);
    return status;
}

enum dti_status dti_mem_capacity(struct mem_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->fit;
    struct mem_capacity *const capacity = &job->capacity;
    struct dti_device_wish wish;
    if (!text)
        return DTI_OK;
    capacity->asked = true;
    capacity->all = DTI_UNKNOWN;
    if (dti_mem_is_amount(text))
        return dti_mem_bytes("--fit", text, &capacity->bytes, reterr);
    const enum dti_status status = dti_device_wish_parse(&wish, text, reterr);
    if (status != DTI_OK)
        return status;
    if (wish.kind == DTI_DEVICE_ALL)
        return dti_fail(reterr, DTI_USAGE,
                        "--fit takes one device (cpu, cuda:0, auto) or bytes, as in 80GB or 24GiB");
    return device_capacity(capacity, text, &wish, reterr);
}

static bool judge(const struct mem_capacity *capacity, uint64_t bytes, struct mem_verdict *ret)
{
    ret->fits = bytes <= capacity->bytes;
    ret->bytes = ret->fits ? capacity->bytes - bytes : bytes - capacity->bytes;
    return ret->fits;
}

bool dti_mem_judge(struct mem_job *job)
{
    bool any = false;
    for (size_t i = 0; i < job->size_count; i++)
        any |=
            judge(&job->capacity, job->sizes[i].bytes, &job->sizes[i].verdict) && !job->args->train;
    for (size_t i = 0; i < job->training_count; i++)
        any |= judge(&job->capacity, job->trainings[i].bytes, &job->trainings[i].verdict);
    return any;
}
