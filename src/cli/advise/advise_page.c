/* SPDX-License-Identifier: MIT
 *
 * The page of advise: what was chosen, a table of the formats, other mixtures, what
 * the figures do not say. */
#include "cli/advise/advise_page.h"

#include <stdio.h>
#include <string.h>

#include "answers/tensors.h"
#include "cli/advise/advise_picture.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "kernels/fused.h"
#include "util/run/allocate.h"

enum { DIGITS = 4 };

/* "28.08": the mean error in dB; "exact" without one, "-" without a weight (below 0). */
static const char *put_db(char buffer[DTI_TEXT_SIZE], double mean)
{
    if (mean > 0)
        (void)dti_figure_words(buffer, -10 * dti_log10(mean), DIGITS);
    else
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%s", mean < 0 ? "-" : "exact");
    return buffer;
}

static void put_head(const struct dti_command_context *cx, const struct dti_advise *advise)
{
    char text[DTI_TEXT_SIZE], path[DTI_QUOTE_SIZE];
    const double mean = dti_advise_mean(advise, advise->chosen.error);
    struct dti_line line = dti_command_context_line(cx);
    dti_line_put(&line, DTI_STYLE_BOLD, dti_human_path(path, advise->path));
    dti_line_print(&line, DTI_STYLE_PLAIN, " for %s: %llu bytes of %llu", advise->row->name,
                   (unsigned long long)advise->bytes, (unsigned long long)advise->budget);
    dti_line_print(&line, DTI_STYLE_PLAIN, ", %s in files",
                   dti_human_bytes(text, advise->file_bytes));
    dti_line_end(&line);
    dti_line_print(&line, DTI_STYLE_PLAIN, "  mean error %s", dti_figure_words(text, mean, DIGITS));
    dti_line_print(&line, DTI_STYLE_PLAIN, mean > 0 ? ", SQNR %s dB   " : ": %s   ",
                   put_db(text, mean));
    if (advise->chosen.proved)
        dti_line_put(&line, DTI_STYLE_GOOD, "proved: no other choice of the menu has less");
    else
        dti_line_print(
            &line, DTI_STYLE_WARN, "not proved: the least is at least %s",
            dti_figure_words(text, dti_advise_mean(advise, advise->chosen.bound), DIGITS));
    dti_line_end(&line);
    const size_t tensors = advise->measured.tensor_count - advise->kept_tensors;
    dti_line_print(&line, DTI_STYLE_PLAIN, "  %zu tensor%s in %u group%s of one format each",
                   tensors, tensors == 1 ? "" : "s", (unsigned)advise->group_count,
                   advise->group_count == 1 ? "" : "s");
    dti_line_print(&line, DTI_STYLE_PLAIN, "; %zu other%s as in the input, %s",
                   advise->kept_tensors, advise->kept_tensors == 1 ? "" : "s",
                   dti_human_bytes(text, advise->kept_bytes));
    dti_line_end(&line);
}

struct format_row {
    size_t groups, tensors;
    uint64_t elements, bytes;
    double error, weight;
};

static void put_row(struct dti_table *table, const char *name, const struct format_row *row)
{
    char text[DTI_TEXT_SIZE];
    dti_text_cell(table, name);
    dti_number_cell(table, row->groups);
    dti_number_cell(table, row->tensors);
    dti_number_cell(table, row->elements);
    dti_number_cell(table, row->bytes);
    dti_text_cell(table, dti_human_bytes(text, row->bytes));
    dti_text_cell(table, put_db(text, row->weight > 0 ? row->error / row->weight : -1));
}

/* A row for each format that is used. */
static enum dti_status put_formats(const struct dti_command_context *cx,
                                   const struct dti_advise *advise, struct dti_error *reterr)
{
    const size_t formats = advise->measured.format_count + 1;
    struct format_row *const rows = dti_calloc(formats, sizeof *rows);
    struct dti_table *const table =
        dti_table_titled("format|groups>|tensors>|numbers>|bytes>|binary>|SQNR dB>", "9554938");
    if (!rows) {
        dti_table_free(table);
        return dti_no_memory(reterr);
    }
    for (uint32_t g = 0; g < advise->group_count; g++) {
        const struct dti_advise_group *const group = &advise->groups[g];
        const struct dti_format_choice *const choice = &advise->choices[advise->picks[g]];
        struct format_row *const row = &rows[advise->choice_formats[advise->picks[g]]];
        row->groups++;
        row->tensors += group->tensor_count;
        row->elements += group->elements;
        row->bytes += choice->bytes;
        row->error += choice->error;
        row->weight += group->weight;
    }
    for (size_t i = 0; i < formats; i++) {
        if (rows[i].groups > 0)
            put_row(table, dti_advise_format_name(advise, i), &rows[i]);
    }
    dti_free(rows);
    return dti_put_table(cx, table, 2, reterr);
}

