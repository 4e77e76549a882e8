/* SPDX-License-Identifier: MIT
 *
 * --stacks: the same cast as other number stacks do it, side by side. */
#include "cli/cast/values.h"
#include "dtinfo/table.h"

enum dti_status dti_cast_human_stacks(const struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      const struct dti_cast_result *result,
                                      struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("stack|as of|stored|bits|");
    for (int i = 0; i < DTI_STACK_COUNT; i++) {
        struct dti_cast_target target;
        struct dti_cast_result other;
        char text[DTI_CAST_TEXT_SIZE] = "-", bits[DTI_CAST_TEXT_SIZE] = "-";
        const bool there = dti_cast_by_stack(result, operand, (enum dti_stack)i, &target, &other);
        if (there && other.known) {
            (void)dti_cast_text(text, &other);
            (void)dti_cast_bits(bits, &other);
        }
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_stack_name((enum dti_stack)i));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_stack_version((enum dti_stack)i));
        dti_table_cell(table, DTI_STYLE_BOLD, text);
        dti_table_cell(table, DTI_STYLE_PLAIN, bits);
        if (!there)
            dti_table_cell(table, DTI_STYLE_DIM, "no such dtype");
        else
            dti_table_cell(table, other.known ? DTI_STYLE_DIM : DTI_STYLE_WARN,
                           other.note ? other.note : "");
    }
    return dti_table_end(table, values->cx->out, values->cx->colour, 2, reterr);
}
