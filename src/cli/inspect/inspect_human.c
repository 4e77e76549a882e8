/* SPDX-License-Identifier: MIT
 *
 * The contents of a file, for people: a heading, one line per tensor with its layout or its
 * statistics, sums, metadata, notes. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/inspect/inspect_view.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "core/code/scalar.h"

enum { NAME_WIDTH = 100, SHAPE_WIDTH = 40 };

/* Quantized blocks: their dtype already shows it. */
static bool is_blocks(const struct inspect_view *view, const struct dti_tensor *tensor)
{
    return dti_tensor_block(tensor) ||
           (!tensor->format && dti_is_gguf(view->report->container->kind));
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
        is_blocks(view, tensor)
            ? NULL
            : dti_remedy_words(words, tensor->remedy, dti_tensor_refusal(tensor))};
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

static enum dti_status put_list(const struct inspect_view *view, struct dti_error *reterr)
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

static enum dti_status put_stats(const struct inspect_view *view, struct dti_error *reterr)
{
    enum { COLUMNS = 13 };
    const struct dti_inspect_report *const report = view->report;
    if (report->shown_count == 0)
        return DTI_OK;
    struct dti_table *const table =
        dti_table_titled("name|dtype|elements>|min>|max>|absmax>|mean>|std>|zeros>|subnormals>|"
                         "nan>|inf>|no overflow in",
                         "9436684532775"); /* absmax, nan and inf are dropped last */
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

static void limit_cells(struct dti_table *table, const struct dti_code_limits *limits)
{
    char text[DTI_TEXT_SIZE];
    const uint64_t scales[] = {limits->scales, limits->lowest, limits->highest, limits->nan};
    const uint64_t blocks[] = {limits->blocks, limits->zero_blocks};
    dti_number_cell(table, limits->codes);
    dti_number_cell(table, limits->at_largest);
    dti_text_cell(
        table, limits->codes > 0 ? dti_human_share(text, limits->at_largest, limits->codes) : "-");
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (limits->has_scales)
            dti_number_cell(table, scales[i]);
        else
            dti_text_cell(table, "-");
    }
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (limits->has_blocks)
            dti_number_cell(table, blocks[i]);
        else
            dti_text_cell(table, "-");
    }
}

