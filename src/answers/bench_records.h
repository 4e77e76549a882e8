/* SPDX-License-Identifier: MIT
 *
 * Times of `bench` by what they are of. Two records with the same label measured the same, as far
 * as documents tell; how it was computed (kernels, levels) may differ. */
#ifndef DTINFO_ANSWERS_BENCH_RECORDS_H
#define DTINFO_ANSWERS_BENCH_RECORDS_H

#include "dtinfo/bench.h"
#include "dtinfo/error.h"

enum {
    DTI_BENCH_LABEL = 384,
    DTI_BENCH_RECORDS_MAX = 8192,
    DTI_BENCH_WORD = 64 /* longer words are cut */
};

/* What was measured. NULL, 0 and false where it means nothing. */
struct dti_bench_subject {
    const char *benchmark, *src, *dst, *role, *dtype, *engine, *device, *place;
    const char *cache, *data, *round, *overflow;
    bool limit, loss_report, with_alloc;
    uint64_t bytes, elements, m, n, k,
        threads;              /* of these sizes the first that is there: m, bytes */
    double median, low, high; /* seconds of a pass */
};

struct dti_bench_record {
    char label[DTI_BENCH_LABEL];  /* "cast fp32 -> bf16, 4096 bytes, 1 thread" */
    struct dti_bench_figure time; /* seconds of a pass */
    size_t partner;               /* of a comparison */
};

struct dti_bench_records {
    struct dti_bench_record *rows;
    size_t count, capacity;
    char model[DTI_BENCH_WORD], level[DTI_BENCH_WORD]; /* of the machine; empty when unknown */
};

/* Appends it unless it is a limit, or its time is none that can be. name: where it is from, for the
 * message when there are too many (DTI_BAD_INPUT). */
enum dti_status dti_bench_record(struct dti_bench_records *records,
                                 const struct dti_bench_subject *subject, const char *name,
                                 struct dti_error *reterr);
void dti_bench_records_free(struct dti_bench_records *records);

#endif
