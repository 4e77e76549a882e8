/* SPDX-License-Identifier: MIT
 *
 * Rows of the options that several commands share, one macro each: commands compose their tables
 * from these, so that an option has one spelling, one kind and, if it does the same everywhere, one
 * help text. args: the command's struct; field: the path of the member; options with a _given flag
 * have a second member with that suffix. */
#ifndef REQUESTS_OPTION_ROWS_H
#define REQUESTS_OPTION_ROWS_H

#include "requests/option.h"

/* Named policies: options, help, completion, error messages and JSON take their spelling from here.
 * */
extern const struct dti_choice dti_choice_round[];    /* enum dti_round */
extern const struct dti_choice dti_choice_overflow[]; /* enum dti_overflow */
extern const struct dti_choice dti_choice_nan[];      /* enum dti_nan */
extern const struct dti_choice dti_choice_stack[];    /* enum dti_stack */
extern const struct dti_choice dti_choice_packing[];  /* enum dti_packing */
extern const struct dti_choice dti_choice_endian[];   /* enum dti_endian */
extern const struct dti_choice dti_choice_fail_on[];  /* enum dti_flag, a set */
extern const struct dti_choice dti_choice_progress[]; /* enum dti_progress_when */
extern const struct dti_choice dti_choice_device[];   /* offers for completion */

enum dti_endian { DTI_ENDIAN_LITTLE, DTI_ENDIAN_BIG };
/* By default a bar is shown on a terminal that does not receive the data. */
enum dti_progress_when { DTI_PROGRESS_AUTO, DTI_PROGRESS_ALWAYS, DTI_PROGRESS_NEVER };

/* The name of a value, which must be in the table. */
const char *dti_choice_name(const struct dti_choice *table, int value);

/* Input. */
#define DTI_ROW_INPUT(args, field, what, other)                                               \
    OPT_FILE(0, "input", args, field, "FILE", what ", if its name could be taken for " other, \
             DTI_MORE(.elsewhere = "the input is a parameter"))
#define DTI_ROW_FROM(args, field)                                                        \
    OPT_DTYPE(0, "from", args, field, "DTYPE", "the file holds raw codes of this dtype", \
              .matters = true)
