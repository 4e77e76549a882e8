/* SPDX-License-Identifier: MIT
 *
 * The parts of `quant` for files of tensors: what the options ask for, the work, and the report on
 * it. */
#ifndef DTINFO_CLI_QUANT_FILES_H
#define DTINFO_CLI_QUANT_FILES_H

#include "answers/dequant.h"
#include "answers/quant_file.h"
#include "cli/quant/quant_args.h"
#include "cli/shared/file_source.h"
#include "cli/shared/file_target.h"

enum { QUANT_WARNINGS_MAX = 16 };

struct quant_file {
    const struct quant_args *args;
    const struct dti_context *cx;
    bool shown; /* the report is printed */
    struct dti_quant_target *target;
    struct dti_file_source source;
    uint64_t max_memory; /* 0 for the default */
    struct dti_file_target output;
    bool complete; /* the new files have their names */
    struct dti_quant_file_answer answer;
    struct dti_warning_answer warnings[QUANT_WARNINGS_MAX];
    char warning_texts[QUANT_WARNINGS_MAX][2 * DTI_QUOTE_SIZE];
};

/* quant_file_options.c: fills all but output and what is known later of the answer. To be freed by
 * dti_quant_file_end(), on success only. Points into itself: do not copy it. */
enum dti_status dti_quant_file_init(struct quant_file *ret, const struct quant_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr);
void dti_quant_file_end(struct quant_file *file);

/* quant_file_human.c: the report. */
enum dti_status dti_quant_file_human(const struct dti_context *cx,
                                     const struct dti_quant_file_answer *answer,
                                     struct dti_error *reterr);

/* quant_file_tables.c: the tensors, those that lost most or all of them. */
enum dti_status dti_quant_file_tensors(const struct dti_context *cx,
                                       const struct dti_quant_file_answer *answer, bool worst,
                                       struct dti_error *reterr);

/* quant_dequant_human.c: the report. */
enum dti_status dti_quant_dequant_human(const struct dti_cast_file *file,
                                        const struct dti_dequant_answer *answer,
                                        struct dti_error *reterr);

#endif
