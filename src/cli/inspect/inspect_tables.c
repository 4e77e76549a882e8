/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file one line each: their layout, or their statistics. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/inspect/inspect_view.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "dtinfo/scalar.h"

enum { NAME_WIDTH = 100, SHAPE_WIDTH = 40 };

/* Quantized blocks: their dtype already shows it. */
static bool is_blocks(const struct inspect_view *view, const struct dti_tensor *tensor)
{
    return tensor->block || (!tensor->format && dti_is_gguf(view->report->container->kind));
}

/* Unusual properties. */
static void remark_cell(struct dti_table *table, const struct inspect_view *view,
                        const struct dti_tensor *tensor)
{
    char words[DTI_REMEDY_WORDS];
    bool big;
    const bool swapped = dti_inspect_has_byte_order(tensor, &big) && big;
    const char *const remarks[] = {
        tensor->fortran ? "Fortran order" : NULL, swapped ? "big-endian" : NULL,
        tensor->compressed ? dti_container_packed(view->report->container->kind) : NULL,
        tensor->strided ? "strided" : NULL,
        is_blocks(view, tensor) ? NULL : dti_remedy_words(words, tensor->remedy, tensor->refusal)};
    const char *separator = "";
    dti_table_cell(table, DTI_STYLE_DIM, "");
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
        if (!remarks[i])
            continue;
        dti_table_more(table, "%s%s", separator, remarks[i]);
        separator = ", ";
    }
}

/* -q: only the names. */
static enum dti_status put_names(const struct inspect_view *view, struct dti_error *reterr)
{
    struct dti_buffer text;
    bool failed = false;
    dti_buffer_init(&text);
    for (size_t i = 0; i < view->report->shown_count && !failed; i++) {
        const struct dti_tensor *const tensor = view->report->shown[i];
        dti_buffer_clear(&text);
        dti_name_text(&text, tensor->name, tensor->name_length);
        (void)fprintf(view->cx->out, "%s\n", text.data);
        failed = text.failed;
    }
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_inspect_list(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    const bool verbose = view->cx->verbose;
    const bool sharded =
        verbose && (dti_is_sharded(report->container->kind) || report->container->file_count > 1);
    char shape[DTI_SHAPE_SIZE];
    if (view->cx->quiet)
        return put_names(view, reterr);
    if (report->shown_count == 0)
        return DTI_OK;
    struct dti_table *const table =
        dti_table_titled(sharded   ? "name|dtype|shape|elements>|bytes>|shard>|offset>|stored as|"
                         : verbose ? "name|dtype|shape|elements>|bytes>|offset>|stored as|"
                                   : "name|dtype|shape|elements>|bytes>|",
                         "");
    dti_table_limit(table, 0, NAME_WIDTH);
    dti_table_heads(table, "98847"); /* name, dtype, shape, elements, bytes */
    dti_table_limit(table, 2, SHAPE_WIDTH);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        dti_name_cell(table, tensor->name, tensor->name_length);
        dti_text_cell(table, dti_tensor_dtype(tensor));
        dti_text_cell(table, dti_shape_words(shape, tensor));
        dti_number_cell(table, tensor->elements);
        dti_number_cell(table, tensor->bytes);
        if (sharded)
            dti_number_cell(table, tensor->file + 1);
        if (verbose) {
            dti_number_cell(table, tensor->offset);
            dti_text_cell(table, tensor->stored_as);
        }
        remark_cell(table, view, tensor);
    }
    return dti_put_table(view->cx, table, 2, reterr);
}

/* Integers with all digits, other numbers with four. */
static void extreme_cell(struct dti_table *table, const struct dti_inspect_figures *figures,
                         const struct dti_inspect_extreme *extreme, bool magnitude)
{
    char text[DTI_TEXT_SIZE] = "-";
    struct dti_value value;
    if (figures->finite > 0) {
        const struct dti_format *const format =
            dti_inspect_extreme_format(extreme->tensor, magnitude);
        dti_decode(format, extreme->code, &value);
        if (dti_format_is_integer(format))
            (void)dti_spell_stored(text, format, extreme->code, &value);
        else
            (void)dti_spell_digits(text, &value, 4);
    }
    dti_text_cell(table, text);
}

