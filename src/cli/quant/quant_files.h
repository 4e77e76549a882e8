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
    struct dti_quant_rules rules; /* as the layout settles them; gguf: zeros */
};

/* Of a struct dti_rewrite_command, for jobs whose args are a struct quant_file. quant_files.c: */
void dti_quant_file_describe(struct dti_rewrite_job *job);
bool dti_quant_file_fails(const struct dti_rewrite_job *job);
/* quant_file_human.c: */
extern const struct dti_rewrite_page dti_quant_page;

#endif
