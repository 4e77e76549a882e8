/* SPDX-License-Identifier: MIT
 *
 * Rewriting a file of tensors, for cast and quant: the request, the output, the work, and the
 * common parts of the reports. */
#ifndef CLI_REWRITE_REWRITE_JOB_H
#define CLI_REWRITE_REWRITE_JOB_H

#include "answers/rewrite/rewritten.h"
#include "cli/rewrite/file_target.h"
#include "cli/rewrite/gguf_job.h"
#include "cli/rewrite/tensor_kinds.h"
#include "cli/shared/cast_job.h"
#include "cli/shared/file_source.h"
#include "cli/shell/option.h"
#include "files/rewrite/rewrite.h"
#include "files/stored/model_template.h"

/* Options for reading and writing arrays or tensors. */
struct dti_transfer_args {
    const char *from, *input, *output;
    int as, endian, progress; /* enum dti_as, dti_progress_when */
    const char *threads;      /* a number, or "all" */
    uint64_t count;
    bool as_given, endian_given, count_given, progress_given;
    bool force, report;
};

/* Options only for tensors. */
struct dti_tensor_args {
    const char *shape, *assume, *only, *keep, *select, *max_memory, *part, *model, *shard_size;
    const char *set_from; /* --set-from */
    struct dti_option_list set;
    bool dry_run, lenient, allow_unmatched, no_copy, finish, check_parts;
};

struct dti_rewrite_job;
struct dti_tensor_kind;

/* The command's parts of the page for people; each except the last may be NULL. */
struct dti_rewrite_page {
    void (*recipe)(const struct dti_rewrite_job *job, struct dti_line *line);
    /* Adjusts a tensor's kind, which follows from its fate. False: it is not counted. */
    bool (*kind)(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind);
    void (*loss)(struct dti_rewrite_job *job, struct dti_line *line);
    enum dti_status (*tables)(const struct dti_rewrite_job *job, struct dti_error *reterr);
};

/* The differences between the commands. */
struct dti_rewrite_command {
    const char *verb, *example; /* "quantized"; "as in 'dtinfo ...'" */
    const char *no_file;        /* the error for a missing file, or NULL if there always is one */
    bool regular;               /* input and output must be regular files */
    bool states;                /* has --set, --set-from and --template: makes GGUF of any input */
    const char *const *kept;    /* by enum dti_fate: why a tensor was kept */
    /* Fills in what the recipe needs from the open container; or NULL. */
    enum dti_status (*open)(struct dti_rewrite_job *job, struct dti_error *reterr);
    /* Fills in the recipe of the answer, or NULL; writes the answer as JSON; and for people. */
    void (*describe)(struct dti_rewrite_job *job);
    void (*document)(struct dti_json *json, const struct dti_rewrite_answer *answer);
    const struct dti_rewrite_page *page;
    /* Whether an event of --fail-on happened. */
    bool (*fails)(const struct dti_rewrite_job *job);
};

struct dti_rewrite_job {
    const struct dti_rewrite_command *command;
    const void *args; /* the command's own */
    const struct dti_transfer_args *transfer;
    const struct dti_tensor_args *tensors;
    const struct dti_command_context *cx;
    struct dti_cast_job job; /* warnings; of casts destination, policies, device */
    unsigned fail_on;
    const char *path;     /* path of the input */
    const char *out_path; /* NULL with --dry-run only */
    bool to_text, to_stdout;
    bool shown; /* print the report: on stdout, or on stderr if the data goes to stdout */
    struct dti_file_source source;
    const char *dtype;                    /* the operand, or NULL */
    struct dti_buffer recipe;             /* recipe of a divided run; freed at the end */
    uint64_t max_memory;                  /* 0 for the default */
    size_t threads;                       /* 0 until chosen */
    struct dti_file_dequant_request view; /* how quantized tensors are read, from options */
    struct dti_container *container;
    struct dti_container *model; /* the --template, or NULL */
    struct dti_model_template match;
    struct dti_gguf_job gguf;
    struct dti_file_target target; /* raw for text */
    struct dti_rewrite_request request;
    struct dti_rewrite *rewrite;
    uint64_t output_bytes; /* bytes of the new files */
    bool complete;         /* the new files have their final names */
    bool losses;           /* the data was read, with --dry-run too: losses are known */
    struct dti_rewrite_answer answer;
};

/* rewrite_options.c: from operands, options and the environment; in this order. No tensor file is
 * opened, except to see whether an operand is one. ret_dtype: NULL where no dtype is an operand. */
void dti_rewrite_job_init(struct dti_rewrite_job *ret, const struct dti_rewrite_command *command,
                          const struct dti_transfer_args *transfer,
                          const struct dti_tensor_args *tensors,
                          const struct dti_command_context *cx);
enum dti_status dti_rewrite_operands(struct dti_rewrite_job *job, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr);
/* surplus: a given option that is only for values, or NULL. */
enum dti_status dti_rewrite_options(struct dti_rewrite_job *job, const char *surplus,
                                    struct dti_error *reterr);
