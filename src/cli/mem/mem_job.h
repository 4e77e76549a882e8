/* SPDX-License-Identifier: MIT
 *
 * The parts of the mem command. */
#ifndef CLI_MEM_MEM_JOB_H
#define CLI_MEM_MEM_JOB_H

#include "answers/mem/mem.h"
#include "cli/shared/file_source.h"
#include "report/table.h"

struct mem_args {
    struct dti_file_args file;
    struct dti_mem mem; /* the request */
    const char *input, *dtype;
    int train; /* set of 1 << enum dti_training */
};

struct mem_job {
    const struct mem_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_mem mem;
};

/* mem_human.c */
enum dti_status dti_mem_human(const struct dti_context *cx, const struct dti_mem *mem,
                              struct dti_error *reterr);

#endif
