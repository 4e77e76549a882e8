/* SPDX-License-Identifier: MIT
 *
 * Measurements of casts, computations and copies: rows of benches.def (cast, expsin, dot ...). Each
 * makes a table: candidates that take turns in the same rounds, the machine's own limits among
 * them, and what each of them is. */
#ifndef BENCH_MEASURE_BENCH_TABLE_H
#define BENCH_MEASURE_BENCH_TABLE_H

#include "bench/measure/bench.h"
#include "convert/runner.h"
#include "devices/gpu/gpu.h"
#include "dtinfo/dtype.h"

/* What the source holds: a pool of random elements, repeated. */
enum dti_bench_data {
    DTI_BENCH_NORMAL,  /* near to normal (sum of twelve uniforms), mean 0; the deviation is 1, or a
                        * quarter of the range where an integer dtype takes part */
    DTI_BENCH_UNIFORM, /* uniform in [1, 2); integers: in their range */
    DTI_BENCH_BITS,    /* any code */
    DTI_BENCH_SUBNORMAL, /* uniform below the smallest normal of the destination (of the source,
                          * where the destination has none or the source cannot hold that) */
    DTI_BENCH_NAN1,      /* normal, one of a hundred is NaN or an infinity */
};

/* Fills an array of n elements, a multiple of DTI_TILE, with codes of src for a cast to dst. */
void dti_bench_data_fill(void *array, size_t n, const struct dti_format *src,
                         const struct dti_format *dst, enum dti_bench_data data, uint64_t seed);

enum { DTI_BENCH_LEVELS_MAX = DTI_LEVEL_COUNT };

/* A cast of an array, compared with copies of as many bytes and kernels without arithmetic that
 * read and write as much as the cast does. */
struct dti_bench_cast {
    struct dti_format src, dst;
    struct dti_policy policy;
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    size_t level_count; /* at least 1; levels that come to the same kernels give one item */
    bool loss;          /* the cast with its loss report as well */
    enum dti_bench_data data;
};

enum { DTI_BENCH_ITEMS_MAX = 64, DTI_BENCH_NOTES_MAX = 16, DTI_BENCH_WORDS = 96 };

/* The error of everything, rounding or quantizing the operands included: results compared with the
 * exact ones of the fp32 numbers that the operands were made of. */
struct dti_bench_total {
    uint64_t elements; /* that were compared; 0: nothing is known */
    double got, exact; /* of the element that is furthest off */
    double largest;    /* error, absolute */
    double mean;       /* of the absolute errors */
    double relative;   /* root of the sum of squared errors over that of squared exact results */
    double sqnr; /* the same in decibels; infinite where nothing is off, NaN for one element */
};

enum dti_bench_cache {
    DTI_BENCH_HOT,  /* the same buffers again and again */
    DTI_BENCH_COLD, /* buffers take turns, twice the last cache or more of them */
};

/* Where the arrays of a cast are. */
enum dti_bench_where {
    DTI_BENCH_ON_CPU,
    DTI_BENCH_RESIDENT, /* in the device's memory, timed by the device; a copy is one within it */
    DTI_BENCH_WHOLE,    /* the host's pinned memory, from there to there, timed by the host; a copy
                         * is one of the source there and, at the same time, the result back */
};

/* What a candidate is. Texts are empty, numbers 0 where they mean nothing. */
struct dti_bench_item {
    char role[24];                   /* "expsin", "matmul"; of limits "read", "copy", "peak"; casts:
                                      * "shape" is a loop that reads and writes as much */
    bool limit;                      /* what the machine can do at all */
    char device[DTI_DEVICE_ID_SIZE]; /* "cpu", "cuda:0" */
    char dtype[40];
    char engine[24];                    /* "dtinfo", "onednn 2.6.3", "openblas 0.3.21" */
    char kernel[DTI_PLAN_TEXT_SIZE];    /* "expsin_f32_avx512"; casts: the plan in words */
    char arithmetic[DTI_BENCH_WORDS];   /* "fp32", "64 fp32 sums, fused multiply-add" */
    uint64_t bytes_read, bytes_written; /* of a pass */
    double operations;                  /* of a pass */
    /* the item that it is compared with (dti_bench_best_limit()), by operations per second where
     * both have some, else by bytes; SIZE_MAX, as it is added: none */
    size_t beside;
    bool has_ulp; /* expsin: the largest error found, in units of the dtype's last place */
    double max_ulp;
    bool has_sum; /* dot, matmul: what came out, what is exact, and their difference */
    double sum, exact;
    double error; /* absolute; matmul: the largest of an element */
    double relative_error;
    struct dti_bench_total total; /* dot, matmul */
    float scales[2];              /* of both operands, where they were quantized; else 0 */
    bool from_events;             /* timed by the device's events */
    enum dti_bench_where where;   /* casts and what they are compared with: */
    enum dti_level level;         /* the highest of its kernels */
    bool loss;                    /* with its loss report */
    bool stream;                  /* results go past the caches */
};

/* Finite numbers of a file, in place of random ones: codes in native byte order, each in the fewest
 * of 1, 2, 4 or 8 bytes that hold it. */
