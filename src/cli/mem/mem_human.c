/* SPDX-License-Identifier: MIT
 *
 * What memory is needed, for people. */
#include <stdio.h>
#include <string.h>

#include "cli/mem/mem_view.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_words.h"
#include "dtinfo/escape.h"

enum { CELL = 256, NAME_COLUMNS = 60 };

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static struct dti_line line_of(const struct mem_view *view)
{
    const struct dti_context *const cx = view->job->cx;
    return (struct dti_line){.out = cx->out, .colour = cx->colour};
}

void dti_mem_note(const struct mem_view *view, const char *text)
{
    struct dti_line line = line_of(view);
    put(&line, "  ");
    dti_line_put(&line, DTI_STYLE_DIM, text);
    dti_line_end(&line);
}

enum dti_status dti_mem_write(const struct mem_view *view, struct dti_table *table,
                              struct dti_error *reterr)
{
    const bool written = dti_table_write(table, view->job->cx->out, view->job->cx->colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static void cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static void cell_number(struct dti_table *table, uint64_t number)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, number);
    cell(table, text);
}

/* bytes, in powers of two, in powers of ten */
void dti_mem_cell_bytes(struct dti_table *table, uint64_t bytes)
{
    char text[DTI_TEXT_SIZE];
    cell_number(table, bytes);
    cell(table, dti_human_bytes(text, bytes));
    cell(table, dti_mem_decimal(text, bytes));
}

void dti_mem_cell_verdict(struct dti_table *table, const struct mem_job *job,
                          const struct mem_verdict *verdict)
{
    char text[DTI_TEXT_SIZE], words[CELL];
    if (!job->capacity.asked)
        return;
    (void)snprintf(words, sizeof words, verdict->fits ? "fits, %s left" : "no: %s too much",
                   dti_human_bytes(text, verdict->bytes));
    dti_table_cell(table, verdict->fits ? DTI_STYLE_GOOD : DTI_STYLE_BAD, words);
}

void dti_mem_heads(struct dti_table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dti_table_cell(table, DTI_STYLE_DIM, names[i]);
}

/* A name or a path, safe. Valid until the next call. */
static const char *safe(struct mem_view *view, const char *text, size_t length)
{
    const char *const quote = length == 0 || text[0] == ' ' || text[length - 1] == ' ' ? "'" : "";
    dti_buffer_clear(&view->text);
    dti_buffer_puts(&view->text, quote);
    dti_escape(&view->text, text, length);
    dti_buffer_puts(&view->text, quote);
    view->lost = view->lost || view->text.failed;
    return view->text.data;
}

static const char *unit_of(const struct mem_job *job, uint64_t count)
{
    return job->args->train ? count == 1 ? "parameter" : "parameters"
           : count == 1     ? "number"
                            : "numbers";
}

static void put_count(struct dti_line *line, const struct mem_job *job, uint64_t count)
{
    char text[DTI_TEXT_SIZE + 16];
    (void)snprintf(text, sizeof text, "%llu %s", (unsigned long long)count, unit_of(job, count));
    put(line, text);
}

static void put_file(struct dti_line *line, const struct mem_view *view,
                     const struct mem_operand *operand)
{
    char text[DTI_TEXT_SIZE], words[CELL];
    const size_t all = operand->container->tensor_count;
    const uint64_t others = operand->elements - operand->numbers;
    put(line, "   ");
    put(line, dti_container_name(operand->container->kind));
    if (operand->count == all)
        (void)snprintf(words, sizeof words, ", %zu tensor%s, ", all, all == 1 ? "" : "s");
    else
        (void)snprintf(words, sizeof words, ", %zu of %zu tensor%s, ", operand->count, all,
                       all == 1 ? "" : "s");
    put(line, words);
    put_count(line, view->job, operand->numbers);
    if (others > 0) {
        (void)snprintf(words, sizeof words, " and %llu element%s that stay%s as %s",
                       (unsigned long long)others, others == 1 ? "" : "s", others == 1 ? "s" : "",
                       others == 1 ? "it is" : "they are");
        put(line, words);
    }
    put(line, ", ");
    put(line, dti_human_bytes(text, operand->stored_bytes));
}