#define DTI_ROW_ENDIAN(args, field, help) \
    OPT_CHOICE(0, "endian", args, field, field##_given, "ORDER", dti_choice_endian, help)
#define DTI_ROW_PACKING(args, field, help) \
    OPT_CHOICE(0, "packing", args, field, field##_given, "PACKING", dti_choice_packing, help)
#define DTI_ROW_SHAPE(args, field, of) \
    OPT_TEXT(0, "shape", args, field, "N,...", "shape of raw codes" of ": 2,3 or 2x3")
#define DTI_ROW_ASSUME(args, field) \
    OPT_DTYPE(0, "assume", args, field, "DTYPE", "dtype of npy files that have type V1, V2 or <f1")
#define DTI_ROW_LENIENT(args, field) \
    OPT_FLAG(0, "lenient", args, field, "accept extra bytes and unknown objects in files")

/* Selection of tensors. */
#define DTI_ROW_ONLY(args, field, help) \
    OPT_GLOB(0, "only", args, field, "GLOB,...", help, .matters = true)
#define DTI_ROW_KEEP(args, field)                                                          \
    OPT_GLOB(0, "keep", args, field, "GLOB,...", "files: keep the dtype of these tensors", \
             .matters = true)
#define DTI_ROW_SELECT(args, field) \
    OPT_GLOB(0, "select", args, field, "GLOB,...", "files: write only these tensors")
#define DTI_ROW_ALLOW_UNMATCHED(args, field)    \
    OPT_FLAG(0, "allow-unmatched", args, field, \
             "files: only warn about patterns that match no tensor")
#define DTI_ROW_FUSED(args, field, what)         \
    OPT_TEXT(0, "fused", args, field, "A,B,...", \
             what "loaders make one matrix of these modules, too, as in to_q,to_k,to_v")

/* Output. */
#define DTI_ROW_OUTPUT(args, field, help)                               \
    OPT_FILE('o', "output", args, field, "FILE", help, .matters = true, \
             DTI_MORE(.elsewhere = "the output is a parameter"))
#define DTI_ROW_AS(args, field, forms, what)                       \
    OPT_CHOICE(0, "as", args, field, field##_given, "FORM", forms, \
               what "; by default from --output's name, else the input's")
#define DTI_ROW_FORCE(args, field, of) \
    OPT_FLAG(0, "force", args, field, of "replace the output if it exists")
#define DTI_ROW_NO_COPY(args, field)    \
    OPT_FLAG(0, "no-copy", args, field, \
             "folders: write no config.json, tokenizer and other small files next to the tensors")
#define DTI_ROW_TEMPLATE(args, field)                  \
    OPT_FILE(0, "template", args, field, "MODEL.gguf", \
             "files: write gguf with the metadata and the order of tensors of this file")
#define DTI_ROW_SET(args, field)                     \
    OPT_REPEATED(0, "set", args, field, "KEY=VALUE", \
                 "gguf: write this key-value; KEY:TYPE=VALUE states its type; repeatable")
#define DTI_ROW_SET_FROM(args, field)                 \
    OPT_FILE(0, "set-from", args, field, "FILE.json", \
             "gguf: write the key-values of this JSON object")
#define DTI_ROW_SHARD_SIZE(args, field)                \
    OPT_TEXT(0, "max-shard-size", args, field, "SIZE", \
             "gguf, and folders of safetensors: write files of at most SIZE, as in 4GiB")
#define DTI_ROW_PART(args, field)           \
    OPT_TEXT(0, "part", args, field, "K/N", \
             "folders: write part K of N of the shards, for runs on several machines")
#define DTI_ROW_FINISH(args, field)    \
    OPT_FLAG(0, "finish", args, field, \
             "folders: check that all parts are there, then write the index and the other files")
#define DTI_ROW_CHECK_PARTS(args, field) \
    OPT_FLAG(                            \
        0, "check-parts", args, field,   \
        "with --finish: read all shards, and compare their sums with those that were written")
#define DTI_ROW_DRY_RUN(args, field)                                                            \
    OPT_FLAG(0, "dry-run", args, field, "files: show what would be written, and write nothing", \
             .matters = true)

/* Selection of dtypes. */
#define DTI_ROW_ALL(args, field) OPT_FLAG(0, "all", args, field, "show the IEEE P3109 formats too")

/* Policies and processing. */
#define DTI_ROW_OVERFLOW(args, field)                                                    \
    OPT_CHOICE(0, "overflow", args, field, field##_given, "POLICY", dti_choice_overflow, \
               "what to store for values beyond the range", .matters = true)
#define DTI_ROW_NAN(args, field)                                               \
    OPT_CHOICE(0, "nan", args, field, field##_given, "POLICY", dti_choice_nan, \
               "what to store for a NaN")
#define DTI_ROW_FAIL_ON(args, field, events)                                                    \
    OPT_SET(0, "fail-on", args, field, "EVENT,...", events, "exit 1 when one of these happens", \
            .matters = true)
#define DTI_ROW_LIKE(args, field, stacks, ...) \
    OPT_CHOICE(0, "like", args, field, field##_given, "STACK", stacks, __VA_ARGS__)
#define DTI_ROW_THREADS(args, field, what)                                                   \
    OPT_TEXT(0, "threads", args, field, "N", what ", or all: one on each CPU (the default)", \
             DTI_MORE(.elsewhere = "the context has it"))
#define DTI_ROW_MAX_MEMORY(args, field, of, more)  \
    OPT_TEXT(0, "max-memory", args, field, "SIZE", \
             of "memory limit for the buffers of all threads, as in 64MiB" more)
#define DTI_ROW_PROGRESS(args, field, help)                                                  \
    OPT_CHOICE(0, "progress", args, field, field##_given, "WHEN", dti_choice_progress, help, \
               DTI_MORE(.elsewhere = "the context's `interrupted` is called during the work"))

#endif
