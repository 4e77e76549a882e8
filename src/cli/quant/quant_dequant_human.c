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

enum { KINDS_MAX = 64, FORM_SIZE = 160 };

/* "a scale per channel of axis 0, zero points": what has a scale. */
static const char *form_words(char buffer[FORM_SIZE], const struct dti_dequant_form *form)
{
    const unsigned long long group = form->group[1], rows = form->group[0];
    size_t used = 0;
    if (form->per == DTI_PER_TENSOR)
        used = (size_t)snprintf(buffer, FORM_SIZE, "one scale");
    else if (form->per == DTI_PER_CHANNEL)
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per channel of axis %u", form->axis);
    else if (rows > 0)
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per %llu x %llu", rows, group);
    else
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per %llu along axis %u", group,
                                form->axis);
    (void)snprintf(buffer + used, FORM_SIZE - used, "%s%s",
                   form->tensor_scale ? ", one for the tensor" : "",
                   form->zero_points ? ", zero points" : "");
    return buffer;
}

/* Tensors that were stored in one way and met the same fate. */
struct dequant_kind {
    size_t first; /* one of them */
    size_t count;
    uint64_t stored, output;
};

static bool same_kind(const struct dti_dequant_answer *answer, size_t a, size_t b)
{
    const struct dti_dequant_form *const x = dti_dequant_form(answer, a);
    const struct dti_dequant_form *const y = dti_dequant_form(answer, b);
    if (!x->dtype != !y->dtype || strcmp(dti_dequant_from(answer, a), dti_dequant_from(answer, b)))
        return false;
    if (!x->dtype)
        return answer->cast->tensors[a].fate == answer->cast->tensors[b].fate;
    return strcmp(x->layout, y->layout) == 0 && x->per == y->per && x->axis == y->axis &&
           x->group[0] == y->group[0] && x->group[1] == y->group[1] &&
           x->zero_points == y->zero_points && x->tensor_scale == y->tensor_scale;
}

static size_t count_kinds(const struct dti_dequant_answer *answer,
                          struct dequant_kind kinds[KINDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < answer->cast->tensor_count; i++) {
        size_t at = 0;
        while (at < count && !same_kind(answer, kinds[at].first, i))
            at++;
        if (at == KINDS_MAX)
            at--; /* the rest together; nobody reads so many lines */
        if (at == count)
            kinds[count++] = (struct dequant_kind){.first = i};
        kinds[at].count++;
        kinds[at].stored += dti_dequant_stored_bytes(answer, i);
        kinds[at].output += answer->cast->tensors[i].bytes;
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

static void put_dtypes(const struct dti_dequant_answer *answer, struct dti_table *table, size_t at)
{
    const struct dti_file_cast_tensor *const tensor = &answer->cast->tensors[at];
    const bool changed = dti_dequant_form(answer, at)->dtype || tensor->fate == DTI_FATE_CAST;
    dti_table_print(table, DTI_STYLE_PLAIN, changed ? "%s -> %s" : "%s",
                    dti_dequant_from(answer, at), tensor->format->name);
}

static enum dti_status put_kinds(const struct dti_cast_file *file,
                                 const struct dti_dequant_answer *answer, struct dti_error *reterr)
{
    struct dequant_kind kinds[KINDS_MAX];
    const size_t count = count_kinds(answer, kinds);
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    for (size_t i = 0; i < 2 * count; i++) { /* what was quantized comes first */
        const struct dequant_kind *const kind = &kinds[i % count];
        const struct dti_dequant_form *const form = dti_dequant_form(answer, kind->first);
        char cell[DTI_PLURAL_SIZE], from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE], words[FORM_SIZE];
        if ((form->dtype != NULL) != (i < count))
            continue;
        put_dtypes(answer, table, kind->first);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        dti_table_print(table, DTI_STYLE_PLAIN, "%s -> %s", dti_human_bytes(from, kind->stored),
                        dti_human_bytes(to, kind->output));
        if (form->dtype)
            dti_table_print(table, DTI_STYLE_DIM, "%s: %s", form->layout, form_words(words, form));
        else
            dti_table_cell(table, DTI_STYLE_DIM,
                           fate_words(answer->cast->tensors[kind->first].fate));
    }
    return dti_cast_file_table(table, true, file, reterr);
}

/* The casts are counted as losses; the codes themselves may say nan, too. */
static void put_loss(const struct dti_cast_file *file, const struct dti_dequant_totals *totals,
                     struct dti_line *line)
{
    struct dti_loss_summary loss;
    if (totals->nan > 0 || totals->inf > 0) {
        dti_line_print(line, DTI_STYLE_WARN, "  out of codes and scales came %llu nan and %llu inf",
                       (unsigned long long)totals->nan, (unsigned long long)totals->inf);
        dti_line_end(line);
    }
    if (file->cast->cast_count > 0)
        dti_cast_file_losses(file, &loss, line);
}

static enum dti_status put_all(const struct dti_cast_file *file,
                               const struct dti_dequant_answer *answer, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "scales", "nan", "inf"};
    enum { COLUMNS = sizeof heads / sizeof heads[0] };
    struct dti_table *const table = dti_table_new(COLUMNS);
    bool whole = true;
    for (size_t i = 0; i < COLUMNS; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, heads[i]);
    for (size_t i = 0; i < answer->cast->tensor_count && whole; i++) {
        const struct dti_dequant_form *const form = dti_dequant_form(answer, i);
        const struct dti_tensor *const source = dti_dequant_source(answer, i);
        char shape[DTI_SHAPE_SIZE], words[FORM_SIZE];
        uint64_t specials[2];
        whole = dti_tensor_cell(table, source);
        put_dtypes(answer, table, i);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
        dti_table_cell(table, DTI_STYLE_PLAIN, form->dtype ? form_words(words, form) : "");
        dti_file_dequant_specials(answer->dequant, answer->cast->tensors[i].source, &specials[0],
                                  &specials[1]);
        for (size_t k = 0; k < 2; k++) {
            if (form->dtype && !answer->dry_run)
                dti_count_cell(table, specials[k]);
            else
                dti_table_cell(table, DTI_STYLE_PLAIN, "");
        }
    }
    return dti_cast_file_table(table, whole, file, reterr);
}

enum dti_status dti_quant_dequant_human(const struct dti_cast_file *file,
                                        const struct dti_dequant_answer *answer,
                                        struct dti_error *reterr)
{
    const bool aside = dti_cast_file_aside(file);
    const struct dti_context *const cx = file->cx;
    struct dti_dequant_totals totals;
    struct dti_line line = {.out = aside ? cx->err : cx->out,
                            .colour = aside ? cx->colour_error : cx->colour};
    dti_dequant_sum(answer, &totals);
    dti_cast_file_head(file, totals.stored_bytes, &line);
    const enum dti_status status = put_kinds(file, answer, reterr);
    if (!answer->dry_run)
        put_loss(file, &totals, &line);
    return status == DTI_OK && cx->verbose ? put_all(file, answer, reterr) : status;
}
