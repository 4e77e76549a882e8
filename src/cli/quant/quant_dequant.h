/* SPDX-License-Identifier: MIT
 *
 * The parts of `quant FILE DTYPE --dequant`: a cast of a file, of which a view is cast. */
#ifndef DTINFO_CLI_QUANT_DEQUANT_H
#define DTINFO_CLI_QUANT_DEQUANT_H

#include "cli/quant/quant_args.h"
#include "cli/shared/cast_file.h"
#include "dtinfo/file_dequant.h"

struct quant_dequant {
    const struct quant_args *args;
    struct dti_cast_file_args cast_args; /* what the cast of a file is asked by */
    struct dti_cast_file file;
    struct dti_file_dequant *dequant;
    uint64_t stored_bytes; /* of the tensors that are written, with all their parts */
    uint64_t nan, inf;     /* that came out of codes */
};

/* How a tensor was stored, where it was quantized. */
static inline const struct dti_dequant_form *dti_quant_form(const struct quant_dequant *job,
                                                            size_t at)
{
    return dti_file_dequant_form(job->dequant, job->file.cast->tensors[at].source);
}

/* "int8, a scale for each place along axis 0": what has a scale. */
enum { QUANT_FORM_SIZE = 160 };
const char *dti_quant_form_words(char buffer[QUANT_FORM_SIZE], const struct dti_dequant_form *form);

/* quant_dequant_human.c, quant_dequant_json.c: the report. */
enum dti_status dti_quant_dequant_human(struct quant_dequant *job, struct dti_error *reterr);
enum dti_status dti_quant_dequant_json(struct quant_dequant *job, struct dti_error *reterr);

#endif
