/* SPDX-License-Identifier: MIT
 *
 * Memory sizes, for people: numbers in dtypes, training, and the verdict of --fit. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/mem/mem_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

/* Whether the answer counts devices, so that the rule must be stated. */
static bool counts_devices(const struct dti_mem *mem)
{
    bool any = mem->capacity.devices > 1;
    for (size_t i = 0; i < mem->size_count && mem->capacity.amount; i++)
        any |= !mem->sizes[i].verdict.fits && !mem->train && !mem->cache;
    for (size_t i = 0; i < mem->training_count && mem->capacity.amount; i++)
        any |= !mem->trainings[i].verdict.fits;
    for (size_t i = 0; mem->cache && i < mem->cache->total_count && mem->capacity.amount; i++)
        any |= !mem->cache->totals[i].verdict.fits;
    return any;
}

/* The limit of --fit and what does not count. */
static void put_capacity(const struct dti_command_context *cx, const struct dti_mem *mem)
{
    const struct dti_mem_capacity *const capacity = &mem->capacity;
    struct dti_line line = dti_command_context_line(cx);
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
        dti_mem_put_note(cx,
                         "several devices: the bytes are divided evenly, nothing is stored twice");
    if (!mem->train)
        dti_mem_put_note(cx, mem->cache ? "not counted: activations, framework overhead"
                                        : "not counted: activations, caches, framework overhead");
}

enum { NAME_COLUMNS = 60 };

static void put_count(struct dti_line *line, const struct dti_mem *mem, uint64_t count)
{
    dti_line_print(line, DTI_STYLE_PLAIN, "%llu %s%s", (unsigned long long)count,
                   mem->train ? "parameter" : "number", count == 1 ? "" : "s");
}

static void put_file(struct dti_line *line, const struct dti_mem *mem,
                     const struct dti_mem_operand *operand)
{
    char text[DTI_TEXT_SIZE];
    const size_t all = operand->container->tensor_count;
    const uint64_t others = operand->elements - operand->numbers;
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s, ", dti_container_name(operand->container->kind));
    if (operand->count != all)
        dti_line_print(line, DTI_STYLE_PLAIN, "%zu of ", operand->count);
    dti_line_print(line, DTI_STYLE_PLAIN, "%zu tensor%s, ", all, all == 1 ? "" : "s");
    put_count(line, mem, operand->numbers);
    if (others > 0)
        dti_line_print(line, DTI_STYLE_PLAIN, " and %llu element%s as %s",
                       (unsigned long long)others, others == 1 ? " that stays" : "s that stay",
                       others == 1 ? "it is" : "they are");
    dti_line_print(line, DTI_STYLE_PLAIN, ", %s", dti_human_bytes(text, operand->stored_bytes));
}

static void put_amount(struct dti_line *line, const struct dti_mem *mem,
                       const struct dti_mem_operand *operand)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, operand->shape[0]);
    if (operand->kind == DTI_MEM_COUNT && strcmp(text, operand->text) != 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s = ", operand->text);
    for (unsigned i = 0; operand->kind == DTI_MEM_SHAPE && i < operand->rank; i++)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s%llu", i > 0 ? " x " : "",
                       (unsigned long long)operand->shape[i]);
    dti_line_text(line, operand->kind == DTI_MEM_SHAPE ? " = " : "");
    put_count(line, mem, operand->elements);
}

/* With -v: the tensors, and the size of each in the requested dtypes. */
static enum dti_status put_tensors(const struct dti_command_context *cx, const struct dti_mem *mem,
                                   const struct dti_mem_operand *operand, struct dti_error *reterr)
{
    const size_t asked = mem->ladder || mem->train ? 0 : mem->size_count;
    char shape[DTI_SHAPE_SIZE];
    struct dti_buffer titles;
    dti_buffer_init(&titles);
    dti_buffer_puts(&titles, "name|dtype|shape|elements>|bytes>");
    for (size_t i = 0; i < asked; i++) {
        dti_buffer_puts(&titles, "|as ");
        dti_buffer_puts(&titles, dti_stored_name(&mem->sizes[i].as));
        dti_buffer_puts(&titles, ">");
    }
    struct dti_table *const table = titles.failed ? NULL : dti_table_titled(titles.data, "");
    dti_buffer_free(&titles);
    dti_table_limit(table, 0, NAME_COLUMNS);
    for (size_t i = operand->first; i < operand->first + operand->count; i++) {
        const struct dti_mem_item *const item = &mem->items[i];
        const struct dti_tensor *const tensor = item->tensor;
        dti_name_cell(table, tensor->name, tensor->name_length);
        dti_text_cell(table, dti_tensor_dtype(tensor));
        dti_text_cell(table, dti_shape_words(shape, tensor));
        dti_number_cell(table, tensor->elements);
        dti_number_cell(table, item->stored_bytes);
        for (size_t k = 0; k < asked; k++) {
            struct dti_footprint footprint = {.bytes = item->stored_bytes};
            if (item->takes_dtype) /* the sum has been checked */
                (void)dti_footprint_of(&mem->sizes[k].as, &item->extent, &footprint);
            dti_number_cell(table, footprint.bytes);
        }
    }
    return dti_put_table(cx, table, 2, reterr);
}

