/* SPDX-License-Identifier: MIT
 *
 * What training takes, for people. */
#include "cli/mem/mem_view.h"

static void cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

enum dti_status dti_mem_human_training(struct mem_view *view, const struct mem_training *training,
                                       struct dti_error *reterr)
{
    static const char *const names[] = {"part",  "dtype",  "bytes each",
                                        "bytes", "binary", "decimal"};
    enum { COLUMNS = sizeof names / sizeof *names };
    const struct mem_job *const job = view->job;
    struct dti_table *const table = dti_table_new(COLUMNS + job->capacity.asked);
    char text[DTI_TEXT_SIZE];
    dti_mem_heads(table, names, COLUMNS);
    if (job->capacity.asked)
        cell(table, "");
    for (size_t i = 2; i < COLUMNS; i++)
        dti_table_right(table, i);
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        if (!dti_training_has(&training->plan, part))
            continue;
        cell(table, dti_mem_part_name(&training->plan, part));
        cell(table, dti_mem_part_dtype(&training->plan, part));
        cell(table, dti_mem_each(text, training->parts[i].bytes, job->numbers, 1));
        dti_mem_cell_bytes(table, training->parts[i].bytes);
        if (job->capacity.asked)
            cell(table, "");
    }
    if (job->other_bytes > 0) {
        cell(table, "other tensors");
        cell(table, "as stored");
        cell(table, "");
        dti_mem_cell_bytes(table, job->other_bytes);
        if (job->capacity.asked)
            cell(table, "");
    }
    dti_table_cell(table, DTI_STYLE_BOLD, "total");
    cell(table, "");
    cell(table, dti_mem_each(text, training->bytes - job->other_bytes, job->numbers, 1));
    dti_mem_cell_bytes(table, training->bytes);
    dti_mem_cell_verdict(table, job, &training->verdict);
    return dti_mem_write(view, table, reterr);
}

static uint64_t state_bytes(const struct mem_training *training)
{
    return training->parts[DTI_TRAINING_STATE_1].bytes +
           training->parts[DTI_TRAINING_STATE_2].bytes;
}

enum dti_status dti_mem_human_trainings(struct mem_view *view, struct dti_error *reterr)
{
    static const char *const names[] = {"optimizer", "dtype",  "weights",    "gradients",
                                        "master",    "states", "bytes each", "bytes",
                                        "binary",    "decimal"};
    enum { COLUMNS = sizeof names / sizeof *names };
    const struct mem_job *const job = view->job;
    struct dti_table *const table = dti_table_new(COLUMNS + job->capacity.asked);
    char text[DTI_TEXT_SIZE];
    dti_mem_heads(table, names, COLUMNS);
    if (job->capacity.asked)
        cell(table, "");
    for (size_t i = 2; i < COLUMNS; i++)
        dti_table_right(table, i);
    for (size_t i = 0; i < job->training_count; i++) {
        const struct mem_training *const training = &job->trainings[i];
        const uint64_t parts[] = {training->parts[DTI_TRAINING_WEIGHTS].bytes,
                                  training->parts[DTI_TRAINING_GRADIENTS].bytes,
                                  training->parts[DTI_TRAINING_MASTER].bytes,
                                  state_bytes(training)};
        cell(table, dti_training_get(training->plan.training)->name);
        cell(table, dti_stored_name(&training->plan.weights));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            cell(table, parts[k] > 0 ? dti_mem_decimal(text, parts[k]) : "-");
        cell(table, dti_mem_each(text, training->bytes - job->other_bytes, job->numbers, 1));
        dti_mem_cell_bytes(table, training->bytes);
        dti_mem_cell_verdict(table, job, &training->verdict);
    }
    return dti_mem_write(view, table, reterr);
}

void dti_mem_human_rules(struct mem_view *view)
{
    const struct mem_job *const job = view->job;
    bool master = false, eight = false;
    for (size_t i = 0; i < job->training_count; i++) {
        master |= job->trainings[i].plan.has_master;
        eight |= dti_training_get(job->trainings[i].plan.training)->block > 0;
    }
    if (job->training_count == 1) {
        dti_buffer_clear(&view->text);
        dti_buffer_puts(&view->text, "rule: ");
        dti_mem_rule(&view->text, job, &job->trainings[0]);
        view->lost = view->lost || view->text.failed;
        dti_mem_note(view, view->text.data);
    }
    if (master && !job->args->master)
        dti_mem_note(view, "mixed precision: weights of less than 32 bits are updated in a copy of "
                           "fp32; --master none leaves it out");
    if (eight)
        dti_mem_note(view,
                     "states of 8 bits have a scale of fp32 for each 256; tensors of less than "
                     "4096 numbers have states of fp32");
    dti_mem_note(view,
                 "not counted: activations, temporary buffers, what a framework keeps beside");
}
