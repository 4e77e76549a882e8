/* SPDX-License-Identifier: MIT
 *
 * What was dequantized, for people: a line on the whole, one for each way in which tensors were
 * stored, what was lost on the way to the dtype, and with -v every tensor. */
#include "answers/tensors.h"
#include "cli/quant/quant_files.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_kinds.h"

enum { FORM_SIZE = 128 };

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

static const char *const fate_words[DTI_FATE_COUNT] = {
    [DTI_FATE_CAST] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not of --only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
};

static bool is_changed(const struct dti_dequant_answer *answer, size_t at)
{
    return dti_dequant_form(answer, at)->dtype || answer->cast->tensors[at].fate == DTI_FATE_CAST;
}

static enum dti_status put_kinds(const struct dti_cast_file *file,
                                 const struct dti_dequant_answer *answer, struct dti_error *reterr)
{
    const struct dti_line line = dti_cast_file_line(file);
    struct dti_tensor_kinds kinds = {.count = 0};
    for (size_t i = 0; i < answer->cast->tensor_count; i++) {
        const struct dti_file_cast_tensor *const tensor = &answer->cast->tensors[i];
        const struct dti_dequant_form *const form = dti_dequant_form(answer, i);
        struct dti_tensor_kind kind = {.first = form->dtype != NULL,
                                       .axis = form->dtype ? form->axis : 0,
                                       .from = dti_dequant_from(answer, i),
                                       .to = is_changed(answer, i) ? tensor->format->name : NULL,
                                       .count = 1,
                                       .input = dti_dequant_stored_bytes(answer, i),
                                       .output = tensor->bytes};
        char words[FORM_SIZE];
        (void)snprintf(kind.words, sizeof kind.words, "%s%s%s", form->dtype ? form->layout : "",
                       form->dtype ? ": " : "",
                       form->dtype ? form_words(words, form) : fate_words[tensor->fate]);
        dti_kinds_add(&kinds, &kind);
    }
    return dti_kinds_write(&kinds, line.out, line.colour, reterr);
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
    dti_table_heads(table, "9847");
    for (size_t i = 0; i < answer->cast->tensor_count && whole; i++) {
        const struct dti_dequant_form *const form = dti_dequant_form(answer, i);
        const struct dti_tensor *const source = dti_dequant_source(answer, i);
        char shape[DTI_SHAPE_SIZE], words[FORM_SIZE];
        uint64_t specials[2];
        whole = dti_tensor_cell(table, source);
        dti_table_print(table, DTI_STYLE_PLAIN, is_changed(answer, i) ? "%s -> %s" : "%s",
                        dti_dequant_from(answer, i), answer->cast->tensors[i].format->name);
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
    const struct dti_context *const cx = file->cx;
    struct dti_dequant_totals totals;
    struct dti_line line = dti_cast_file_line(file);
    dti_dequant_sum(answer, &totals);
    dti_cast_file_head(file, totals.stored_bytes, &line);
    const enum dti_status status = put_kinds(file, answer, reterr);
    if (!answer->dry_run)
        put_loss(file, &totals, &line);
    return status == DTI_OK && cx->verbose ? put_all(file, answer, reterr) : status;
}