/* Quantized tensors, then the sums of each format. */
static enum dti_status put_saturation(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    struct dti_line line = dti_command_context_line(view->cx);
    if (report->limited_count == 0) {
        dti_line_text(&line, "  no quantized tensor has codes to be counted\n");
        return DTI_OK;
    }
    struct dti_table *const table =
        dti_table_titled("name|dtype|codes>|at largest>|share>|scales>|lowest>|highest>|nan>|"
                         "blocks>|zero blocks>",
                         "98579355627"); /* dtype, share, largest and zero are dropped last */
    dti_table_limit(table, 0, NAME_WIDTH);
    for (size_t i = 0; i < report->limited_count; i++) {
        const struct dti_tensor *const tensor = report->limited[i].tensor;
        dti_name_cell(table, tensor->name, tensor->name_length);
        dti_text_cell(table, dti_tensor_dtype(tensor));
        limit_cells(table, &report->limited[i].limits);
    }
    for (size_t i = 0; i < report->saturation_count && report->limited_count > 1; i++) {
        const struct dti_inspect_saturation *const all = &report->saturation[i];
        dti_table_print(table, DTI_STYLE_BOLD, "%zu tensor%s", all->tensors,
                        all->tensors == 1 ? "" : "s");
        dti_text_cell(table, all->dtype);
        limit_cells(table, &all->limits);
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
static enum dti_status put_casts(const struct inspect_view *view, struct dti_error *reterr)
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

enum { LABEL = 13, KEYS = 40, KEY_WIDTH = 32 };

static const char gap[] = "   ";

/* "22 tensors", "3 of 22 tensors" */
static void put_count(struct dti_line *line, size_t shown, size_t all, const char *what)
{
    if (shown != all)
        dti_line_print(line, DTI_STYLE_PLAIN, "%zu of ", shown);
    dti_line_print(line, DTI_STYLE_PLAIN, "%zu %s%s", all, what, all == 1 ? "" : "s");
}

/* model.safetensors   safetensors, 22 tensors, 96.50 KiB data, header 1744 bytes */
static enum dti_status put_head(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    const struct dti_container *const container = report->container;
    const char *const path = container->path, *const version = container->version;
    struct dti_line line = dti_command_context_line(view->cx);
    char text[DTI_TEXT_SIZE];
    bool whole = true;
    if (strcmp(path, "-") == 0)
        dti_line_put(&line, DTI_STYLE_BOLD, "standard input");
    else
        whole = dti_name_put(&line, DTI_STYLE_BOLD, path, strlen(path));
    dti_line_print(&line, DTI_STYLE_PLAIN, "%s%s%s", gap, dti_container_name(container->kind),
                   version ? " " : "");
    if (version)
        whole = dti_name_put(&line, DTI_STYLE_PLAIN, version, strlen(version)) && whole;
    const bool sharded = dti_is_sharded(container->kind);
    if (sharded || container->file_count > 1) {
        dti_line_text(&line, ", ");
        put_count(&line, container->file_count, container->file_count, sharded ? "shard" : "file");
    }
    dti_line_text(&line, ", ");
    put_count(&line, report->selected_count, container->tensor_count, "tensor");
    if (dti_logical_stored_count(container) != container->tensor_count)
        dti_line_print(&line, DTI_STYLE_PLAIN, " (%zu stored)",
                       dti_logical_stored_count(container));
    dti_line_print(&line, DTI_STYLE_PLAIN, ", %s data",
                   dti_human_bytes(text, report->totals.data_bytes));
    if (report->totals.header_bytes > 0)
        dti_line_print(&line, DTI_STYLE_PLAIN, ", header%s %s",
                       container->file_count == 1 ? "" : "s",
                       dti_human_bytes(text, report->totals.header_bytes));
    dti_line_end(&line);
    return whole ? DTI_OK : dti_no_memory(reterr);
}

/* With -v: the files and their contents. */
static enum dti_status put_files(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_container *const container = view->report->container;
    struct dti_table *const table =
        dti_table_titled("shard>|file|tensors>|data>|header>|size>", "995737");
    struct dti_inspect_shard shard = {.file = NULL};
    while (shard.number < container->file_count) {
        (void)dti_inspect_next_shard(container, &shard);
        const uint64_t numbers[] = {shard.tensors, shard.bytes, shard.file->header_bytes,
                                    shard.file->input.size};
        dti_number_cell(table, shard.number);
        dti_name_cell(table, shard.file->path, strlen(shard.file->path));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            dti_number_cell(table, numbers[k]);
    }
    return dti_put_table(view->cx, table, 2, reterr);
}

static enum dti_status put_groups(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_totals *const totals = &view->report->totals;
    char text[DTI_TEXT_SIZE];
    if (totals->group_count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(5);
    for (size_t i = 2; i < 5; i++)
        dti_table_right(table, i);
    for (size_t i = 0; i < totals->group_count; i++) {
        const struct dti_inspect_group *const group = &totals->groups[i];
        /* the label is in the first row, as wide as those of the lines below */
        dti_table_print(table, DTI_STYLE_DIM, "%-*s", LABEL - 4, i == 0 ? "by dtype" : "");
        dti_text_cell(table, group->dtype);
        dti_table_print(table, DTI_STYLE_PLAIN, "%zu tensor%s", group->tensors,
                        group->tensors == 1 ? " " : "s");
        dti_text_cell(table, dti_human_bytes(text, group->bytes));
        dti_text_cell(table,
                      totals->bytes == 0 ? "" : dti_human_share(text, group->bytes, totals->bytes));
    }
    return dti_put_table(view->cx, table, 2, reterr);
}

/* One or more lines with a label. */
static struct dti_line labelled(const struct inspect_view *view, const char *label)
{
    struct dti_line line = dti_command_context_line(view->cx);
    dti_line_print(&line, DTI_STYLE_DIM, "  %s", label);
    dti_line_to(&line, LABEL);
    return line;
}

static void put_parameters(const struct inspect_view *view)
{
    const struct dti_inspect_totals *const totals = &view->report->totals;
    const bool one = totals->others == 1;
    const char *const what = totals->scales == totals->others
                                 ? one ? "that scales activations" : "that scale activations"
                             : totals->scales > 0               ? "that are not parameters"
                             : totals->unread == totals->others ? "that cannot be read"
                             : totals->unread > 0 ? "that are not floats or cannot be read"
                             : one                ? "that is not a float"
                                                  : "that are not floats";
    if (totals->elements == 0)
        return;
    struct dti_line line = labelled(view, "parameters");
    dti_line_print(&line, DTI_STYLE_PLAIN, "%llu", (unsigned long long)totals->parameters);
    if (totals->others > 0)
        dti_line_print(&line, DTI_STYLE_PLAIN, ", not counting %llu element%s %s",
                       (unsigned long long)totals->others, one ? "" : "s", what);
    if (totals->others > totals->unread + totals->scales) {
        dti_line_end(&line);
        dti_line_to(&line, LABEL);
        dti_line_put(&line, DTI_STYLE_DIM,
                     "(integers may be packed weights, several to an element)");
    }
    dti_line_end(&line);
}

/* As many per line as fit. */
static void put_as(const struct inspect_view *view)
{
    const struct dti_inspect_totals *const totals = &view->report->totals;
    char text[DTI_TEXT_SIZE];
    if (totals->parameters == 0)
        return;
    struct dti_line line = labelled(view, "as");
    for (size_t i = 0; i < DTI_INSPECT_AS; i++) {
        const char *const bytes =
            totals->as[i].known ? dti_human_bytes(text, totals->as[i].bytes) : "-";
        const size_t length = strlen(dti_inspect_as[i]) + 1 + strlen(bytes);
        dti_line_text(&line, i > 0 ? ", " : "");
        if (i > 0 && line.column + line.owed + length > (size_t)view->cx->width) {
            dti_line_end(&line);
            dti_line_to(&line, LABEL);
        }
        dti_line_print(&line, DTI_STYLE_PLAIN, "%s %s", dti_inspect_as[i], bytes);
    }
    dti_line_end(&line);
}

/* Truncates text after a number of code points. */
static void cut(char *text, size_t columns)
{
    size_t seen = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (((unsigned char)text[i] & 0xC0) == 0x80)
            continue;
        if (seen++ == columns) {
            text[i] = '\0';
            return;
        }
    }
}

static size_t columns_of(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

/* Text from the file, made safe for a terminal. */
struct taken {
    struct dti_buffer text;
    bool failed; /* out of memory for some */
};

static void set_text(struct taken *taken, const char *bytes, size_t length)
{
    dti_buffer_clear(&taken->text);
    dti_name_text(&taken->text, bytes, length);
    taken->failed = taken->failed || taken->text.failed;
}

/* As much of it as fits. */
static void put_cut(struct dti_line *line, struct taken *taken, bool whole, size_t available)
{
    if (!whole)
        cut(taken->text.data, available);
    dti_line_text(line, taken->text.data);
    dti_line_text(line, whole ? "" : "...");
}

/* The value; for an array, followed by its length. available: 0 for no limit. */
static void put_value(struct dti_line *line, const struct dti_metadata *entry, size_t available,
                      struct taken *taken)
{
    char end[160] = "";
    if (entry->kind == DTI_METADATA_ARRAY)
        (void)snprintf(end, sizeof end, "   %s, %llu element%s", entry->type,
                       (unsigned long long)entry->count, entry->count == 1 ? "" : "s");
    set_text(taken, entry->value, entry->value_length);
    const size_t after = strlen(end) + strlen("...");
    put_cut(line, taken, available == 0 || columns_of(taken->text.data) + strlen(end) <= available,
            available > after + 8 ? available - after : 8);
    dti_line_put(line, DTI_STYLE_DIM, end);
}

/* The width of the keys, except those that are too long. */
static size_t key_columns(const struct dti_container *container, size_t count, struct taken *taken)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        set_text(taken, container->metadata[i].key, container->metadata[i].key_length);
        const size_t columns = columns_of(taken->text.data);
        if (columns > most && columns <= KEY_WIDTH)
            most = columns;
    }
    return most;
}

static void put_entries(const struct inspect_view *view, struct taken *taken)
{
    const struct dti_container *const container = view->report->container;
    const bool all = view->all_metadata;
    const size_t width = (size_t)view->cx->width;
    const size_t count =
        !all && container->metadata_count > KEYS ? KEYS : container->metadata_count;
    const size_t keys = key_columns(container, count, taken);
    struct dti_line line = dti_command_context_line(view->cx);
    if (count == 0)
        return;
    dti_line_put(&line, DTI_STYLE_DIM, "  metadata\n");
    for (size_t i = 0; i < count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        dti_line_text(&line, "    ");
        set_text(taken, entry->key, entry->key_length);
        put_cut(&line, taken, all || columns_of(taken->text.data) <= width / 2, width / 2);
        dti_line_to(&line, 4 + keys + 2);
        const size_t before = line.column + line.owed;
        const size_t available = before + 12 < width ? width - before : 12;
        put_value(&line, entry, all ? 0 : available, taken);
        dti_line_end(&line);
    }
    if (count < container->metadata_count) {
        dti_line_print(&line, DTI_STYLE_DIM, "    %zu more; --metadata shows all\n",
                       container->metadata_count - count);
    }
}

static enum dti_status put_metadata(const struct inspect_view *view, struct dti_error *reterr)
{
    struct taken taken = {.failed = false};
    dti_buffer_init(&taken.text);
    put_entries(view, &taken);
    dti_buffer_free(&taken.text);
    return taken.failed ? dti_no_memory(reterr) : DTI_OK;
}

static void put_note(const struct inspect_view *view, const char *text)
{
    struct dti_line line = dti_command_context_line(view->cx);
    dti_line_text(&line, "  note: ");
    dti_line_print(&line, DTI_STYLE_WARN, "%s\n", text);
}

/* Whether numbers were read from codes in an order that the format does not define. */
static bool is_order_assumed(const struct inspect_view *view)
{
    if (!view->report->all.there || view->packing_given ||
        !dti_holds_texts(view->report->container->kind))
        return false;
    for (size_t i = 0; i < view->report->scanned_count; i++) {
        if (view->report->figures[i].there &&
            dti_format_packs(dti_real_format(view->report->shown[i]->format)) &&
            view->report->shown[i]->format->kind == DTI_KIND_FLOAT)
            return true;
    }
    return false;
}

static void put_notes(const struct inspect_view *view)
{
    const struct dti_inspect_report *const report = view->report;
    const struct dti_container *const container = report->container;
    const bool one = report->unread == 1;
    struct dti_line line = dti_command_context_line(view->cx);
    struct dti_inspect_note note;
    for (size_t i = 0; dti_inspect_note(&note, report, i); i++)
        put_note(view, note.message);
    if (report->selected_count == 0 && container->tensor_count > 0)
        put_note(view, "no tensor has a matching name");
    if (is_order_assumed(view))
        put_note(view,
                 "safetensors does not define the order of codes of less than 8 bits; the first is "
                 "assumed to be in the lowest bits, use --packing high for the opposite");
    if (report->unread == 0)
        return;
    dti_line_text(&line, "  note: ");
    dti_line_print(&line, DTI_STYLE_WARN, "%zu tensor%s an unsupported type: no statistics\n",
                   report->unread, one ? " has" : "s have");
}

static enum dti_status put_histograms(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->shown_count && report->request->each && status == DTI_OK; i++) {
        if (report->figures[i].there)
            status = dti_inspect_draw(view, &report->figures[i], report->shown[i], reterr);
    }
    if (status == DTI_OK && report->all.there)
        status = dti_inspect_draw(view, &report->all, NULL, reterr);
    return status;
}

