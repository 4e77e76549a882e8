/* SPDX-License-Identifier: MIT
 *
 * One value in several dtypes: a table for people. */
#include <stdio.h>
#include <string.h>

#include "cli/cast/cast.h"
#include "cli/cast/cast_words.h"
#include "cli/shared/human.h"
#include "dtinfo/table.h"

enum { COLUMNS = 7 };

static void put_lost(struct dti_table *table, const struct cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char limit[CAST_LIMIT_SIZE];
    bool overflow = (scalar->flags & DTI_FLAG_OVERFLOW) != 0;
    dti_table_cell(table, DTI_STYLE_BAD, overflow ? "overflow" : "invalid");
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_cast_limit(result, scalar, limit));
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
}

static bool put_error(struct dti_table *table, const struct cast_operand *operand,
                      const struct cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char text[DTI_TEXT_SIZE], cell[DTI_TEXT_SIZE + 4];
    struct dti_difference difference;
    struct dti_buffer exact;
    bool has_exact;
    if (!scalar->has_step || scalar->input.class > DTI_CLASS_FINITE) {
        for (int i = 0; i < 3; i++)
            dti_table_cell(table, DTI_STYLE_PLAIN, "-");
        return true;
    }
    dti_buffer_init(&exact);
    if (!dti_number_difference(&operand->number[0], &scalar->stored, &difference, &exact,
                               &has_exact)) {
        dti_buffer_free(&exact);
        return false;
    }
    bool finite_relative = difference.relative.class == DTI_CLASS_FINITE;
    struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
    dti_table_cell(
        table, DTI_STYLE_PLAIN,
        dti_human_signed(text, &difference.absolute, exact.length <= 12 ? &exact : NULL, 6));
    (void)snprintf(cell, sizeof cell, "%s %%", dti_human_percent(text, &difference.relative, 3));
    dti_table_cell(table, DTI_STYLE_PLAIN, finite_relative ? cell : "-");
    bool off = ulp.class == DTI_CLASS_FINITE;
    dti_table_cell(table, DTI_STYLE_PLAIN, off ? dti_human_magnitude(text, &ulp, NULL, 3) : "-");
    dti_buffer_free(&exact);
    return true;
}

static bool put_row(struct dti_table *table, const struct cast_operand *operand,
                    const struct cast_result *result)
{
    char text[CAST_TEXT_SIZE], other[DTI_TEXT_SIZE], hint[DTI_TEXT_SIZE + 32];
    bool done = true;
    dti_table_cell(table, DTI_STYLE_PLAIN, result->target->dtype.name);
    bool stands_in = result->no_code;
    dti_table_cell(table, DTI_STYLE_BOLD, stands_in ? "-" : dti_cast_result_text(result, text));
    if (!result->known) {
        dti_table_cell(table, DTI_STYLE_WARN, "not known");
        for (int i = 0; i < 2; i++)
            dti_table_cell(table, DTI_STYLE_PLAIN, "");
    } else if (result->components == 1 &&
               (result->component[0].flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))) {
        put_lost(table, result);
    } else if (result->components == 1) {
        done = put_error(table, operand, result);
    } else {
        for (int i = 0; i < 3; i++)
            dti_table_cell(table, DTI_STYLE_PLAIN, "");
    }
    dti_table_cell(table, DTI_STYLE_PLAIN, stands_in ? "-" : dti_cast_result_bits(result, text));
    hint[0] = '\0';
    if (dti_cast_result_saturated(result, operand, other))
        (void)snprintf(hint, sizeof hint, "--overflow saturate gives %s", other);
    else if (!result->known && result->note)
        (void)snprintf(hint, sizeof hint, "%s", "see --stacks");
    dti_table_cell(table, DTI_STYLE_DIM, hint);
    return done;
}

/* Which device stores the same, and in how many of the dtypes. */
static void put_device(const struct cast_job *job, struct dti_line *line)
{
    const struct cast_device *const device = &job->device;
    char cell[DTI_DEVICE_ID_SIZE + 96];
    const char *const why = device->why_cpu   ? device->why_cpu
                            : device->why_not ? device->why_not
                                              : "nothing is stored";
    if (device->wish.kind == DTI_DEVICE_CPU)
        return;
    if (!device->runner)
        (void)snprintf(cell, sizeof cell, "  device cpu");
    else if (device->asked == device->numbers)
        (void)snprintf(cell, sizeof cell, "  device %s stores the same", device->begun);
    else
        (void)snprintf(cell, sizeof cell, "  device %s stores the same in %llu of %llu",
                       device->begun, (unsigned long long)device->asked,
                       (unsigned long long)device->numbers);
    dti_line_put(line, DTI_STYLE_PLAIN, cell);
    if (!device->runner || device->asked < device->numbers) {
        dti_line_put(line, DTI_STYLE_PLAIN, ": ");
        dti_line_put(line, DTI_STYLE_DIM, why);
    }
    dti_line_end(line);
}

enum dti_status dti_cast_human_ladder(const struct cast_job *job,
                                      const struct cast_operand *operand,
                                      const struct cast_result *results, struct dti_error *reterr)
{
    static const char *const heads[COLUMNS] = {"dtype", "stored", "error", "rel",
                                               "ulp",   "bits",   ""};
    struct dti_table *table = dti_table_new(COLUMNS);
    bool done = table != NULL;
    for (size_t i = 0; i < COLUMNS && done; i++)
        dti_table_cell(table, DTI_STYLE_DIM, heads[i]);
    for (size_t i = 0; i < job->target_count && done; i++)
        done = put_row(table, operand, &results[i]);
    if (done)
        done = dti_table_write(table, job->cx->out, job->cx->colour, 2);
    dti_table_free(table);
    struct dti_line line = {.out = job->cx->out, .colour = job->cx->colour};
    if (done)
        put_device(job, &line);
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}
