/* SPDX-License-Identifier: MIT
 *
 * Chooses the columns of a table and their widths: the requested ones, as far as they fit. */
#include <string.h>

#include "dtinfo/utf8.h"
#include "report/table_parts.h"

/* The minimum width of a last column, which wraps, and of a name, which is shortened. */
enum { WRAPPED_LEAST = 24, NAME_LEAST = 24, NAME_SHORTEST = 8 };

struct span {
    const char *text;
    size_t length;
};

/* A column without a heading holds remarks. */
static struct span head_of(const struct dti_table *table, size_t column)
{
    const struct dti_table_cell cell = dti_table_cell_at(table, column);
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

/* The next of a list "a,b"; *at moves past it. False when there is none. */
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

/* Puts the requested columns in their places. */
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

/* How much wider than the page it is. */
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
        const struct dti_table_cell cell = dti_table_cell_at(table, i);
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

/* Narrows the last column, if its words can wrap. */
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

/* Hides the column with the lowest rank, the rightmost of equals. */
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

/* Shows columns again that fit after all, the highest ranks first. */
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

/* Places without those that are hidden. */
static void close_gaps(struct dti_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->shown; i++) {
        if (!in_place(table, i)->hidden)
            table->column[kept++].at = table->column[i].at;
    }
    table->shown = kept;
}

void dti_table_lay_out(struct dti_table *table, size_t indent)
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