/* What a limit leaves out. */
static void put_hidden(const struct inspect_view *view)
{
    const struct dti_inspect_report *const report = view->report;
    const size_t hidden = report->hidden_count;
    const bool reads = report->figures && report->scanned_count < report->selected_count;
    struct dti_line line = dti_command_context_line(view->cx);
    if (hidden > 0)
        dti_line_print(&line, DTI_STYLE_DIM, "  ... and %zu more tensor%s, not %s\n", hidden,
                       hidden == 1 ? "" : "s", reads ? "read" : "shown");
}

enum dti_status dti_inspect_human(const struct inspect_view *view, struct dti_error *reterr)
{
    const struct dti_inspect_report *const report = view->report;
    const bool casts = report->request->reading.as_count > 0;
    const bool others = casts || report->limits;
    if (view->cx->quiet)
        return put_list(view, reterr);
    enum dti_status status = put_head(view, reterr);
    if (status == DTI_OK && view->cx->verbose &&
        (dti_is_sharded(report->container->kind) || report->container->file_count > 1))
        status = put_files(view, reterr);
    if (status == DTI_OK)
        status = view->tree               ? dti_inspect_tree(view, reterr)
                 : report->request->stats ? put_stats(view, reterr)
                 : others                 ? DTI_OK
                                          : put_list(view, reterr);
    if (status == DTI_OK && report->limits)
        status = put_saturation(view, reterr);
    if (status == DTI_OK && casts)
        status = put_casts(view, reterr);
    if (status != DTI_OK)
        return status;
    put_hidden(view);
    if (report->selected_count > 0)
        (void)fputc('\n', view->cx->out);
    status = put_groups(view, reterr);
    if (status != DTI_OK)
        return status;
    put_parameters(view);
    put_as(view);
    status = put_metadata(view, reterr);
    put_notes(view);
    return status == DTI_OK && report->request->histogram ? put_histograms(view, reterr) : status;
}
