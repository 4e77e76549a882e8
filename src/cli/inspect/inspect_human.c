/* SPDX-License-Identifier: MIT
 *
 * What is in a file, for people: a head, tensors one line each, sums, metadata, notes. */
#include <string.h>

#include "cli/inspect/inspect.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_words.h"
#include "cli/shell/remedy_words.h"

enum { CELL = 160, LABEL = 13, KEYS = 40, KEY_WIDTH = 32 };

static const char gap[] = "   ";

char *dti_inspect_safe(struct inspect_text *text, const char *bytes, size_t length)
{
    /* what is empty, or ends in blanks, would not be seen */
    const char *const quote = length == 0 || bytes[0] == ' ' || bytes[length - 1] == ' ' ? "'" : "";
    struct dti_buffer *const buffer = &text->buffer;
    dti_buffer_clear(buffer);
    dti_buffer_puts(buffer, quote);
    dti_escape(buffer, bytes, length);
    dti_buffer_puts(buffer, quote);
    text->failed = text->failed || buffer->failed;
    return buffer->data;
}

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static struct dti_line line_of(const struct inspect_report *report)
{
    return (struct dti_line){.out = report->cx->out, .colour = report->cx->colour};
}

/* "22 tensors", "3 of 22 tensors" */
static void put_count(struct dti_line *line, size_t shown, size_t all, const char *what)
{
    char cell[CELL];
    if (shown == all)
        (void)snprintf(cell, sizeof cell, "%zu %s%s", all, what, all == 1 ? "" : "s");
    else
        (void)snprintf(cell, sizeof cell, "%zu of %zu %s%s", shown, all, what, all == 1 ? "" : "s");
    put(line, cell);
}

/* model.safetensors   safetensors, 22 tensors, 96.50 KiB data, header 1744 bytes */
static void put_head(const struct inspect_report *report, struct inspect_text *name)
{
    const struct dti_container *const container = report->container;
    struct dti_line line = line_of(report);
    char text[DTI_TEXT_SIZE];
    dti_line_put(&line, DTI_STYLE_BOLD,
                 strcmp(container->path, "-") == 0
                     ? "standard input"
                     : dti_inspect_safe(name, container->path, strlen(container->path)));
    put(&line, gap);
    put(&line, dti_container_name(container->kind));
    if (container->version) {
        put(&line, " ");
        put(&line, dti_inspect_safe(name, container->version, strlen(container->version)));
    }
    if (container->kind == DTI_CONTAINER_SHARDED) {
        put(&line, ", ");
        put_count(&line, container->file_count, container->file_count, "shard");
    }
    put(&line, ", ");
    put_count(&line, report->shown_count, container->tensor_count, "tensor");
    put(&line, ", ");
    put(&line, dti_human_bytes(text, report->totals.data_bytes));
    put(&line, " data");
    if (report->totals.header_bytes > 0) {
        put(&line, container->file_count == 1 ? ", header " : ", headers ");
        put(&line, dti_human_bytes(text, report->totals.header_bytes));
    }
    dti_line_end(&line);
}

