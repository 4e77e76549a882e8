/* SPDX-License-Identifier: MIT
 *
 * The results of `bench`, with facts about the machine and the method. */
#ifndef ANSWERS_BENCH_BENCH_ANSWER_H
#define ANSWERS_BENCH_BENCH_ANSWER_H

#include "answers/bench/bench_records.h"
#include "bench/measure/bench_table.h"
#include "report/json.h"

/* Properties of the machine that affect a figure. */
struct dti_bench_host {
    char model[96];    /* CPU model; empty if unknown */
    char governor[32]; /* CPU frequency governor */
    double load;       /* load average of the last minute; negative if unknown */
};
void dti_bench_host_read(struct dti_bench_host *ret);

/* The setup of all measurements, as spelled in documents; data, round and overflow apply to
 * casts. */
struct dti_bench_setup {
    const struct dti_bench_kind *kind;
    const char *data, *cache, *round, *overflow; /* "normal", "hot", "nearest-even", "native" */
    const char *engine;                          /* the only engine to measure, or NULL */
    const char *a, *b;                           /* operand files as given, or NULL */
    uint64_t seed, nanoseconds;                  /* nanoseconds: per measurement */
    bool loss, with_alloc;
    bool samples;         /* documents include every sample */
    enum dti_level level; /* the highest level */
    size_t cpus;          /* counted before threads were pinned */
    struct dti_bench_host host;
};

/* One measurement. */
struct dti_bench_result {
    const struct dti_bench_setup *setup;
    const struct dti_bench_request *request;
    const char *size;   /* "64 MiB", "2000x2000" */
    const char *device; /* "cpu", "cuda:0" */
    size_t threads;
    const struct dti_bench_table *table;
    enum dti_bench_place place; /* whose rounds are reported */
};
/* Whether rounds at a place are reported: there are enough of them, or more than at any other
 * place. */
bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place);
/* The rate of item `at`, a cast, divided by that of the best item with the given role: ret, or NULL
 * if there is none. */
const struct dti_bench_figure *dti_bench_share(struct dti_bench_figure *ret,
                                               const struct dti_bench_table *table, size_t at,
                                               const char *role, enum dti_bench_place place);

/* Appends the times measured at the result's place, except those of limits. */
enum dti_status dti_bench_records_add(struct dti_bench_records *records,
                                      const struct dti_bench_result *result,
                                      struct dti_error *reterr);

/* The kernel with index `at` across all families; false past the last one. */
struct dti_bench_kernel {
    const char *name, *operation;
    enum dti_level level;
};
bool dti_bench_kernel_at(size_t at, struct dti_bench_kernel *ret);

/* Documents: begin, then put results as elements, then end; dtinfo.bench/1 for casts and, without a
 * setup, for a list of the kernels. */
extern const struct dti_document dti_schema_bench, dti_schema_bench_table;
const struct dti_document *dti_bench_schema(const struct dti_bench_setup *setup);
void dti_bench_begin(struct dti_json *json, const struct dti_bench_setup *setup);
void dti_bench_put(struct dti_json *json, const struct dti_bench_result *result);
void dti_bench_end(struct dti_json *json, const struct dti_bench_setup *setup,
                   const struct dti_bench_comparison *comparison);

/* Measures everything a job asks for and passes on each result immediately. */
enum {
    DTI_BENCH_PAIRS_MAX = 64,
    DTI_BENCH_SIZES_MAX = 16,
    DTI_BENCH_THREADS_MAX = 16,
    DTI_BENCH_DTYPES_MAX = 16,
    DTI_BENCH_DEVICES_MAX = 17,
    DTI_BENCH_SIZE_LABEL = 96
};

struct dti_bench_pair {
    struct dti_format src, dst;
};

/* n alone: bytes or elements, optionally arranged in m rows; all three: a matrix product. */
struct dti_bench_size {
    uint64_t m, n, k;
    char label[DTI_BENCH_SIZE_LABEL]; /* "64 MiB", "2000x2000" */
};

struct dti_bench_device {
    char id[DTI_DEVICE_ID_SIZE];
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* for casts on a device */
};

/* Every measurement runs with every thread count, on every device, at every size. */
struct dti_bench_job {
    struct dti_bench_setup setup;
    struct dti_bench_request request; /* without the members that differ between measurements */
    struct dti_bench_cast cast;       /* with the levels of all measurements */
    struct dti_bench_pair pairs[DTI_BENCH_PAIRS_MAX]; /* for casts */
    enum dti_dtype dtypes[DTI_BENCH_DTYPES_MAX];      /* for all other kinds */
    enum dti_block blocks[DTI_BENCH_DTYPES_MAX];      /* block formats */
    struct dti_bench_size sizes[DTI_BENCH_SIZES_MAX];
    bool usual_sizes; /* sizes that do not fit in memory may be skipped, except for casts */
    size_t threads[DTI_BENCH_THREADS_MAX];
    struct dti_bench_device devices[DTI_BENCH_DEVICES_MAX];
    size_t pair_count, size_count, thread_count, device_count;
};

/* Receives measurements; result->place is not set. */
struct dti_bench_sink {
    void *context;
    /* Called at the start of a cast's measurements, before there is a table. */
    enum dti_status (*begin)(void *context, const struct dti_bench_result *first,
                             struct dti_error *reterr);
    enum dti_status (*done)(void *context, const struct dti_bench_result *result,
                            struct dti_error *reterr);
    void (*left_out)(void *context, const struct dti_bench_result *what,
                     const struct dti_error *why);
};

/* The first reports unsupported measurements in advance; the second measures everything. */
enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr);

#endif
