/* SPDX-License-Identifier: MIT
 *
 * Measurements of casts, computations and copies: rows of benches.def (cast, expsin, dot ...).
 * Each fills a table: the candidates that take turns in the same rounds, including the machine's
 * own limits, and a description of each. */
#ifndef BENCH_MEASURE_BENCH_TABLE_H
#define BENCH_MEASURE_BENCH_TABLE_H

#include "bench/measure/bench.h"
#include "convert/runner.h"
#include "core/dtype/dtype.h"
#include "devices/gpu/gpu.h"

/* The contents of the source: a pool of random elements, repeated. */
enum dti_bench_data {
    DTI_BENCH_NORMAL,    /* approximately normal (sum of twelve uniforms), mean 0; standard
                          * deviation 1, or a quarter of the range if an integer dtype takes part */
    DTI_BENCH_UNIFORM,   /* uniform in [1, 2); for integers, uniform in their range */
    DTI_BENCH_BITS,      /* any bit pattern */
    DTI_BENCH_SUBNORMAL, /* uniform below the smallest normal of the destination (of the source,
                          * if the destination has none or the source cannot represent it) */
    DTI_BENCH_NAN1,      /* normal, but one in a hundred is NaN or an infinity */
};

/* Fills an array of n elements, a multiple of DTI_TILE, with codes of src for a cast to dst. */
void dti_bench_data_fill(void *array, size_t n, const struct dti_format *src,
                         const struct dti_format *dst, enum dti_bench_data data, uint64_t seed);

enum { DTI_BENCH_LEVELS_MAX = DTI_LEVEL_COUNT };

/* A cast of an array, compared with copies of the same number of bytes, and with kernels that
 * read and write as much as the cast but compute nothing. */
struct dti_bench_cast {
    struct dti_format src, dst;
    struct dti_policy policy;
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* most demanding first */
    size_t level_count; /* at least 1; levels that use the same kernels give one item */
    bool loss;          /* also measure the cast with its loss report */
    enum dti_bench_data data;
};

enum { DTI_BENCH_ITEMS_MAX = 64, DTI_BENCH_NOTES_MAX = 16, DTI_BENCH_WORDS = 96 };

/* The total error, including that of rounding or quantizing the operands: results compared with
 * the exact results for the fp32 numbers that the operands were made from. */
struct dti_bench_total {
    uint64_t elements; /* compared elements; 0: nothing is known */
    double got, exact; /* of the element with the largest error */
    double largest;    /* largest absolute error */
    double mean;       /* mean absolute error */
    double relative;   /* sqrt(sum of squared errors / sum of squared exact results) */
    double sqnr;       /* the same in decibels; infinite without any error, NaN for one element */
};

enum dti_bench_cache {
    DTI_BENCH_HOT,  /* the same buffers every time */
    DTI_BENCH_COLD, /* buffers take turns; together at least twice the last-level cache */
};

/* Where the arrays of a cast are located. */
enum dti_bench_where {
    DTI_BENCH_ON_CPU,
    DTI_BENCH_RESIDENT, /* in device memory, timed by the device; compared with a copy within the
                         * device */
    DTI_BENCH_WHOLE,    /* from pinned host memory to pinned host memory, timed by the host;
                         * compared with a copy of the source to the device and, at the same
                         * time, the result back */
};

/* A description of a candidate. Texts are empty and numbers are 0 where they do not apply. */
struct dti_bench_item {
    char role[24];                   /* "expsin", "matmul"; limits: "read", "copy", "peak";
                                      * casts: "shape" is a loop that reads and writes as much as
                                      * the cast */
    bool limit;                      /* a limit of the machine */
    char device[DTI_DEVICE_ID_SIZE]; /* "cpu", "cuda:0" */
    char dtype[40];
    char engine[24];                    /* "dtinfo", "onednn 2.6.3", "openblas 0.3.21" */
    char kernel[DTI_PLAN_TEXT_SIZE];    /* "expsin_f32_avx512"; casts: the plan as text */
    char arithmetic[DTI_BENCH_WORDS];   /* "fp32", "64 fp32 sums, fused multiply-add" */
    uint64_t bytes_read, bytes_written; /* per pass */
    double operations;                  /* per pass */
    /* the item it is compared with (dti_bench_best_limit()): by operations per second if both
     * have operations, else by bytes; initially SIZE_MAX: none */
    size_t limit_item;
    bool has_ulp; /* expsin: the largest error found, in units in the last place of the dtype */
    double max_ulp;
    bool has_sum; /* dot, matmul: the computed result, the exact one, and their difference */
    double sum, exact;
    double error; /* absolute; matmul: the largest of any element */
    double relative_error;
    struct dti_bench_total total; /* dot, matmul */
    float scales[2];              /* of both operands if they were quantized, else 0 */
    bool from_events;             /* timed by the device's events */
    enum dti_bench_where where;   /* casts, and the items they are compared with: */
    enum dti_level level;         /* the highest level of its kernels */
    bool loss;                    /* with its loss report */
    bool stream;                  /* stores bypass the caches */
};

/* Finite numbers from a file, used instead of random ones: codes in native byte order, each in
 * the smallest of 1, 2, 4 or 8 bytes that holds it. */
