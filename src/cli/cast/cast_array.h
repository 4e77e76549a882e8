/* SPDX-License-Identifier: MIT
 *
 * The parts of `cast` for arrays: raw codes or numbers as text, from a file or a pipe to another,
 * and the report on what was lost. */
#ifndef DTINFO_CLI_CAST_ARRAY_H
#define DTINFO_CLI_CAST_ARRAY_H

#include "cli/cast/cast.h"
#include "cli/shared/progress.h"
#include "dtinfo/convert.h"

enum cast_as { CAST_AS_RAW, CAST_AS_TEXT, CAST_AS_NPY, CAST_AS_SAFETENSORS };
enum cast_endian { CAST_ENDIAN_LITTLE, CAST_ENDIAN_BIG };

struct cast_array {
    const struct cast_args *args;
    const struct dti_context *cx;
    struct cast_job job;         /* destination, policies, warnings, JSON */
    const char *path, *out_path; /* "-" for the standard streams */
    bool from_text, to_text, to_stdout;
    bool shown;   /* the report is printed: on stdout, or on stderr when the data goes to stdout */
    bool counted; /* the loss is counted */
    struct dti_request request; /* src is not set when the numbers come as text */
    struct dti_plan *plan;      /* NULL likewise */
    enum dti_level level;
    size_t threads; /* 0 until chosen */
    uint64_t count; /* of --count, or DTI_UNTIL_END */
    struct dti_input input;
    struct dti_output_file *output; /* NULL: text on standard output */
    struct dti_progress progress;
    /* what came of it */
    uint64_t elements, input_bytes, output_bytes;
    struct dti_loss loss;
};

/* Whether the options ask for an array; if not, an option that only arrays have is an error. */
bool dti_cast_is_array(const struct cast_args *args);
enum dti_status dti_cast_array_refuse(const struct cast_args *args, char **operands, int count,
                                      struct dti_error *reterr);

/* An option of files of tensors that was given, or NULL. */
const char *dti_cast_file_option(const struct cast_args *args);

/* Whether a progress bar is shown: --progress, else on a terminal that does not get the data. */
enum cast_progress { CAST_PROGRESS_AUTO, CAST_PROGRESS_ALWAYS, CAST_PROGRESS_NEVER };
bool dti_cast_has_bar(const struct cast_args *args, const struct dti_context *cx, bool to_stdout);

/* For an operand that is no number: when it is a file, the error becomes that it needs --from. */
void dti_cast_array_hint(const char *operand, struct dti_error *error);
bool dti_cast_is_file(const char *operand);
bool dti_cast_is_number(const char *operand);
/* "cannot read 'in.bin': No such file or directory", or another errno value. */
enum dti_status dti_cast_no_such_file(const char *path, int cause, struct dti_error *reterr);

/* cast_array.c: the whole command. */
enum dti_status dti_cast_array(const struct cast_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr);

/* cast_array_options.c: fills all but plan, input, output and what follows them. The job is to be
 * freed on success only. */
enum dti_status dti_cast_array_init(struct cast_array *ret, const struct cast_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr);

/* cast_array_text.c: text in, text out, or both. */
enum dti_status dti_cast_array_from_text(struct cast_array *array, struct dti_error *reterr);
enum dti_status dti_cast_array_to_text(struct cast_array *array, struct dti_error *reterr);

/* cast_array_human.c, cast_array_json.c: the report. */
void dti_cast_array_human(struct cast_array *array);
enum dti_status dti_cast_array_json(struct cast_array *array, struct dti_error *reterr);

/* A path without its quotes, made safe for a terminal. */
const char *dti_cast_path(char buffer[DTI_QUOTE_SIZE], const char *path);

#endif
