/* SPDX-License-Identifier: MIT
 *
 * The results of an expression in several dtypes: a table, with the true value above it. */
#include <stdlib.h>
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

/* What is shown of a result, which need not be kept. */
struct calc_row {
    struct dti_buffer result, truth, wrong;
    char error[DTI_TEXT_SIZE], relative[DTI_TEXT_SIZE], bits[DTI_TEXT_SIZE];
    enum dti_style style;
    bool list;
    const char *truth_reason;
};

static void spell_error(struct calc_row *row, const struct dti_calc_result *result, size_t element)
{
    struct dti_calc_true truth;
    dti_calc_true_get(result, element, &truth);
    memcpy(row->error, "-", 2);
    memcpy(row->relative, "-", 2);
    if (!truth.has_error)
        return;
    (void)dti_human_signed(row->error, &truth.absolute, NULL, 6);
    if (truth.relative.class <= DTI_CLASS_FINITE)
        (void)dti_human_signed_percent(row->relative, &truth.relative, 3);
}

static void spell_row(struct calc_row *row, const struct dti_calc_result *result)
{
    const struct dti_calc_array *const value = &result->value;
    char text[DTI_TEXT_SIZE];
    size_t element = 0;
    uint64_t different;
    row->list = value->rank > 0;
    row->truth_reason = result->truth ? NULL : result->truth_reason;
    if (row->list) {
        dti_calc_list_text(&row->result, value);
        (void)dti_calc_truths_text(&row->truth, result);
        memcpy(row->bits, "", 1);
        row->style = DTI_STYLE_BOLD;
    } else {
        const uint64_t code = dti_calc_code(value, 0);
        struct dti_value stored;
        dti_decode(&value->format, code, &stored);
        (void)dti_spell_stored(text, &value->format, code, &stored);
        dti_buffer_puts(&row->result, text);
        dti_spell_code(row->bits, code, value->format.width);
        (void)dti_calc_true_words(&row->truth, result, 0);
        row->style = dti_calc_style(result, 0);
    }
    if (row->list && (!dti_calc_worst(result, &element, &different) || value->count == 0))
        memcpy(row->error, "-", 2), memcpy(row->relative, "-", 2);
    else
        spell_error(row, result, element);
    if (result->went_wrong)
        dti_calc_sentence(&row->wrong, result, &result->first_step, &result->first);
}

static enum dti_status fill(struct calc_job *job, struct calc_row *rows, struct dti_error *reterr)
{
    for (size_t i = 0; i < job->cast.target_count; i++) {
        struct dti_calc_result result;
        const enum dti_status status = dti_calc_job_run(job, i, &result, reterr);
        if (status != DTI_OK)
            return status;
        spell_row(&rows[i], &result);
        dti_calc_result_free(&result);
        if (rows[i].result.failed || rows[i].truth.failed || rows[i].wrong.failed)
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

/* The truth is that of the expression; only numbers of files and random ones are those of a dtype.
 */
static bool is_shared_truth(const struct calc_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(rows[i].truth.data, rows[0].truth.data) != 0)
            return false;
    }
    return rows[0].truth.length > 0;
}

static enum dti_status show(const struct calc_job *job, const struct calc_row *rows,
                            struct dti_error *reterr)
{
    const size_t count = job->cast.target_count;
    const bool shared = is_shared_truth(rows, count), list = rows[0].list;
    struct dti_line line = dti_context_line(job->cx);
    if (!dti_calc_put_expression(job, &line))
        return dti_no_memory(reterr);
    dti_line_end(&line);
    if (shared) {
        dti_human_label(&line, "true value", rows[0].truth.data);
        dti_line_end(&line);
    } else if (rows[0].truth_reason && job->options.truth != DTI_CALC_TRUTH_NO) {
        dti_human_label(&line, "true value", "");
        dti_line_print(&line, DTI_STYLE_DIM, "not computed: %s\n", rows[0].truth_reason);
    }
    struct dti_table *const table = dti_table_titled(
        list     ? shared ? "dtype|result|worst error>|rel>|first went wrong"
                          : "dtype|result|true value|worst error>|rel>|first went wrong"
        : shared ? "dtype|result|error>|rel>|bits|first went wrong"
                 : "dtype|result|true value|error>|rel>|bits|first went wrong",
        list     ? shared ? "99578" : "997578"
        : shared ? "995738"
                 : "9975738");
    for (size_t i = 0; i < count; i++) {
        dti_table_cell(table, DTI_STYLE_PLAIN, job->cast.targets[i].dtype.name);
        dti_table_cell(table, rows[i].style, rows[i].result.data);
        if (!shared)
            dti_table_cell(table, DTI_STYLE_PLAIN,
                           rows[i].truth.length > 0 ? rows[i].truth.data : "-");
        dti_table_cell(table, DTI_STYLE_PLAIN, rows[i].error);
        dti_table_cell(table, DTI_STYLE_PLAIN, rows[i].relative);
        if (!list)
            dti_table_cell(table, DTI_STYLE_PLAIN, rows[i].bits);
        dti_table_cell(table, DTI_STYLE_WARN, rows[i].wrong.data);
    }
    return dti_table_finish(table, table != NULL, job->cx, reterr);
}

enum dti_status dti_calc_human_table(struct calc_job *job, struct dti_error *reterr)
{
    const size_t count = job->cast.target_count;
    struct calc_row *const rows = calloc(count, sizeof *rows);
    if (!rows)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        dti_buffer_init(&rows[i].result);
        dti_buffer_init(&rows[i].truth);
        dti_buffer_init(&rows[i].wrong);
    }
    enum dti_status status = fill(job, rows, reterr);
    if (status == DTI_OK)
        status = show(job, rows, reterr);
    for (size_t i = 0; i < count; i++) {
        dti_buffer_free(&rows[i].result);
        dti_buffer_free(&rows[i].truth);
        dti_buffer_free(&rows[i].wrong);
    }
    free(rows);
    return status;
}