/* With -v: the files, and what is in each. */
static enum dti_status put_files(const struct inspect_report *report, struct inspect_text *name,
                                 struct dti_error *reterr)
{
    static const char *const heads[] = {"shard", "file", "tensors", "data", "header", "size"};
    const struct dti_container *const container = report->container;
    struct dti_table *const table = dti_table_new(sizeof heads / sizeof *heads);
    char text[DTI_TEXT_SIZE];
    size_t at = 0;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (i != 1)
            dti_table_right(table, i);
        dti_table_cell(table, DTI_STYLE_DIM, heads[i]);
    }
    for (size_t i = 0; i < container->file_count; i++) {
        const struct dti_container_file *const file = &container->files[i];
        uint64_t bytes = 0;
        const size_t first = at;
        for (; at < container->tensor_count && container->tensors[at].file == i; at++)
            bytes += container->tensors[at].bytes;
        const uint64_t numbers[] = {at - first, bytes, file->header_bytes, file->input.size};
        (void)snprintf(text, sizeof text, "%zu", i + 1);
        dti_table_cell(table, DTI_STYLE_PLAIN, text);
        dti_table_cell(table, DTI_STYLE_PLAIN,
                       dti_inspect_safe(name, file->path, strlen(file->path)));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            dti_spell_u64(text, numbers[k]);
            dti_table_cell(table, DTI_STYLE_PLAIN, text);
        }
    }
    const bool written = dti_table_write(table, report->cx->out, report->cx->colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* Items under one label, as many in a line as there is room for. */
struct items {
    struct dti_line line;
    size_t width;
};

static void items_start(struct items *items, const struct inspect_report *report, const char *label)
{
    char cell[CELL];
    *items = (struct items){.line = line_of(report), .width = (size_t)report->cx->width};
    (void)snprintf(cell, sizeof cell, "  %s", label);
    dti_line_put(&items->line, DTI_STYLE_DIM, cell);
    dti_line_to(&items->line, LABEL);
}

static void items_put(struct items *items, const char *text)
{
    const size_t length = strlen(text); /* of ASCII */
    struct dti_line *const line = &items->line;
    if (line->column > LABEL) {
        put(line, ", ");
        if (line->column + line->owed + length > items->width) {
            dti_line_end(line);
            dti_line_to(line, LABEL);
        }
    }
    put(line, text);
}

static enum dti_status put_groups(const struct inspect_report *report, struct dti_error *reterr)
{
    const struct inspect_totals *const totals = &report->totals;
    struct dti_table *table;
    char cell[CELL], text[DTI_TEXT_SIZE];
    if (totals->group_count == 0)
        return DTI_OK;
    table = dti_table_new(5);
    for (size_t i = 2; i < 5; i++)
        dti_table_right(table, i);
    for (size_t i = 0; i < totals->group_count; i++) {
        const struct inspect_group *const group = &totals->groups[i];
        /* the label stands in the first row, as wide as those of the lines below */
        (void)snprintf(cell, sizeof cell, "%-*s", LABEL - 4, i == 0 ? "by dtype" : "");
        dti_table_cell(table, DTI_STYLE_DIM, cell);
        dti_table_cell(table, DTI_STYLE_PLAIN, group->dtype);
        (void)snprintf(cell, sizeof cell, "%zu tensor%s", group->tensors,
                       group->tensors == 1 ? " " : "s");
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_human_bytes(text, group->bytes));
        dti_table_cell(table, DTI_STYLE_PLAIN,
                       totals->bytes == 0 ? ""
                                          : dti_human_share(text, group->bytes, totals->bytes));
    }
    const bool written = dti_table_write(table, report->cx->out, report->cx->colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static void put_parameters(const struct inspect_report *report)
{
    const struct inspect_totals *const totals = &report->totals;
    struct items items;
    char cell[CELL];
    if (totals->elements == 0)
        return;
    items_start(&items, report, "parameters");
    (void)snprintf(cell, sizeof cell, "%llu", (unsigned long long)totals->parameters);
    items_put(&items, cell);
    if (totals->others > 0) {
        const char *const what = totals->unread == totals->others ? "that cannot be read"
                                 : totals->unread > 0  ? "that are no floats, or cannot be read"
                                 : totals->others == 1 ? "that is no float"
                                                       : "that are no floats";
        (void)snprintf(cell, sizeof cell, ", not counting %llu element%s %s",
                       (unsigned long long)totals->others, totals->others == 1 ? "" : "s", what);
        put(&items.line, cell);
    }
    if (totals->others > totals->unread) {
        dti_line_end(&items.line);
        dti_line_to(&items.line, LABEL);
        dti_line_put(&items.line, DTI_STYLE_DIM,
                     "(integers may be packed weights, several to an element)");
    }
    dti_line_end(&items.line);
}

static void put_as(const struct inspect_report *report)
{
    const struct inspect_totals *const totals = &report->totals;
    struct items items;
    char cell[CELL], text[DTI_TEXT_SIZE];
    if (totals->parameters == 0)
        return;
    items_start(&items, report, "as");
    for (size_t i = 0; i < INSPECT_AS; i++) {
        (void)snprintf(cell, sizeof cell, "%s %s", dti_inspect_as[i],
                       totals->as[i] == UINT64_MAX ? "-" : dti_human_bytes(text, totals->as[i]));
        items_put(&items, cell);
    }
    dti_line_end(&items.line);
}

/* Cuts text behind so many code points. */
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

/* The value, or as much of it as there is room for; behind an array how long it is. */
static void put_value(struct dti_line *line, const struct dti_metadata *entry, size_t available,
                      struct inspect_text *name)
{
    char end[CELL] = "";
    if (entry->kind == DTI_METADATA_ARRAY)
        (void)snprintf(end, sizeof end, "   %s, %llu element%s", entry->type,
                       (unsigned long long)entry->count, entry->count == 1 ? "" : "s");
    char *const text = dti_inspect_safe(name, entry->value, entry->value_length);
    const size_t taken = strlen(end) + strlen("...");
    const bool whole = available == 0 || columns_of(text) + strlen(end) <= available;
    if (!whole)
        cut(text, available > taken + 8 ? available - taken : 8);
    put(line, text);
    put(line, whole ? "" : "...");
    dti_line_put(line, DTI_STYLE_DIM, end);
}

static void put_metadata(const struct inspect_report *report, struct inspect_text *name)
{
    const struct dti_container *const container = report->container;
    const bool all = report->args->metadata;
    const size_t width = (size_t)report->cx->width;
    struct dti_line line = line_of(report);
    size_t count = container->metadata_count, keys = 0;
    if (!all && count > KEYS)
        count = KEYS;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        const size_t columns = columns_of(dti_inspect_safe(name, entry->key, entry->key_length));
        if (columns > keys && columns <= KEY_WIDTH)
            keys = columns;
    }
    dti_line_put(&line, DTI_STYLE_DIM, "  metadata");
    dti_line_end(&line);
    for (size_t i = 0; i < count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        put(&line, "    ");
        char *const key = dti_inspect_safe(name, entry->key, entry->key_length);
        const bool whole = all || columns_of(key) <= width / 2;
        if (!whole)
            cut(key, width / 2);
        put(&line, key);
        put(&line, whole ? "" : "...");
        dti_line_to(&line, 4 + keys + 2);
        const size_t before = line.column + line.owed;
        const size_t available = before + 12 < width ? width - before : 12;
        put_value(&line, entry, all ? 0 : available, name);
        dti_line_end(&line);
    }
    if (count < container->metadata_count) {
        char cell[CELL];
        (void)snprintf(cell, sizeof cell, "    %zu more; --metadata shows all",
                       container->metadata_count - count);
        dti_line_put(&line, DTI_STYLE_DIM, cell);
        dti_line_end(&line);
    }
}

static void put_note(const struct inspect_report *report, const char *text)
{
    struct dti_line line = line_of(report);
    put(&line, "  note:");
    put(&line, " ");
    dti_line_put(&line, DTI_STYLE_WARN, text);
    dti_line_end(&line);
}

/* Whether numbers were read from codes in an order that the format does not define. */
static bool is_order_assumed(const struct inspect_report *report)
{
    const enum dti_container_kind kind = report->container->kind;
    if (!report->all.there || report->args->file.packing_given ||
        (kind != DTI_CONTAINER_SAFETENSORS && kind != DTI_CONTAINER_SHARDED))
        return false;
    for (size_t i = 0; i < report->shown_count; i++) {
        if (report->figures[i].there && dti_inspect_component(report->shown[i])->width < 8 &&
            report->shown[i]->format->kind == DTI_KIND_FLOAT)
            return true;
    }
    return false;
}

static void put_notes(const struct inspect_report *report)
{
    const struct dti_container *const container = report->container;
    char cell[CELL], text[DTI_SCALED_CODES_TEXT], words[DTI_REMEDY_WORDS];
    for (size_t i = 0; i < container->note_count; i++)
        put_note(report, dti_note_words(words, &container->notes[i]));
    if (report->scaled.count > 0) {
        const struct dti_note note = dti_scaled_codes_note(&report->scaled, text);
        put_note(report, dti_note_words(words, &note));
    }
    if (report->shown_count == 0 && container->tensor_count > 0)
        put_note(report, "no tensor has such a name");
    if (is_order_assumed(report))
        put_note(report, "safetensors does not say how codes of less than 8 bits lie; the first is "
                         "taken to be in the lowest bits, --packing high says otherwise");
    if (report->unread == 0)
        return;
    (void)snprintf(cell, sizeof cell, "%zu tensor%s hold%s what is not read here: no statistics",
                   report->unread, report->unread == 1 ? "" : "s", report->unread == 1 ? "s" : "");
    put_note(report, cell);
}

static enum dti_status put_histograms(const struct inspect_report *report,
                                      struct inspect_text *name, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->shown_count && report->args->each && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        if (report->figures[i].there)
            status =
                dti_inspect_draw(report, &report->figures[i],
                                 dti_inspect_safe(name, tensor->name, tensor->name_length), reterr);
    }
    if (status == DTI_OK && report->all.there)
        status = dti_inspect_draw(report, &report->all, "", reterr);
    return status;
}

