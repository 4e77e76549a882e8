/* SPDX-License-Identifier: MIT
 *
 * Reports on numbers from codes and scales. */
#include "cli/rewrite/dequant_report.h"

#include <string.h>

#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

/* "a scale per channel of axis 0, zero points": the granularity of scales. */
enum { FORM_WORDS = 128 };
static const char *form_words(char buffer[FORM_WORDS], const struct dti_dequant_form *form)
{
    const unsigned long long group = form->is->group[1], rows = form->is->group[0];
    size_t used = 0;
    if (form->is->per == DTI_PER_TENSOR)
        used = (size_t)snprintf(buffer, FORM_WORDS, "one scale");
    else if (form->is->per == DTI_PER_CHANNEL)
        used =
            (size_t)snprintf(buffer, FORM_WORDS, "a scale per channel of axis %u", form->is->axis);
    else if (form->is->flat)
        used = (size_t)snprintf(buffer, FORM_WORDS, "a scale per %llu elements%s, was %s", group,
                                form->is->nested ? ", nested" : "", form->is->number->name);
    else if (rows > 0)
        used = (size_t)snprintf(buffer, FORM_WORDS, "a scale per %llu x %llu", rows, group);
    else
        used = (size_t)snprintf(buffer, FORM_WORDS, "a scale per %llu along axis %u", group,
                                form->is->axis);
    if (form->is->rotation > 0)
        used += (size_t)snprintf(buffer + used, FORM_WORDS - used, ", rotated by %u",
                                 form->is->rotation);
    (void)snprintf(buffer + used, FORM_WORDS - used, "%s%s%s",
                   form->is->tensor_scale ? ", one for the tensor" : "",
                   form->is->zero_points ? ", zero points" : "",
                   dti_form_part(form, DTI_PART_BIAS) ? ", biases" : "");
    return buffer;
}

static bool put_form(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind)
{
    const struct dti_dequantized one = dti_dequantized(job->rewrite, at);
    char words[FORM_WORDS];
    kind->first = one.form != NULL;
    kind->to = one.changed ? dti_rewrite_dtype(job->rewrite, at) : NULL;
    kind->same_bytes = false;
    if (!one.form)
        return true;
    kind->axis = one.form->is->axis;
    (void)snprintf(kind->words, sizeof kind->words, "%s: %s", one.form->is->layout,
                   form_words(words, one.form));
    return true;
}

/* The losses are those of the casts; codes may also stand for nan. */
static void put_loss(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_dequant_totals *const totals = &job->answer.dequant;
    if (job->tensors->dry_run)
        return;
    if (totals->nan > 0 || totals->inf > 0) {
        dti_line_print(line, DTI_STYLE_WARN, "  dequantization produced %llu nan and %llu inf",
                       (unsigned long long)totals->nan, (unsigned long long)totals->inf);
        dti_line_end(line);
    }
    if (!job->answer.loss)
        return;
    dti_loss_human_counts(job->answer.loss, line);
    dti_rewrite_errors(job, line);
}

static void put_count(struct dti_table *table, bool counted, uint64_t count)
{
    if (counted)
        dti_count_cell(table, count);
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, "");
}

static enum dti_status put_all(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "scales", "nan", "inf"};
    const struct dti_rewrite *const rewrite = job->rewrite;
    bool whole = true;
    if (!job->front->cx->verbose)
        return DTI_OK;
    struct dti_table *const table =
        dti_rewrite_table_new(heads, sizeof heads / sizeof *heads, "9647");
    for (size_t i = 0; i < rewrite->tensor_count && whole; i++) {
        const struct dti_dequantized one = dti_dequantized(rewrite, i);
        const bool counted = one.form && job->answer.losses;
        char words[FORM_WORDS];
        whole = dti_rewrite_cells(table, dti_rewrite_source(rewrite, i),
                                  dti_rewrite_origin(rewrite, i).dtype,
                                  one.changed ? dti_rewrite_dtype(rewrite, i) : NULL);
        dti_table_cell(table, DTI_STYLE_PLAIN, one.form ? form_words(words, one.form) : "");
        put_count(table, counted, one.nan);
        put_count(table, counted, one.inf);
    }
    return dti_rewrite_table_end(job, table, whole, reterr);
}

#define PAGE(verb_, example_, kept_)                                                     \
    {                                                                                    \
        .verb = verb_, .example = example_, .no_file = "no file to read", .kept = kept_, \
        .kind = put_form, .loss = put_loss, .tables = put_all                            \
    }

static const char *const dequant_kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_CONVENTION] = "fp32 by convention",
};
const struct dti_rewrite_page dti_dequant_page =
    PAGE("dequantized", "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'",
         dequant_kept);

const char *const dti_transcode_kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
};
const struct dti_rewrite_page dti_floats_page =
    PAGE("translated", DTI_TRANSCODE_EXAMPLE, dti_transcode_kept);
