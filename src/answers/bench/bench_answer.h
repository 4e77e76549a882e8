/* SPDX-License-Identifier: MIT
 *
 * The results of `bench`, with facts about the machine and the method. */
#ifndef ANSWERS_BENCH_BENCH_ANSWER_H
#define ANSWERS_BENCH_BENCH_ANSWER_H

#include "answers/bench/bench_records.h"
#include "bench/measure/bench_table.h"
#include "report/json.h"

/* Facts of the machine that a figure depends on. */
struct dti_bench_host {
    char model[96];    /* of the CPU; empty when unknown */
    char governor[32]; /* of its frequency */
    double load;       /* average of the last minute; less than 0 when unknown */
};
void dti_bench_host_read(struct dti_bench_host *ret);

/* The setup of all measurements, in the words of documents; data, round and overflow are for casts.
 * */
struct dti_bench_setup {
    const struct dti_bench_kind *kind;
    const char *data, *cache, *round, *overflow; /* "normal", "hot", "nearest-even", "native" */
    const char *engine;                          /* the only one, or NULL */
    const char *a, *b;                           /* files of operands, as given, or NULL */
    uint64_t seed, nanoseconds;                  /* nanoseconds: for each measurement */
    bool loss, with_alloc;
    bool samples;         /* documents include every sample */
    enum dti_level level; /* the highest */
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
    enum dti_bench_place place; /* the reported rounds */
};
/* Whether rounds at a place are reported: there are enough of them, or more than at other places.
 * */
bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place);
/* The rate of a cast's item divided by that of the best item of a role: NULL if there is none, else
 * ret. */
const struct dti_bench_figure *dti_bench_share(struct dti_bench_figure *ret,
                                               const struct dti_bench_table *table, size_t at,
                                               const char *role, enum dti_bench_place place);

/* Appends the times of the measurements at their place, without their limits. */
enum dti_status dti_bench_records_add(struct dti_bench_records *records,
                                      const struct dti_bench_result *result,
                                      struct dti_error *reterr);

/* The kernel number `at` of all families, one after another; false if there are no more. */
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

/* n alone: bytes or elements, which may be arranged in m rows; all three: a product of matrices. */
struct dti_bench_size {
    uint64_t m, n, k;
    char label[DTI_BENCH_SIZE_LABEL]; /* "64 MiB", "2000x2000" */
};

struct dti_bench_device {
    char id[DTI_DEVICE_ID_SIZE];
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* of casts on a device */
};

/* Everything is measured with every number of threads, on every device, at every size. */
struct dti_bench_job {
    struct dti_bench_setup setup;
    struct dti_bench_request request; /* except for what differs between measurements, */
    struct dti_bench_cast cast;       /* with the levels of all measurements */
    struct dti_bench_pair pairs[DTI_BENCH_PAIRS_MAX]; /* casts, */
    enum dti_dtype dtypes[DTI_BENCH_DTYPES_MAX];      /* all others, */
    enum dti_block blocks[DTI_BENCH_DTYPES_MAX];      /* and block formats */
    struct dti_bench_size sizes[DTI_BENCH_SIZES_MAX];
    bool usual_sizes; /* sizes that do not fit in memory may be skipped, except for casts */
    size_t threads[DTI_BENCH_THREADS_MAX];
    struct dti_bench_device devices[DTI_BENCH_DEVICES_MAX];
    size_t pair_count, size_count, thread_count, device_count;
};

/* Receives measurements; the place of a result is not set. */
struct dti_bench_sink {
    void *context;
    /* The measurements of a cast begin, before there is a table. */
    enum dti_status (*begin)(void *context, const struct dti_bench_result *first,
                             struct dti_error *reterr);
    enum dti_status (*done)(void *context, const struct dti_bench_result *result,
                            struct dti_error *reterr);
    void (*left_out)(void *context, const struct dti_bench_result *what,
                     const struct dti_error *why);
};

/* Reports unsupported measurements before the first one, then measures everything. */
enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr);

#endif
