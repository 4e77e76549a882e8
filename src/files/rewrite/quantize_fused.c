/* SPDX-License-Identifier: MIT
 *
 * Tensors that share a tensor scale. Most sets are quantized in one group, and their ranges are
 * known after its first pass. For other sets, the members outside the group are read just for their
 * ranges; when they are quantized later, they are not read for a range again. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

enum { OTHERS = 64 }; /* members read at once */
_Static_assert((int)OTHERS <= (int)DTI_QUANT_TASKS, "they are queued as tasks are");

struct fused_others {
    struct dti_quantize_job *job;
    struct dti_quant_task *list; /* OTHERS entries; NULL until needed */
    size_t count;
};

static void keep_range(const struct dti_quant_task *task)
{
    if (!task->ranges)
        return;
    task->member->range = dti_quant_ranges_all(task->ranges);
    task->member->known = true;
}

/* Finds a plan for numbers of their dtype; the first pass does not depend on the shape. */
static enum dti_status find_plan(struct dti_quant_task *task, const struct dti_tensor *tensor,
                                 const struct dti_quant_plan *like, struct dti_error *reterr)
{
    struct dti_quant_request request = *dti_quant_plan_request(like);
    task->plan = like;
    if (strcmp(request.number.name, tensor->format->name) == 0 &&
        request.layout.swapped == tensor->layout.swapped &&
        request.layout.packing == tensor->layout.packing)
        return DTI_OK;
    request.number = *tensor->format;
    request.layout = tensor->layout;
    const enum dti_status status =
        dti_quant_plan_new(&task->range_plan, &request, task->rewrite->request.level, reterr);
    task->plan = task->range_plan;
    return status;
}

/* Reads in file order, since a range does not depend on the order. */
static enum dti_status open_other(struct dti_quant_task *task, const struct dti_quantize_job *job,
                                  const struct dti_quant_plan *like,
                                  struct dti_fused_member *member, struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = job->run->rewrite;
    struct dti_container *const container = rewrite->fused->container;
    const struct dti_tensor *const tensor = &container->tensors[member->tensor];
    const size_t room = dti_pages_round(job->needs.bytes[DTI_QUANT_INPUT]);
    memset(task, 0, sizeof *task);
    task->rewrite = rewrite;
    task->member = member;
    task->item = dti_format_container(tensor->format);
    task->sizes.elements = tensor->elements;
    task->piece = room / task->item;
    member->asked = true;
    enum dti_status status = find_plan(task, tensor, like, reterr);
    if (status == DTI_OK)
        status = dti_quant_ranges_new(&task->ranges, task->plan, reterr);
    if (status != DTI_OK)
        return status;
    return dti_container_data(container, member->tensor, &task->input.input, &task->input.offset,
                              reterr);
}

/* Reads the listed members, unless something failed before; then clears the list. */
static enum dti_status read_others(struct fused_others *others, enum dti_status status,
                                   struct dti_error *reterr)
{
    if (status == DTI_OK && others->count > 0)
        status = dti_quant_run_pieces(others->job, others->list, others->count, true, reterr);
    for (size_t i = 0; i < others->count; i++) {
        if (status == DTI_OK)
            keep_range(&others->list[i]);
        others->list[i].member->asked = false;
        dti_quant_task_close(&others->list[i]);
    }
    others->count = 0;
    return status;
}

/* Lists the members of a task's set whose ranges are unknown. */
static enum dti_status add_others(struct fused_others *others, const struct dti_quant_task *task,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < task->fused->count && status == DTI_OK; i++) {
        struct dti_fused_member *const member = &task->fused->members[i];
        if (member->known || member->asked)
            continue;
        if (!others->list)
            others->list = dti_calloc(OTHERS, sizeof *others->list);
        if (!others->list)
            return dti_no_memory(reterr);
        status =
            open_other(&others->list[others->count++], others->job, task->plan, member, reterr);
        if (status == DTI_OK && others->count == OTHERS)
            status = read_others(others, status, reterr);
    }
    return status;
}

/* Replaces the task's ranges by those of the whole set. */
static enum dti_status merge(struct dti_quant_task *task, struct dti_error *reterr)
{
    dti_quant_ranges_free(task->ranges);
    task->ranges = NULL;
    const enum dti_status status = dti_quant_ranges_new(&task->ranges, task->plan, reterr);
    for (size_t i = 0; i < task->fused->count && status == DTI_OK; i++)
        dti_quant_ranges_add(task->ranges, &task->fused->members[i].range);
    return status;
}

enum dti_status dti_quant_fuse(struct dti_quantize_job *job, struct dti_error *reterr)
{
    struct fused_others others = {.job = job};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->task_count; i++) {
        if (job->tasks[i].fused)
            keep_range(&job->tasks[i]);
    }
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++) {
        if (job->tasks[i].fused)
            status = add_others(&others, &job->tasks[i], reterr);
    }
    status = read_others(&others, status, reterr);
    dti_free(others.list);
    for (size_t i = 0; i < job->task_count && status == DTI_OK; i++) {
        if (job->tasks[i].fused)
            status = merge(&job->tasks[i], reterr);
    }
    return status;
}
