/* SPDX-License-Identifier: MIT
 *
 * Tables: cells are stored first and written once all are known.
 *
 * The layout chooses the columns and their widths: the requested columns, as far as they fit.
 *
 * The writer puts cells in their places, and shortens names and wraps words where the layout
 * requires it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_parts.h"
#include "util/run/allocate.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

enum { PRINTED_MAX = 4096 }; /* bytes of a formatted cell; longer text is truncated */

/* Formats like vsnprintf(); an error gives "". */
static const char *printed(char *text, size_t size, const char *format, va_list args)
{
    if (vsnprintf(text, size, format, args) < 0)
        text[0] = '\0';
    return text;
}

struct dti_table *dti_table_new(size_t columns)
{
    if (columns == 0 || columns > 1024)
        return NULL;
    struct dti_table *const table =
        dti_calloc(1, sizeof *table + columns * sizeof table->column[0]);
    if (!table)
        return NULL;
    dti_buffer_init(&table->text);
    dti_buffer_init(&table->cells);
    table->columns = columns;
    for (size_t i = 0; i < columns; i++)
        table->column[i].rank = i == 0 ? DTI_RANK_ALWAYS : DTI_RANK;
    return table;
}

void dti_table_right(struct dti_table *table, size_t column)
{
    if (table && column < table->columns)
        table->column[column].right = true;
}

void dti_table_limit(struct dti_table *table, size_t column, size_t most)
{
    if (table && column < table->columns)
        table->column[column].most = most;
}

void dti_table_heads(struct dti_table *table, const char *ranks)
{
    if (!table)
        return;
    table->headed = true;
    for (size_t i = 0; i < table->columns && ranks[i] != '\0'; i++)
        table->column[i].rank = (unsigned char)(ranks[i] - '0');
}

void dti_table_fit(struct dti_table *table, size_t width, struct dti_table_picks *picks)
{
    if (!table)
        return;
    table->page_width = width;
    table->picks = picks;
}

static struct dti_table_cell table_cell_at(const struct dti_table *table, size_t index)
{
    dti_table_place place, next = (dti_table_place)table->text.length << 8;
    if (index >= table->count)
        return (struct dti_table_cell){.length = 0};
    /* memcpy because the buffer guarantees no alignment */
    memcpy(&place, table->cells.data + index * sizeof place, sizeof place);
    if (index + 1 < table->count)
        memcpy(&next, table->cells.data + (index + 1) * sizeof next, sizeof next);
    return (struct dti_table_cell){.start = (size_t)(place >> 8),
                                   .length = (size_t)((next >> 8) - (place >> 8)),
                                   .style = (enum dti_style)(place & UINT8_MAX)};
}

/* Widens the last cell's column to fit that cell. */
static void widen(struct dti_table *table)
{
    if (table->text.failed || table->cells.failed)
        return;
    struct dti_table_column *const column = &table->column[(table->count - 1) % table->columns];
    const struct dti_table_cell last = table_cell_at(table, table->count - 1);
    const size_t width = dti_utf8_columns(dti_table_text(table, &last), last.length);
    if (width > column->width && (column->most == 0 || width <= column->most))
        column->width = width;
}

void dti_table_cell(struct dti_table *table, enum dti_style style, const char *text)
{
    if (!table)
        return;
    const dti_table_place place = (dti_table_place)table->text.length << 8 | (unsigned)style;
    dti_buffer_puts(&table->text, text);
    dti_buffer_append(&table->cells, (const char *)&place, sizeof place);
    table->count++;
    widen(table);
}

void dti_table_parts(struct dti_table *table, unsigned part, const char *text)
{
    dti_table_cell(table, dti_part_style(part), text);
}

void dti_table_print(struct dti_table *table, enum dti_style style, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    dti_table_cell(table, style, printed(text, sizeof text, format, args));
    va_end(args);
}

void dti_table_more(struct dti_table *table, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    (void)printed(text, sizeof text, format, args);
    va_end(args);
    if (!table)
        return;
    dti_buffer_puts(&table->text, text);
    widen(table);
}

void dti_table_safe(struct dti_table *table, const char *bytes, size_t length)
{
    if (!table)
        return;
    dti_escape(&table->text, bytes, length);
    widen(table);
}

