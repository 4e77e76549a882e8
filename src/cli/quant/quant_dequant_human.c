/* SPDX-License-Identifier: MIT
 *
 * What was dequantized, for people: a line on the whole, one for each way in which tensors were
 * stored, what was lost on the way to the dtype, and with -v every tensor. */
#include <string.h>

#include "cli/quant/quant_dequant.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_words.h"

enum { CELL = 200, KINDS_MAX = 64 };

const char *dti_quant_form_words(char buffer[QUANT_FORM_SIZE], const struct dti_dequant_form *form)
{
    const unsigned long long group = form->group[1], rows = form->group[0];
    size_t used = 0;
    if (form->per == DTI_PER_TENSOR)
        used = (size_t)snprintf(buffer, QUANT_FORM_SIZE, "one scale");
    else if (form->per == DTI_PER_CHANNEL)
        used =
            (size_t)snprintf(buffer, QUANT_FORM_SIZE, "a scale per channel of axis %u", form->axis);
    else if (rows > 0)
        used = (size_t)snprintf(buffer, QUANT_FORM_SIZE, "a scale per %llu x %llu", rows, group);
    else
        used = (size_t)snprintf(buffer, QUANT_FORM_SIZE, "a scale per %llu along axis %u", group,
                                form->axis);
    (void)snprintf(buffer + used, QUANT_FORM_SIZE - used, "%s%s",
                   form->tensor_scale ? ", one for the tensor" : "",
                   form->zero_points ? ", zero points" : "");
    return buffer;
}

static const struct dti_tensor *source_of(const struct quant_dequant *job, size_t at)
{
    return &job->file.viewed->tensors[job->file.cast->tensors[at].source];
}

/* Tensors that were stored in one way and met the same fate. */
struct dequant_kind {
    size_t first; /* one of them */
    size_t count;
    uint64_t stored, output;
};

static bool same_kind(const struct quant_dequant *job, size_t a, size_t b)
{
    const struct dti_dequant_form *const x = dti_quant_form(job, a), *const y =
                                                                         dti_quant_form(job, b);
    if (!x->dtype || !y->dtype)
        return !x->dtype && !y->dtype &&
               job->file.cast->tensors[a].fate == job->file.cast->tensors[b].fate &&
               strcmp(source_of(job, a)->format->name, source_of(job, b)->format->name) == 0;
    return strcmp(x->dtype, y->dtype) == 0 && strcmp(x->layout, y->layout) == 0 &&
           x->per == y->per && x->axis == y->axis && x->group[0] == y->group[0] &&
           x->group[1] == y->group[1] && x->zero_points == y->zero_points &&
           x->tensor_scale == y->tensor_scale;
}

static size_t count_kinds(const struct quant_dequant *job, struct dequant_kind kinds[KINDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < job->file.cast->tensor_count; i++) {
        const struct dti_dequant_form *const form = dti_quant_form(job, i);
        size_t at = 0;
        while (at < count && !same_kind(job, kinds[at].first, i))
            at++;
        if (at == KINDS_MAX)
            at--; /* the rest together; nobody reads so many lines */
        if (at == count)
            kinds[count++] = (struct dequant_kind){.first = i};
        kinds[at].count++;
        kinds[at].stored += form->dtype ? form->stored_bytes : source_of(job, i)->bytes;
        kinds[at].output += job->file.cast->tensors[i].bytes;
    }
    return count;
}

static const char *fate_words(enum dti_fate fate)
{
    switch (fate) {
    case DTI_FATE_SAME:
        return "as it is";
    case DTI_FATE_KEEP:
        return "kept";
    case DTI_FATE_ONLY:
        return "kept: not of --only";
    case DTI_FATE_INTEGER:
        return "kept: no scales";
    case DTI_FATE_COMPLEX:
        return "kept: complex";
    default:
        return "";
    }
}

static void put_dtypes(const struct quant_dequant *job, struct dti_table *table, size_t at)
{
    const struct dti_file_cast_tensor *const tensor = &job->file.cast->tensors[at];
    const struct dti_dequant_form *const form = dti_quant_form(job, at);
    const char *const from = form->dtype ? form->dtype : source_of(job, at)->format->name;
    char cell[CELL];
    (void)snprintf(cell, sizeof cell,
                   form->dtype || tensor->fate == DTI_FATE_CAST ? "%s -> %s" : "%s", from,
                   tensor->format->name);
    dti_table_cell(table, DTI_STYLE_PLAIN, cell);
}