static enum dti_status show(const struct inspect_report *report, struct inspect_text *name,
                            struct dti_error *reterr)
{
    const struct inspect_args *const args = report->args;
    enum dti_status status = DTI_OK;
    if (report->cx->quiet)
        return dti_inspect_list(report, reterr);
    put_head(report, name);
    if (report->cx->verbose && report->container->kind == DTI_CONTAINER_SHARDED)
        status = put_files(report, name, reterr);
    if (status == DTI_OK)
        status = args->tree    ? dti_inspect_tree(report, reterr)
                 : args->stats ? dti_inspect_stats_table(report, reterr)
                               : dti_inspect_list(report, reterr);
    if (status != DTI_OK)
        return status;
    if (report->shown_count > 0)
        (void)fputc('\n', report->cx->out);
    status = put_groups(report, reterr);
    if (status != DTI_OK)
        return status;
    put_parameters(report);
    put_as(report);
    put_metadata(report, name);
    put_notes(report);
    return args->histogram ? put_histograms(report, name, reterr) : DTI_OK;
}

enum dti_status dti_inspect_human(const struct inspect_report *report, struct dti_error *reterr)
{
    struct inspect_text name = {.failed = false};
    dti_buffer_init(&name.buffer);
    const enum dti_status status = show(report, &name, reterr);
    dti_buffer_free(&name.buffer);
    return status == DTI_OK && name.failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory")
                                           : status;
}
