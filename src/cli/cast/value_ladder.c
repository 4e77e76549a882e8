/* SPDX-License-Identifier: MIT
 *
 * One value in several dtypes, and in one dtype by several number stacks: tables for people. */
#include <stdio.h>
#include <string.h>

#include "cli/cast/values.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "dtinfo/table.h"

static void put_lost(struct dti_table *table, const struct dti_cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char limit[CAST_LIMIT_SIZE];
    bool overflow = (scalar->flags & DTI_FLAG_OVERFLOW) != 0;
    dti_table_cell(table, DTI_STYLE_BAD, overflow ? "overflow" : "invalid");
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_cast_limit(result, scalar, limit));
    dti_table_cell(table, DTI_STYLE_PLAIN, "");
}

static bool put_error(struct dti_table *table, const struct dti_cast_operand *operand,
                      const struct dti_cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char text[DTI_TEXT_SIZE];
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
    struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
    dti_table_cell(
        table, DTI_STYLE_PLAIN,
        dti_human_signed(text, &difference.absolute, exact.length <= 12 ? &exact : NULL, 6));
    if (difference.relative.class == DTI_CLASS_FINITE)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s %%",
                        dti_human_percent(text, &difference.relative, 3));
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    bool off = ulp.class == DTI_CLASS_FINITE;
    dti_table_cell(table, DTI_STYLE_PLAIN, off ? dti_human_magnitude(text, &ulp, NULL, 3) : "-");
    dti_buffer_free(&exact);
    return true;
}

static bool put_row(struct dti_table *table, const struct dti_cast_operand *operand,
                    const struct dti_cast_result *result)
{
    char text[DTI_CAST_TEXT_SIZE], other[DTI_TEXT_SIZE];
    bool done = true;
    dti_table_cell(table, DTI_STYLE_PLAIN, result->target->dtype.name);
    (void)dti_cast_text(text, result);
    dti_table_cell(table, dti_cast_style(result), text);
    if (!result->known) {
        dti_table_cell(table, DTI_STYLE_WARN, "unknown");
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
    (void)dti_cast_bits(text, result);
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
    if (dti_cast_saturated(result, operand, other))
        dti_table_print(table, DTI_STYLE_DIM, "--overflow saturate gives %s", other);
    else
        dti_table_cell(table, DTI_STYLE_DIM, !result->known && result->note ? "see --stacks" : "");
    return done;
}

/* Which device stores the same, and for how many of the dtypes. */
static void put_device(const struct cast_values *values, struct dti_line *line)
{
    const struct dti_cast_device *const device = &values->job.device;
    const char *const why = device->why_cpu   ? device->why_cpu
                            : device->why_not ? device->why_not
                                              : "nothing is stored";
    if (device->wish.kind == DTI_DEVICE_CPU)
        return;
    const bool all = device->runner && device->asked == device->numbers;
    dti_line_print(line, DTI_STYLE_PLAIN, "  device %s%s", device->runner ? device->begun : "cpu",
                   device->runner ? " stores the same" : "");
    if (device->runner && !all)
        dti_line_print(line, DTI_STYLE_PLAIN, " in %llu of %llu", (unsigned long long)device->asked,
                       (unsigned long long)device->numbers);
    if (!all) {
        dti_line_text(line, ": ");
        dti_line_put(line, DTI_STYLE_DIM, why);
    }
    dti_line_end(line);
}

enum dti_status dti_cast_human_ladder(const struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      const struct dti_cast_result *results,
                                      struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("dtype|stored|error|rel|ulp|bits|", "9985367");
    bool done = table != NULL;
    for (size_t i = 0; i < values->job.target_count && done; i++)
        done = put_row(table, operand, &results[i]);
    const enum dti_status status = dti_table_finish(table, done, values->cx, reterr);
    struct dti_line line = {.out = values->cx->out, .colour = values->cx->colour};
    if (status == DTI_OK)
        put_device(values, &line);
    return status;
}

enum dti_status dti_cast_human_digits(const struct cast_values *values,
                                      const struct dti_cast_result *results,
                                      struct dti_error *reterr)
{
    struct dti_buffer digits;
    size_t width = 0;
    bool done = true;
    for (size_t i = 0; i < values->job.target_count; i++) {
        const size_t length = strlen(results[i].target->dtype.name);
        width = length > width ? length : width;
    }
    dti_buffer_init(&digits);
    for (size_t i = 0; i < values->job.target_count && done; i++) {
        struct dti_line line = {.out = values->cx->out, .colour = values->cx->colour};
        dti_buffer_clear(&digits);
        done = dti_cast_digits(&digits, &results[i], (size_t)values->args->digits);
        if (!values->cx->quiet) {
            dti_line_text(&line, results[i].target->dtype.name);
            dti_line_to(&line, width + 2);
        }
        dti_line_text(&line, digits.data);
        dti_line_end(&line);
    }
    dti_buffer_free(&digits);
    return done ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_cast_human_stacks(const struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      const struct dti_cast_result *result,
                                      struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("stack|as of|stored|bits|", "93977");
    for (int i = 0; i < DTI_STACK_COUNT; i++) {
        struct dti_cast_target target;
        struct dti_cast_result other;
        char text[DTI_CAST_TEXT_SIZE] = "-", bits[DTI_CAST_TEXT_SIZE] = "-";
        enum dti_style style = DTI_STYLE_BOLD;
        const bool there = dti_cast_by_stack(result, operand, (enum dti_stack)i, &target, &other);
        if (!there && dti_stack_is_hardware((enum dti_stack)i))
            continue;
        if (there && other.known) {
            (void)dti_cast_text(text, &other);
            (void)dti_cast_bits(bits, &other);
            style = dti_cast_style(&other);
        }
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_stack_name((enum dti_stack)i));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_stack_version((enum dti_stack)i));
        dti_table_cell(table, style, text);
        dti_table_cell(table, DTI_STYLE_PLAIN, bits);
        if (!there)
            dti_table_cell(table, DTI_STYLE_DIM, "no such dtype");
        else
            dti_table_cell(table, other.known ? DTI_STYLE_DIM : DTI_STYLE_WARN,
                           other.note ? other.note : "");
    }
    return dti_put_table(values->cx, table, 2, reterr);
}
