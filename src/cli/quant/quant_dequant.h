/* SPDX-License-Identifier: MIT
 *
 * The parts of `quant FILE DTYPE --dequant`: a cast of a file, of which a view is cast. */
#ifndef DTINFO_CLI_QUANT_DEQUANT_H
#define DTINFO_CLI_QUANT_DEQUANT_H

#include "answers/dequant.h"
#include "cli/cast/cast_file.h"
#include "cli/quant/quant_args.h"

struct quant_dequant {
    const struct quant_args *args;
    struct cast_args cast_args; /* what the cast of a file is asked by */
    struct cast_file file;
    struct dti_file_dequant *dequant;
    struct dti_warnings warnings;
    struct dti_dequant_answer answer;
};

/* quant_dequant_human.c: the report. */
enum dti_status dti_quant_dequant_human(const struct cast_file *file,
                                        const struct dti_dequant_answer *answer,
                                        struct dti_error *reterr);

#endif
