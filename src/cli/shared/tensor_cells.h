/* SPDX-License-Identifier: MIT
 *
 * Tensors and their losses as cells of tables in the reports on files. */
#ifndef CLI_SHARED_TENSOR_CELLS_H
#define CLI_SHARED_TENSOR_CELLS_H

#include <stdio.h>

#include "cli/shell/command.h"
#include "containers/container.h"
#include "files/scan/loss_summary.h"
#include "report/table.h"

/* Its name: bytes, shown whole and safe for a terminal. False when out of memory. */
bool dti_tensor_cell(struct dti_table *table, const struct dti_tensor *tensor);

/* A name or a path: bytes, shown whole and safe for a terminal, in quotes if the end would be
 * unclear otherwise. Appended to a buffer; as a cell; on a line, false when out of memory. */
void dti_name_text(struct dti_buffer *text, const char *name, size_t length);
void dti_name_cell(struct dti_table *table, const char *name, size_t length);
bool dti_name_put(struct dti_line *line, enum dti_style style, const char *name, size_t length);

/* A static text; a number. */
void dti_text_cell(struct dti_table *table, const char *text);
void dti_number_cell(struct dti_table *table, uint64_t number);

/* A count; highlighted unless it is 0. */
void dti_count_cell(struct dti_table *table, uint64_t count);

/* A figure of a loss; "-" if nothing was compared. */
void dti_loss_cell(struct dti_table *table, const struct dti_loss_summary *loss, double figure);

/* "wte, element 17", safe for a terminal. Returns buffer. */
enum { DTI_LOSS_PLACE_SIZE = DTI_QUOTE_SIZE + 64 };
const char *dti_loss_place(char buffer[DTI_LOSS_PLACE_SIZE], const struct dti_tensor *tensor,
                           uint64_t index);

/* "1 tensor", "2 tensors". Returns buffer. */
enum { DTI_PLURAL_SIZE = 64 };
const char *dti_plural_words(char buffer[DTI_PLURAL_SIZE], size_t count, const char *word);

/* Writes and frees the table, indented; or only frees it if it is incomplete. */
enum dti_status dti_table_finish(struct dti_table *table, bool whole,
                                 const struct dti_command_context *cx, struct dti_error *reterr);

#endif
