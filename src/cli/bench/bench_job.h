/* SPDX-License-Identifier: MIT
 *
 * The parts of `bench`: what is to be measured, and the two forms of the answer. */
#ifndef DTINFO_CLI_BENCH_JOB_H
#define DTINFO_CLI_BENCH_JOB_H

#include "cli/shell/command.h"
#include "dtinfo/bench_cast.h"
#include "dtinfo/bench_table.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

struct bench_args {
    const char *size, *threads, *level, *time, *device, *dtypes, *engine;
    const char *baseline, *max_regression, *compare;
    int data, cache, round, overflow;
    uint64_t seed;
    bool data_given, cache_given, round_given, overflow_given, seed_given;
    bool loss, list, samples, with_alloc;
};

extern const struct dti_choice dti_choice_bench_data[];  /* enum dti_bench_data */
extern const struct dti_choice dti_choice_bench_cache[]; /* enum dti_bench_cache */
extern const struct dti_choice dti_choice_bench_engine[];

enum {
    BENCH_PAIRS_MAX = 64,
    BENCH_SIZES_MAX = 16,
    BENCH_THREADS_MAX = 16,
    BENCH_DTYPES_MAX = 16,
    BENCH_DEVICES_MAX = 17,
    BENCH_LABEL_SIZE = 96
};

struct bench_pair {
    struct dti_format src, dst;
};

/* n alone: bytes or elements, which may lie in m rows; the three: a product of matrices. */
struct bench_size {
    uint64_t m, n, k;
    char label[BENCH_LABEL_SIZE]; /* "64 MiB", "2000x2000" */
};

struct bench_device {
    char id[DTI_DEVICE_ID_SIZE];
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* instead, for casts */
};

/* Everything is measured with every number of threads, on every device, at every size. */
struct bench_job {
    const struct dti_bench_kind *kind; /* NULL: casts, */
    struct bench_pair pairs[BENCH_PAIRS_MAX];
    enum dti_dtype dtypes[BENCH_DTYPES_MAX]; /* all others, */
    enum dti_block blocks[BENCH_DTYPES_MAX]; /* and block formats */
    struct bench_size sizes[BENCH_SIZES_MAX];
    size_t threads[BENCH_THREADS_MAX];
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    struct bench_device devices[BENCH_DEVICES_MAX];
    size_t pair_count, dtype_count, block_count, size_count, thread_count, level_count,
        device_count;
    char device_reason[640]; /* why --device auto came to the CPU; or empty */
    uint64_t nanoseconds;    /* for each measurement */
    size_t cpus;             /* asked before threads are tied to any */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* bench_job.c: from the options and the operands after the subcommand. dti_bench_job_end() gives
 * devices back. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr);
void dti_bench_job_end(struct bench_job *job);
uint64_t dti_bench_seed(const struct bench_job *job);
const char *dti_bench_name(const struct bench_job *job); /* "cast", "expsin" */

/* bench_devices.c: what --device names. */
enum dti_status dti_bench_devices_open(struct bench_job *job, const char *text,
                                       struct dti_error *reterr);
void dti_bench_devices_close(struct bench_job *job);

/* One measurement that is done. */
struct bench_done {
    const struct bench_job *job;
    const struct bench_pair *pair; /* NULL but of a cast */
    const struct bench_size *size;
    const struct bench_device *device;
    enum dti_level level;
    size_t threads;
    const struct dti_bench_cast_result *result; /* of a cast, or NULL */
    const struct dti_bench_table *table;        /* of all else, or NULL */
    const struct dti_bench *bench;              /* of either */
};

/* bench_casts.c, bench_tables.c: say what cannot be measured before anything is; measure it all,
 * and hand on what is done. */
