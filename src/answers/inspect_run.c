/* SPDX-License-Identifier: MIT
 *
 * All there is to say about a file. */
#include <stdlib.h>

#include "answers/inspect_parts.h"

void dti_inspect_report_free(struct dti_inspect_report *report)
{
    for (size_t i = 0; report->figures && i < report->shown_count; i++)
        free(report->figures[i].histogram.binade);
    free(report->all.histogram.binade);
    free(report->figures);
    free(report->digests);
    free(report->totals.groups);
    free((void *)report->shown);
    dti_container_free(report->container);
}

enum dti_status dti_inspect_run(const struct dti_inspect_request *request, const char *path,
                                struct dti_inspect_report *ret, struct dti_error *reterr)
{
    *ret = (struct dti_inspect_report){.request = request};
    enum dti_status status = dti_container_open(&ret->container, path, request->container, reterr);
    if (status == DTI_OK)
        status = dti_inspect_select(ret, reterr);
    if (status == DTI_OK)
        status = dti_inspect_sum(ret, reterr);
    if (status == DTI_OK && (request->stats || request->histogram))
        status = dti_inspect_scan(ret, reterr);
    if (status == DTI_OK && request->digest)
        status = dti_reading_digests(&request->reading, ret->container, &ret->digests, reterr);
    return status;
}

const struct dti_inspect_shard *dti_inspect_next_shard(const struct dti_container *container,
                                                       struct dti_inspect_shard *shard)
{
    const size_t first = shard->end;
    shard->file = &container->files[shard->number];
    shard->bytes = 0;
    for (; shard->end < container->tensor_count &&
           container->tensors[shard->end].file == shard->number;
         shard->end++)
        shard->bytes += container->tensors[shard->end].bytes;
    shard->tensors = shard->end - first;
    shard->number++;
    return shard;
}
