/* SPDX-License-Identifier: MIT
 *
 * Reading the data of files: see reading.h. */
#include "answers/reading.h"

#include <stdlib.h>
#include <string.h>

#include "answers/amounts.h"
#include "util/run/allocate.h"

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
    const size_t threads = reading->threads > 0
                               ? reading->threads
                               : dti_amount_threads_within(bytes, reading->most_threads);
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
    struct dti_digest *const digests = dti_calloc(dti_digest_count(container) + 1, sizeof *digests);
    if (!digests)
        return dti_no_memory(reterr);
    dti_reading_start_alone(reading, dti_digest_input_bytes(container));
    enum dti_status status =
        dti_digest_files(container, digests, reading->show, reading->context, reterr);
    if (status == DTI_OK)
        status = dti_inputs_unchanged(reterr);
    dti_reading_end_alone(reading);
    if (status == DTI_OK)
        *ret_digests = digests;
    else
        dti_free(digests);
    return status;
}

enum { AT_ONCE = 512 };

uint64_t dti_reading_bytes(const struct dti_tensor *tensor)
{
    return dti_tensor_is_read(tensor) ? dti_scan_bytes_of(tensor) : 0;
}

/* Tensors read together. */
struct reading_group {
    struct dti_tensor_stats stats[AT_ONCE];
    struct dti_tensor_loss losses[AT_ONCE];
    size_t places[AT_ONCE], size;
    struct dti_histogram *histograms;   /* one each, or NULL */
    struct dti_loss_summary *summaries; /* as_count each */
};

static struct reading_group *new_group(const struct dti_reading *reading, bool drawn)
{
    struct reading_group *const group = dti_calloc(1, sizeof *group);
    if (!group)
        return NULL;
    group->histograms = drawn ? dti_malloc(AT_ONCE * sizeof *group->histograms) : NULL;
    group->summaries = dti_calloc(AT_ONCE * reading->as_count + 1, sizeof *group->summaries);
    if (group->summaries && (group->histograms || !drawn))
        return group;
    dti_free(group->histograms);
    dti_free(group->summaries);
    dti_free(group);
    return NULL;
}

static void free_group(struct reading_group *group)
{
    if (!group)
        return;
    dti_free(group->histograms);
    dti_free(group->summaries);
    dti_free(group);
}

/* Estimates losses for one dtype at a time; each pass reads the tensors again. */
static enum dti_status read_losses(struct dti_reading *reading, struct dti_container *container,
                                   struct reading_group *group, uint64_t bytes,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < group->size; i++)
        group->losses[i].tensor = group->stats[i].tensor;
    for (size_t as = 0; as < reading->as_count && status == DTI_OK; as++) {
        status = dti_scan_losses(container, group->losses, group->size, &reading->as[as],
                                 &reading->options, reterr);
        for (size_t i = 0; i < group->size && status == DTI_OK; i++)
            dti_loss_summarize(&group->losses[i].loss,
                               &group->summaries[i * reading->as_count + as]);
        reading->done += bytes;
    }
    return status;
}

static enum dti_status read_group(struct dti_reading *reading, struct dti_container *container,
                                  struct reading_group *group, dti_take_stats_fn *take,
                                  void *context, struct dti_error *reterr)
{
    uint64_t bytes = 0;
    enum dti_status status =
        dti_scan_stats(container, group->stats, group->size, &reading->options, reterr);
    for (size_t i = 0; i < group->size; i++)
        bytes += dti_scan_bytes_of(&container->tensors[group->stats[i].tensor]);
    reading->done += bytes;
    if (status == DTI_OK)
        status = read_losses(reading, container, group, bytes, reterr);
    for (size_t i = 0; i < group->size && status == DTI_OK; i++)
        status = take(context, group->places[i], &group->stats[i],
                      &group->summaries[i * reading->as_count], reterr);
    group->size = 0;
    return status;
}

enum dti_status dti_reading_stats(const struct dti_reading *reading,
                                  struct dti_container *container,
                                  const struct dti_tensor *const *tensors, size_t count, bool drawn,
                                  dti_take_stats_fn *take, void *context, struct dti_error *reterr)
{
    struct dti_reading own = *reading;
    struct reading_group *const group = new_group(reading, drawn);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (1 + own.as_count) * dti_reading_bytes(tensors[i]);
    if (own.list)
        own.list(own.context, tensors, count);
    enum dti_status status = group ? dti_reading_start(&own, bytes, reterr) : dti_no_memory(reterr);
    const bool begun = status == DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (dti_tensor_is_read(tensors[i])) {
            struct dti_tensor_stats *const stats = &group->stats[group->size];
            memset(stats, 0, sizeof *stats);
            stats->tensor = (size_t)(tensors[i] - container->tensors);
            stats->histogram = drawn ? &group->histograms[group->size] : NULL;
            group->places[group->size++] = i;
        } else {
            status = take(context, i, NULL, NULL, reterr);
        }
        if (status == DTI_OK && (group->size == AT_ONCE || i + 1 == count))
            status = read_group(&own, container, group, take, context, reterr);
    }
    if (begun)
        dti_reading_end(&own);
    free_group(group);
    return status == DTI_OK ? dti_inputs_unchanged(reterr) : status;
}
