/* SPDX-License-Identifier: MIT
 *
 * Our exp(sin x) and dot products as a shared library for math_peers.py. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/bench_table.h"
#include "kernels/kernel.h"
#include "kernels/math/dot.h"
#include "kernels/math/expsin.h"
#include "util/run/clock.h"

enum { STRIDE = 8, GRAIN = 64 };

struct dti_math_peer {
    struct dti_team *team;
    struct dti_format format;
    const struct dti_expsin_kernel *expsin; /* NULL: a dot product */
    const struct dti_dot_kernel *dot;
    double sums[STRIDE * DTI_THREADS_MAX];
    /* of the current pass */
    const unsigned char *first, *second;
    unsigned char *dst;
    size_t n;
};

struct dti_math_peer *dti_math_peer_open(const char *what, const char *dtype, size_t threads);
void dti_math_peer_close(struct dti_math_peer *peer);
void dti_math_peer_describe(const struct dti_math_peer *peer, char *text, size_t size);
void dti_math_peer_fill(const struct dti_math_peer *peer, void *array, size_t n, uint64_t seed);
uint64_t dti_math_peer_run(struct dti_math_peer *peer, void *dst, const void *first,
                           const void *second, size_t n, uint64_t passes);

static enum dti_status open_peer(struct dti_math_peer *peer, const char *what, const char *dtype,
                                 size_t threads)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), &level, NULL);
    if (status == DTI_OK)
        status = dti_format_lookup(dtype, &peer->format, NULL, NULL);
    if (status == DTI_OK && threads > 1)
        status = dti_team_new(&peer->team, threads, DTI_WAIT_SPIN, false, NULL);
    if (status == DTI_OK && strcmp(what, "expsin") == 0)
        peer->expsin = dti_expsin_find(peer->format.id, level);
    else if (status == DTI_OK)
        peer->dot = dti_dot_find(peer->format.id, level);
    return status;
}

/* what: "expsin" or "dot". dtype: fp64, fp32, fp16 or bf16. Returns NULL if not available. */
struct dti_math_peer *dti_math_peer_open(const char *what, const char *dtype, size_t threads)
{
    struct dti_math_peer *const peer = calloc(1, sizeof *peer);
    if (peer && open_peer(peer, what, dtype, threads) != DTI_OK) {
        dti_math_peer_close(peer);
        return NULL;
    }
    return peer;
}

void dti_math_peer_close(struct dti_math_peer *peer)
{
    if (peer)
        dti_team_free(peer->team);
    free(peer);
}

void dti_math_peer_describe(const struct dti_math_peer *peer, char *text, size_t size)
{
    const char *const name = dti_kernel_title(peer->expsin ? peer->expsin->name : peer->dot->name);
    const size_t length = strlen(name) < size ? strlen(name) : size - 1;
    memcpy(text, name, length);
    text[length] = '\0';
}

/* Fills the array with approximately normally distributed numbers; the first 2^16 are repeated. */
void dti_math_peer_fill(const struct dti_math_peer *peer, void *array, size_t n, uint64_t seed)
{
    enum { POOL = 1 << 16 };
    const size_t width = peer->format.width / 8, pool = (n < POOL ? n : POOL) * width;
    dti_bench_data_fill(array, pool / width, &peer->format, &peer->format, DTI_BENCH_NORMAL, seed);
    for (size_t done = pool; done < n * width; done += pool) {
        const size_t left = n * width - done;
        memcpy((char *)array + done, array, left < pool ? left : pool);
    }
}

static void job(void *context, size_t member, size_t size)
{
    struct dti_math_peer *const peer = context;
    const size_t width = peer->format.width / 8;
    const size_t each = (peer->n / size + GRAIN - 1) / GRAIN * GRAIN;
    const size_t from = each * member < peer->n ? each * member : peer->n;
    const size_t count = member + 1 == size || peer->n - from < each ? peer->n - from : each;
    if (peer->expsin)
        peer->expsin->run(peer->dst + from * width, peer->first + from * width, count);
    else
        peer->sums[member * STRIDE] =
            peer->dot->run(peer->first + from * width, peer->second + from * width, count);
}

/* Returns the nanoseconds of `passes` passes. A dot product is stored at dst as an fp64. */
uint64_t dti_math_peer_run(struct dti_math_peer *peer, void *dst, const void *first,
                           const void *second, size_t n, uint64_t passes)
{
    const size_t threads = peer->team ? dti_team_size(peer->team) : 1;
    const uint64_t start = dti_clock_now();
    peer->first = first;
    peer->second = second;
    peer->dst = dst;
    peer->n = n;
    for (uint64_t pass = 0; pass < passes; pass++) {
        if (peer->team)
            dti_team_run(peer->team, job, peer);
        else
            job(peer, 0, 1);
        double sum = 0;
        for (size_t i = 0; i < threads && peer->dot; i++)
            sum += peer->sums[i * STRIDE];
        if (peer->dot)
            memcpy(dst, &sum, sizeof sum);
    }
    return dti_clock_now() - start;
}