static enum dti_status put_kinds(const struct quant_dequant *job, struct dti_error *reterr)
{
    struct dequant_kind kinds[KINDS_MAX];
    const size_t count = count_kinds(job, kinds);
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    for (size_t i = 0; i < 2 * count; i++) { /* what was quantized comes first */
        const struct dequant_kind *const kind = &kinds[i % count];
        const struct dti_dequant_form *const form = dti_quant_form(job, kind->first);
        char cell[CELL], text[DTI_TEXT_SIZE], words[QUANT_FORM_SIZE];
        if ((form->dtype != NULL) != (i < count))
            continue;
        put_dtypes(job, table, kind->first);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        const size_t used =
            (size_t)snprintf(cell, sizeof cell, "%s", dti_human_bytes(text, kind->stored));
        (void)snprintf(cell + used, sizeof cell - used, " -> %s",
                       dti_human_bytes(text, kind->output));
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        if (form->dtype)
            (void)snprintf(cell, sizeof cell, "%s: %s", form->layout,
                           dti_quant_form_words(words, form));
        else
            (void)snprintf(cell, sizeof cell, "%s",
                           fate_words(job->file.cast->tensors[kind->first].fate));
        dti_table_cell(table, DTI_STYLE_DIM, cell);
    }
    return dti_cast_file_table(table, true, &job->file, reterr);
}

/* The casts are counted as losses; the codes themselves may say nan, too. */
static void put_loss(struct quant_dequant *job, struct dti_line *line)
{
    char cell[CELL];
    struct dti_loss_summary loss;
    if (job->nan > 0 || job->inf > 0) {
        (void)snprintf(cell, sizeof cell, "  out of codes and scales came %llu nan and %llu inf",
                       (unsigned long long)job->nan, (unsigned long long)job->inf);
        dti_line_put(line, DTI_STYLE_WARN, cell);
        dti_line_end(line);
    }
    if (job->file.cast->cast_count > 0)
        dti_cast_file_losses(&job->file, &loss, line);
}

static enum dti_status put_all(const struct quant_dequant *job, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "scales", "nan", "inf"};
    enum { COLUMNS = sizeof heads / sizeof heads[0] };
    struct dti_table *const table = dti_table_new(COLUMNS);
    bool whole = true;
    for (size_t i = 0; i < COLUMNS; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, heads[i]);
    for (size_t i = 0; i < job->file.cast->tensor_count && whole; i++) {
        const struct dti_dequant_form *const form = dti_quant_form(job, i);
        const struct dti_tensor *const source = source_of(job, i);
        char shape[DTI_SHAPE_SIZE], words[QUANT_FORM_SIZE], text[DTI_TEXT_SIZE];
        uint64_t specials[2];
        whole = dti_tensor_cell(table, source);
        put_dtypes(job, table, i);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
        dti_table_cell(table, DTI_STYLE_PLAIN,
                       form->dtype ? dti_quant_form_words(words, form) : "");
        dti_file_dequant_specials(job->dequant, job->file.cast->tensors[i].source, &specials[0],
                                  &specials[1]);
        for (size_t k = 0; k < 2; k++) {
            const bool shown = form->dtype && !job->args->dry_run;
            dti_spell_u64(text, specials[k]);
            dti_table_cell(table, specials[k] > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN,
                           shown ? text : "");
        }
    }
    return dti_cast_file_table(table, whole, &job->file, reterr);
}

enum dti_status dti_quant_dequant_human(struct quant_dequant *job, struct dti_error *reterr)
{
    const bool aside = dti_cast_file_aside(&job->file);
    const struct dti_context *const cx = job->file.cx;
    struct dti_line line = {.out = aside ? cx->err : cx->out,
                            .colour = aside ? cx->colour_error : cx->colour};
    dti_cast_file_head(&job->file, job->stored_bytes, &line);
    const enum dti_status status = put_kinds(job, reterr);
    if (!job->args->dry_run)
        put_loss(job, &line);
    return status == DTI_OK && cx->verbose ? put_all(job, reterr) : status;
}
