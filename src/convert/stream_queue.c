/* SPDX-License-Identifier: MIT
 *
 * Blocks of a stream, read, worked on and finished. */
#include "dtinfo/stream_queue.h"

#include "convert/chunk_order.h"

struct stream_run {
    const struct dti_stream_queue *queue;
    size_t members;
    struct dti_chunk_order order;
    pthread_mutex_t taking; /* over the next block: */
    uint64_t number;
    bool at_end;
};

static bool take(struct stream_run *run, size_t member, uint64_t *ret_number)
{
    const struct dti_stream_queue *const queue = run->queue;
    struct dti_error error;
    bool any = false;
    pthread_mutex_lock(&run->taking);
    if (!run->at_end && !dti_chunk_order_stopped(&run->order)) {
        const enum dti_status status = queue->take(queue->context, member, &any, &error);
        if (status != DTI_OK)
            dti_chunk_order_fail(&run->order, run->number, status, &error);
        any = any && status == DTI_OK;
        run->at_end = !any;
        *ret_number = run->number;
        run->number += any;
    }
    pthread_mutex_unlock(&run->taking);
    return any;
}

/* Whether the member continues: not after an error of its own, nor of an earlier block. */
static bool do_block(struct stream_run *run, size_t member, uint64_t number)
{
    const struct dti_stream_queue *const queue = run->queue;
    struct dti_error error;
    enum dti_status status = queue->work(queue->context, member, &error);
    if (status == DTI_OK) {
        if (!dti_chunk_order_await(&run->order, number))
            return false;
        status = queue->finish(queue->context, member, &error);
    }
    if (status != DTI_OK)
        dti_chunk_order_fail(&run->order, number, status, &error);
    else
        dti_chunk_order_done(&run->order, number, 1, true);
    return status == DTI_OK;
}

/* For dti_team_run(). */
static void run_member(void *context, size_t member, size_t size)
{
    struct stream_run *const run = context;
    uint64_t number = 0;
    (void)size;
    if (member > 0)
        dti_chunk_order_heed_sigpipe();
    while (member < run->members && take(run, member, &number) && do_block(run, member, number))
        continue;
}

enum dti_status dti_stream_queue_run(const struct dti_stream_queue *queue, struct dti_team *team,
                                     struct dti_error *reterr)
{
    const size_t most = team ? dti_team_size(team) : 1;
    const bool fewer = queue->members > 0 && queue->members < most;
    struct stream_run run = {.queue = queue, .members = fewer ? queue->members : most};
    pthread_mutex_init(&run.taking, NULL);
    dti_chunk_order_init(&run.order, NULL, NULL);
    if (run.members > 1)
        dti_team_run(team, run_member, &run);
    else
        run_member(&run, 0, 1);
    pthread_mutex_destroy(&run.taking);
    return dti_chunk_order_end(&run.order, reterr);
}