struct dti_table *dti_table_titled(const char *titles, const char *ranks)
{
    size_t columns = 1;
    for (const char *at = titles; *at != '\0'; at++)
        columns += *at == '|';
    struct dti_table *const table = dti_table_new(columns);
    for (size_t i = 0; i < columns; i++) {
        const size_t length = strcspn(titles, "|");
        const bool right = length > 0 && titles[length - 1] == '>';
        if (right)
            dti_table_right(table, i);
        dti_table_print(table, DTI_STYLE_DIM, "%.*s", (int)(length - right), titles);
        titles += length + 1;
    }
    dti_table_heads(table, ranks);
    return table;
}

void dti_table_free(struct dti_table *table)
{
    if (!table)
        return;
    dti_buffer_free(&table->text);
    dti_buffer_free(&table->cells);
    dti_free(table);
}

/* The minimum width of a last column that wraps, and of a name that is shortened. */
enum { WRAPPED_LEAST = 24, NAME_LEAST = 24, NAME_SHORTEST = 8 };

struct span {
    const char *text;
    size_t length;
};

/* The heading of a column; one without a heading holds notes. */
static struct span head_of(const struct dti_table *table, size_t column)
{
    const struct dti_table_cell cell = table_cell_at(table, column);
    if (cell.length == 0)
        return (struct span){"notes", 5};
    return (struct span){dti_table_text(table, &cell), cell.length};
}

static char plain(char c)
{
    if (c == '-' || c == '_')
        return ' ';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(struct span a, struct span b)
{
    size_t i = 0;
    while (i < a.length && i < b.length && plain(a.text[i]) == plain(b.text[i]))
        i++;
    return i == a.length && i == b.length;
}

/* The next item of a list "a,b"; advances *at past it. False at the end of the list. */
static bool next_of(const char **at, char separator, struct span *ret)
{
    if (**at == '\0')
        return false;
    const char *const end = strchr(*at, separator);
    ret->text = *at;
    ret->length = end ? (size_t)(end - *at) : strlen(*at);
    *at += ret->length + (end != NULL);
    return true;
}

static void note_heads(const struct dti_table *table, struct dti_buffer *heads)
{
    for (size_t i = 0; i < table->columns; i++) {
        const struct span head = head_of(table, i);
        const char *at = heads->data;
        struct span other;
        bool there = false;
        while (!there && next_of(&at, ',', &other)) {
            other.text += strspn(other.text, " ");
            other.length = strcspn(other.text, ",");
            there = is_same(head, other);
        }
        if (there)
            continue;
        dti_buffer_puts(heads, heads->length > 0 ? ", " : "");
        dti_buffer_append(heads, head.text, head.length);
    }
}

/* Selects the requested columns, in the requested order. */
static void pick(struct dti_table *table)
{
    struct dti_table_picks *const picks = table->picks;
    const char *at = picks->wanted;
    struct span name;
    note_heads(table, &picks->heads);
    table->shown = 0;
    for (unsigned i = 0; i < DTI_PICKS_MAX && next_of(&at, ',', &name); i++) {
        size_t column = 0;
        while (column < table->columns && !is_same(name, head_of(table, column)))
            column++;
        if (column == table->columns)
            continue;
        picks->found |= UINT64_C(1) << i;
        bool twice = false;
        for (size_t k = 0; k < table->shown; k++)
            twice |= table->column[k].at == column;
        if (!twice)
            table->column[table->shown++].at = column;
    }
}

const char *dti_table_picks_missing(const struct dti_table_picks *picks, size_t *ret_length)
{
    const char *at = picks->wanted;
    struct span name;
    for (unsigned i = 0; next_of(&at, ',', &name); i++) {
        if (i < DTI_PICKS_MAX && (picks->found >> i & 1))
            continue;
        *ret_length = name.length;
        return name.text;
    }
    return NULL;
}

static struct dti_table_column *in_place(struct dti_table *table, size_t place)
{
    return &table->column[table->column[place].at];
}

/* How many columns the table is wider than the page. */
static size_t excess(struct dti_table *table, size_t indent)
{
    size_t width = indent;
    for (size_t i = 0; i < table->shown; i++) {
        if (!in_place(table, i)->hidden)
            width += in_place(table, i)->fitted + (width > indent ? 2 : 0);
    }
    return width > table->page_width ? width - table->page_width : 0;
}

static size_t longest_word(const struct dti_table *table, size_t column)
{
    size_t longest = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        const struct dti_table_cell cell = table_cell_at(table, i);
        const char *const text = dti_table_text(table, &cell);
        for (size_t at = 0, end; at < cell.length; at = end + 1) {
            const char *const blank = memchr(text + at, ' ', cell.length - at);
            end = blank ? (size_t)(blank - text) : cell.length;
            const size_t width = dti_utf8_columns(text + at, end - at);
            longest = width > longest ? width : longest;
        }
    }
    return longest;
}

