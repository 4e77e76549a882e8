/* SPDX-License-Identifier: MIT
 *
 * Cells and lines that the tables of mem share. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

void dti_mem_put_note(const struct dti_command_context *cx, const char *text)
{
    struct dti_line line = dti_command_context_line(cx);
    dti_line_text(&line, "  ");
    dti_line_print(&line, DTI_STYLE_DIM, "%s\n", text);
}

void dti_mem_cell_verdict(struct dti_table *table, const struct dti_mem *mem,
                          const struct dti_mem_verdict *verdict)
{
    const struct dti_mem_capacity *const capacity = &mem->capacity;
    const bool several = capacity->devices > 1;
    char text[DTI_TEXT_SIZE];
    (void)dti_human_bytes(text, several && verdict->fits ? verdict->bytes_each : verdict->bytes);
    if (!verdict->asked) {
        dti_text_cell(table, "");
    } else if (verdict->fits) {
        dti_table_print(table, DTI_STYLE_GOOD, "fits, %s left%s", text, several ? " on each" : "");
    } else {
        dti_table_print(table, DTI_STYLE_BAD, "no: %s too much", text);
        if (capacity->amount && verdict->devices > 0) {
            const size_t digits = strspn(capacity->amount, "0123456789.");
            const char *const unit = capacity->amount + digits;
            dti_table_more(table, ", takes %llu x %.*s%s%s", (unsigned long long)verdict->devices,
                           (int)digits, capacity->amount, *unit == ' ' ? "" : " ",
                           *unit != '\0' ? unit : "bytes");
        }
    }
}

void dti_mem_cell_bytes(struct dti_table *table, uint64_t bytes)
{
    char text[DTI_TEXT_SIZE];
    dti_number_cell(table, bytes);
    dti_text_cell(table, dti_human_bytes(text, bytes));
    dti_text_cell(table, dti_human_decimal(text, bytes));
}
