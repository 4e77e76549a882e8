/* SPDX-License-Identifier: MIT
 *
 * The command line's part of rewriting a file of tensors: operands, progress, and the reports. */
#ifndef CLI_REWRITE_REWRITE_PAGE_H
#define CLI_REWRITE_REWRITE_PAGE_H

#include "cli/rewrite/tensor_kinds.h"
#include "cli/shell/command.h"
#include "requests/rewrite/rewrite_job.h"

/* The command's parts of the page for people; functions except the last may be NULL. */
struct dti_rewrite_page {
    const char *verb, *example; /* "quantized"; "as in 'dtinfo ...'" */
    const char *no_file;        /* the error for a missing file, or NULL if there always is one */
    const char *const *kept;    /* by enum dti_fate: why a tensor was kept */
    void (*recipe)(const struct dti_rewrite_job *job, struct dti_line *line);
    /* Adjusts a tensor's kind, which follows from its fate. False: it is not counted. */
    bool (*kind)(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind);
    void (*loss)(struct dti_rewrite_job *job, struct dti_line *line);
    enum dti_status (*tables)(const struct dti_rewrite_job *job, struct dti_error *reterr);
};

/* rewrite_report.c: the front of a job. */
struct dti_rewrite_front dti_rewrite_front(struct dti_command_context *cx,
                                           const struct dti_rewrite_page *page);

/* The operands of a file and, unless ret_dtype is NULL, of a dtype. input: of --input, or NULL.
 * regular: standard input is refused. */
enum dti_status dti_rewrite_operands(const struct dti_rewrite_page *page, const char *input,
                                     bool regular, char **operands, int count,
                                     const char **ret_path, const char **ret_dtype,
                                     struct dti_error *reterr);
/* The error for an operand after the dtype. */
enum dti_status dti_rewrite_surplus(const char *operand, struct dti_error *reterr);

/* text_sink.c: a dti_rewrite_text_fn, to the output or to standard output. */
enum dti_status dti_rewrite_text(struct dti_rewrite_job *job,
                                 const struct dti_rewrite_options *options,
                                 struct dti_error *reterr);

/* rewrite_human.c: the page: a summary line, the recipe, a line for each kind of tensors, what was
 * lost, tables. All of it goes to standard error if the data goes to standard output. */
enum dti_status dti_rewrite_human(struct dti_rewrite_job *job, struct dti_error *reterr);
/* A line with the total losses and the place of the largest. */
void dti_rewrite_errors(const struct dti_rewrite_job *job, struct dti_line *line);
/* "  level x86-64-v3   2 threads" */
void dti_rewrite_machine(const struct dti_rewrite_job *job, struct dti_line *line);

/* A column of a table of tensors, after their names, dtypes and shapes. */
struct dti_rewrite_column {
    const char *title;
    enum {
        DTI_COLUMN_BYTES,    /* bytes of the tensor: "1.00 MiB", or "2.00 MiB -> 1.00 MiB" */
        DTI_COLUMN_BITS,     /* bits per element in the output: "4.5" */
        DTI_COLUMN_COUNT,    /* a uint64_t of struct dti_rewrite_outcome */
        DTI_COLUMN_LOSS,     /* a double of its loss */
        DTI_COLUMN_RELATIVE, /* likewise, a ratio */
        DTI_COLUMN_FLOAT,    /* a float; 0: none */
        DTI_COLUMN_INT,      /* an int32_t */
    } type;
    size_t offset;
    bool hidden;
};
#define DTI_COLUMN_OF(member) offsetof(struct dti_rewrite_outcome, member)
/* A table with these heads, and ranks as dti_table_heads() takes them. */
struct dti_table *dti_rewrite_table_new(const char *const *heads, size_t count, const char *ranks);
/* Writes and frees a table of the report, or only frees it if it is incomplete. */
enum dti_status dti_rewrite_table_end(const struct dti_rewrite_job *job, struct dti_table *table,
                                      bool whole, struct dti_error *reterr);
/* The tensors of a list, or all if it is NULL. */
enum dti_status dti_rewrite_table(const struct dti_rewrite_job *job,
                                  const struct dti_rewrite_column *columns, size_t column_count,
                                  const size_t *list, size_t count, struct dti_error *reterr);
/* The first cells: name, dtypes (to: NULL if unchanged), shape. False when out of memory. */
bool dti_rewrite_cells(struct dti_table *table, const struct dti_tensor *source, const char *from,
                       const char *to);
/* A table of a list's tensors, or of all, where it is NULL. */
typedef enum dti_status dti_rewrite_put_table(const struct dti_rewrite_job *job, const size_t *list,
                                              size_t count, struct dti_error *reterr);
/* A table of the few tensors that lost most, if any lost something. If there are more, a line below
 * it reports that: "  the worst of 7 quantized tensors; -v shows all", with the words around the
 * number. */
enum dti_status dti_rewrite_worst(const struct dti_rewrite_job *job,
                                  bool (*lost)(const struct dti_rewrite *rewrite, size_t tensor),
                                  bool (*is_worse)(const struct dti_loss_summary *a,
                                                   const struct dti_loss_summary *b),
                                  dti_rewrite_put_table *put_table, const char *before,
                                  const char *after, struct dti_error *reterr);

#endif
