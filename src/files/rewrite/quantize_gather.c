/* SPDX-License-Identifier: MIT
 *
 * Gathers small parts of quantized tensors in memory and writes them in runs: codes and scales are
 * adjacent in the file, and a system call for each would cost more than computing it. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "util/run/allocate.h"

enum {
    MEMORY_LEAST = 16 << 20, /* minimum for all buffers; with less, nothing is gathered */
    MOST = 2 << 20,          /* bytes gathered at once */
    SMALL = 8 << 10,         /* maximum bytes of a part */
};

static int compare(const void *a, const void *b)
{
    const struct dti_quant_gathered *const left = a, *const right = b;
    const uint64_t before = left->part->offset, after = right->part->offset;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return before < after ? -1 : before > after;
}

/* Lists the small parts of a task. */
static void list_task(struct dti_quantize_job *job, size_t task, uint64_t *bytes)
{
    const struct dti_rewrite *const rewrite = job->run->rewrite;
    const size_t at = job->tasks[task].at;
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        if ((rewrite->tensors[at].parts >> i & 1) == 0)
            continue;
        const struct dti_rewrite_part *const part =
            dti_rewrite_part(rewrite, at, (enum dti_quant_part)i);
        if (part->bytes == 0 || part->bytes > SMALL || part->bytes > MOST - *bytes)
            continue;
        *bytes += part->bytes;
        job->gathered[job->gathered_count++] =
            (struct dti_quant_gathered){.part = part,
                                        .file = dti_rewrite_file(rewrite, part),
                                        .task = task,
                                        .which = (enum dti_quant_part)i};
    }
}

void dti_quant_gather(struct dti_quantize_job *job)
{
    const uint64_t memory = job->run->options->max_memory;
    uint64_t bytes = 0;
    bool sorted = true;
    job->gathered_count = 0;
    if ((memory > 0 && memory < MEMORY_LEAST) || !dti_new_files_are_open(&job->run->rewrite->files))
        return;
    if (!job->gather)
        job->gather = dti_malloc(MOST);
    for (size_t i = 0; i < job->task_count && job->gather; i++)
        list_task(job, i, &bytes);
    for (size_t i = 1; i < job->gathered_count && sorted; i++)
        sorted = compare(&job->gathered[i - 1], &job->gathered[i]) < 0;
    if (!sorted)
        qsort(job->gathered, job->gathered_count, sizeof *job->gathered, compare);
    unsigned char *at = job->gather;
    if (bytes > 0)
        memset(at, 0, (size_t)bytes);
    for (size_t i = 0; i < job->gathered_count; i++) {
        const struct dti_quant_gathered *const item = &job->gathered[i];
        job->tasks[item->task].gathered[item->which] = at;
        at += item->part->bytes;
    }
}

enum dti_status dti_quant_task_write(const struct dti_quant_task *task, enum dti_quant_part part,
                                     const void *data, size_t size, uint64_t offset,
                                     struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = task->rewrite;
    const struct dti_rewrite_part *const place = dti_rewrite_part(rewrite, task->at, part);
    if (size == 0)
        return DTI_OK;
    if (task->gathered[part]) {
        memcpy(task->gathered[part] + offset, data, size);
        return DTI_OK;
    }
    if (!dti_new_files_are_open(&rewrite->files)) /* only losses matter */
        return DTI_OK;
    return dti_output_write_at(rewrite->files.list[dti_rewrite_file(rewrite, place)].output, data,
                               size, place->offset + offset, reterr);
}

enum dti_status dti_quant_write_gathered(struct dti_quantize_job *job, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = job->run->rewrite;
    const unsigned char *at = job->gather;
    enum dti_status status = DTI_OK;
    for (size_t i = 0, end; i < job->gathered_count && status == DTI_OK; i = end) {
        const struct dti_rewrite_part *const first = job->gathered[i].part;
        uint64_t bytes = first->bytes;
        for (end = i + 1; end < job->gathered_count; end++) {
            const struct dti_rewrite_part *const next = job->gathered[end].part;
            if (job->gathered[end].file != job->gathered[i].file ||
                next->offset != first->offset + bytes)
                break;
            bytes += next->bytes;
        }
        status = dti_output_write_at(rewrite->files.list[job->gathered[i].file].output, at,
                                     (size_t)bytes, first->offset, reterr);
        at += bytes;
    }
    return status;
}