static enum dti_status put_operands(const struct dti_command_context *cx, const struct dti_mem *mem,
                                    struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < mem->operand_count && status == DTI_OK; i++) {
        const struct dti_mem_operand *const operand = &mem->operands[i];
        const bool file = operand->kind == DTI_MEM_FILE;
        if (operand->kind == DTI_MEM_CONFIG)
            continue; /* its cache says what it is */
        if (file && strcmp(operand->text, "-") == 0)
            dti_line_put(&line, DTI_STYLE_BOLD, "standard input");
        else if (file && !dti_name_put(&line, DTI_STYLE_BOLD, operand->text, strlen(operand->text)))
            status = dti_no_memory(reterr);
        (file ? put_file : put_amount)(&line, mem, operand);
        dti_line_end(&line);
        if (mem->list_tensors && file && operand->count > 0 && status == DTI_OK)
            status = put_tensors(cx, mem, operand, reterr);
    }
    if (mem->operand_count > 1) {
        dti_line_text(&line, "together ");
        put_count(&line, mem, mem->numbers);
        dti_line_end(&line);
    }
    return status;
}

static void more_number(struct dti_table *table, uint64_t number, const char *unit)
{
    dti_table_more(table, "%llu %s%s", (unsigned long long)number, unit, number == 1 ? "" : "s");
}

/* "176000000000 x 2 bytes", "5500000 blocks x 17 bytes + 4 bytes" */
static void cell_product(struct dti_table *table, const struct dti_mem *mem,
                         const struct dti_mem_size *size)
{
    const struct dti_layout packed = {.packing = DTI_PACKING_LOW};
    const struct dti_format *const format = &size->as.format;
    const unsigned block_bytes = dti_stored_bytes(&size->as);
    dti_text_cell(table, "");
    if (size->as_stored)
        return;
    if (block_bytes > 0) {
        const uint64_t blocks = size->numbers.blocks * block_bytes;
        more_number(table, size->numbers.blocks, "block");
        dti_table_more(table, " x ");
        more_number(table, block_bytes, "byte");
        if (size->numbers.bytes > blocks) {
            dti_table_more(table, " + ");
            more_number(table, size->numbers.bytes - blocks, "byte");
        }
    } else {
        const unsigned bits = format->kind == DTI_KIND_COMPLEX
                                  ? format->width
                                  : dti_format_stored_bits(format, &packed);
        dti_table_more(table, "%llu x ", (unsigned long long)mem->numbers);
        more_number(table, bits % 8 == 0 ? bits / 8 : bits, bits % 8 == 0 ? "byte" : "bit");
    }
    if (mem->other_bytes > 0) {
        dti_table_more(table, " + ");
        more_number(table, mem->other_bytes, "byte");
    }
}

static enum dti_status put_sizes(const struct dti_command_context *cx, const struct dti_mem *mem,
                                 struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE], titles[128], ranks[16];
    bool scales = false, padding = false; /* whether these columns have any content */
    const bool ratio = mem->size_count > 1 && mem->sizes[0].bytes > 0;
    for (size_t i = 0; i < mem->size_count; i++) {
        scales |= mem->sizes[i].numbers.scale_bytes > 0;
        padding |= mem->sizes[i].numbers.padding > 0;
    }
    (void)snprintf(titles, sizeof titles,
                   "dtype|numel x element size|bytes>|binary>|decimal>|bits each>%s%s%s|",
                   ratio ? "|ratio>" : "", scales ? "|scales>" : "", padding ? "|padding>" : "");
    (void)snprintf(ranks, sizeof ranks, "927865%s%s%s8", ratio ? "3" : "", scales ? "4" : "",
                   padding ? "4" : "");
    struct dti_table *const table = dti_table_titled(titles, ranks);
    for (size_t i = 0; i < mem->size_count; i++) {
        const struct dti_mem_size *const size = &mem->sizes[i];
        const struct dti_footprint *const numbers = &size->numbers;
        dti_text_cell(table, size->as_stored ? "as stored" : dti_stored_name(&size->as));
        cell_product(table, mem, size);
        dti_mem_cell_bytes(table, size->bytes);
        dti_text_cell(table, dti_mem_each(text, numbers->bytes, mem->numbers, 8));
        if (ratio) {
            const double hundredths = 100 * dti_mem_against_first(mem, size) + 0.5;
            dti_table_print(table, DTI_STYLE_PLAIN, "x%llu.%02llu",
                            (unsigned long long)hundredths / 100,
                            (unsigned long long)hundredths % 100);
        }
        if (scales)
            dti_text_cell(table, numbers->scale_bytes > 0
                                     ? dti_human_share(text, numbers->scale_bytes, numbers->bytes)
                                     : "");
        if (padding && numbers->padding > 0)
            dti_number_cell(table, numbers->padding);
        else if (padding)
            dti_text_cell(table, "");
        dti_mem_cell_verdict(table, mem, &size->verdict);
    }
    const enum dti_status status = dti_put_table(cx, table, 2, reterr);
    if (padding)
        dti_mem_put_note(cx, "padding: numbers that complete the last block of each row");
    return status;
}

