/* SPDX-License-Identifier: MIT
 *
 * The parts of the mem command. */
#ifndef CLI_MEM_MEM_JOB_H
#define CLI_MEM_MEM_JOB_H

#include "answers/mem/mem.h"
#include "cli/shell/command.h"
#include "report/table.h"
#include "requests/file_source.h"

struct mem_args {
    struct dti_file_args file;
    struct dti_mem mem; /* the request */
    const char *input, *dtype;
    int train; /* set of 1 << enum dti_training */
    const char *context, *kv_dtype, *kv_like;
    uint64_t batch;
    bool batch_given;
};

struct mem_job {
    const struct mem_args *args;
    const struct dti_command_context *cx;
    struct dti_file_source source;
    struct dti_mem mem;
    struct dti_mem_cache cache;
};

/* mem_dtypes.c: a dtype, a block format or a type of GGUF. */
enum dti_status dti_mem_look_up(const char *name, struct dti_mem_size *ret,
                                struct dti_error *reterr);
/* Calls add() for each dtype of "bf16,mxfp4", after a warning with its note. */
enum dti_status dti_mem_each_dtype(const struct mem_job *job, const char *list,
                                   enum dti_status (*add)(struct dti_mem *mem,
                                                          const struct dti_mem_size *size,
                                                          struct dti_error *reterr),
                                   struct dti_mem *mem, struct dti_error *reterr);

/* mem_cache_options.c: the options of the cache, before operands are read; then its size. */
enum dti_status dti_mem_read_cache(struct mem_job *job, struct dti_error *reterr);
enum dti_status dti_mem_sum_cache(struct mem_job *job, struct dti_error *reterr);
/* Whether a word is a configuration: the path of a config.json. */
bool dti_mem_is_config(const char *word);
/* mem_cache_human.c: a table of the cache, and one of it with the weights. */
enum dti_status dti_mem_cache_human(const struct dti_command_context *cx, const struct dti_mem *mem,
                                    struct dti_error *reterr);

/* mem_cells.c: a line below a table; three cells: bytes, in powers of two, in powers of ten; "fits,
 * 1.00 GiB left" or nothing. */
void dti_mem_put_note(const struct dti_command_context *cx, const char *text);
void dti_mem_cell_bytes(struct dti_table *table, uint64_t bytes);
void dti_mem_cell_verdict(struct dti_table *table, const struct dti_mem *mem,
                          const struct dti_mem_verdict *verdict);

enum dti_status dti_mem_human(const struct dti_command_context *cx, const struct dti_mem *mem,
                              struct dti_error *reterr);

#endif