/* The destination and the policies of a cast. */
enum dti_status dti_rewrite_cast(struct dti_rewrite_job *job, const struct dti_policy_args *policy,
                                 const char *dtype, struct dti_error *reterr);
/* The contents of an input that does not describe itself. */
enum dti_status dti_rewrite_source_options(struct dti_rewrite_job *job, struct dti_error *reterr);

/* rewrite_recipe.c: records all options and operands that determine the bytes of the new files, as
 * given. False when out of memory. */
bool dti_rewrite_recipe(struct dti_rewrite_job *job);

/* The errors for an operand after the dtype, and for a missing dtype. */
enum dti_status dti_rewrite_surplus(const char *operand, struct dti_error *reterr);
enum dti_status dti_rewrite_no_dtype(const struct dti_rewrite_command *command, const char *path,
                                     struct dti_error *reterr);
/* The options of these names; an amount is unchanged if its text is NULL or, for threads, "all".
 * level: the highest allowed by the environment. */
enum dti_status dti_transfer_amounts(const char *threads, const char *max_memory,
                                     size_t *ret_threads, uint64_t *ret_memory,
                                     enum dti_level *ret_level, struct dti_error *reterr);

/* rewrite_job.c: all the work from opening the input to the report; then frees the job. `status` is
 * the result so far. */
enum dti_status dti_rewrite_job_run(struct dti_rewrite_job *job, enum dti_status status,
                                    struct dti_error *reterr);

/* text_sink.c: the numbers of the one tensor as text, to the output or to standard output. */
enum dti_status dti_rewrite_text(struct dti_rewrite_job *job,
                                 const struct dti_rewrite_options *options,
                                 struct dti_error *reterr);

/* rewrite_human.c: the page: a summary line, the recipe, a line for each kind of tensors, what was
 * lost, tables. All of it goes to standard error if the data goes to standard output. */
enum dti_status dti_rewrite_human(struct dti_rewrite_job *job, struct dti_error *reterr);
bool dti_rewrite_aside(const struct dti_rewrite_job *job);
/* A line with the total losses and the place of the largest. */
void dti_rewrite_errors(const struct dti_rewrite_job *job, struct dti_line *line);
/* "  level x86-64-v3   2 threads" */
void dti_rewrite_machine(const struct dti_rewrite_job *job, struct dti_line *line);

/* A column of a table of tensors, after their names, dtypes and shapes. */
struct dti_rewrite_column {
    const char *title;
    enum {
        DTI_COLUMN_BYTES,    /* bytes of the tensor: "1.00 MiB", or "2.00 MiB -> 1.00 MiB" */
        DTI_COLUMN_BITS,     /* bits per element in the output: "4.5" */
        DTI_COLUMN_COUNT,    /* a uint64_t of struct dti_rewrite_outcome */
        DTI_COLUMN_LOSS,     /* a double of its loss */
        DTI_COLUMN_RELATIVE, /* likewise, a ratio */
        DTI_COLUMN_FLOAT,    /* a float; 0: none */
        DTI_COLUMN_INT,      /* an int32_t */
    } type;
    size_t offset;
    bool hidden;
};
#define DTI_COLUMN_OF(member) offsetof(struct dti_rewrite_outcome, member)
/* A table with these heads, and ranks as dti_table_heads() takes them. */
struct dti_table *dti_rewrite_table_new(const char *const *heads, size_t count, const char *ranks);
/* Writes and frees a table of the report, or only frees it if it is incomplete. */
enum dti_status dti_rewrite_table_end(const struct dti_rewrite_job *job, struct dti_table *table,
                                      bool whole, struct dti_error *reterr);
/* The tensors of a list, or all if it is NULL. */
enum dti_status dti_rewrite_table(const struct dti_rewrite_job *job,
                                  const struct dti_rewrite_column *columns, size_t column_count,
                                  const size_t *list, size_t count, struct dti_error *reterr);
/* The first cells: name, dtypes (to: NULL if unchanged), shape. False when out of memory. */
bool dti_rewrite_cells(struct dti_table *table, const struct dti_tensor *source, const char *from,
                       const char *to);
/* A table of a list's tensors, or of all, where it is NULL. */
typedef enum dti_status dti_rewrite_put_table(const struct dti_rewrite_job *job, const size_t *list,
                                              size_t count, struct dti_error *reterr);
/* A table of the few tensors that lost most, if any lost something. If there are more, a line below
 * it reports that: "  the worst of 7 quantized tensors; -v shows all", with the words around the
 * number. */
enum dti_status dti_rewrite_worst(const struct dti_rewrite_job *job,
                                  bool (*lost)(const struct dti_rewrite_tensor *tensor),
                                  bool (*is_worse)(const struct dti_loss_summary *a,
                                                   const struct dti_loss_summary *b),
                                  dti_rewrite_put_table *put_table, const char *before,
                                  const char *after, struct dti_error *reterr);

#endif
