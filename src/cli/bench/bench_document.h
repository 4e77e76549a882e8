/* SPDX-License-Identifier: MIT
 *
 * A document of `bench` with those of its members that say what was measured. */
#ifndef DTINFO_CLI_BENCH_DOCUMENT_H
#define DTINFO_CLI_BENCH_DOCUMENT_H

#include "cli/bench/bench_records.h"

struct bench_document_head {
    char schema[BENCH_FIELD], benchmark[BENCH_FIELD], model[BENCH_FIELD], level[BENCH_FIELD];
    char data[BENCH_FIELD], cache[BENCH_FIELD], round[BENCH_FIELD], overflow[BENCH_FIELD];
    bool with_alloc;
};

struct bench_document_result {
    char src[BENCH_FIELD], dst[BENCH_FIELD], place[BENCH_FIELD], device[BENCH_FIELD];
    uint64_t src_bytes, size_bytes, elements, m, n, k, threads;
};

struct bench_document_candidate {
    size_t result;
    char role[BENCH_FIELD], dtype[BENCH_FIELD], engine[BENCH_FIELD];
    bool limit, loss_report;
    double median, low, high; /* 0: not there */
};

struct bench_document {
    struct bench_document_head head;
    struct bench_document_result *results;
    struct bench_document_candidate *candidates;
    size_t result_count, result_capacity, candidate_count, candidate_capacity;
};

/* Reads one document; *ret_problem (static, no full stop) and *ret_at, the byte, say why it is
 * none. Members may be in any order; those that are not known are passed over. The document must be
 * freed in any case. */
bool dti_bench_document_read(struct bench_document *ret, const char *text, size_t length,
                             const char **ret_problem, size_t *ret_at);
void dti_bench_document_free(struct bench_document *document);

#endif