/* Narrows the last column by `by` if its words can wrap. */
static bool wrap_last(struct dti_table *table, size_t by)
{
    size_t place = table->shown - 1;
    while (place > 0 && in_place(table, place)->hidden)
        place--;
    struct dti_table_column *const last = in_place(table, place);
    if (place == 0 || last->right || last->fitted < WRAPPED_LEAST + by ||
        last->fitted - by < longest_word(table, table->column[place].at))
        return false;
    last->fitted -= by;
    return true;
}

static bool shorten_names(struct dti_table *table, size_t by, size_t least)
{
    struct dti_table_column *const first = in_place(table, 0);
    if (table->column[0].at != 0 || first->right || first->fitted < least + by)
        return false;
    first->fitted -= by;
    return true;
}

/* Hides the column with the lowest rank up to `highest`; of equal ranks, the rightmost. */
static bool leave_out(struct dti_table *table, unsigned highest)
{
    struct dti_table_column *victim = NULL;
    for (size_t i = 0; i < table->shown && table->headed; i++) {
        struct dti_table_column *const column = in_place(table, i);
        if (!column->hidden && column->rank <= (victim ? victim->rank : highest))
            victim = column;
    }
    if (victim)
        victim->hidden = true;
    return victim != NULL;
}

/* Shows hidden columns again that fit after all, highest ranks first. */
static void bring_back(struct dti_table *table, size_t indent)
{
    for (unsigned rank = DTI_RANK_ALWAYS; rank-- > 0;) {
        for (size_t i = 0; i < table->shown; i++) {
            struct dti_table_column *const column = in_place(table, i);
            if (!column->hidden || column->rank != rank)
                continue;
            column->hidden = false;
            column->hidden = excess(table, indent) > 0;
        }
    }
}

/* Removes hidden columns from the list of shown ones. */
static void close_gaps(struct dti_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->shown; i++) {
        if (!in_place(table, i)->hidden)
            table->column[kept++].at = table->column[i].at;
    }
    table->shown = kept;
}

/* Decides which columns are shown, in which order and how wide. */
static void table_lay_out(struct dti_table *table, size_t indent)
{
    table->shown = table->columns;
    for (size_t i = 0; i < table->columns; i++) {
        table->column[i].at = i;
        table->column[i].fitted = table->column[i].width;
        table->column[i].hidden = false;
    }
    if (table->headed && table->picks && table->picks->wanted)
        pick(table);
    size_t over;
    while (table->page_width > 0 && table->shown > 0 && (over = excess(table, indent)) > 0 &&
           (wrap_last(table, over) || leave_out(table, DTI_RANK) ||
            shorten_names(table, over, NAME_LEAST) || leave_out(table, DTI_RANK_ALWAYS - 1) ||
            shorten_names(table, over, NAME_SHORTEST)))
        continue;
    bring_back(table, indent);
    close_gaps(table);
}

void dti_table_left_out(const struct dti_table *table, struct dti_buffer *heads)
{
    for (size_t i = 0; table && i < table->columns; i++) {
        if (!table->column[i].hidden)
            continue;
        const struct span head = head_of(table, i);
        dti_buffer_puts(heads, heads->length > 0 ? ", " : "");
        dti_buffer_append(heads, head.text, head.length);
    }
}

