/* SPDX-License-Identifier: MIT
 *
 * Saturation of the listed tensors, and of all of each format. */
#include <stdlib.h>
#include <string.h>

#include "answers/inspect/inspect.h"
#include "answers/tensors.h"
#include "util/run/allocate.h"

static int by_dtype(const void *a, const void *b)
{
    const struct dti_inspect_saturation *const x = a, *const y = b;
    return strcmp(x->dtype, y->dtype);
}

/* Adds up the tensors of each format. */
static void add_up(struct dti_inspect_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->limited_count; i++)
        report->saturation[i] = (struct dti_inspect_saturation){
            .dtype = dti_tensor_dtype(report->limited[i].tensor),
            .tensors = 1,
            .limits = report->limited[i].limits,
        };
    if (report->limited_count > 0)
        qsort(report->saturation, report->limited_count, sizeof *report->saturation, by_dtype);
    for (size_t i = 0; i < report->limited_count; i++) {
        const struct dti_inspect_saturation *const one = &report->saturation[i];
        if (count > 0 && strcmp(report->saturation[count - 1].dtype, one->dtype) == 0) {
            dti_code_limits_add(&report->saturation[count - 1].limits, &one->limits);
            report->saturation[count - 1].tensors++;
        } else {
            report->saturation[count++] = *one;
        }
    }
    report->saturation_count = count;
}

enum dti_status dti_inspect_limits(struct dti_inspect_report *report, struct dti_error *reterr)
{
    struct dti_reading reading = report->request->reading;
    uint64_t bytes = 0;
    report->limits = dti_calloc(report->shown_count + 1, sizeof *report->limits);
    report->limited = dti_calloc(report->shown_count + 1, sizeof *report->limited);
    report->saturation = dti_calloc(report->shown_count + 1, sizeof *report->saturation);
    if (!report->limits || !report->limited || !report->saturation)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        if (!dti_code_limits_apply(tensor))
            continue;
        report->limits[i] = &report->limited[report->limited_count].limits;
        report->limited[report->limited_count++].tensor = tensor;
        bytes += tensor->bytes;
    }
    reading.begin = NULL; /* codes are read in moments */
    reading.show = NULL;
    reading.end = NULL;
    enum dti_status status = dti_reading_start(&reading, bytes, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_scan_code_limits(report->limited, report->limited_count, &reading.options, reterr);
    dti_reading_end(&reading);
    if (status == DTI_OK)
        add_up(report);
    return status;
}
