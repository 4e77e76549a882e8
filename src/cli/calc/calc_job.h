/* SPDX-License-Identifier: MIT
 *
 * `calc`: what is asked, and how its results are shown. */
#ifndef DTINFO_CLI_CALC_JOB_H
#define DTINFO_CLI_CALC_JOB_H

#include "answers/calc_answer.h"
#include "cli/shared/cast_job.h"

struct calc_args {
    struct dti_policy_args policy;
    int subnormals, true_value; /* enum dti_calc_truths */
    bool subnormals_given, true_value_given;
    const char *accumulate, *order, *output, *assume;
    bool fma, steps, force;
};

/* What can have happened besides events. */
enum { FAIL_INEXACT = 1 << DTI_CALC_EVENT_COUNT, FAIL_INVALID = FAIL_INEXACT << 1 };

struct calc_job {
    const struct calc_args *args;
    const struct dti_context *cx;
    char **operands; /* but the last */
    int operand_count;
    struct dti_cast_job cast; /* the dtypes, and warnings */
    char *text;               /* the expression */
    size_t length;
    struct dti_calc_tree *tree;
    struct dti_calc_options options;
    struct dti_logical_options files; /* how those of @FILE are opened, with: */
    struct dti_container_options open;
    struct dti_format assume;
    unsigned happened;              /* events for --fail-on, of all results */
    struct dti_output_file *output; /* of -o, until it is written; */
    struct dti_file_part written;   /* then its path and size */
};

/* calc_operands.c: --accumulate against the dtypes. */
enum dti_status dti_calc_check_accumulator(const struct calc_job *job, struct dti_error *reterr);
/* An expression and a dtype are there, in this order, with nothing between them. */
enum dti_status dti_calc_check_operands(char **operands, int count, struct dti_error *reterr);
/* An expression that is not understood: if the shell made names of files of its *, so says the
 * error. */
void dti_calc_explain_files(char **operands, int count, struct dti_error *error);

/* calc_output.c: -o. Discard job->output if nothing was written. */
enum dti_status dti_calc_output_open(struct calc_job *job, struct dti_error *reterr);
/* Computes in the dtype of a target, and writes the file of -o. */
enum dti_status dti_calc_job_run(struct calc_job *job, size_t target, struct dti_calc_result *ret,
                                 struct dti_error *reterr);

/* calc_human.c: the full answer in one dtype. */
enum dti_status dti_calc_human(const struct calc_job *job, const struct dti_calc_result *result,
                               struct dti_error *reterr);
/* The expression on a line: safe for a terminal, its end left out if it is long. */
bool dti_calc_put_expression(const struct calc_job *job, struct dti_line *line);
/* The true value of an element, of 9 digits if it is short: "1/3 (0.333333333)", "undefined";
 * false, with nothing appended, if it is not known. */
bool dti_calc_true_words(struct dti_buffer *buffer, const struct dti_calc_result *result,
                         size_t element);
/* Appends how many events there were: "3 overflow, 1 to zero"; one without its number. */
void dti_calc_events_text(struct dti_buffer *buffer, const uint64_t events[DTI_CALC_EVENT_COUNT]);

/* calc_table.c: in several dtypes. */
enum dti_status dti_calc_human_table(struct calc_job *job, struct dti_error *reterr);

/* calc_steps.c: every operation. */
enum dti_status dti_calc_human_steps(const struct calc_job *job,
                                     const struct dti_calc_result *result,
                                     struct dti_error *reterr);

/* calc_list.c: a result that became infinity, NaN or zero stands out. */
enum dti_style dti_calc_style(const struct dti_calc_result *result, size_t element);
/* A number as short as its dtype allows; an array on one line with its first and last elements, and
 * on lines of its own; all elements, one on a line, as -q prints them. */
void dti_calc_number_text(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          uint64_t code);
void dti_calc_list_text(struct dti_buffer *buffer, const struct dti_calc_array *array);
void dti_calc_list_put(const struct dti_context *cx, const struct dti_calc_result *result);
/* The true values in the same way; false where they are not known. */
bool dti_calc_truths_text(struct dti_buffer *buffer, const struct dti_calc_result *result);
/* "1 element", "1000 elements", "2 x 3 elements" */
void dti_calc_count_text(struct dti_buffer *buffer, const struct dti_calc_array *array);
void dti_calc_values_print(FILE *out, const struct dti_calc_array *array);

#endif
