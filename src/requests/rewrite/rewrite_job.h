/* SPDX-License-Identifier: MIT
 *
 * Rewriting a file of tensors, for cast, quant and transcode: the request, the output, the work and
 * the answer. */
#ifndef REQUESTS_REWRITE_REWRITE_JOB_H
#define REQUESTS_REWRITE_REWRITE_JOB_H

#include "answers/rewrite/rewritten.h"
#include "files/rewrite/rewrite.h"
#include "files/stored/model_template.h"
#include "requests/cast_job.h"
#include "requests/file_source.h"
#include "requests/option.h"
#include "requests/rewrite/file_target.h"
#include "requests/rewrite/gguf_job.h"

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

/* The differences between what is done to files. */
struct dti_rewrite_verb {
    bool regular;                     /* input and output must be regular files */
    bool states;                      /* has key-values and a template: makes GGUF of any input */
    const struct dti_option *options; /* rows of the args that hold the job's options */
    /* Fills in what the recipe needs from the open container; or NULL. */
    enum dti_status (*open)(struct dti_rewrite_job *job, struct dti_error *reterr);
    /* Fills in the recipe of the answer, or NULL; and writes the answer as JSON. */
    void (*describe)(struct dti_rewrite_job *job);
    void (*document)(struct dti_json *json, const struct dti_rewrite_answer *answer);
    /* Whether an event of fail-on happened. */
    bool (*fails)(const struct dti_rewrite_job *job);
};

/* Who asks, and gets the answer. Only the last function must be there. */
struct dti_rewrite_front {
    const struct dti_asker *asker;
    const struct dti_sink *stream; /* of the document */
    void *context;                 /* the asker's own */
    /* The command line's: its context, and the words and tables of its page. */
    struct dti_command_context *cx;
    const struct dti_rewrite_page *page;
    /* Before files are written, and after they have their names. */
    void (*begin)(const struct dti_rewrite_job *job);
    void (*complete)(const struct dti_rewrite_job *job);
    /* Calls dti_rewrite_job_pass(), with progress. */
    enum dti_status (*pass)(struct dti_rewrite_job *job, struct dti_rewrite_options *options,
                            struct dti_error *reterr);
    /* The parts of a divided run have not written all they should: returns DTI_ANSWER_NO. */
    enum dti_status (*incomplete)(const struct dti_rewrite_job *job, const struct dti_error *why,
                                  struct dti_error *reterr);
    enum dti_status (*report)(struct dti_rewrite_job *job, struct dti_error *reterr);
};

struct dti_rewrite_job {
    const struct dti_rewrite_verb *verb;
    const struct dti_rewrite_front *front;
    const void *args; /* the command's own */
    const struct dti_transfer_args *transfer;
    const struct dti_tensor_args *tensors;
    struct dti_cast_job job; /* warnings; of casts destination, policies, device */
    unsigned fail_on;
    const char *path;     /* path of the input */
    const char *out_path; /* NULL with --dry-run only */
    bool to_text, to_stdout;
    bool shown; /* print the report: on stdout, or on stderr if the data goes to stdout */
    struct dti_file_source source;
    const char *dtype;                    /* as given, or NULL */
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

/* rewrite_options.c: from options, in this order. No file is opened. path: of the input. */
void dti_rewrite_job_init(struct dti_rewrite_job *ret, const struct dti_rewrite_verb *verb,
                          const struct dti_transfer_args *transfer,
                          const struct dti_tensor_args *tensors,
                          const struct dti_rewrite_front *front, const char *path);
enum dti_status dti_rewrite_options(struct dti_rewrite_job *job, struct dti_error *reterr);
/* The destination and the policies of a cast. */
enum dti_status dti_rewrite_cast(struct dti_rewrite_job *job, const struct dti_policy_args *policy,
                                 const char *dtype, struct dti_error *reterr);
/* The contents of an input that does not describe itself. */
enum dti_status dti_rewrite_source_options(struct dti_rewrite_job *job, struct dti_error *reterr);

/* The options of these names; an amount is unchanged if its text is NULL or, for threads, "all". */
enum dti_status dti_transfer_amounts(const struct dti_asker *asker, const char *threads,
                                     const char *max_memory, size_t *ret_threads,
                                     uint64_t *ret_memory, enum dti_level *ret_level,
                                     struct dti_error *reterr);

/* rewrite_recipe.c: records all options and operands that determine the bytes of the new files, as
 * given. False when out of memory. */
bool dti_rewrite_recipe(struct dti_rewrite_job *job);

/* rewrite_job.c: all the work from opening the input to the report; then frees the job. `status` is
 * the result so far. */
enum dti_status dti_rewrite_job_run(struct dti_rewrite_job *job, enum dti_status status,
                                    struct dti_error *reterr);
/* Reads the tensors and writes the new ones. text: writes the numbers of the one tensor; may be
 * NULL without text. */
typedef enum dti_status dti_rewrite_text_fn(struct dti_rewrite_job *job,
                                            const struct dti_rewrite_options *options,
                                            struct dti_error *reterr);
enum dti_status dti_rewrite_job_pass(struct dti_rewrite_job *job,
                                     const struct dti_rewrite_options *options,
                                     dti_rewrite_text_fn *text, struct dti_error *reterr);
/* Whether the data goes to standard output. */
bool dti_rewrite_aside(const struct dti_rewrite_job *job);

/* dequant_view.c, an `open`: fills request.dequant from job->view and the options on tensors. Fails
 * with DTI_BAD_INPUT, too, if nothing is quantized. */
enum dti_status dti_dequant_view(struct dti_rewrite_job *job, struct dti_error *reterr);

#endif
