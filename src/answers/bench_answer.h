/* SPDX-License-Identifier: MIT
 *
 * What `bench` measured, beside what is to be known of the machine and of the way it was done. */
#ifndef DTINFO_ANSWERS_BENCH_ANSWER_H
#define DTINFO_ANSWERS_BENCH_ANSWER_H

#include "answers/bench_records.h"
#include "dtinfo/bench_table.h"
#include "dtinfo/json.h"

/* Facts of the machine that a figure depends on. */
struct dti_bench_host {
    char model[96];    /* of the CPU; empty when unknown */
    char governor[32]; /* of its frequency */
    double load;       /* average of the last minute; less than 0 when unknown */
};
void dti_bench_host_read(struct dti_bench_host *ret);

/* How everything is measured, in the words of documents; data, round and overflow are of casts. */
struct dti_bench_setup {
    const struct dti_bench_kind *kind;
    const char *data, *cache, *round, *overflow; /* "normal", "hot", "nearest-even", "native" */
    const char *engine;                          /* the only one, or NULL */
    uint64_t seed, nanoseconds;                  /* nanoseconds: for each measurement */
    bool loss, with_alloc;
    bool samples;         /* every sample is told */
    enum dti_level level; /* the highest */
    size_t cpus;          /* asked before threads were tied to any */
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
    enum dti_bench_place place; /* the rounds that are told of */
};
/* Whether rounds at a place are told of: there are enough of them, or most of all. */
bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place);
/* How the rate of a cast's item compares with that of the best of a role: NULL when there is
 * none, else ret. */
const struct dti_bench_figure *dti_bench_share(struct dti_bench_figure *ret,
                                               const struct dti_bench_table *table, size_t at,
                                               const char *role, enum dti_bench_place place);

/* Appends the times of what was measured, at its place; limits beside it are left out. */
enum dti_status dti_bench_records_add(struct dti_bench_records *records,
                                      const struct dti_bench_result *result,
                                      struct dti_error *reterr);

/* The kernel number `at` of all families, one after another; false when there are no more. */
struct dti_bench_kernel {
    const char *name, *operation;
    enum dti_level level;
};
bool dti_bench_kernel_at(size_t at, struct dti_bench_kernel *ret);

/* Documents: one is begun, has results as elements, and is ended; dtinfo.bench/1 for casts and,
 * without a setup, for a list of the kernels. */
extern const struct dti_document dti_schema_bench, dti_schema_bench_table;
const struct dti_document *dti_bench_schema(const struct dti_bench_setup *setup);
void dti_bench_begin(struct dti_json *json, const struct dti_bench_setup *setup);
void dti_bench_put(struct dti_json *json, const struct dti_bench_result *result);
void dti_bench_end(struct dti_json *json, const struct dti_bench_setup *setup,
                   const struct dti_bench_comparison *comparison);

/* Measuring all that a job asks for: what is done is handed on at once. */
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

/* n alone: bytes or elements, which may lie in m rows; the three: a product of matrices. */
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
    struct dti_bench_request request; /* but for what differs between measurements, */
    struct dti_bench_cast cast;       /* and so of casts: its levels are those of all */
    struct dti_bench_pair pairs[DTI_BENCH_PAIRS_MAX]; /* casts, */
    enum dti_dtype dtypes[DTI_BENCH_DTYPES_MAX];      /* all others, */
    enum dti_block blocks[DTI_BENCH_DTYPES_MAX];      /* and block formats */
    struct dti_bench_size sizes[DTI_BENCH_SIZES_MAX];
    bool usual_sizes; /* those that there is no memory for may be left out, but of casts */
    size_t threads[DTI_BENCH_THREADS_MAX];
    struct dti_bench_device devices[DTI_BENCH_DEVICES_MAX];
    size_t pair_count, size_count, thread_count, device_count;
};

/* Where measurements go; the place of a result is not set. */
struct dti_bench_sink {
    void *context;
    /* The measurements of a cast begin: there is no table yet. */
    enum dti_status (*begin)(void *context, const struct dti_bench_result *first,
                             struct dti_error *reterr);
    enum dti_status (*done)(void *context, const struct dti_bench_result *result,
                            struct dti_error *reterr);
    void (*left_out)(void *context, const struct dti_bench_result *what,
                     const struct dti_error *why);
};

/* Says what cannot be measured before anything is; measures it all. */
enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr);

#endif