struct dti_bench_operand {
    struct dti_format format;
    const void *codes;
    uint64_t rows, columns; /* dot: one row */
    double amax;            /* the largest magnitude: dti_bench_operand_measure() */
};
/* Sets amax. False: number *ret_at is not finite. */
bool dti_bench_operand_measure(struct dti_bench_operand *operand, uint64_t *ret_at);
/* What overflows where A and B are cast to a dtype and multiplied, as words; NULL: nothing. */
const char *dti_bench_operands_overflow(const struct dti_bench_operand operands[2],
                                        enum dti_dtype dtype);

/* What is asked for. */
struct dti_bench_request {
    const enum dti_dtype *dtypes; /* those of the row that the user wants */
    size_t dtype_count;
    const enum dti_block *blocks; /* the same of block formats */
    size_t block_count;
    uint64_t m, n, k; /* matmul; expsin, dot, quant: n elements (in m rows, where that is not
                       * 0); copy: n bytes; cast: n bytes of the source, cut to elements */
    const struct dti_bench_cast *cast; /* casts */
    enum dti_level level;              /* the highest allowed */
    enum dti_bench_cache cache;
    bool with_alloc;    /* time the memory of results as well */
    const char *engine; /* NULL: all that are there; else this one only */
    uint64_t seed;
    const struct dti_bench_operand
        *operands;             /* dot, matmul: A and B of these sizes; NULL: random */
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* instead of it, for casts: on the device that it is on */
    struct dti_bench_options options;
};

struct dti_bench_table {
    struct dti_bench bench;
    struct dti_bench_item items[DTI_BENCH_ITEMS_MAX];
    size_t count;
    char notes[DTI_BENCH_NOTES_MAX][2 * DTI_BENCH_WORDS]; /* "tf32: no instruction on this CPU" */
    size_t note_count;
    size_t sets;     /* of buffers; 0 where there are none */
    uint64_t memory; /* bytes that were taken */
    uint64_t huge_page_bytes;
    bool in_cache;     /* the operands are within the last cache */
    uint64_t elements; /* casts */
};
/* Appends one of a role on a device ("cpu", "cuda:0"), compared with nothing; NULL (a note:
 * nothing) when there is no more room. */
struct dti_bench_item *dti_bench_add_item(struct dti_bench_table *table, const char *role,
                                          const char *device);
void dti_bench_add_note(struct dti_bench_table *table, const char *format, ...) DTI_PRINTF(2, 3);
void dti_bench_table_free(struct dti_bench_table *table);
/* The rate of an item divided by that of the one it is compared with, within rounds; false when
 * that is not known. */
bool dti_bench_of_limit(struct dti_bench_figure *ret, const struct dti_bench_table *table,
                        size_t at, enum dti_bench_place place);

/* The item of a role with the smallest median at a place; table->count when there is none. */
size_t dti_bench_fastest(const struct dti_bench_table *table, const char *role,
                         enum dti_bench_where where, enum dti_bench_place place);
/* The limit of that role and device with the best rate, where most rounds were; SIZE_MAX when there
 * is none. */
size_t dti_bench_best_limit(const struct dti_bench_table *table, const char *role,
                            const char *device);
/* Seconds that an item takes at the rate of a limit; 0 when that is not known (SIZE_MAX: no such
 * limit). */
double dti_bench_least_seconds(const struct dti_bench_table *table, size_t at, size_t limit);

struct dti_bench_workload;

/* Rows of benches.def: `const struct dti_bench_kind dti_bench_kind_expsin`. */
struct dti_bench_kind {
    const char *name;    /* "expsin" */
    const char *summary; /* one line for --help */
    const char *sizes;   /* defaults: "2000x2000,16777216" */
    const char *dtypes;  /* what is measured by default, "fp32,fp64,fp16,bf16"; "" for none; */
    const char *more;    /* and what else can be: "int16,nf4"; NULL for nothing */
    enum { DTI_BENCH_BYTES, DTI_BENCH_ELEMENTS, DTI_BENCH_PRODUCT } size_is;
    bool keeps_memory; /* no memory of results is made: they are numbers, or it is there */
    bool casts;        /* it is measured for pairs of dtypes */
    bool has_operands; /* A and B, which may come from files */
    const struct dti_bench_workload *cpu, *device;
};
#define BENCH(name) extern const struct dti_bench_kind dti_bench_kind_##name;
#include "bench/measure/benches.def"
#undef BENCH
extern const struct dti_bench_kind *const dti_bench_kinds[];
extern const size_t dti_bench_kind_count;

/* Fails where dti_bench_measure() would, before anything is measured: memory (DTI_UNAVAILABLE,
 * saying how much there is), sizes (DTI_USAGE). */
enum dti_status dti_bench_check(const struct dti_bench_kind *kind,
                                const struct dti_bench_request *request, struct dti_error *reterr);
/* Measures, verifies what was computed (DTI_BUG when it is wrong), fills the table. */
enum dti_status dti_bench_measure(struct dti_bench_table *ret, const struct dti_bench_kind *kind,
                                  const struct dti_bench_request *request, struct dti_team *team,
                                  struct dti_error *reterr);

#endif