static void put_operand(struct mem_view *view, const struct mem_operand *operand)
{
    struct dti_line line = line_of(view);
    char text[DTI_TEXT_SIZE];
    if (operand->kind == MEM_FILE) {
        dti_line_put(&line, DTI_STYLE_BOLD,
                     strcmp(operand->text, "-") == 0
                         ? "standard input"
                         : safe(view, operand->text, strlen(operand->text)));
        put_file(&line, view, operand);
    } else {
        dti_spell_u64(text, operand->shape[0]);
        if (operand->kind == MEM_COUNT && strcmp(text, operand->text) != 0) {
            put(&line, operand->text);
            put(&line, " = ");
        }
        for (unsigned i = 0; operand->kind == MEM_SHAPE && i < operand->rank; i++) {
            dti_spell_u64(text, operand->shape[i]);
            put(&line, i > 0 ? " x " : "");
            put(&line, text);
        }
        put(&line, operand->kind == MEM_SHAPE ? " = " : "");
        put_count(&line, view->job, operand->elements);
    }
    dti_line_end(&line);
}

/* With -v: the tensors, and what each takes in the dtypes that were asked for. */
static enum dti_status put_tensors(struct mem_view *view, const struct mem_operand *operand,
                                   struct dti_error *reterr)
{
    static const char *const names[] = {"name", "dtype", "shape", "elements", "bytes"};
    enum { OWN = sizeof names / sizeof *names };
    const struct mem_job *const job = view->job;
    const size_t asked = job->ladder || job->args->train ? 0 : job->size_count;
    struct dti_table *const table = dti_table_new(OWN + asked);
    char shape[DTI_SHAPE_SIZE], title[DTI_NAME_SIZE + 8];
    dti_mem_heads(table, names, OWN);
    dti_table_limit(table, 0, NAME_COLUMNS);
    for (size_t i = 0; i < asked; i++) {
        (void)snprintf(title, sizeof title, "as %s", dti_stored_name(&job->sizes[i].as));
        dti_table_cell(table, DTI_STYLE_DIM, title);
    }
    for (size_t i = 3; i < OWN + asked; i++)
        dti_table_right(table, i);
    for (size_t i = operand->first; i < operand->first + operand->count; i++) {
        const struct mem_item *const item = &job->items[i];
        cell(table, safe(view, item->tensor->name, item->tensor->name_length));
        cell(table, dti_tensor_dtype(item->tensor));
        cell(table, dti_shape_words(shape, item->tensor));
        cell_number(table, item->tensor->elements);
        cell_number(table, item->stored_bytes);
        for (size_t k = 0; k < asked; k++) {
            struct dti_footprint footprint = {.bytes = item->stored_bytes};
            if (item->takes_dtype) /* its sum was possible */
                (void)dti_footprint_of(&job->sizes[k].as, &item->extent, &footprint);
            cell_number(table, footprint.bytes);
        }
    }
    return dti_mem_write(view, table, reterr);
}

static enum dti_status put_operands(struct mem_view *view, struct dti_error *reterr)
{
    const struct mem_job *const job = view->job;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->operand_count && status == DTI_OK; i++) {
        put_operand(view, &job->operands[i]);
        if (job->cx->verbose && job->operands[i].kind == MEM_FILE && job->operands[i].count > 0)
            status = put_tensors(view, &job->operands[i], reterr);
    }
    if (job->operand_count > 1) {
        struct dti_line line = line_of(view);
        put(&line, "together ");
        put_count(&line, job, job->numbers);
        dti_line_end(&line);
    }
    return status;
}

/* Which of the last columns there is something for. */
struct mem_columns {
    bool scales, padding;
};

static struct mem_columns columns_of(const struct mem_job *job)
{
    struct mem_columns columns = {.scales = false};
    for (size_t i = 0; i < job->size_count; i++) {
        columns.scales |= job->sizes[i].numbers.scale_bytes > 0;
        columns.padding |= job->sizes[i].numbers.padding > 0;
    }
    return columns;
}

static void cell_blocks(struct dti_table *table, struct mem_columns columns,
                        const struct dti_footprint *numbers)
{
    char text[DTI_TEXT_SIZE] = "";
    if (columns.scales)
        cell(table, numbers->scale_bytes > 0
                        ? dti_human_share(text, numbers->scale_bytes, numbers->bytes)
                        : "");
    if (columns.padding && numbers->padding > 0)
        cell_number(table, numbers->padding);
    else if (columns.padding)
        cell(table, "");
}

