/* SPDX-License-Identifier: MIT
 *
 * One sample: some passes of one candidate by all members of a team, timed from a common start, and
 * whether anything took time from them. */
#ifndef DTINFO_BENCH_SAMPLE_H
#define DTINFO_BENCH_SAMPLE_H

#include <stdatomic.h>

#include "dtinfo/bench.h"

/* The measurement of one member, on its own cache line. */
struct dti_member_sample {
    _Alignas(64) uint64_t start, end;
    long preemptions;
};

struct dti_sampler {
    struct dti_team *team; /* NULL: this thread alone */
    size_t size;
    struct dti_member_sample *members;
    /* of the sample being taken */
    const struct dti_bench_candidate *candidate;
    size_t first_set;
    uint64_t passes;
    atomic_size_t arrived;
    bool failed; /* a device, while it timed its passes */
};

enum dti_status dti_sampler_init(struct dti_sampler *ret, struct dti_team *team,
                                 struct dti_error *reterr);
void dti_sampler_free(struct dti_sampler *sampler);

/* Takes a sample; *first_set is the set of the first pass and advances. Returns the nanoseconds of
 * all passes, at least 1. */
uint64_t dti_sampler_take(struct dti_sampler *sampler, const struct dti_bench_candidate *candidate,
                          uint64_t passes, size_t *first_set, bool *ret_disturbed);

/* Nanoseconds of a round trip of a cache line between the first member and the second or the last,
 * whichever is more; 0 with one thread. */
double dti_sampler_round_trip(struct dti_sampler *sampler);

#endif
