/* SPDX-License-Identifier: MIT
 *
 * --steps: every operation of an expression, in the order of execution. */
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

enum { TEXT_WHOLE = 34, TEXT_HEAD = 20, TEXT_TAIL = 11, DIGITS = 8 };

/* The columns that only some expressions need. */
struct step_columns {
    bool within, dtype, lists;
};

static struct step_columns choose(const struct dti_calc_result *result)
{
    struct step_columns columns = {false, false, false};
    for (size_t i = 0; i < result->step_count; i++) {
        const struct dti_calc_step *const step = &result->steps[i];
        columns.within |= step->within != NULL;
        columns.dtype |= strcmp(step->format.name, result->value.format.name) != 0;
        columns.lists |= step->rank > 0;
    }
    return columns;
}

static struct dti_table *new_table(const struct step_columns *columns)
{
    static const char *const titles[] = {"step>|operation|", "within|", "dtype|",
                                         "elements>|inexact>|at>|",
                                         "result>|bits|exact>|error>|went wrong"};
    static const char *const all_ranks[] = {"98", "4", "5", "338", "85677"};
    const bool wanted[] = {true, columns->within, columns->dtype, columns->lists, true};
    char title[160] = "", ranks[16] = "";
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        if (wanted[i]) {
            (void)strncat(title, titles[i], sizeof title - strlen(title) - 1);
            (void)strncat(ranks, all_ranks[i], sizeof ranks - strlen(ranks) - 1);
        }
    }
    struct dti_table *const table = dti_table_titled(title, ranks);
    return table;
}

static const char *exact_text(char buffer[DTI_TEXT_SIZE], const struct dti_value *exact)
{
    dti_spell_digits(buffer, exact, DIGITS);
    return buffer;
}

static void put_result(struct dti_table *table, const struct dti_calc_step *step)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value stored, absolute, relative;
    if (step->count == 1 || step->has_worst) {
        dti_decode(&step->format, step->code, &stored);
        dti_calc_number_text(text, &step->format, step->code);
        dti_table_cell(
            table,
            stored.class > DTI_CLASS_FINITE && step->exact.class != stored.class ? DTI_STYLE_BAD
                                                                                 : DTI_STYLE_BOLD,
            text);
        dti_spell_code(text, step->code, step->format.width);
        dti_table_cell(table, DTI_STYLE_PLAIN, text);
    } else {
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    }
    if (!step->has_worst) {
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
        return;
    }
    dti_table_cell(table, DTI_STYLE_PLAIN, exact_text(text, &step->exact));
    if (!dti_calc_step_error(step, &absolute, &relative))
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    else if (relative.class == DTI_CLASS_FINITE)
        dti_text_cell(table, dti_human_signed_percent(text, &relative, 3));
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_human_signed(text, &absolute, NULL, 3));
}

static bool put_step(struct dti_table *table, const struct step_columns *columns, size_t number,
                     const struct dti_calc_step *step)
{
    struct dti_buffer events;
    dti_number_cell(table, number);
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
    if (step->length > TEXT_WHOLE) {
        dti_table_safe(table, step->text, TEXT_HEAD);
        dti_table_more(table, "...");
        dti_table_safe(table, step->text + step->length - TEXT_TAIL, TEXT_TAIL);
    } else {
        dti_table_safe(table, step->text, step->length);
    }
    if (columns->within)
        dti_table_cell(table, DTI_STYLE_PLAIN, step->within ? step->within : "");
    if (columns->dtype)
        dti_table_cell(table, DTI_STYLE_PLAIN, step->format.name);
    if (columns->lists) {
        dti_number_cell(table, step->count);
        dti_number_cell(table, step->inexact);
        if (step->rank > 0 && step->has_worst)
            dti_number_cell(table, step->worst);
        else
            dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    }
    put_result(table, step);
    dti_buffer_init(&events);
    dti_calc_events_text(&events, step->events);
    dti_table_cell(table, DTI_STYLE_WARN, events.data);
    const bool failed = events.failed;
    dti_buffer_free(&events);
    return !failed;
}

enum dti_status dti_calc_human_steps(const struct calc_job *job,
                                     const struct dti_calc_result *result, struct dti_error *reterr)
{
    const struct step_columns columns = choose(result);
    struct dti_table *const table = new_table(&columns);
    bool done = table != NULL;
    for (size_t i = 0; i < result->step_count && done; i++)
        done = put_step(table, &columns, i + 1, &result->steps[i]);
    return dti_table_finish(table, done, job->cx, reterr);
}
