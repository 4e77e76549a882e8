/* SPDX-License-Identifier: MIT
 *
 * The parts of `cast` for files of tensors: what the options ask for, where the output goes, the
 * work, and the report on it. */
#ifndef DTINFO_CLI_CAST_FILE_H
#define DTINFO_CLI_CAST_FILE_H

#include "cli/cast/cast_array.h"
#include "cli/shared/file_source.h"
#include "cli/shared/file_target.h"
#include "dtinfo/file_cast.h"

struct cast_file {
    const struct cast_args *args;
    const struct dti_context *cx;
    struct cast_job job;  /* destination, policies, warnings, JSON */
    const char *path;     /* of the input */
    const char *out_path; /* NULL with --dry-run only */
    bool to_text, to_stdout;
    bool shown; /* the report is printed: on stdout, or on stderr when the data goes to stdout */
    struct dti_file_source source;
    uint64_t max_memory; /* 0 for the default */
    enum dti_level level;
    size_t threads; /* 0 until chosen */
    struct dti_container *container;
    struct dti_container *viewed;     /* what is cast in its place, by the view; or NULL */
    const struct dti_file_view *view; /* see dtinfo/file_cast.h */
    struct dti_file_target target;    /* of kind DTI_CONTAINER_RAW for text */
    struct dti_file_cast *cast;
    uint64_t output_bytes; /* of the new files, as they came to be */
    bool complete;         /* they have their names */
};

/* cast_file_options.c: whether operands and options are those of a cast of a file. */
bool dti_cast_is_files(const struct cast_args *args, char **operands, int count);

/* Fills all but container, kind and what follows them. To be freed by dti_cast_file_end(), on
 * success only. */
enum dti_status dti_cast_file_init(struct cast_file *ret, const struct cast_args *args,
                                   const struct dti_context *cx, char **operands, int count,
                                   struct dti_error *reterr);
void dti_cast_file_end(struct cast_file *file);
/* The refusal of an operand behind the dtype. */
enum dti_status dti_cast_file_surplus(const char *operand, struct dti_error *reterr);

/* cast_file_target.c: what the output is and what it is called; the container is open. */
enum dti_status dti_cast_file_target(struct cast_file *file, struct dti_error *reterr);

/* cast_file.c: decides what becomes of each tensor and what the new files are; the container is
 * open. Then all the work, up to the moment when the new files have their names. */
enum dti_status dti_cast_file_plan(struct cast_file *file, struct dti_error *reterr);
enum dti_status dti_cast_file_work(struct cast_file *file, struct dti_error *reterr);
/* The status of the report becomes that of the command: see dti_output_report_end(). */
enum dti_status dti_cast_file_report_end(const struct cast_file *file, enum dti_status status,
                                         struct dti_error *reterr);
/* The whole command. */
enum dti_status dti_cast_file(const struct cast_args *args, const struct dti_context *cx,
                              char **operands, int count, struct dti_error *reterr);

/* cast_file_text.c: the numbers of the one tensor as text, to the output or to standard output. */
enum dti_status dti_cast_file_text(struct cast_file *file,
                                   const struct dti_file_cast_options *options,
                                   struct dti_error *reterr);

/* cast_file_human.c, cast_file_json.c: the report. */
enum dti_status dti_cast_file_human(struct cast_file *file, struct dti_error *reterr);
enum dti_status dti_cast_file_json(struct cast_file *file, struct dti_error *reterr);

/* Parts of both for those whose work is the cast of a file. Whether the report goes to standard
 * error, since the data goes to standard output. */
bool dti_cast_file_aside(const struct cast_file *file);
/* model.safetensors -> out.safetensors   12 tensors   1.00 GiB -> 512.00 MiB */
void dti_cast_file_head(const struct cast_file *file, uint64_t input_bytes, struct dti_line *line);
/* Writes and frees a table of the report, or only frees it when it is not whole. */
enum dti_status dti_cast_file_table(struct dti_table *table, bool whole,
                                    const struct cast_file *file, struct dti_error *reterr);
/* What was lost in all, which goes to *ret, too: two lines. */
void dti_cast_file_losses(const struct cast_file *file, struct dti_loss_summary *ret,
                          struct dti_line *line);
/* The member "output"; the members of "totals" on the loss, null where `there` is false. */
enum dti_status dti_cast_file_json_output(const struct cast_file *file, struct dti_error *reterr);
enum dti_status dti_cast_file_json_loss(const struct cast_file *file, bool there,
                                        struct dti_error *reterr);

#endif
