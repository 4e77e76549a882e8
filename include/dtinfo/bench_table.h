/* SPDX-License-Identifier: MIT
 *
 * Measurements of computations and copies: rows of benches.def (expsin, dot, quant ...). Each
 * makes a table: candidates that take turns in the same rounds, the machine's own limits among
 * them, and what each of them is. */
#ifndef DTINFO_BENCH_TABLE_H
#define DTINFO_BENCH_TABLE_H

#include "dtinfo/bench.h"
#include "dtinfo/bench_cast.h"
#include "dtinfo/dtype.h"
#include "dtinfo/gpu.h"

enum { DTI_BENCH_ITEMS_MAX = 48, DTI_BENCH_NOTES_MAX = 16, DTI_BENCH_WORDS = 96 };

/* The error of everything, rounding or quantizing the operands included: results beside the exact
 * ones of the fp32 numbers that the operands were made of. */
struct dti_bench_total {
    uint64_t elements; /* that were compared; 0: nothing is known */
    double got, exact; /* of the element that is furthest off */
    double largest;    /* error, absolute */
    double relative;   /* root of the sum of squared errors over that of squared exact results */
    double sqnr; /* the same in decibels; infinite where nothing is off, NaN for one element */
};

/* What a candidate is. Texts are empty, numbers 0 where they mean nothing. */
struct dti_bench_item {
    char role[24];                   /* "expsin", "matmul"; of limits "read", "copy", "peak" */
    bool limit;                      /* what the machine can do at all */
    char device[DTI_DEVICE_ID_SIZE]; /* "cpu", "cuda:0" */
    char dtype[40];
    char engine[24];                    /* "dtinfo", "onednn 2.6.3", "openblas 0.3.21" */
    char kernel[DTI_BENCH_WORDS];       /* "expsin_f32_avx512" */
    char arithmetic[DTI_BENCH_WORDS];   /* "fp32", "64 fp32 sums, fused multiply-add" */
    uint64_t bytes_read, bytes_written; /* of a pass */
    double operations;                  /* of a pass */
    size_t beside; /* the item that it is shown beside (dti_bench_best_limit()), by operations a
                    * second where both have some, else by bytes; SIZE_MAX, as it is added: none */
    bool has_ulp;  /* expsin: the largest error found, in units of the dtype's last place */
    double max_ulp;
    bool has_sum; /* dot, matmul: what came out, what is exact, and their difference */
    double sum, exact;
    double error; /* absolute; matmul: the largest of an element */
    double relative_error;
    struct dti_bench_total total; /* dot, matmul */
    float scales[2];              /* of both operands, where they were quantized; else 0 */
    bool from_events;             /* timed by the device's events */
};

/* What is asked for. */
struct dti_bench_request {
    const enum dti_dtype *dtypes; /* those of the row that the user wants */
    size_t dtype_count;
    const enum dti_block *blocks; /* the same of block formats */
    size_t block_count;
    uint64_t m, n, k;     /* matmul; expsin, dot, quant: n elements (in m rows, where that is not
                           * 0); copy: n bytes */
    enum dti_level level; /* the highest allowed */
    enum dti_bench_cache cache;
    bool with_alloc;    /* time the memory of results as well */
    const char *engine; /* NULL: all that are there; else this one only */
    uint64_t seed;
    struct dti_gpu *gpu; /* NULL: the CPU */
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
    bool in_cache; /* the operands are within the last cache */
};
/* Appends one of a role on a device ("cpu", "cuda:0"), beside nothing; NULL (a note: nothing) when
 * there is no more room. */
struct dti_bench_item *dti_bench_add_item(struct dti_bench_table *table, const char *role,
                                          const char *device);
void dti_bench_add_note(struct dti_bench_table *table, const char *format, ...) DTI_PRINTF(2, 3);
void dti_bench_table_free(struct dti_bench_table *table);
/* The rate of an item divided by that of the one it is shown beside, within rounds; false when that
 * is not known. */
bool dti_bench_of_limit(struct dti_bench_figure *ret, const struct dti_bench_table *table,
                        size_t at, enum dti_bench_place place);

