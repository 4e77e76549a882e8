/* SPDX-License-Identifier: MIT
 *
 * The answer of mem for people: what its parts share. */
#ifndef DTINFO_CLI_MEM_VIEW_H
#define DTINFO_CLI_MEM_VIEW_H

#include "cli/mem/mem.h"
#include "dtinfo/table.h"

struct mem_view {
    const struct mem_job *job;
    struct dti_buffer text; /* of a cell or a line */
    bool lost;              /* memory ran out for one */
};

/* mem_human.c: a line below a table; a table that is written and freed; cells. */
void dti_mem_note(const struct mem_view *view, const char *text);
enum dti_status dti_mem_write(const struct mem_view *view, struct dti_table *table,
                              struct dti_error *reterr);
void dti_mem_heads(struct dti_table *table, const char *const *names, size_t count);
/* Three: bytes, in powers of two, in powers of ten. */
void dti_mem_cell_bytes(struct dti_table *table, uint64_t bytes);
/* One, or none without --fit. */
void dti_mem_cell_verdict(struct dti_table *table, const struct mem_job *job,
                          const struct mem_verdict *verdict);

/* mem_human_training.c: every part of one training; several side by side; what the defaults were,
 * and what is not counted. */
enum dti_status dti_mem_human_training(struct mem_view *view, const struct mem_training *training,
                                       struct dti_error *reterr);
enum dti_status dti_mem_human_trainings(struct mem_view *view, struct dti_error *reterr);
void dti_mem_human_rules(struct mem_view *view);

#endif
