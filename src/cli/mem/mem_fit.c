/* SPDX-License-Identifier: MIT
 *
 * What --fit says: what is left or missing, how many devices it takes, and what was counted. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

void dti_mem_note(const struct dti_context *cx, const char *text)
{
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    dti_line_text(&line, "  ");
    dti_line_print(&line, DTI_STYLE_DIM, "%s\n", text);
}

/* "fits, 1.00 GiB left", "5 x 80 GB: 253.32 GiB too much for one"; empty unless it was asked for.
 */
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

/* Whether the answer counts devices, so that the rule must be stated. */
static bool counts_devices(const struct dti_mem *mem)
{
    bool any = mem->capacity.devices > 1;
    for (size_t i = 0; i < mem->size_count && mem->capacity.amount; i++)
        any |= !mem->sizes[i].verdict.fits && !mem->train;
    for (size_t i = 0; i < mem->training_count && mem->capacity.amount; i++)
        any |= !mem->trainings[i].verdict.fits;
    return any;
}

void dti_mem_put_capacity(const struct dti_context *cx, const struct dti_mem *mem)
{
    const struct dti_mem_capacity *const capacity = &mem->capacity;
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    char text[DTI_TEXT_SIZE], all[DTI_TEXT_SIZE];
    if (!capacity->asked)
        return;
    (void)dti_human_bytes(text, capacity->bytes);
    dti_line_text(&line, "  ");
    if (capacity->devices > 1)
        dti_line_print(&line, DTI_STYLE_DIM, "into %llu devices of %llu bytes, %s each",
                       (unsigned long long)capacity->devices, (unsigned long long)capacity->bytes,
                       text);
    else if (capacity->device[0] == '\0')
        dti_line_print(&line, DTI_STYLE_DIM, "into %llu bytes, %s",
                       (unsigned long long)capacity->bytes, text);
    else if (capacity->all == DTI_UNKNOWN)
        dti_line_print(&line, DTI_STYLE_DIM, "into %s: %s free", capacity->device, text);
    else
        dti_line_print(&line, DTI_STYLE_DIM, "into %s: %s free of %s", capacity->device, text,
                       dti_human_bytes(all, capacity->all));
    dti_line_end(&line);
    if (counts_devices(mem))
        dti_mem_note(cx, "several devices: the bytes are divided evenly, nothing is stored twice");
    if (!mem->train)
        dti_mem_note(cx, "not counted: activations, caches, framework overhead");
}
