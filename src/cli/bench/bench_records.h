/* SPDX-License-Identifier: MIT
 *
 * What was measured, as the documents of `bench` tell: times by what they are of. Documents are
 * untrusted. */
#ifndef DTINFO_CLI_BENCH_RECORDS_H
#define DTINFO_CLI_BENCH_RECORDS_H

#include "dtinfo/bench.h"
#include "dtinfo/error.h"

enum {
    BENCH_RECORD_LABEL = 384,
    BENCH_RECORDS_MAX = 8192,
    BENCH_FIELD = 64 /* longer texts are cut */
};

struct bench_record {
    char label[BENCH_RECORD_LABEL]; /* "fp32 -> bf16, 4096 bytes, 1 thread, hot: cast" */
    struct dti_bench_figure time;   /* seconds of a pass */
    size_t partner;                 /* for those who match records */
};

struct bench_records {
    struct bench_record *rows;
    size_t count, capacity;
    char model[BENCH_FIELD], level[BENCH_FIELD]; /* of the machine; empty when unknown */
};

/* Appends what a document has, or several, one on each line: their subjects, that is, not the
 * limits beside them. Fails with DTI_BAD_INPUT when it is none, or not of that schema and
 * benchmark. `name` is for messages, ready to be shown. */
enum dti_status dti_bench_records_read(struct bench_records *records, const char *text,
                                       size_t length, const char *schema, const char *benchmark,
                                       const char *name, struct dti_error *reterr);
void dti_bench_records_free(struct bench_records *records);

#endif
