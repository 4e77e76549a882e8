/* SPDX-License-Identifier: MIT
 *
 * Runs a plan: one kernel processes a whole run; several process it tile by tile, so that
 * intermediate results stay in the first cache. */
#include <pthread.h>
#include <string.h>

#include "convert/device_parts.h"

enum {
    MEMBER_BYTES = 1 << 18, /* of source and destination: less is not worth a thread's while */
    DEVICE_MEMBER_BYTES = 1 << 24, /* the same, where a device does the work */
    UNIT_TILES = 16,               /* parts of large arrays begin at whole pages */
    PIECE = 1024, /* elements between two steps: enough for a call, and far from 48 KiB */
};

static bool streams(const struct dti_plan *plan, enum dti_stores stores, size_t n)
{
    const struct dti_chain *const chain = &plan->chain;
    const unsigned bits = chain->step[0].src_bits + chain->step[chain->count - 1].dst_bits;
    return dti_stores_stream(stores, dti_tile_bytes(n, bits));
}

/* While the later steps of a piece work in the first cache, memory would rest, and the hardware's
 * own prefetching loses the thread: so the next piece is fetched, a share before each step. */
static enum dti_status run_pieces(const struct dti_plan *plan, unsigned char *dst,
                                  const unsigned char *src, size_t n, uint64_t index, bool stream,
                                  struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const unsigned src_bits = chain->step[0].src_bits;
    const unsigned dst_bits = chain->step[chain->count - 1].dst_bits;
    const size_t ahead = dti_tile_bytes(PIECE, src_bits), share = ahead / chain->count;
    _Alignas(64) uint64_t between[2][PIECE];
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t part = n - at < PIECE ? n - at : PIECE;
        const unsigned char *const begin = src + dti_tile_bytes(at, src_bits);
        const void *from = begin;
        for (size_t i = 0; i < chain->count; i++) {
            const bool last = i + 1 == chain->count;
            void *const to = last ? dst + dti_tile_bytes(at, dst_bits) : (void *)between[i % 2];
            dti_prefetch(begin + ahead + i * share, last ? ahead - i * share : share);
            const enum dti_status status =
                dti_step_run(&chain->step[i], to, from, part, index + at, stream && last, reterr);
            if (status != DTI_OK)
                return status;
            from = to;
        }
    }
    return DTI_OK;
}

enum dti_status dti_plan_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                             uint64_t index, enum dti_stores stores, struct dti_loss *loss,
                             struct dti_error *reterr)
{
    const bool stream = streams(plan, stores, n);
    enum dti_status status;
    if (plan->device && n > 0 && dti_device_run(plan, dst, src, n, index, loss, &status, reterr))
        return status;
    if (loss)
        status = dti_plan_run_loss(plan, dst, src, n, index, stream, loss, reterr);
    else if (plan->chain.count == 1)
        status = dti_step_run(&plan->chain.step[0], dst, src, n, index, stream, reterr);
    else
        status = run_pieces(plan, dst, src, n, index, stream, reterr);
    if (stream)
        dti_stores_order();
    return status;
}

/* What the members of a team share. */
struct run_work {
    const struct dti_plan *plan;
    unsigned char *dst;
    const unsigned char *src;
    unsigned src_bits, dst_bits;
    size_t n, members; /* that take part */
    uint64_t index;
    enum dti_stores stores;
    pthread_mutex_t mutex; /* over the rest */
    struct dti_loss *loss;
    enum dti_status status; /* of the first member that failed */
    size_t failed;
    struct dti_error *reterr;
};

/* Where a member's part begins: whole tiles, and whole pages of large arrays. */
static size_t part_begin(const struct run_work *work, size_t member)
{
    const size_t tiles = work->n / DTI_TILE + (work->n % DTI_TILE != 0);
    const size_t unit = tiles / work->members >= 4 * UNIT_TILES ? UNIT_TILES : 1;
    const size_t units = tiles / unit + (tiles % unit != 0);
    const size_t more = units % work->members;
    const size_t begin = units / work->members * member + (member < more ? member : more);
    return begin * unit < tiles ? begin * unit * DTI_TILE : work->n;
}

static void run_member(void *context, size_t member, size_t size)
{
    struct run_work *const work = context;
    (void)size;
    if (member >= work->members)
        return;
    const size_t begin = part_begin(work, member), end = part_begin(work, member + 1);
    if (begin >= end)
        return;
    struct dti_loss loss;
    struct dti_error error;
    dti_loss_init(&loss);
    const enum dti_status status =
        dti_plan_run(work->plan, work->dst + dti_tile_bytes(begin, work->dst_bits),
                     work->src + dti_tile_bytes(begin, work->src_bits), end - begin,
                     work->index + begin, work->stores, work->loss ? &loss : NULL, &error);
    pthread_mutex_lock(&work->mutex);
    if (work->loss)
        dti_loss_merge(work->loss, &loss);
    if (status != DTI_OK && member < work->failed) {
        work->status = status;
        work->failed = member;
        if (work->reterr)
            *work->reterr = error;
    }
    pthread_mutex_unlock(&work->mutex);
}

enum dti_status dti_plan_run_team(const struct dti_plan *plan, struct dti_team *team, void *dst,
                                  const void *src, size_t n, uint64_t index, enum dti_stores stores,
                                  struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    struct run_work work = {.plan = plan,
                            .dst = dst,
                            .src = src,
                            .src_bits = chain->step[0].src_bits,
                            .dst_bits = chain->step[chain->count - 1].dst_bits,
                            .n = n,
                            .members = team ? dti_team_size(team) : 1,
                            .index = index,
                            .loss = loss,
                            .status = DTI_OK,
                            .failed = SIZE_MAX,
                            .reterr = reterr};
    const bool device = plan->device && dti_runner_is_on(plan->runner);
    const size_t worth = dti_tile_bytes(n, work.src_bits + work.dst_bits) /
                             (device ? DEVICE_MEMBER_BYTES : MEMBER_BYTES) +
                         1;
    if (device && work.members > DTI_RUNNER_LANES)
        work.members = DTI_RUNNER_LANES;
    if (work.members > worth)
        work.members = worth;
    if (work.members == 1)
        return dti_plan_run(plan, dst, src, n, index, stores, loss, reterr);
    work.stores = streams(plan, stores, n) ? DTI_STORES_STREAMED : DTI_STORES_CACHED;
    pthread_mutex_init(&work.mutex, NULL);
    dti_team_run(team, run_member, &work);
    pthread_mutex_destroy(&work.mutex);
    return work.status;
}