/* Rows of benches.def: `const struct dti_bench_kind dti_bench_kind_expsin`. */
struct dti_bench_kind {
    const char *name;    /* "expsin" */
    const char *summary; /* one line for --help */
    const char *sizes;   /* defaults: "2000x2000,16777216" */
    const char *dtypes;  /* what is measured by default, "fp32,fp64,fp16,bf16"; "" for none; */
    const char *more;    /* and what else can be: "int16,nf4"; NULL for nothing */
    enum { DTI_BENCH_BYTES, DTI_BENCH_ELEMENTS, DTI_BENCH_PRODUCT } size_is;
    bool keeps_memory; /* no memory of results is made: they are numbers, or it is there */
    /* Fails where run() would, before anything is measured: memory (DTI_UNAVAILABLE, saying how
     * much there is), sizes (DTI_USAGE). */
    enum dti_status (*check)(const struct dti_bench_request *request, size_t threads,
                             struct dti_error *reterr);
    /* Measures, verifies what was computed (DTI_BUG when it is wrong), fills the table. */
    enum dti_status (*run)(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr);
};
#define BENCH(name) extern const struct dti_bench_kind dti_bench_kind_##name;
#include "dtinfo/benches.def"
#undef BENCH
extern const struct dti_bench_kind *const dti_bench_kinds[];
extern const size_t dti_bench_kind_count;

/* What several kinds use as limits and buffers. */
struct dti_bench_memory;
/* `operands` arrays of `bytes` each, aligned to 4096, `sets` of them so that with a cold cache they
 * take turns beyond the last cache (with a hot one: one set); touched by the team's members, each
 * its part as dti_bench_part() has it. DTI_UNAVAILABLE when there is not so much memory, which the
 * check tells beforehand. */
enum dti_status dti_bench_memory_check(size_t operands, uint64_t bytes, enum dti_bench_cache cache,
                                       struct dti_error *reterr);
enum dti_status dti_bench_memory_new(struct dti_bench_memory **ret, size_t operands, uint64_t bytes,
                                     enum dti_bench_cache cache, struct dti_team *team,
                                     struct dti_error *reterr);
void dti_bench_memory_free(struct dti_bench_memory *memory); /* NULL is fine */
size_t dti_bench_memory_sets(const struct dti_bench_memory *memory);
void *dti_bench_memory_at(const struct dti_bench_memory *memory, size_t set, size_t operand);
/* Sets the table's sets, memory, huge_page_bytes and in_cache (one set is within the last cache).
 */
void dti_bench_memory_describe(const struct dti_bench_memory *memory,
                               struct dti_bench_table *table);
/* The part of n elements that falls to a member, in multiples of `grain`; 0 elements for some. */
void dti_bench_part(uint64_t n, uint64_t grain, size_t member, size_t size, size_t *ret_first,
                    size_t *ret_count);
/* Adds the CPU's own limits over that memory as candidates and items: every way to read operands 0
 * to operands - 1 (`read`), or to copy operand 0 to 1 (`copy`). *count: candidates so far, as many
 * as items; there is room for DTI_BENCH_ITEMS_MAX. The best of a role is found after measuring by
 * dti_bench_best_limit(). contexts are of this call alone and must live as long as the measurement.
 * Describes the memory as well. */
struct dti_bench_limit {
    const struct dti_copy *copy;
    const struct dti_bench_memory *memory;
    size_t operands;
    uint64_t bytes;
};
enum { DTI_BENCH_LIMITS_MAX = 8 };
void dti_bench_add_limits(struct dti_bench_table *table, struct dti_bench_candidate *candidates,
                          size_t *count, struct dti_bench_limit contexts[DTI_BENCH_LIMITS_MAX],
                          const struct dti_bench_memory *memory, size_t operands, uint64_t bytes,
                          bool copy, enum dti_level level);
/* The limit of that role and device with the best rate, where most rounds were; SIZE_MAX when there
 * is none. */
size_t dti_bench_best_limit(const struct dti_bench_table *table, const char *role,
                            const char *device);

#endif
