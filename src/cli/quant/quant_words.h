/* SPDX-License-Identifier: MIT
 *
 * Recipes of quantization in words. */
#ifndef CLI_QUANT_QUANT_WORDS_H
#define CLI_QUANT_QUANT_WORDS_H

#include "answers/rewrite/quantized.h"
#include "cli/shell/command.h"
#include "requests/quant/quant_args.h"

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
/* quant_files.c: `quant FILE DTYPE -o OUT`. */
enum dti_status dti_quant_files(const struct quant_args *args, struct dti_command_context *cx,
                                char **operands, int count, struct dti_error *reterr);

#endif
