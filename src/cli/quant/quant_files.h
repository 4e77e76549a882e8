/* SPDX-License-Identifier: MIT
 *
 * The parts of `quant` for files of tensors: what the options ask for, the work, and the report on
 * it. */
#ifndef DTINFO_CLI_QUANT_FILES_H
#define DTINFO_CLI_QUANT_FILES_H

#include "cli/quant/quant_args.h"
#include "cli/shared/file_source.h"
#include "cli/shared/file_target.h"
#include "dtinfo/file_quant.h"
#include "dtinfo/json.h"

enum { QUANT_WARNINGS_MAX = 16 };
struct quant_warning {
    const char *code;
    char text[2 * DTI_QUOTE_SIZE];
};

struct quant_file {
    const struct quant_args *args;
    const struct dti_context *cx;
    const char *path;     /* of the input */
    const char *out_path; /* NULL with --dry-run only */
    bool shown;           /* the report is printed */
    struct quant_target *target;
    struct dti_file_source source;
    uint64_t max_memory; /* 0 for the default */
    enum dti_level level;
    size_t threads; /* 0 until chosen */
    struct dti_container *container;
    struct dti_file_target output;
    struct dti_file_quant *quant;
    bool complete; /* the new files have their names */
    size_t warning_count;
    struct quant_warning warnings[QUANT_WARNINGS_MAX];
};

/* quant_file_options.c: fills all but container, output and what follows them. To be freed by
 * dti_quant_file_end(), on success only. */
enum dti_status dti_quant_file_init(struct quant_file *ret, const struct quant_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr);
void dti_quant_file_end(struct quant_file *file);

/* quant_file_human.c, quant_file_json.c: the report. */
enum dti_status dti_quant_file_human(const struct quant_file *file, struct dti_error *reterr);
enum dti_status dti_quant_file_json(const struct quant_file *file, struct dti_error *reterr);

/* quant_file_tables.c: the tensors, those that lost most or all of them. */
enum dti_status dti_quant_file_tensors(const struct quant_file *file, bool worst,
                                       struct dti_error *reterr);

static inline const struct dti_tensor *dti_quant_file_source(const struct quant_file *file,
                                                             size_t tensor)
{
    return &file->container->tensors[file->quant->tensors[tensor].source];
}

#endif
