/* SPDX-License-Identifier: MIT
 *
 * The parts of the quant command: its options, their meaning for a dtype (a target), and the
 * commands for values and files. */
#ifndef CLI_QUANT_QUANT_ARGS_H
#define CLI_QUANT_QUANT_ARGS_H

#include "answers/rewrite/recipe.h"
#include "cli/rewrite/rewrite_job.h"
#include "cli/shell/option.h"

struct quant_args {
    struct dti_recipe recipe; /* must be first: recipe words rely on it */
    int fail_on;              /* set of enum dti_quant_event */
    /* files only */
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
    const char *types; /* "GLOB=TYPE,..." */
    uint64_t bits;
    bool bits_given;
};

enum { QUANT_TARGETS_MAX = 64 };
/* quant_options.c: "int8" or "int8,mxfp4,...": looks them up and applies the options to each. An
 * option that no target takes is an error. Notes about names go to stderr. Free the list. The
 * targets point into themselves: do not copy them. */
enum dti_status dti_quant_targets_read(const struct quant_args *args,
                                       const struct dti_command_context *cx, const char *names,
                                       struct dti_quant_target **ret_list, size_t *ret_count,
                                       struct dti_error *reterr);

/* quant_types.c: the dtype of a file, and those that --type gives to some tensors. Free it. */
struct dti_quant_types {
    struct dti_quant_target *targets; /* distinct; the first one is for tensors that nothing fits */
    size_t distinct;
    struct dti_quantize_rule *rules; /* in the order of --type */
    size_t count;
};
enum dti_status dti_quant_types_read(struct dti_quant_types *ret, const struct quant_args *args,
                                     const struct dti_command_context *cx, const char *dtype,
                                     struct dti_error *reterr);
void dti_quant_types_free(struct dti_quant_types *types);

/* The options; and the first given one of a list, as dti_option_given() finds it. */
extern const struct dti_option dti_quant_options[];
const char *dti_quant_given(const struct quant_args *args, const char *names);

/* Recipes in words. */
enum { QUANT_WORDS_SIZE = 160 };
/* "symmetric, largest magnitude / 127". */
const char *dti_quant_kind_words(const struct dti_quant_target *target,
                                 char buffer[QUANT_WORDS_SIZE]);
/* "x / scale in fp32, to nearest even". */
const char *dti_quant_division_words(const struct dti_quant_target *target);
/* The rule of a block's scale: "floor(log2 amax) - 2". */
const char *dti_quant_scale_words(const struct dti_quant_target *target,
                                  char buffer[QUANT_WORDS_SIZE]);

/* quant_values.c: `quant VALUES... DTYPE`. */
enum dti_status dti_quant_values(const struct quant_args *args,
                                 const struct dti_command_context *cx, char **operands, int count,
                                 struct dti_error *reterr);
/* quant_files.c: `quant FILE DTYPE -o OUT`, unless one of the next applies. */
enum dti_status dti_quant_file(const struct quant_args *args, const struct dti_command_context *cx,
                               char **operands, int count, struct dti_error *reterr);
/* `quant FILE TYPE -o OUT.gguf`. The first function decides whether it is that: by the output's
 * name, or without an output by a type that only GGUF files hold. */
bool dti_quant_is_gguf(const struct quant_args *args, char **operands, int count);
enum dti_status dti_quant_gguf(const struct quant_args *args, const struct dti_command_context *cx,
                               char **operands, int count, struct dti_error *reterr);
/* `quant FILE DTYPE --dequant -o OUT`. */
enum dti_status dti_quant_dequant(const struct quant_args *args,
                                  const struct dti_command_context *cx, char **operands, int count,
                                  struct dti_error *reterr);

#endif
