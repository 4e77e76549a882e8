/* SPDX-License-Identifier: MIT
 *
 * The parts of `cast` for arrays: raw codes or numbers as text, from a file or a pipe to another,
 * and the report on losses. */
#ifndef CLI_CAST_ARRAY_H
#define CLI_CAST_ARRAY_H

#include "cli/rewrite/rewrite_page.h"
#include "cli/shared/progress.h"
#include "convert/convert.h"

struct cast_array_args {
    const struct dti_policy_args *policy;
    const struct dti_transfer_args *transfer;
    /* Given options that are only for values, only for tensors; or NULL. */
    const char *of_values, *of_tensors;
};

struct cast_array {
    const struct dti_transfer_args *args;
    const struct dti_recipe *recipe;
    const struct dti_command_context *cx;
    struct dti_cast_job job;     /* destination, policies, warnings, device */
    const char *path, *out_path; /* "-" for the standard streams */
    bool from_text, to_text, to_stdout;
    bool shown;   /* print the report: on stdout, or on stderr if the data goes to stdout */
    bool counted; /* the loss is counted */
    struct dti_request request; /* src is not set for text input */
    struct dti_plan *plan;      /* NULL likewise */
    enum dti_level level;
    size_t threads; /* 0 until chosen */
    uint64_t count; /* --count, or DTI_UNTIL_END */
    struct dti_input input;
    struct dti_output_file *output; /* NULL: text on standard output */
    struct dti_progress progress;
    /* the result */
    uint64_t elements, input_bytes, output_bytes;
    struct dti_loss loss;
    unsigned flags; /* flags of numbers cast one by one */
};

/* array.c: the whole cast. */
enum dti_status dti_cast_array(const struct cast_array_args *args,
                               const struct dti_command_context *cx, char **operands, int count,
                               struct dti_error *reterr);

/* array_text.c: from text to codes or to text; from codes to text. */
enum dti_status dti_cast_array_from_text(struct cast_array *array, struct dti_error *reterr);
enum dti_status dti_cast_array_to_text(struct cast_array *array, struct dti_error *reterr);

#endif
