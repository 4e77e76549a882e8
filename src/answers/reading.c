/* SPDX-License-Identifier: MIT
 *
 * Reading the data of files: see reading.h. */
#include "answers/reading.h"

#include <stdlib.h>
#include <string.h>

#include "answers/amounts.h"

void dti_reading_start_alone(const struct dti_reading *reading, uint64_t bytes)
{
    if (reading->begin)
        reading->begin(reading->context, bytes);
}

void dti_reading_end_alone(const struct dti_reading *reading)
{
    if (reading->end)
        reading->end(reading->context);
}

static void show_part(void *context, uint64_t done)
{
    const struct dti_reading *const reading = context;
    reading->show(reading->context, reading->done + done);
}

enum dti_status dti_reading_start(struct dti_reading *reading, uint64_t bytes,
                                  struct dti_error *reterr)
{
    const size_t threads =
        reading->threads > 0 ? reading->threads : dti_amount_useful_threads(bytes);
    if (threads > 1) {
        const enum dti_status status =
            dti_team_new(&reading->options.team, threads, DTI_WAIT_SLEEP, false, reterr);
        if (status != DTI_OK)
            return status;
    }
    reading->done = 0;
    reading->options.progress = reading->show ? show_part : NULL;
    reading->options.progress_context = reading;
    dti_reading_start_alone(reading, bytes);
    return DTI_OK;
}

void dti_reading_end(struct dti_reading *reading)
{
    dti_reading_end_alone(reading);
    dti_team_free(reading->options.team);
    reading->options.team = NULL;
}

enum dti_status dti_reading_digests(const struct dti_reading *reading,
                                    const struct dti_container *container,
                                    struct dti_digest **ret_digests, struct dti_error *reterr)
{
    struct dti_digest *const digests = calloc(dti_digest_count(container) + 1, sizeof *digests);
    if (!digests)
        return dti_no_memory(reterr);
    dti_reading_start_alone(reading, dti_digest_input_bytes(container));
    const enum dti_status status =
        dti_digest_files(container, digests, reading->show, reading->context, reterr);
    dti_reading_end_alone(reading);
    if (status == DTI_OK)
        *ret_digests = digests;
    else
        free(digests);
    return status;
}

enum { AT_ONCE = 256 };

static bool is_read(const struct dti_tensor *tensor)
{
    return tensor->format && !tensor->refusal;
}

uint64_t dti_reading_bytes(const struct dti_tensor *tensor)
{
    return is_read(tensor) ? dti_scan_bytes_of(tensor) : 0;
}

enum dti_status dti_reading_stats(const struct dti_reading *reading,
                                  struct dti_container *container,
                                  const struct dti_tensor *const *tensors, size_t count, bool drawn,
                                  dti_take_stats_fn *take, void *context, struct dti_error *reterr)
{
    struct dti_reading own = *reading;
    struct dti_tensor_stats *const group = malloc(AT_ONCE * sizeof *group);
    struct dti_histogram *const histograms = malloc(drawn ? AT_ONCE * sizeof *histograms : 1);
    size_t places[AT_ONCE], size = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += dti_reading_bytes(tensors[i]);
    if (own.list)
        own.list(own.context, tensors, count);
    enum dti_status status =
        group && histograms ? dti_reading_start(&own, bytes, reterr) : dti_no_memory(reterr);
    const bool begun = status == DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (is_read(tensors[i])) {
            memset(&group[size], 0, sizeof group[size]);
            group[size].tensor = (size_t)(tensors[i] - container->tensors);
            group[size].histogram = drawn ? &histograms[size] : NULL;
            places[size++] = i;
        } else {
            status = take(context, i, NULL, reterr);
        }
        if (size < AT_ONCE && i + 1 < count)
            continue;
        if (status == DTI_OK)
            status = dti_scan_stats(container, group, size, &own.options, reterr);
        for (size_t k = 0; k < size && status == DTI_OK; k++) {
            own.done += dti_scan_bytes_of(tensors[places[k]]);
            status = take(context, places[k], &group[k], reterr);
        }
        size = 0;
    }
    if (begun)
        dti_reading_end(&own);
    free(group);
    free(histograms);
    return status;
}
