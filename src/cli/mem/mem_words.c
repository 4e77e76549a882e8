/* SPDX-License-Identifier: MIT
 *
 * Bytes and how they come about, in words. */
#include <stdio.h>
#include <string.h>

#include "cli/mem/mem.h"
#include "cli/shared/tensor_words.h"

enum { EACH_DIGITS = 7 };

const char *dti_mem_decimal(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t unit_bytes = 1000;
    unsigned unit = 0;
    if (bytes < 1000) {
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
        return buffer;
    }
    while (bytes / unit_bytes >= 1000) {
        unit_bytes *= 1000;
        unit++;
    }
    /* hundredths, to nearest */
    const uint64_t hundredth = unit_bytes / 100, rest = bytes % unit_bytes;
    uint64_t hundredths = bytes / unit_bytes * 100 + (rest + hundredth / 2) / hundredth;
    if (hundredths == 100000 && unit < 5) {
        unit++;
        hundredths = 100;
    }
    (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu.%02u %s", (unsigned long long)(hundredths / 100),
                   (unsigned)(hundredths % 100), units[unit]);
    return buffer;
}

double dti_mem_ratio(uint64_t bytes, uint64_t numbers, unsigned per)
{
    return (double)bytes * per / (double)numbers;
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
    const struct dti_training_row *const row = dti_training_get(plan->training);
    switch (part) {
    case DTI_TRAINING_WEIGHTS:
        return "weights";
    case DTI_TRAINING_GRADIENTS:
        return "gradients";
    case DTI_TRAINING_MASTER:
        return "master weights";
    case DTI_TRAINING_STATE_1:
    case DTI_TRAINING_STATE_2:
        return row->state_name[part - DTI_TRAINING_STATE_1];
    case DTI_TRAINING_PARTS:
        break;
    }
    return "";
}

const char *dti_mem_part_dtype(const struct dti_training_plan *plan, enum dti_training_part part)
{
    const struct dti_training_row *const row = dti_training_get(plan->training);
    switch (part) {
    case DTI_TRAINING_WEIGHTS:
        return dti_stored_name(&plan->weights);
    case DTI_TRAINING_GRADIENTS:
        return plan->gradients.name;
    case DTI_TRAINING_MASTER:
        return plan->master.name;
    case DTI_TRAINING_STATE_1:
    case DTI_TRAINING_STATE_2:
        return row->block > 0 ? dti_format_get(row->state)->name : plan->state.name;
    case DTI_TRAINING_PARTS:
        break;
    }
    return "";
}

void dti_mem_rule(struct dti_buffer *text, const struct mem_job *job,
                  const struct mem_training *training)
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
        dti_buffer_puts(text, dti_mem_each(each, training->parts[i].bytes, job->numbers, 1));
    }
    dti_buffer_puts(text, " = ");
    dti_buffer_puts(text, dti_mem_each(each, bytes, job->numbers, 1));
    dti_buffer_puts(text, " bytes a parameter");
}

static void put_number(struct dti_buffer *text, uint64_t number, const char *unit)
{
    char digits[DTI_TEXT_SIZE];
    dti_spell_u64(digits, number);
    dti_buffer_puts(text, digits);
    dti_buffer_puts(text, unit);
    dti_buffer_puts(text, number == 1 ? "" : "s");
}

static void put_dtype(struct dti_buffer *text, const struct dti_format *format)
{
    const struct dti_layout packed = {.packing = DTI_PACKING_LOW};
    const unsigned bits =
        format->kind == DTI_KIND_COMPLEX ? format->width : dti_format_stored_bits(format, &packed);
    put_number(text, bits % 8 == 0 ? bits / 8 : bits, bits % 8 == 0 ? " byte" : " bit");
}

void dti_mem_product(struct dti_buffer *text, const struct mem_job *job,
                     const struct mem_size *size)
{
    char digits[DTI_TEXT_SIZE];
    const struct dti_block_format *const block = size->as.block;
    if (size->as_stored)
        return;
    if (block) {
        const uint64_t blocks = size->numbers.blocks * block->bytes;
        put_number(text, size->numbers.blocks, " block");
        dti_buffer_puts(text, " x ");
        put_number(text, block->bytes, " byte");
        if (size->numbers.bytes > blocks) {
            dti_buffer_puts(text, " + ");
            put_number(text, size->numbers.bytes - blocks, " byte");
        }
    } else {
        dti_spell_u64(digits, job->numbers);
        dti_buffer_puts(text, digits);
        dti_buffer_puts(text, " x ");
        put_dtype(text, &size->as.format);
    }
    if (job->other_bytes > 0) {
        dti_buffer_puts(text, " + ");
        put_number(text, job->other_bytes, " byte");
    }
}
