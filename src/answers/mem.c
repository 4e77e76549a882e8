/* SPDX-License-Identifier: MIT
 *
 * Memory in words, and as JSON. */
#include <string.h>

#include "answers/mem.h"
#include "answers/rows.h"
#include "answers/tensors.h"
#include "dtinfo/machine.h"

struct operand_of {
    const struct dti_mem *mem;
    const struct dti_mem_operand *operand;
};

struct size_of {
    const struct dti_mem *mem;
    const struct dti_mem_size *size;
};

struct training_of {
    const struct dti_mem *mem;
    const struct dti_mem_training *training;
};

struct part_of {
    const struct dti_mem_training *training;
    enum dti_training_part part;
    uint64_t numbers;
};

DTI_WORDS(kind_words, "count", "shape", "file")
DTI_WORDS(part_words, "weights", "gradients", "master weights", "first moment", "second moment",
          "momentum")

static size_t list_optimizers(unsigned set, const char *ret[DTI_TRAINING_COUNT])
{
    size_t count = 0;
    for (unsigned i = 0; i < DTI_TRAINING_COUNT; i++) {
        if (set >> i & 1)
            ret[count++] = dti_training_get((enum dti_training)i)->name;
    }
    return count;
}

enum { EACH_DIGITS = 7 };

double dti_mem_ratio(uint64_t bytes, uint64_t numbers, unsigned per)
{
    return (double)bytes * per / (double)numbers;
}

double dti_mem_against_first(const struct dti_mem *mem, const struct dti_mem_size *size)
{
    const uint64_t first = mem->sizes[0].bytes;
    return first > 0 ? (double)size->bytes / (double)first : -1;
}

const char *dti_mem_each(char buffer[DTI_TEXT_SIZE], uint64_t bytes, uint64_t numbers, unsigned per)
{
    if (numbers == 0)
        memcpy(buffer, "-", 2);
    else
        (void)dti_figure_words(buffer, dti_mem_ratio(bytes, numbers, per), EACH_DIGITS);
    return buffer;
}

const char *dti_mem_part_name(const struct dti_training_plan *plan, enum dti_training_part part)
{
    static const char *const names[] = {"weights", "gradients", "master weights"};
    return part < DTI_TRAINING_STATE_1
               ? names[part]
               : dti_training_get(plan->training)->state_name[part - DTI_TRAINING_STATE_1];
}

const char *dti_mem_part_dtype(const struct dti_training_plan *plan, enum dti_training_part part)
{
    const struct dti_training_row *const row = dti_training_get(plan->training);
    const char *const names[] = {dti_stored_name(&plan->weights), plan->gradients.name,
                                 plan->master.name};
    return part < DTI_TRAINING_STATE_1 ? names[part]
           : row->block > 0            ? dti_format_get(row->state)->name
                                       : plan->state.name;
}

void dti_mem_rule(struct dti_buffer *text, const struct dti_mem *mem,
                  const struct dti_mem_training *training)
{
    char each[DTI_TEXT_SIZE];
    uint64_t bytes = 0;
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        if (!dti_training_has(&training->plan, part))
            continue;
        bytes += training->parts[i].bytes;
        dti_buffer_puts(text, i > 0 ? " + " : "");
        dti_buffer_puts(text, dti_mem_part_name(&training->plan, part));
        dti_buffer_puts(text, " ");
        dti_buffer_puts(text, dti_mem_each(each, training->parts[i].bytes, mem->numbers, 1));
    }
    dti_buffer_puts(text, " = ");
    dti_buffer_puts(text, dti_mem_each(each, bytes, mem->numbers, 1));
    dti_buffer_puts(text, " bytes a parameter");
}

#define DTI_ROWS "answers/mem.def"
#include "answers/rows.h"
