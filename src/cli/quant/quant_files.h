/* SPDX-License-Identifier: MIT
 *
 * `quant` for files of tensors. */
#ifndef DTINFO_CLI_QUANT_FILES_H
#define DTINFO_CLI_QUANT_FILES_H

#include "cli/quant/quant_args.h"

struct quant_file {
    struct dti_rewrite_job job;
    const struct quant_args *args;
    struct dti_quant_target *target;
};

/* quant_file_human.c: the report. */
enum dti_status dti_quant_file_human(const struct quant_file *file, struct dti_error *reterr);

#endif