struct bench_output;
enum dti_status dti_bench_check_casts(const struct bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_check_tables(const struct bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_casts(const struct bench_job *job, struct bench_output *output,
                                        struct dti_error *reterr);
enum dti_status dti_bench_measure_tables(const struct bench_job *job, struct bench_output *output,
                                         struct dti_error *reterr);

/* bench_output.c: where results go. */
enum dti_status dti_bench_put(struct bench_output *output, const struct bench_done *done,
                              struct dti_error *reterr);
/* The measurement at hand, on a line of its own for people: "fp32 -> bf16". */
enum dti_status dti_bench_put_heading(struct bench_output *output, const struct bench_job *job,
                                      const struct bench_pair *pair, struct dti_error *reterr);
enum dti_status dti_bench_all(const struct bench_job *job, struct dti_error *reterr);

/* Places with so many rounds are told apart; the main one is always told. */
enum { BENCH_PLACE_ROUNDS = 5 };
bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place);

/* Facts of the machine that a figure depends on. bench_host.c */
struct bench_host {
    char model[96];    /* of the CPU; empty when unknown */
    char governor[32]; /* of its frequency */
    double load;       /* average of the last minute; less than 0 when unknown */
};
void dti_bench_host_read(struct bench_host *ret);
void dti_bench_host_json(struct dti_json *json, const struct bench_job *job);
/* What makes figures of this machine doubtful, a sentence each: at most BENCH_DOUBTS. */
enum { BENCH_DOUBTS = 2, BENCH_DOUBT_SIZE = 160 };
size_t dti_bench_host_doubts(char doubts[BENCH_DOUBTS][BENCH_DOUBT_SIZE],
                             const struct bench_job *job);

/* bench_human.c, bench_table_human.c */
void dti_bench_human_begin(const struct bench_job *job);
void dti_bench_human_pair(const struct bench_job *job, const struct bench_pair *pair);
void dti_bench_human_result(const struct bench_done *done);
void dti_bench_human_table_begin(const struct bench_job *job);
void dti_bench_human_table(const struct bench_done *done);
void dti_bench_human_end(const struct bench_job *job);
/* bench_errors.c: what a candidate computed in, and how well; nothing where nothing is known. */
void dti_bench_put_errors(const struct bench_done *done, const struct dti_bench_item *item,
                          size_t indent);

/* bench_lines.c: lines for people. */
struct dti_line dti_bench_line(const struct dti_context *cx);
void dti_bench_put_line(const struct dti_context *cx, enum dti_style style, const char *text);
/* As many words as fit in each line; `between` stands between words, `indent` blanks before them.
 */
void dti_bench_put_words(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between);
/* Doubts about a measurement, each in a line of its own: where its threads were, what disturbed it,
 * how well the median of candidate `at` is known. */
void dti_bench_put_notes(const struct bench_done *done, size_t at, size_t indent,
                         enum dti_bench_place place);
void dti_bench_percent(char text[DTI_TEXT_SIZE], double share, unsigned decimals);

/* bench_json.c, bench_table_json.c: a document is begun, gets results, and is written. */
void dti_bench_json_begin(struct dti_json *json, const struct bench_job *job);
void dti_bench_json_result(struct dti_json *json, const struct bench_done *done);
void dti_bench_json_table(struct dti_json *json, const struct bench_done *done,
                          enum dti_bench_place place);
/* bench_figures.c: what both schemas have alike. */
void dti_bench_json_number(struct dti_json *json, const char *key, bool known, double number);
void dti_bench_json_ratio(struct dti_json *json, const char *key,
                          const struct dti_bench_figure *ratio);
void dti_bench_json_place(struct dti_json *json, const struct bench_done *done,
                          enum dti_bench_place place);
void dti_bench_json_time(struct dti_json *json, const struct dti_bench_figure *time);
void dti_bench_json_samples(struct dti_json *json, const struct bench_done *done, size_t at,
                            enum dti_bench_place place);

/* bench_list.c: the kernels there are. */
enum dti_status dti_bench_list(const struct dti_context *cx, struct dti_error *reterr);

/* bench_words.c: "1 MiB", "1000 bytes"; "0.0477" with so many decimals. */
const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes);
const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals);
/* With three significant digits and no exponent: "0.0477", "12.3", "1230". */
const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number);
/* "12.3 ms", "480 ns". */
const char *dti_bench_seconds(char buffer[DTI_TEXT_SIZE], double seconds);
/* A bar of `cells` characters for a share of 1, longer beyond that up to a quarter more. */
enum { BENCH_BAR_SIZE = 128, BENCH_BAR_CELLS = 20 };
const char *dti_bench_bar(char buffer[BENCH_BAR_SIZE], double share, bool utf8);
/* Whether the locale's characters are UTF-8, as the environment tells. */
bool dti_bench_utf8(void);

#endif
