/* SPDX-License-Identifier: MIT
 *
 * The buffers of a measurement of a cast, and how its candidates use them. */
#ifndef DTINFO_BENCH_CAST_BUFFERS_H
#define DTINFO_BENCH_CAST_BUFFERS_H

#include <stdatomic.h>

#include "bench/measure/arena.h"
#include "dtinfo/bench_cast.h"

/* Pairs of buffers side by side, in sets that follow each other. */
struct dti_pair {
    unsigned char *data;
    size_t set_size, second; /* from one set to the next; from the first of a pair to the second */
};

struct dti_cast_buffers {
    struct dti_arena arena;
    size_t sets;
    size_t elements, src_bytes, dst_bytes;
    struct dti_pair cast; /* source and result */
    struct dti_pair copy; /* of no particular content, large enough for copies and shapes */
};

/* Sets elements, src_bytes and dst_bytes: as many elements as the wanted bytes hold. */
enum dti_status dti_cast_buffers_sizes(struct dti_cast_buffers *buffers,
                                       const struct dti_bench_cast *request,
                                       const struct dti_plan *plan, struct dti_error *reterr);
/* Finds the sizes, takes the memory and fills the sources; the results hold rubbish. */
enum dti_status dti_cast_buffers_new(struct dti_cast_buffers *ret,
                                     const struct dti_bench_cast *request,
                                     const struct dti_plan *plan, struct dti_team *team,
                                     struct dti_error *reterr);
/* Fails as dti_cast_buffers_new() would for want of elements or of memory. */
enum dti_status dti_cast_buffers_check(const struct dti_bench_cast *request,
                                       const struct dti_plan *plan, struct dti_error *reterr);
void dti_cast_buffers_free(struct dti_cast_buffers *buffers);

/* The share of n things that falls to a member, in multiples of `grain`. */
struct dti_share {
    size_t first, count;
};
struct dti_share dti_share_of(size_t n, size_t grain, size_t member, size_t size);

/* Calls a job in the team, or here where there is none. */
void dti_in_team(struct dti_team *team, void (*job)(void *context, size_t member, size_t size),
                 void *context);

/* A cast as a candidate; aligned so that equal candidates cost the same. */
struct dti_cast_pass {
    _Alignas(64) const struct dti_plan *plan;
    const struct dti_cast_buffers *buffers;
    enum dti_stores stores;
    bool loss;
    atomic_bool failed;
};
void dti_cast_pass_run(void *context, size_t set, size_t member, size_t size);

/* A copy, or a kernel of the cast's shape, as a candidate. */
struct dti_copy_pass {
    const struct dti_copy *copy;
    const struct dti_cast_buffers *buffers;
    size_t n; /* elements of the copy's row */
};
void dti_copy_pass_run(void *context, size_t set, size_t member, size_t size);

/* Casts once more and compares a part of the result with the reference; DTI_BUG when they differ.
 */
enum dti_status dti_cast_pass_verify(struct dti_cast_pass *pass, struct dti_team *team,
                                     uint64_t seed, struct dti_error *reterr);

/* Fills memory with a pool, again and again. */
void dti_bench_repeat(unsigned char *to, size_t bytes, const unsigned char *pool,
                      size_t pool_bytes);

#endif