static enum dti_status put_sizes(struct mem_view *view, struct dti_error *reterr)
{
    static const char *const names[] = {
        "dtype", "numel x element size", "bytes", "binary", "decimal", "bits each"};
    enum { OWN = sizeof names / sizeof *names };
    const struct mem_job *const job = view->job;
    const struct mem_columns columns = columns_of(job);
    const size_t count = (size_t)OWN + columns.scales + columns.padding;
    struct dti_table *const table = dti_table_new(count + job->capacity.asked);
    char text[DTI_TEXT_SIZE];
    dti_mem_heads(table, names, OWN);
    if (columns.scales)
        dti_table_cell(table, DTI_STYLE_DIM, "scales");
    if (columns.padding)
        dti_table_cell(table, DTI_STYLE_DIM, "padding");
    if (job->capacity.asked)
        cell(table, "");
    for (size_t i = 2; i < count; i++)
        dti_table_right(table, i);
    for (size_t i = 0; i < job->size_count; i++) {
        const struct mem_size *const size = &job->sizes[i];
        cell(table, size->as_stored ? "as stored" : dti_stored_name(&size->as));
        dti_buffer_clear(&view->text);
        dti_mem_product(&view->text, job, size);
        view->lost = view->lost || view->text.failed;
        cell(table, view->text.data);
        dti_mem_cell_bytes(table, size->bytes);
        cell(table, dti_mem_each(text, size->numbers.bytes, job->numbers, 8));
        cell_blocks(table, columns, &size->numbers);
        dti_mem_cell_verdict(table, job, &size->verdict);
    }
    const enum dti_status status = dti_mem_write(view, table, reterr);
    if (columns.padding)
        dti_mem_note(view, "padding: numbers that fill up the last block of each row");
    return status;
}

static void put_capacity(struct mem_view *view)
{
    const struct mem_capacity *const capacity = &view->job->capacity;
    char text[DTI_TEXT_SIZE], all[DTI_TEXT_SIZE], words[CELL + DTI_QUOTE_SIZE];
    if (!capacity->asked)
        return;
    if (capacity->device[0] == '\0')
        (void)snprintf(words, sizeof words, "into %llu bytes, %s",
                       (unsigned long long)capacity->bytes, dti_human_bytes(text, capacity->bytes));
    else if (capacity->all == UINT64_MAX)
        (void)snprintf(words, sizeof words, "into %s: %s free", capacity->device,
                       dti_human_bytes(text, capacity->bytes));
    else
        (void)snprintf(words, sizeof words, "into %s: %s free of %s", capacity->device,
                       dti_human_bytes(text, capacity->bytes), dti_human_bytes(all, capacity->all));
    dti_mem_note(view, words);
    if (!view->job->args->train)
        dti_mem_note(view, "not counted: activations, caches, what a framework keeps beside");
}

/* -q: bytes alone, one a line; with --fit what fits. */
static void put_answers(const struct mem_job *job)
{
    FILE *const out = job->cx->out;
    for (size_t i = 0; i < job->size_count && !job->args->train; i++) {
        const struct mem_size *const size = &job->sizes[i];
        if (!job->capacity.asked)
            (void)fprintf(out, "%llu\n", (unsigned long long)size->bytes);
        else if (size->verdict.fits)
            (void)fprintf(out, "%s\n", size->as_stored ? "as stored" : dti_stored_name(&size->as));
    }
    for (size_t i = 0; i < job->training_count; i++) {
        const struct mem_training *const training = &job->trainings[i];
        if (!job->capacity.asked)
            (void)fprintf(out, "%llu\n", (unsigned long long)training->bytes);
        else if (training->verdict.fits)
            (void)fprintf(out, "%s %s\n", dti_training_get(training->plan.training)->name,
                          dti_stored_name(&training->plan.weights));
    }
}

static enum dti_status show(struct mem_view *view, struct dti_error *reterr)
{
    const struct mem_job *const job = view->job;
    enum dti_status status = put_operands(view, reterr);
    if (status == DTI_OK && job->args->train)
        status = job->training_count == 1 ? dti_mem_human_training(view, &job->trainings[0], reterr)
                                          : dti_mem_human_trainings(view, reterr);
    else if (status == DTI_OK)
        status = put_sizes(view, reterr);
    if (status != DTI_OK)
        return status;
    if (job->args->train)
        dti_mem_human_rules(view);
    put_capacity(view);
    return view->lost ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

enum dti_status dti_mem_human(const struct mem_job *job, struct dti_error *reterr)
{
    struct mem_view view = {.job = job};
    if (job->cx->quiet) {
        put_answers(job);
        return DTI_OK;
    }
    dti_buffer_init(&view.text);
    const enum dti_status status = show(&view, reterr);
    dti_buffer_free(&view.text);
    return status;
}
