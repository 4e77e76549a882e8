/* SPDX-License-Identifier: MIT
 *
 * What options of `bench` say, into a job: words between commas, and what several subcommands take
 * in the same way. */
#ifndef DTINFO_CLI_BENCH_LISTS_H
#define DTINFO_CLI_BENCH_LISTS_H

#include "cli/bench/bench_job.h"

struct bench_word {
    const char *text;
    size_t length;
};

/* The next word of a list; *list moves behind its comma, or becomes NULL at the end. */
struct bench_word dti_bench_next_word(const char **list);
bool dti_bench_word_is(const struct bench_word *word, const char *text);

/* "what; 'word' is not", and "too many ... for one run". */
enum dti_status dti_bench_refuse(enum dti_status code, const char *what,
                                 const struct bench_word *word, struct dti_error *reterr);
enum dti_status dti_bench_too_many(const char *what, struct dti_error *reterr);

enum dti_status dti_bench_parse_threads(struct bench_job *job, const char *list,
                                        struct dti_error *reterr);
enum dti_status dti_bench_parse_levels(struct bench_job *job, const char *list,
                                       struct dti_error *reterr);
enum dti_status dti_bench_parse_time(struct bench_job *job, const char *text,
                                     struct dti_error *reterr);
/* "10%", "2.5%": 0.1, 0.025. */
enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr);
/* As the kind of measurement takes them; casts take bytes. */
enum dti_status dti_bench_parse_sizes(struct bench_job *job, const char *list,
                                      struct dti_error *reterr);
/* Some of those that the kind offers. */
enum dti_status dti_bench_parse_dtypes(struct bench_job *job, const char *list,
                                       struct dti_error *reterr);

/* bench_devices.c: what --device names. */
enum dti_status dti_bench_devices_open(struct bench_job *job, const char *text,
                                       struct dti_error *reterr);
void dti_bench_devices_close(struct bench_job *job);

#endif
