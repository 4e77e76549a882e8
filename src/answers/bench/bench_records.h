/* SPDX-License-Identifier: MIT
 *
 * Times of `bench` by label. Records with the same label measured the same thing; kernels and
 * levels may differ. */
#ifndef ANSWERS_BENCH_BENCH_RECORDS_H
#define ANSWERS_BENCH_BENCH_RECORDS_H

#include "answers/document.h"
#include "bench/measure/bench.h"
#include "util/error.h"

enum {
    DTI_BENCH_LABEL = 384,
    DTI_BENCH_RECORDS_MAX = 8192,
    DTI_BENCH_WORD = 64 /* longer words are cut */
};

/* What was measured. NULL, 0 and false for members that do not apply. */
struct dti_bench_subject {
    const char *benchmark, *src, *dst, *role, *dtype, *engine, *device, *place;
    const char *cache, *data, *round, *overflow;
    bool limit, loss_report, with_alloc;
    uint64_t bytes, elements, m, n, k,
        threads;              /* the size: m, n and k; else bytes; else elements */
    double median, low, high; /* seconds per pass */
};

struct dti_bench_record {
    char label[DTI_BENCH_LABEL];  /* "cast fp32 -> bf16, 4096 bytes, 1 thread" */
    struct dti_bench_figure time; /* seconds per pass */
    size_t partner;               /* index in the other run, or SIZE_MAX */
};

struct dti_bench_records {
    struct dti_bench_record *rows;
    size_t count, capacity;
    char model[DTI_BENCH_WORD],
        level[DTI_BENCH_WORD]; /* machine's CPU and level; empty if unknown */
};

/* Appends a record unless it is a limit or its time is invalid. name: its source, for the error
 * message if there are too many (DTI_BAD_INPUT). */
enum dti_status dti_bench_record(struct dti_bench_records *records,
                                 const struct dti_bench_subject *subject, const char *name,
                                 struct dti_error *reterr);
/* bench_document.c: parses untrusted documents. Appends the measurements of one document, or of
 * several, one per line, except limits. Fails with DTI_BAD_INPUT if the text is not a document, or
 * has another schema (dti_schema_bench, dti_schema_bench_table) or benchmark. `name` is for
 * messages, already quoted. */
enum dti_status dti_bench_records_read(struct dti_bench_records *records, const char *text,
                                       size_t length, const struct dti_document *schema,
                                       const char *benchmark, const char *name,
                                       struct dti_error *reterr);
void dti_bench_records_free(struct dti_bench_records *records);

/* Two runs side by side: the measurements they share, the differences, and whether these exceed the
 * intervals. */
struct dti_bench_comparison {
    const char *path; /* path of the other document */
    bool gate;        /* a regression makes the answer DTI_ANSWER_NO */
    double allowed;   /* accepted slowdown: 0.1 */
    struct dti_bench_records then, now;
    bool other_machine;
};

/* Finds each record's partner with the same label in the other run; SIZE_MAX if there is none.
 * Returns the number of pairs. */
size_t dti_bench_match(struct dti_bench_records *then, struct dti_bench_records *now);
/* The partner of a record of this run that has one. */
const struct dti_bench_record *dti_bench_partner(const struct dti_bench_comparison *comparison,
                                                 const struct dti_bench_record *now);

/* The ratio now / then, with the interval that follows from both intervals. */
void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now);
/* Whether it is slower by more than allowed, beyond the uncertainty; always false without a
 * gate. */
bool dti_bench_is_regression(const struct dti_bench_comparison *comparison,
                             const struct dti_bench_figure *ratio);

/* After measuring: matches both runs. */
struct dti_bench_outcome {
    size_t pairs;
    size_t unknown; /* number of pairs with too few samples in one run; only with a gate */
    bool slower;    /* with a gate */
};
struct dti_bench_outcome dti_bench_compare(struct dti_bench_comparison *comparison);

#endif
