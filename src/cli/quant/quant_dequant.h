/* SPDX-License-Identifier: MIT
 *
 * The parts of `quant FILE DTYPE --dequant`: a cast of a file, of which a view is cast. */
#ifndef DTINFO_CLI_QUANT_DEQUANT_H
#define DTINFO_CLI_QUANT_DEQUANT_H

#include "answers/dequant.h"
#include "cli/quant/quant_args.h"
#include "cli/shared/cast_file.h"

struct quant_dequant {
    const struct quant_args *args;
    struct dti_cast_file_args cast_args; /* what the cast of a file is asked by */
    struct dti_cast_file file;
    struct dti_file_dequant *dequant;
    struct dti_dequant_answer answer;
};

/* quant_dequant_human.c: the report. */
enum dti_status dti_quant_dequant_human(const struct dti_cast_file *file,
                                        const struct dti_dequant_answer *answer,
                                        struct dti_error *reterr);

#endif
