/* SPDX-License-Identifier: MIT
 *
 * `calc`: the request, and how its results are shown. */
#ifndef CLI_CALC_CALC_JOB_H
#define CLI_CALC_CALC_JOB_H

#include <stdio.h>

#include "answers/calc/calc_answer.h"
#include "cli/shared/progress.h"
#include "requests/cast_job.h"

struct calc_args {
    struct dti_policy_args policy;
    int subnormals, true_value; /* enum dti_calc_truths */
    bool subnormals_given, true_value_given;
    const char *accumulate, *order, *output, *assume;
    bool fma, steps, force, progress_given;
    int progress;
};

/* Outcomes besides events. */
enum { FAIL_INEXACT = 1 << DTI_CALC_EVENT_COUNT, FAIL_INVALID = FAIL_INEXACT << 1 };

struct calc_job {
    const struct calc_args *args;
    const struct dti_command_context *cx;
    char **operands; /* operands without the last one */
    int operand_count;
    struct dti_cast_job cast; /* the dtypes, and warnings */
    char *text;               /* the expression */
    size_t length;
    struct dti_calc_tree *tree;
    struct dti_calc_options options;
    struct dti_logical_options files; /* how @FILE operands are opened, with: */
    struct dti_container_options open;
    struct dti_format assume;
    struct dti_progress progress;   /* of the current step */
    uint64_t reported;              /* its elements that were done when the bar last heard of it */
    unsigned happened;              /* events of all results, for --fail-on */
    struct dti_output_file *output; /* of -o, until it is written; */
    struct dti_file_part written;   /* afterwards its path and size */
};

/* calc_output.c: -o. Discard job->output if nothing was written. */
enum dti_status dti_calc_output_open(struct calc_job *job, struct dti_error *reterr);
/* Computes in the dtype of a target, and writes the file of -o. */
enum dti_status dti_calc_job_run(struct calc_job *job, size_t target, struct dti_calc_result *ret,
                                 struct dti_error *reterr);

/* calc_human.c: the full answer in one dtype. */
enum dti_status dti_calc_human(const struct calc_job *job, const struct dti_calc_result *result,
                               struct dti_error *reterr);

/* In several dtypes. */
enum dti_status dti_calc_human_table(struct calc_job *job, struct dti_error *reterr);

/* --steps: every operation. */
enum dti_status dti_calc_human_steps(const struct calc_job *job,
                                     const struct dti_calc_result *result,
                                     struct dti_error *reterr);

/* All elements, one per line, as -q prints them. */
void dti_calc_values_print(FILE *out, const struct dti_calc_array *array);

#endif
