/* SPDX-License-Identifier: MIT
 *
 * Our casts as a shared library for peers.py, which measures them and those of other libraries
 * interleaved in one process, over the same buffers. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/bench_table.h"
#include "util/run/clock.h"

struct dti_peer {
    struct dti_plan *plan;
    struct dti_team *team;
    struct dti_format src;
};

struct dti_peer *dti_peer_open(const char *src, const char *dst, size_t threads);
void dti_peer_close(struct dti_peer *peer);
void dti_peer_describe(const struct dti_peer *peer, char *text, size_t size);
void dti_peer_fill(const struct dti_peer *peer, void *array, size_t n, uint64_t seed);
uint64_t dti_peer_cast(const struct dti_peer *peer, void *dst, const void *src, size_t n,
                       uint64_t passes);

static enum dti_status open_peer(struct dti_peer *peer, const char *src, const char *dst,
                                 size_t threads)
{
    struct dti_request request = {.cast = {.policy = {.round = DTI_ROUND_NEAREST_EVEN}}};
    enum dti_level level = DTI_LEVEL_SCALAR;
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), &level, NULL);
    if (status == DTI_OK)
        status = dti_format_lookup(src, &request.src, NULL, NULL);
    if (status == DTI_OK)
        status = dti_format_lookup(dst, &request.cast.dst, NULL, NULL);
    if (status == DTI_OK)
        status = dti_plan_new(&peer->plan, &request, level, NULL);
    if (status == DTI_OK && threads > 1)
        status = dti_team_new(&peer->team, threads, DTI_WAIT_SLEEP, false, NULL);
    peer->src = request.src;
    return status;
}

/* Returns NULL if the cast is not available. Integer destinations truncate toward zero, as in the
 * other libraries. */
struct dti_peer *dti_peer_open(const char *src, const char *dst, size_t threads)
{
    struct dti_peer *const peer = calloc(1, sizeof *peer);
    if (peer && open_peer(peer, src, dst, threads) != DTI_OK) {
        dti_peer_close(peer);
        return NULL;
    }
    return peer;
}

void dti_peer_close(struct dti_peer *peer)
{
    if (!peer)
        return;
    dti_team_free(peer->team);
    dti_plan_free(peer->plan);
    free(peer);
}

void dti_peer_describe(const struct dti_peer *peer, char *text, size_t size)
{
    char whole[DTI_PLAN_TEXT_SIZE];
    (void)dti_plan_describe(peer->plan, whole);
    const size_t length = strlen(whole) < size ? strlen(whole) : size - 1;
    memcpy(text, whole, length);
    text[length] = '\0';
}

/* Fills the array with approximately normally distributed numbers in the range of every dtype,
 * since libraries differ beyond it. The first 2^16 are repeated. */
void dti_peer_fill(const struct dti_peer *peer, void *array, size_t n, uint64_t seed)
{
    enum { POOL = 1 << 16 };
    const size_t first = n < POOL ? n : POOL;
    uint64_t pool_bytes = 0, bytes = 0;
    dti_bench_data_fill(array, first, &peer->src, &peer->src, DTI_BENCH_NORMAL, seed);
    (void)dti_plan_src_bytes(peer->plan, first, &pool_bytes);
    (void)dti_plan_src_bytes(peer->plan, n, &bytes);
    for (uint64_t done = pool_bytes; done < bytes; done += pool_bytes) {
        const uint64_t left = bytes - done;
        memcpy((char *)array + done, array, (size_t)(left < pool_bytes ? left : pool_bytes));
    }
}

/* Returns the nanoseconds of `passes` passes, or 0 if one failed. */
uint64_t dti_peer_cast(const struct dti_peer *peer, void *dst, const void *src, size_t n,
                       uint64_t passes)
{
    const uint64_t start = dti_clock_now();
    for (uint64_t pass = 0; pass < passes; pass++) {
        const enum dti_status status =
            peer->team ? dti_plan_run_team(peer->plan, peer->team, dst, src, n, 0, DTI_STORES_AUTO,
                                           NULL, NULL)
                       : dti_plan_run(peer->plan, dst, src, n, 0, DTI_STORES_AUTO, NULL, NULL);
        if (status != DTI_OK)
            return 0;
    }
    return dti_clock_now() - start;
}
