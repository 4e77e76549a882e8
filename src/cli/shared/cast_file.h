/* SPDX-License-Identifier: MIT
 *
 * The cast of a file of tensors, for the commands whose work it is: what the options ask for, where
 * the output goes, the work, and parts of the report on it. */
#ifndef DTINFO_CLI_CAST_FILE_H
#define DTINFO_CLI_CAST_FILE_H

#include "cli/shared/cast_job.h"
#include "cli/shared/file_source.h"
#include "cli/shared/file_target.h"
#include "dtinfo/file_cast.h"

/* Options of what is read and written, be it an array or tensors. */
struct dti_transfer_args {
    const char *from, *input, *output;
    int as, packing, from_packing, endian, progress; /* enum dti_as, dti_progress_when */
    const char *threads;                             /* a number, or "all" */
    uint64_t count;
    bool as_given, packing_given, from_packing_given, endian_given, count_given, progress_given;
    bool force, report;
};

/* Options of tensors alone. */
struct dti_tensor_args {
    const char *shape, *assume, *only, *keep, *select, *max_memory;
    bool ints, dry_run, lenient;
};

struct dti_cast_file_args {
    struct dti_policy_args policy;
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
    const char *surplus; /* an option that was given and is for values alone, or NULL */
};

struct dti_cast_file {
    const struct dti_transfer_args *args;
    const struct dti_tensor_args *tensors;
    unsigned fail_on;
    const struct dti_context *cx;
    struct dti_cast_job job; /* destination, policies, warnings, device */
    const char *path;        /* of the input */
    const char *out_path;    /* NULL with --dry-run only */
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

/* cast_file_options.c: fills all but container, kind and what follows them. To be freed by
 * dti_cast_file_end(), on success only. */
enum dti_status dti_cast_file_init(struct dti_cast_file *ret, const struct dti_cast_file_args *args,
                                   const struct dti_context *cx, char **operands, int count,
                                   struct dti_error *reterr);
void dti_cast_file_end(struct dti_cast_file *file);
/* The refusal of an operand behind the dtype. */
enum dti_status dti_cast_file_surplus(const char *operand, struct dti_error *reterr);

/* cast_file_options.c: the options of these names; an amount stays as it is where its text is NULL
 * or, of threads, "all". level: the highest to use, of the environment. */
enum dti_status dti_transfer_amounts(const char *threads, const char *max_memory,
                                     size_t *ret_threads, uint64_t *ret_memory,
                                     enum dti_level *ret_level, struct dti_error *reterr);
/* cast_file.c: what --as asks for; DTI_CONTAINER_COUNT where it was not given. */
enum dti_container_kind dti_transfer_form(const struct dti_transfer_args *args);
/* Tells of what killed runs have left, and with --force removes it. path: of the output. */
enum dti_status dti_new_files_clear(const struct dti_new_files *files, bool force, const char *path,
                                    dti_warn_fn *warn, void *context, struct dti_error *reterr);
/* cast_file.c: decides what becomes of each tensor and what the new files are; the container is
 * open. Then all the work, up to the moment when the new files have their names. */
enum dti_status dti_cast_file_plan(struct dti_cast_file *file, struct dti_error *reterr);
enum dti_status dti_cast_file_work(struct dti_cast_file *file, struct dti_error *reterr);
/* The status of the report becomes that of the command: see dti_output_report_end(). */
enum dti_status dti_cast_file_report_end(const struct dti_cast_file *file, enum dti_status status,
                                         struct dti_error *reterr);

/* cast_file_text.c: the numbers of the one tensor as text, to the output or to standard output. */
enum dti_status dti_cast_file_text(struct dti_cast_file *file,
                                   const struct dti_file_cast_options *options,
                                   struct dti_error *reterr);

/* Text on its way to the output, a good deal at once. */
struct dti_text_sink {
    struct dti_output_file *output; /* NULL: out, which is standard output */
    FILE *out;
    uint64_t *ret_bytes; /* grows by what was written */
    size_t used;
    char bytes[64 << 10];
};
/* A number on a line; bytes, at most as many as there is room for; then what is left. */
enum dti_status dti_sink_number(struct dti_text_sink *sink, const struct dti_format *format,
                                uint64_t code, struct dti_error *reterr);
enum dti_status dti_sink_put(struct dti_text_sink *sink, const void *bytes, size_t size,
                             struct dti_error *reterr);
enum dti_status dti_sink_flush(struct dti_text_sink *sink, struct dti_error *reterr);

/* cast_file_report.c: whether the report goes to standard error, since the data goes to standard
 * output; and the line that is there. */
bool dti_cast_file_aside(const struct dti_cast_file *file);
struct dti_line dti_cast_file_line(const struct dti_cast_file *file);
/* model.safetensors -> out.safetensors   12 tensors   1.00 GiB -> 512.00 MiB */
void dti_cast_file_head(const struct dti_cast_file *file, uint64_t input_bytes,
                        struct dti_line *line);
/* Writes and frees a table of the report, or only frees it when it is not whole. */
enum dti_status dti_cast_file_table(struct dti_table *table, bool whole,
                                    const struct dti_cast_file *file, struct dti_error *reterr);
/* What was lost in all, which goes to *ret, too: two lines. */
void dti_cast_file_losses(const struct dti_cast_file *file, struct dti_loss_summary *ret,
                          struct dti_line *line);

#endif