static void figure_cells(struct dti_table *table, const struct dti_inspect_figures *figures)
{
    char text[DTI_TEXT_SIZE], fits[DTI_INSPECT_FITS];
    dti_number_cell(table, figures->elements);
    extreme_cell(table, figures, &figures->min, false);
    extreme_cell(table, figures, &figures->max, false);
    extreme_cell(table, figures, &figures->absmax, true);
    dti_text_cell(table, dti_figure_words(text, figures->mean, 4));
    dti_text_cell(table, dti_figure_words(text, figures->deviation, 4));
    dti_number_cell(table, figures->zeros);
    dti_number_cell(table, figures->subnormals);
    dti_count_cell(table, figures->nan);
    dti_count_cell(table, figures->inf);
    dti_text_cell(table, figures->elements > 0 ? dti_inspect_fits(fits, figures, ", ") : "-");
}

enum dti_status dti_inspect_stats_table(const struct inspect_view *view, struct dti_error *reterr)
{
    enum { COLUMNS = 13 };
    const struct dti_inspect_report *const report = view->report;
    if (report->shown_count == 0)
        return DTI_OK;
    struct dti_table *const table =
        dti_table_titled("name|dtype|elements>|min>|max>|absmax>|mean>|std>|zeros>|subnormals>|"
                         "nan>|inf>|no overflow in",
                         "9436684532775"); /* absmax, nan and inf leave last */
    dti_table_limit(table, 0, NAME_WIDTH);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        dti_name_cell(table, tensor->name, tensor->name_length);
        dti_text_cell(table, dti_tensor_dtype(tensor));
        if (report->figures[i].there) {
            figure_cells(table, &report->figures[i]);
            continue;
        }
        dti_number_cell(table, tensor->elements);
        for (size_t k = 3; k < COLUMNS; k++)
            dti_text_cell(table, "-");
    }
    if (report->scanned_count > 1 && report->all.there) {
        const bool whole = report->scanned_count == report->selected_count;
        dti_table_cell(table, DTI_STYLE_BOLD, whole ? "all" : "all shown");
        dti_text_cell(table, "");
        figure_cells(table, &report->all);
    }
    return dti_put_table(view->cx, table, 2, reterr);
}

static void share_cell(struct dti_table *table, uint64_t part, uint64_t all)
{
    char text[DTI_TEXT_SIZE];
    dti_table_cell(table, part > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN,
                   all > 0 ? dti_human_share(text, part, all) : "-");
}

/* A line per tensor and dtype of --as. */
enum dti_status dti_inspect_casts_table(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    const struct dti_reading *const reading = &report->request->reading;
    if (report->shown_count == 0)
        return DTI_OK;
    struct dti_table *const table =
        dti_table_titled("name|dtype|as|to zero>|clipped>|SQNR dB>",
                         "958767"); /* name, dtype, as, to zero, clipped, SQNR dB */
    dti_table_limit(table, 0, NAME_WIDTH);
    for (size_t i = 0; i < report->shown_count * reading->as_count; i++) {
        const size_t at = i / reading->as_count;
        const struct dti_tensor *const tensor = report->shown[at];
        const struct dti_inspect_figures *const figures = &report->figures[at];
        const struct dti_loss_summary *const loss = &report->losses[i];
        dti_name_cell(table, tensor->name, tensor->name_length);
        dti_text_cell(table, dti_tensor_dtype(tensor));
        dti_text_cell(table, reading->as[i % reading->as_count].name);
        share_cell(table, loss->to_zero, figures->elements - figures->zeros);
        share_cell(table, loss->overflowed, loss->elements);
        dti_loss_cell(table, loss, loss->sqnr_db);
    }
    return dti_put_table(view->cx, table, 2, reterr);
}
