/* SPDX-License-Identifier: MIT
 *
 * What training takes, for people. */
#include "cli/mem/mem_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

/* Every part of one training. */
static struct dti_table *parts_of(const struct dti_mem *mem)
{
    const struct dti_mem_training *const training = &mem->trainings[0];
    struct dti_table *const table =
        dti_table_titled("part|dtype|bytes each>|bytes>|binary>|decimal>|");
    char text[DTI_TEXT_SIZE];
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        if (!dti_training_has(&training->plan, part))
            continue;
        dti_text_cell(table, dti_mem_part_name(&training->plan, part));
        dti_text_cell(table, dti_mem_part_dtype(&training->plan, part));
        dti_text_cell(table, dti_mem_each(text, training->parts[i].bytes, mem->numbers, 1));
        dti_mem_cell_bytes(table, training->parts[i].bytes);
        dti_text_cell(table, "");
    }
    if (mem->other_bytes > 0) {
        dti_text_cell(table, "other tensors");
        dti_text_cell(table, "as stored");
        dti_text_cell(table, "");
        dti_mem_cell_bytes(table, mem->other_bytes);
        dti_text_cell(table, "");
    }
    dti_table_cell(table, DTI_STYLE_BOLD, "total");
    dti_text_cell(table, "");
    dti_text_cell(table, dti_mem_each(text, training->bytes - mem->other_bytes, mem->numbers, 1));
    dti_mem_cell_bytes(table, training->bytes);
    dti_mem_cell_verdict(table, &training->verdict);
    return table;
}

/* Several side by side. */
static struct dti_table *trainings_of(const struct dti_mem *mem)
{
    struct dti_table *const table =
        dti_table_titled("optimizer|dtype|weights>|gradients>|master>|states>|bytes each>|bytes>|"
                         "binary>|decimal>|");
    char text[DTI_TEXT_SIZE];
    for (size_t i = 0; i < mem->training_count; i++) {
        const struct dti_mem_training *const training = &mem->trainings[i];
        const struct dti_footprint *const part = training->parts;
        const uint64_t parts[] = {
            part[DTI_TRAINING_WEIGHTS].bytes, part[DTI_TRAINING_GRADIENTS].bytes,
            part[DTI_TRAINING_MASTER].bytes,
            part[DTI_TRAINING_STATE_1].bytes + part[DTI_TRAINING_STATE_2].bytes};
        dti_text_cell(table, dti_training_get(training->plan.training)->name);
        dti_text_cell(table, dti_stored_name(&training->plan.weights));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            dti_text_cell(table, parts[k] > 0 ? dti_human_decimal(text, parts[k]) : "-");
        dti_text_cell(table,
                      dti_mem_each(text, training->bytes - mem->other_bytes, mem->numbers, 1));
        dti_mem_cell_bytes(table, training->bytes);
        dti_mem_cell_verdict(table, &training->verdict);
    }
    return table;
}

static enum dti_status put_rule(const struct dti_context *cx, const struct dti_mem *mem,
                                struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_buffer_puts(&text, "rule: ");
    dti_mem_rule(&text, mem, &mem->trainings[0]);
    const bool failed = text.failed;
    dti_mem_note(cx, text.data);
    dti_buffer_free(&text);
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

/* What the defaults were, and what is not counted. */
static void put_notes(const struct dti_context *cx, const struct dti_mem *mem)
{
    bool master = false, eight = false;
    for (size_t i = 0; i < mem->training_count; i++) {
        master |= mem->trainings[i].plan.has_master;
        eight |= dti_training_get(mem->trainings[i].plan.training)->block > 0;
    }
    if (master && !mem->master)
        dti_mem_note(cx, "mixed precision: weights of less than 32 bits are updated in a copy of "
                         "fp32; --master none leaves it out");
    if (eight)
        dti_mem_note(cx, "states of 8 bits have a scale of fp32 for each 256; tensors of less than "
                         "4096 numbers have states of fp32");
    dti_mem_note(cx, "not counted: activations, temporary buffers, what a framework keeps beside");
}

enum dti_status dti_mem_human_trainings(const struct dti_context *cx, const struct dti_mem *mem,
                                        struct dti_error *reterr)
{
    const bool one = mem->training_count == 1;
    enum dti_status status =
        dti_table_end(one ? parts_of(mem) : trainings_of(mem), cx->out, cx->colour, 2, reterr);
    if (status == DTI_OK && one)
        status = put_rule(cx, mem, reterr);
    if (status == DTI_OK)
        put_notes(cx, mem);
    return status;
}
