/* SPDX-License-Identifier: MIT
 *
 * Which options of quant go together, and which dtypes take them. */
#ifndef DTINFO_CLI_QUANT_OPTIONS_H
#define DTINFO_CLI_QUANT_OPTIONS_H

#include "cli/quant/quant_args.h"

/* Kinds of targets: a set. */
enum {
    QUANT_INTEGER = 1,
    QUANT_FLOAT = 2,
    QUANT_MX = 4,
    QUANT_NV = 8,
    QUANT_NF = 16,
    QUANT_GGML = 32,
    QUANT_AFFINE = QUANT_INTEGER | QUANT_FLOAT,
    QUANT_ANY = 63,
};
unsigned dti_quant_family(const struct quant_target *target);

/* Options that exclude or need each other, whatever the dtype is. */
enum dti_status dti_quant_options_check(const struct quant_args *args, struct dti_error *reterr);
/* An option that none of the targets takes. */
enum dti_status dti_quant_options_fit(const struct quant_args *args,
                                      const struct quant_target *targets, size_t count,
                                      struct dti_error *reterr);

#endif