struct dti_bench_operand {
    struct dti_format format;
    const void *codes;
    uint64_t rows, columns; /* dot: one row */
    double amax;            /* largest magnitude, set by dti_bench_operand_measure() */
};
/* Sets amax. False if a number is not finite; *ret_at is its index. */
bool dti_bench_operand_measure(struct dti_bench_operand *operand, uint64_t *ret_at);
/* Describes what overflows when A and B are cast to a dtype and multiplied; NULL: nothing. */
const char *dti_bench_operands_overflow(const struct dti_bench_operand operands[2],
                                        enum dti_dtype dtype);

/* The requested measurement. */
struct dti_bench_request {
    const enum dti_dtype *dtypes; /* those of the row that the user selected */
    size_t dtype_count;
    const enum dti_block *blocks; /* likewise, block formats */
    size_t block_count;
    uint64_t m, n, k; /* matmul: sizes; expsin, dot, quant: n elements (in m rows if m is not 0);
                       * copy: n bytes; cast: n bytes of the source, rounded down to elements */
    const struct dti_bench_cast *cast; /* casts */
    enum dti_level level;              /* highest allowed level */
    enum dti_bench_cache cache;
    bool with_alloc;    /* also time the allocation of the results */
    const char *engine; /* NULL: all installed engines; else only this one */
    uint64_t seed;
    const struct dti_bench_operand *operands; /* dot, matmul: A and B; NULL: random */
    struct dti_gpu *gpu;                      /* NULL: the CPU */
    struct dti_runner *runner; /* used instead of gpu for casts: runs on its own device */
    struct dti_bench_options options;
};

struct dti_bench_table {
    struct dti_bench bench;
    struct dti_bench_item items[DTI_BENCH_ITEMS_MAX];
    size_t count;
    char notes[DTI_BENCH_NOTES_MAX][2 * DTI_BENCH_WORDS]; /* "tf32: no instruction on this CPU" */
    size_t note_count;
    size_t sets;     /* number of buffer sets; 0 if there are none */
    uint64_t memory; /* allocated bytes */
    uint64_t huge_page_bytes;
    bool in_cache;     /* the operands fit in the last-level cache */
    uint64_t elements; /* casts */
};
/* Appends an item with a role on a device ("cpu", "cuda:0") and no comparison. Returns NULL if
 * the table is full; a note is then dropped. */
struct dti_bench_item *dti_bench_add_item(struct dti_bench_table *table, const char *role,
                                          const char *device);
void dti_bench_add_note(struct dti_bench_table *table, const char *format, ...) DTI_PRINTF(2, 3);
void dti_bench_table_free(struct dti_bench_table *table);
/* The rate of an item divided by that of the item it is compared with, within rounds; false if
 * unknown. */
bool dti_bench_of_limit(struct dti_bench_figure *ret, const struct dti_bench_table *table,
                        size_t at, enum dti_bench_place place);

/* The item of a role with the smallest median at a place; table->count if there is none. */
size_t dti_bench_fastest(const struct dti_bench_table *table, const char *role,
                         enum dti_bench_where where, enum dti_bench_place place);
/* The limit with this role and device that has the best rate, over the rounds of the most common
 * place; SIZE_MAX if there is none. */
size_t dti_bench_best_limit(const struct dti_bench_table *table, const char *role,
                            const char *device);
/* The seconds an item would take at the rate of a limit; 0 if unknown (SIZE_MAX: no limit). */
double dti_bench_least_seconds(const struct dti_bench_table *table, size_t at, size_t limit);

struct dti_bench_workload;

/* Rows of benches.def: `const struct dti_bench_kind dti_bench_kind_expsin`. */
struct dti_bench_kind {
    const char *name;    /* "expsin" */
    const char *summary; /* one line for --help */
    const char *sizes;   /* defaults: "2000x2000,16777216" */
    const char *dtypes;  /* dtypes measured by default, "fp32,fp64,fp16,bf16"; "" for none */
    const char *more;    /* dtypes measured on request, "int16,nf4"; NULL for none */
    enum { DTI_BENCH_BYTES, DTI_BENCH_ELEMENTS, DTI_BENCH_PRODUCT } size_is;
    bool keeps_memory; /* allocates no memory for results: they are single numbers, or the memory
                        * already exists */
    bool casts;        /* measured for pairs of dtypes */
    bool has_operands; /* takes A and B, which may come from files */
    const struct dti_bench_workload *cpu, *device;
};
#define BENCH(name) extern const struct dti_bench_kind dti_bench_kind_##name;
#include "bench/measure/benches.def"
#undef BENCH
extern const struct dti_bench_kind *const dti_bench_kinds[];
extern const size_t dti_bench_kind_count;

/* Reports, before measuring anything, the errors of dti_bench_measure(): memory
 * (DTI_UNAVAILABLE, with the available amount), sizes (DTI_USAGE). */
enum dti_status dti_bench_check(const struct dti_bench_kind *kind,
                                const struct dti_bench_request *request, struct dti_error *reterr);
/* Measures, verifies the computed results (DTI_BUG if they are wrong), and fills the table. */
enum dti_status dti_bench_measure(struct dti_bench_table *ret, const struct dti_bench_kind *kind,
                                  const struct dti_bench_request *request, struct dti_team *team,
                                  struct dti_error *reterr);

#endif
