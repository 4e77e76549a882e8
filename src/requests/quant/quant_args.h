/* SPDX-License-Identifier: MIT
 *
 * Quantization: its options, their meaning for a dtype (a target), and the work on files. */
#ifndef REQUESTS_QUANT_QUANT_ARGS_H
#define REQUESTS_QUANT_QUANT_ARGS_H

#include "answers/rewrite/recipe.h"
#include "files/scan/file_digest.h"
#include "requests/rewrite/rewrite_job.h"

/* Types of single tensors, from a plan; and how `advise` measures. */
struct dti_quant_by_name {
    const struct dti_named_types *named; /* if not NULL, what is quantized; the type of each is an
                                            index of the items of `types`, whose patterns do not
                                            count */
    bool gguf;                           /* the new file is GGUF */
    bool skips_unfit;                    /* as in struct dti_rewrite_request, like the next one */
    const struct dti_error_watch *watch; /* with dry_run: the data is read */
};

struct quant_args {
    struct dti_recipe recipe;               /* must be first: recipe words rely on it */
    const struct dti_quant_by_name *choice; /* or NULL */
    int fail_on;                            /* set of enum dti_quant_event */
    /* files only */
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
    const char *types; /* "GLOB=TYPE,..." */
    const char *plan;  /* a file, or NULL */
    const char *importance;
    uint64_t bits;
    bool bits_given;
};

enum { QUANT_TARGETS_MAX = 64 };
/* quant_options.c: "int8" or "int8,mxfp4,...": looks them up and applies the options to each. An
 * option that no target takes is an error. Notes about names go to the asker. Free the list. The
 * targets point into themselves: do not copy them. */
enum dti_status dti_quant_targets_read(const struct quant_args *args, const struct dti_asker *asker,
                                       const char *names, struct dti_quant_target **ret_list,
                                       size_t *ret_count, struct dti_error *reterr);

/* quant_types.c: the dtype of a file, and those that --type gives to some tensors. Free it. */
struct dti_quant_types {
    struct dti_quant_target *targets; /* distinct; the first one is for tensors that nothing fits */
    size_t distinct;
    struct dti_quantize_rule *rules; /* in the order of --type */
    size_t count;
};
enum dti_status dti_quant_types_read(struct dti_quant_types *ret, const struct quant_args *args,
                                     const struct dti_asker *asker, const char *dtype,
                                     struct dti_error *reterr);
void dti_quant_types_free(struct dti_quant_types *types);

/* The options; and the first given one of a list, as dti_option_given() finds it. */
extern const struct dti_option dti_quant_options[];
const char *dti_quant_given(const struct quant_args *args, const char *names);

/* quant_plan_file.c: --plan. The args of a run without it, which has the same meaning; points into
 * itself: must not be copied. dtype: the one that was given, or NULL. Free it in any case. Fails
 * with DTI_USAGE, DTI_BAD_INPUT. */
struct dti_quant_plan_file {
    struct quant_args args;
    const char *dtype; /* for dti_quant_file_run() */
    struct dti_quant_by_name choice;
    struct dti_named_types named;
    struct dti_buffer types;
    struct dti_pool pool;
    char digest[DTI_DIGEST_TEXT];
};
enum dti_status dti_quant_plan_read(struct dti_quant_plan_file *ret, const struct quant_args *args,
                                    const char *dtype, struct dti_error *reterr);
void dti_quant_plan_file_free(struct dti_quant_plan_file *plan);

/* quant_request.c: quantizes a file, into blocks of GGUF if dti_quant_is_gguf(), or dequantizes it.
 * dtype: the one to quantize or dequantize to. Frees everything. */
enum dti_status dti_quant_file_run(const struct quant_args *args,
                                   const struct dti_rewrite_front *front, const char *path,
                                   const char *dtype, struct dti_error *reterr);
/* Whether the new file is GGUF: by its name, or without one by a type that only GGUF files hold.
 * dtype may be NULL. */
bool dti_quant_is_gguf(const struct quant_args *args, const char *dtype);

/* The args of a job that quantizes. */
struct quant_file {
    struct dti_rewrite_job job;
    const struct quant_args *args;
    const struct dti_quant_target *target;
    struct dti_quant_types types; /* not for GGUF; target is the first of them */
    struct dti_quant_rules rules; /* with the layout applied; GGUF: zeros */
};

#endif
