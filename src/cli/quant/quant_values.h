/* SPDX-License-Identifier: MIT
 *
 * quant for values: the report for people. */
#ifndef DTINFO_CLI_QUANT_VALUES_H
#define DTINFO_CLI_QUANT_VALUES_H

#include "cli/quant/quant_args.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

/* quant_words.c */
enum { QUANT_WORDS_SIZE = 160 };
/* "symmetric, largest magnitude / 127". */
const char *dti_quant_kind_words(const struct dti_quant_target *target,
                                 char buffer[QUANT_WORDS_SIZE]);
/* "x / scale in fp32, to nearest even". */
const char *dti_quant_division_words(const struct dti_quant_target *target);
/* The rule of a block's scale: "floor(log2 amax) - 2". */
const char *dti_quant_scale_words(const struct dti_quant_target *target,
                                  char buffer[QUANT_WORDS_SIZE]);

/* quant_human.c */
enum dti_status dti_quant_human(const struct quant_args *args, const struct dti_context *cx,
                                const struct dti_quant_result *result, struct dti_error *reterr);

#endif