static void put_mixture(struct dti_table *table, const struct dti_advise *advise, const char *name,
                        uint64_t bytes, double error, size_t without)
{
    char text[DTI_TEXT_SIZE];
    const double mean = dti_advise_mean(advise, error);
    const bool fits = bytes <= advise->budget;
    dti_text_cell(table, name);
    dti_number_cell(table, bytes);
    dti_text_cell(table, dti_human_bytes(text, bytes));
    dti_table_cell(table, fits ? DTI_STYLE_GOOD : DTI_STYLE_BAD, fits ? "fits" : "too large");
    dti_text_cell(table, dti_figure_words(text, mean, DIGITS));
    dti_text_cell(table, put_db(text, mean));
    if (without > 0)
        dti_table_print(table, DTI_STYLE_DIM, "%zu tensors stay", without);
    else
        dti_text_cell(table, "");
}

static enum dti_status put_mixtures(const struct dti_command_context *cx,
                                    const struct dti_advise *advise, struct dti_error *reterr)
{
    struct dti_table *const table =
        dti_table_titled("mixture|bytes>|binary>||mean error>|SQNR dB>|", "9936581");
    put_mixture(table, advise, "this choice", advise->bytes, advise->chosen.error, 0);
    for (size_t i = 0; i < advise->mixture_count; i++) {
        const struct dti_advise_mixture *const mixture = &advise->mixtures[i];
        put_mixture(table, advise, mixture->name, mixture->bytes, mixture->error, mixture->without);
    }
    return dti_put_table(cx, table, 2, reterr);
}

/* The formats of single groups. */
static enum dti_status put_groups(const struct dti_command_context *cx,
                                  const struct dti_advise *advise, struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    struct dti_table *const table =
        dti_table_titled("first tensor|tensors>|format|bytes>|SQNR dB>", "95986");
    for (uint32_t g = 0; g < advise->group_count; g++) {
        const struct dti_advise_group *const group = &advise->groups[g];
        const struct dti_measured_tensor *const first = &advise->measured.tensors[group->first];
        const uint32_t pick = advise->picks[g];
        dti_text_cell(table, "");
        dti_table_safe(table, first->name, first->name_length);
        dti_number_cell(table, group->tensor_count);
        dti_text_cell(table, dti_advise_format_name(advise, advise->choice_formats[pick]));
        dti_number_cell(table, advise->choices[pick].bytes);
        dti_text_cell(
            table,
            put_db(text, group->weight > 0 ? advise->choices[pick].error / group->weight : -1));
    }
    return dti_put_table(cx, table, 2, reterr);
}

/* Whether the plan has tensors to quantize. */
static bool quantizes(const struct dti_advise *advise)
{
    for (size_t g = 0; g < advise->group_count; g++) {
        if (advise->choice_formats[advise->picks[g]] < advise->measured.format_count)
            return true;
    }
    return false;
}

static void put_notes(const struct dti_command_context *cx, const struct dti_advise *advise)
{
    char path[DTI_QUOTE_SIZE], model[DTI_QUOTE_SIZE];
    dti_put_line(
        cx, DTI_STYLE_DIM, 2,
        "weight error is not accuracy: in ggml-org/llama.cpp#15550 the mixture by rule has "
        "the better perplexity for some models and sizes; compare the models");
    if (advise->plan && advise->form == DTI_ADVISE_AS_TENSOR_TYPES)
        dti_put_line(cx, DTI_STYLE_PLAIN, 2, "types: llama-quantize --tensor-type-file %s",
                     dti_human_path(path, advise->plan));
    else if (advise->plan && advise->form != DTI_ADVISE_AS_PLAN)
        dti_put_line(cx, DTI_STYLE_PLAIN, 2, "%s%s", dti_advise_form_row(advise->form)->label,
                     dti_human_path(path, advise->plan));
    else if (advise->plan && !quantizes(advise))
        dti_put_line(cx, DTI_STYLE_PLAIN, 2,
                     "plan: nothing to quantize: all tensors fit as they are");
    else if (advise->plan)
        dti_put_line(cx, DTI_STYLE_PLAIN, 2, "plan: dtinfo quant %s --plan %s -o OUT",
                     dti_human_path(model, advise->path), dti_human_path(path, advise->plan));
    else
        dti_put_line(cx, DTI_STYLE_DIM, 2, "-o PLAN writes the plan; -v lists the groups");
}

enum dti_status dti_advise_lines(const struct dti_command_context *cx,
                                 const struct dti_advise *advise, struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    for (size_t i = 0; i < advise->measured.tensor_count && !text.failed; i++) {
        const struct dti_measured_tensor *const tensor = &advise->measured.tensors[i];
        if (advise->group_of[i] == UINT32_MAX)
            continue;
        dti_buffer_clear(&text);
        dti_buffer_print(&text, "%s\t",
                         dti_advise_format_name(advise, dti_advise_format_of(advise, i)));
        dti_name_text(&text, tensor->name, tensor->name_length);
        (void)fprintf(cx->out, "%s\n", text.data);
    }
    const bool failed = text.failed;
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_advise_page(const struct dti_command_context *cx,
                                const struct dti_advise *advise, struct dti_error *reterr)
{
    put_head(cx, advise);
    enum dti_status status = put_formats(cx, advise, reterr);
    if (status == DTI_OK && cx->verbose)
        status = put_groups(cx, advise, reterr);
    if (status == DTI_OK)
        status = put_mixtures(cx, advise, reterr);
    if (status == DTI_OK)
        status = dti_advise_picture(cx, advise, reterr);
    if (status == DTI_OK)
        put_notes(cx, advise);
    return status;
}