/* Every part of one training. */
static struct dti_table *parts_of(const struct dti_mem *mem)
{
    const struct dti_mem_training *const training = &mem->trainings[0];
    struct dti_table *const table =
        dti_table_titled("part|dtype|bytes each>|bytes>|binary>|decimal>|", "9667858");
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
    dti_mem_cell_verdict(table, mem, &training->verdict);
    return table;
}

/* Several side by side. */
static struct dti_table *trainings_of(const struct dti_mem *mem)
{
    struct dti_table *const table =
        dti_table_titled("optimizer|dtype|weights>|gradients>|master>|states>|bytes each>|bytes>|"
                         "binary>|decimal>|",
                         "98444467858");
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
        dti_mem_cell_verdict(table, mem, &training->verdict);
    }
    return table;
}

static enum dti_status put_rule(const struct dti_command_context *cx, const struct dti_mem *mem,
                                struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_buffer_puts(&text, "rule: ");
    dti_mem_rule(&text, mem, &mem->trainings[0]);
    const bool failed = text.failed;
    dti_mem_put_note(cx, text.data);
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

/* The defaults used, and what is not counted. */
static void put_notes(const struct dti_command_context *cx, const struct dti_mem *mem)
{
    bool master = false, eight = false;
    for (size_t i = 0; i < mem->training_count; i++) {
        master |= mem->trainings[i].plan.has_master;
        eight |= dti_training_get(mem->trainings[i].plan.training)->block > 0;
    }
    if (master && !mem->master)
        dti_mem_put_note(
            cx, "mixed precision: weights of less than 32 bits are updated in an fp32 copy; "
                "--master none omits it");
    if (eight)
        dti_mem_put_note(
            cx, "8-bit states have an fp32 scale per 256 numbers; tensors of less than 4096 "
                "numbers have fp32 states");
    dti_mem_put_note(cx, "not counted: activations, temporary buffers, framework overhead");
}

static enum dti_status put_trainings(const struct dti_command_context *cx,
                                     const struct dti_mem *mem, struct dti_error *reterr)
{
    const bool one = mem->training_count == 1;
    enum dti_status status = dti_put_table(cx, one ? parts_of(mem) : trainings_of(mem), 2, reterr);
    if (status == DTI_OK && one)
        status = put_rule(cx, mem, reterr);
    if (status == DTI_OK)
        put_notes(cx, mem);
    return status;
}

/* -q: only the bytes, one per line; with --fit the names of what fits. */
static void put_answers(const struct dti_command_context *cx, const struct dti_mem *mem)
{
    for (size_t i = 0; mem->cache && i < mem->cache->total_count; i++) {
        const struct dti_mem_total *const total = &mem->cache->totals[i];
        const char *const weights = !total->weights ? ""
                                    : total->weights->as_stored
                                        ? "as stored "
                                        : dti_stored_name(&total->weights->as);
        if (!mem->capacity.asked)
            (void)fprintf(cx->out, "%llu\n", (unsigned long long)total->bytes);
        else if (total->verdict.fits)
            (void)fprintf(cx->out, "%s%s%s\n", weights,
                          total->weights && !total->weights->as_stored ? " " : "",
                          dti_stored_name(&total->cache->as.as));
    }
    for (size_t i = 0; i < mem->size_count && !mem->train && !mem->cache; i++) {
        const struct dti_mem_size *const size = &mem->sizes[i];
        if (!mem->capacity.asked)
            (void)fprintf(cx->out, "%llu\n", (unsigned long long)size->bytes);
        else if (size->verdict.fits)
            (void)fprintf(cx->out, "%s\n",
                          size->as_stored ? "as stored" : dti_stored_name(&size->as));
    }
    for (size_t i = 0; i < mem->training_count; i++) {
        const struct dti_mem_training *const training = &mem->trainings[i];
        if (!mem->capacity.asked)
            (void)fprintf(cx->out, "%llu\n", (unsigned long long)training->bytes);
        else if (training->verdict.fits)
            (void)fprintf(cx->out, "%s %s\n", dti_training_get(training->plan.training)->name,
                          dti_stored_name(&training->plan.weights));
    }
}

enum dti_status dti_mem_human(const struct dti_command_context *cx, const struct dti_mem *mem,
                              struct dti_error *reterr)
{
    if (cx->quiet) {
        put_answers(cx, mem);
        return DTI_OK;
    }
    enum dti_status status = put_operands(cx, mem, reterr);
    if (status == DTI_OK && mem->train)
        status = put_trainings(cx, mem, reterr);
    else if (status == DTI_OK && mem->size_count > 0)
        status = put_sizes(cx, mem, reterr);
    if (status == DTI_OK && mem->cache)
        status = dti_mem_cache_human(cx, mem, reterr);
    if (status == DTI_OK)
        put_capacity(cx, mem);
    return status;
}