/* The number of bytes, in whole characters, that fit in `columns` columns. */
static size_t front(const char *text, size_t length, size_t columns)
{
    size_t bytes = 0;
    while (bytes < length) {
        size_t next = bytes + 1;
        while (next < length && ((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        if (dti_utf8_columns(text, next) > columns)
            break;
        bytes = next;
    }
    return bytes;
}

/* Shortens a name in the middle, because both ends help to tell names apart. */
static void put_shortened(FILE *out, bool colour, enum dti_style style, const char *text,
                          size_t length, size_t width)
{
    static const char dots[] = "...";
    const size_t kept = width - (sizeof dots - 1), tail = kept / 2;
    const size_t begin = front(text, length, kept - tail);
    size_t end = length;
    for (size_t at = length; at-- > begin && dti_utf8_columns(text + at, length - at) <= tail;) {
        if (((unsigned char)text[at] & 0xC0) != 0x80)
            end = at;
    }
    dti_put_styled(out, colour, style, text, begin);
    dti_put_styled(out, colour, style, dots, sizeof dots - 1);
    dti_put_styled(out, colour, style, text + end, length - end);
}

/* The number of bytes of the words that fit on a line of a given width; at least one word. */
static size_t words_that_fit(const char *text, size_t length, size_t width)
{
    size_t fit = 0;
    for (size_t at = 0; at <= length; at++) {
        if (at < length && text[at] != ' ')
            continue;
        if (fit > 0 && dti_utf8_columns(text, at) > width)
            break;
        fit = at;
    }
    return fit;
}

/* Writes text in the style of its cell; if that is a part style, each word gets the next one.
 * Returns the style for the text that follows. */
static enum dti_style put_text(FILE *out, bool colour, enum dti_style style, const char *text,
                               size_t length)
{
    const char *const end = text + length;
    while (style >= DTI_STYLE_PART && text < end) {
        const char *const blank = memchr(text, ' ', (size_t)(end - text));
        const char *const next = blank ? blank + 1 : end;
        dti_put_styled(out, colour, style, text, (size_t)((blank ? blank : end) - text));
        dti_put_blanks(out, blank != NULL);
        style = dti_part_style((unsigned)(style - DTI_STYLE_PART) + 1);
        text = next;
    }
    dti_put_styled(out, colour, style, text, (size_t)(end - text));
    return style;
}

/* Writes words wrapped in a column that starts at `begin`. */
static void put_wrapped(FILE *out, bool colour, enum dti_style style, const char *text,
                        size_t length, size_t begin, size_t width)
{
    for (;;) {
        const size_t line = words_that_fit(text, length, width);
        style = put_text(out, colour, style, text, line);
        text += line, length -= line;
        while (length > 0 && text[0] == ' ')
            text++, length--;
        if (length == 0)
            return;
        (void)putc('\n', out);
        dti_put_blanks(out, begin);
    }
}

struct row {
    FILE *out;
    bool colour;
    size_t column, owed; /* columns written; blanks deferred until text follows */
    size_t spare;        /* page columns to the right of the table, for cells that are too wide */
};

static void put_cell(const struct dti_table *table, struct row *row,
                     const struct dti_table_cell *cell, size_t place)
{
    const struct dti_table_column *const column = &table->column[table->column[place].at];
    const char *const text = dti_table_text(table, cell);
    const size_t width = dti_utf8_columns(text, cell->length);
    const size_t padding = width < column->fitted ? column->fitted - width : 0;
    size_t taken = width;
    if (cell->length == 0) {
        row->owed += column->fitted + 2;
        return;
    }
    row->owed += column->right ? padding : 0;
    dti_put_blanks(row->out, row->owed);
    row->column += row->owed;
    row->owed = 2 + (column->right ? 0 : padding);
    const bool over = table->page_width > 0 && width > column->fitted + row->spare;
    if (over && place == 0 && !column->right) {
        taken = column->fitted + row->spare;
        put_shortened(row->out, row->colour, cell->style, text, cell->length, taken);
    } else if (over && place + 1 == table->shown && !column->right) {
        put_wrapped(row->out, row->colour, cell->style, text, cell->length, row->column,
                    column->fitted + row->spare);
    } else {
        (void)put_text(row->out, row->colour, cell->style, text, cell->length);
    }
    if (taken > column->fitted)
        row->spare -= taken - column->fitted < row->spare ? taken - column->fitted : row->spare;
    row->column += taken;
}

bool dti_table_write(struct dti_table *table, FILE *out, bool colour, size_t indent)
{
    if (!table || table->text.failed || table->cells.failed)
        return false;
    table_lay_out(table, indent);
    size_t spare = table->page_width > indent ? table->page_width - indent : 0;
    for (size_t i = 0; i < table->shown; i++) {
        const size_t taken = table->column[table->column[i].at].fitted + (i > 0 ? 2 : 0);
        spare -= taken < spare ? taken : spare;
    }
    flockfile(out); /* once, not for each cell */
    for (size_t first = 0; first < table->count && table->shown > 0; first += table->columns) {
        struct row row = {.out = out, .colour = colour, .owed = indent, .spare = spare};
        for (size_t place = 0; place < table->shown; place++) {
            const struct dti_table_cell cell =
                table_cell_at(table, first + table->column[place].at);
            put_cell(table, &row, &cell, place);
        }
        (void)putc_unlocked('\n', out);
    }
    funlockfile(out);
    return true;
}
