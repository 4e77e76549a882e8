/* SPDX-License-Identifier: MIT
 *
 * Reading the data of files: see reading.h. */
#include "answers/reading.h"

#include <stdlib.h>

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
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
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
