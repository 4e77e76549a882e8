/* SPDX-License-Identifier: MIT
 *
 * Tables and lines on pages too narrow for them. */
#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "unit.h"
#include "util/text/utf8.h"

static void columns_of_a_terminal_are_counted(void)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"\xC3\xA9", 1},                 /* e with an accent */
        {"e\xCC\x81", 1},                /* e, and a combining accent */
        {"\xE4\xB8\xAD\xE6\x96\x87", 4}, /* two Han characters */
        {"\xF0\x9F\x98\x80", 2},         /* an emoji */
        {"\xE2\x94\x80\xE2\x96\x88", 2}, /* box and block characters */
        {"\xFF\xFE", 2},                 /* not UTF-8 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!CHECK_SIZE(dti_utf8_columns(cases[i].text, strlen(cases[i].text)), cases[i].columns))
            printf("  in case %zu\n", i);
    }
}

/* Rows of cells separated by '|'; each row ends with a newline. */
static struct dti_table *make(const char *titles, const char *ranks, const char *rows)
{
    struct dti_table *const table = dti_table_titled(titles, ranks);
    while (*rows != '\0') {
        const size_t length = strcspn(rows, "|\n");
        dti_table_print(table, DTI_STYLE_PLAIN, "%.*s", (int)length, rows);
        rows += length + 1;
    }
    return table;
}

/* The output, followed by what was left out. */
static void check(struct dti_table *table, size_t width, const char *picked, const char *want)
{
    char *page = NULL;
    size_t length;
    FILE *const out = open_memstream(&page, &length);
    struct dti_table_picks picks = {.wanted = picked};
    struct dti_buffer heads;
    dti_buffer_init(&picks.heads);
    dti_buffer_init(&heads);
    dti_table_fit(table, width, picked ? &picks : NULL);
    CHECK(dti_table_write(table, out, false, 0));
    dti_table_left_out(table, &heads);
    (void)fprintf(out, "[%s]", heads.data);
    (void)fclose(out);
    CHECK_STR(page, want);
    free(page);
    dti_buffer_free(&heads);
    dti_buffer_free(&picks.heads);
    dti_table_free(table);
}

static void what_does_not_fit_leaves_by_its_rank(void)
{
    static const char titles[] = "name|min>|max>|nan>", rows[] = "a|-100|1|0\nb|2|300|0\n";
    check(make(titles, "", rows), 0, NULL,
          "name   min  max  nan\na     -100    1    0\nb        2  300    0\n[]");
    check(make(titles, "", rows), 20, NULL,
          "name   min  max  nan\na     -100    1    0\nb        2  300    0\n[]");
    check(make(titles, "", rows), 19, NULL,
          "name   min  max\na     -100    1\nb        2  300\n[nan]");
    check(make(titles, "9356", rows), 19, NULL,
          "name  max  nan\na       1    0\nb     300    0\n[min]");
    check(make(titles, "9356", rows), 10, NULL, "name  nan\na       0\nb       0\n[min, max]");
    check(make(titles, "9999", rows), 10, NULL,
          "name   min  max  nan\na     -100    1    0\nb        2  300    0\n[]");
}

static void a_narrow_column_comes_back(void)
{
    check(make("name|wide>|x>", "954", "a|123456789012|1\n"), 12, NULL, "name  x\na     1\n[wide]");
}

static void last_words_wrap_and_names_lose_their_middle(void)
{
    check(make("n|notes", "99", "a|one two three four five six seven\nb|x\n"), 29, NULL,
          "n  notes\na  one two three four five\n   six seven\nb  x\n[]");
    check(make("name|x>", "99", "model.layers.0.self_attn.q_proj.weight|1\n"), 30, NULL,
          "name                         x\nmodel.layers..._proj.weight  1\n[]");
}

static void columns_are_picked_by_their_heads(void)
{
    static const char titles[] = "name|smallest normal>|", rows[] = "a|1|good\n";
    check(make(titles, "", rows), 0, "Smallest-Normal,name",
          "smallest normal  name\n"
          "              1  a\n[]");
    check(make(titles, "", rows), 0, "notes,notes", "\ngood\n[]");
    check(make(titles, "", rows), 0, "other", "[]");

    struct dti_table_picks picks = {.wanted = "name,other,normal"};
    size_t length;
    struct dti_table *const table = make(titles, "", rows);
    FILE *const out = fopen("/dev/null", "w");
    dti_buffer_init(&picks.heads);
    dti_table_fit(table, 0, &picks);
    CHECK(dti_table_write(table, out, false, 0));
    CHECK(dti_table_write(table, out, false, 0));
    CHECK_STR(picks.heads.data, "name, smallest normal, notes");
    CHECK_STR(dti_table_picks_missing(&picks, &length), "other,normal");
    CHECK_SIZE(length, 5);
    picks.found = 7;
    CHECK(dti_table_picks_missing(&picks, &length) == NULL);
    (void)fclose(out);
    dti_buffer_free(&picks.heads);
    dti_table_free(table);
}

static void lines_wrap_at_their_gaps_and_then_at_words(void)
{
    static const struct {
        size_t width;
        const char *line, *want;
    } cases[] = {
        {20, "short\n\nshort again\n", "short\n\nshort again\n"},
        {0, "no limit is no limit at all", "no limit is no limit at all"},
        {20, "  min 1.25   max 3.5 (at 2)   nan 0\n",
         "  min 1.25\n    max 3.5 (at 2)\n    nan 0\n"},
        {30, "  max     1.25 = 5 x 2^-2 exactly\n",
         "  max     1.25 = 5 x 2^-2\n          exactly\n"},
        {12, "a line of words\n", "a line of\n  words\n"},
        {12, "12345678901234567890 x\n", "12345678901234567890\n  x\n"},
        {12, "\x1b[1mbold words\x1b[0m and\n", "\x1b[1mbold words\x1b[0m\n  and\n"},
        {8, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xC3\xA9\xC3\xA9\xC3\xA9\n",
         "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xC3\xA9\xC3\xA9\xC3\xA9\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *page = NULL;
        size_t length;
        FILE *const out = open_memstream(&page, &length);
        CHECK(dti_fit_lines(out, cases[i].line, strlen(cases[i].line), cases[i].width));
        (void)fclose(out);
        CHECK_STR(page, cases[i].want);
        free(page);
    }
}

UNIT_MAIN(columns_of_a_terminal_are_counted, what_does_not_fit_leaves_by_its_rank,
          a_narrow_column_comes_back, last_words_wrap_and_names_lose_their_middle,
          columns_are_picked_by_their_heads, lines_wrap_at_their_gaps_and_then_at_words)
