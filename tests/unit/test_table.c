/* SPDX-License-Identifier: MIT
 *
 * Lines and tables, as printed. */
#include "report/table.h"
#include "written_page.h"

static void lines_have_tab_stops_and_no_trailing_blanks(void)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out};
    dti_line_put(&line, DTI_STYLE_PLAIN, "  max");
    dti_line_to(&line, 10);
    dti_line_put(&line, DTI_STYLE_BOLD, "448");
    dti_line_to(&line, 40);
    dti_line_put(&line, DTI_STYLE_PLAIN, "");
    dti_line_end(&line);
    dti_line_put(&line, DTI_STYLE_PLAIN, "already long");
    dti_line_to(&line, 4);
    dti_line_put(&line, DTI_STYLE_PLAIN, "x  \n");
    dti_line_end(&line);
    check_page(out, "  max     448\nalready long  x\n\n");
}

static void blanks_inside_and_between_texts_are_kept(void)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out};
    dti_line_put(&line, DTI_STYLE_PLAIN, "a ");
    dti_line_put(&line, DTI_STYLE_PLAIN, " b  c");
    dti_line_put(&line, DTI_STYLE_PLAIN, " ");
    dti_line_put(&line, DTI_STYLE_PLAIN, "d");
    dti_line_end(&line);
    check_page(out, "a  b  c d\n");
}

static void a_column_that_is_reached_exactly_still_gets_two_blanks(void)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out};
    dti_line_put(&line, DTI_STYLE_PLAIN, "abcd");
    dti_line_to(&line, 4);
    dti_line_put(&line, DTI_STYLE_PLAIN, "e");
    dti_line_end(&line);
    check_page(out, "abcd  e\n");
}

static void width_is_counted_in_code_points(void)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out};
    dti_line_put(&line, DTI_STYLE_PLAIN,
                 "\xC2\xB1"
                 "1");
    dti_line_to(&line, 4);
    dti_line_put(&line, DTI_STYLE_PLAIN, "x");
    dti_line_end(&line);
    check_page(out, "\xC2\xB1"
                    "1  x\n");
}

static void colour_surrounds_the_text_and_not_the_blanks(void)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out, .colour = true};
    dti_line_put(&line, DTI_STYLE_BAD, " inf ");
    dti_line_put(&line, DTI_STYLE_PLAIN, "x");
    dti_line_to(&line, 10);
    dti_line_put(&line, DTI_STYLE_DIM, "y");
    dti_line_end(&line);
    check_page(out, " \x1b[31minf\x1b[0m x    \x1b[2my\x1b[0m\n");
}

static void fill(struct dti_table *table, const char *const *cells)
{
    for (; *cells; cells++)
        dti_table_cell(table, DTI_STYLE_PLAIN, *cells);
}

static void columns_are_as_wide_as_their_widest_cell(void)
{
    static const char *const cells[] = {
        "dtype", "bits", "max", "bf16", "16",  "3.39e+38", "fp8_e4m3fn", "8", "448", "",
        "",      "",     "x",   "",     "end", "y",        "1",          "",  NULL};
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_new(3);
    dti_table_right(table, 1);
    dti_table_right(table, 7); /* no such column */
    fill(table, cells);
    CHECK(dti_table_write(table, out, false, 2));
    dti_table_free(table);
    check_page(out, "  dtype       bits  max\n"
                    "  bf16          16  3.39e+38\n"
                    "  fp8_e4m3fn     8  448\n"
                    "\n"
                    "  x                 end\n"
                    "  y              1\n");
}

static void a_text_beyond_the_limit_widens_no_column(void)
{
    static const char *const cells[] = {"name", "bytes", "a very long name", "1", "b", "22", NULL};
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_new(2);
    dti_table_limit(table, 0, 6);
    dti_table_right(table, 1);
    fill(table, cells);
    CHECK(dti_table_write(table, out, false, 0));
    dti_table_free(table);
    check_page(out, "name  bytes\na very long name      1\nb        22\n");
}

static void a_last_row_may_be_short(void)
{
    static const char *const cells[] = {"a", "b", "c", NULL};
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_new(2);
    fill(table, cells);
    CHECK(dti_table_write(table, out, false, 0));
    dti_table_free(table);
    check_page(out, "a  b\nc\n");
}

static void colour_changes_no_column(void)
{
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_new(2);
    dti_table_right(table, 0);
    dti_table_cell(table, DTI_STYLE_WARN, "1");
    dti_table_cell(table, DTI_STYLE_PLAIN, "a");
    dti_table_cell(table, DTI_STYLE_GOOD, "100");
    dti_table_cell(table, DTI_STYLE_PLAIN, "b");
    CHECK(dti_table_write(table, out, true, 0));
    dti_table_free(table);
    check_page(out, "  \x1b[33m1\x1b[0m  a\n\x1b[32m100\x1b[0m  b\n");
}

static void each_part_of_a_cell_has_its_colour(void)
{
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_titled("name|parts", "");
    dti_table_fit(table, 34, NULL);
    dti_table_cell(table, DTI_STYLE_PLAIN, "abc");
    dti_table_parts(table, 1, "00000000000000000000 1 ");
    dti_table_more(table, "%s", "00000000 11");
    CHECK(dti_table_write(table, out, true, 0));
    dti_table_free(table);
    check_page(out, "\x1b[2mname\x1b[0m  \x1b[2mparts\x1b[0m\n"
                    "abc   \x1b[36m00000000000000000000\x1b[0m \x1b[94m1\x1b[0m\n"
                    "      \x1b[35m00000000\x1b[0m \x1b[36m11\x1b[0m\n");
}

static void a_table_that_could_not_be_made_does_nothing(void)
{
    FILE *const out = page_open();
    struct dti_table *const table = dti_table_new(0);
    CHECK(table == NULL);
    dti_table_right(table, 0);
    dti_table_cell(table, DTI_STYLE_PLAIN, "x");
    CHECK(!dti_table_write(table, out, false, 0));
    dti_table_free(table);
    check_page(out, "");
}

UNIT_MAIN(lines_have_tab_stops_and_no_trailing_blanks, blanks_inside_and_between_texts_are_kept,
          a_column_that_is_reached_exactly_still_gets_two_blanks, width_is_counted_in_code_points,
          colour_surrounds_the_text_and_not_the_blanks, columns_are_as_wide_as_their_widest_cell,
          a_text_beyond_the_limit_widens_no_column, a_last_row_may_be_short,
          colour_changes_no_column, each_part_of_a_cell_has_its_colour,
          a_table_that_could_not_be_made_does_nothing)
