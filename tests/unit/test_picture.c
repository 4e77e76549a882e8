/* SPDX-License-Identifier: MIT
 *
 * Bars, marks and axes, in box-drawing characters and in ASCII, as printed. */
#include <string.h>

#include "report/picture.h"
#include "written_page.h"

static void bars_show_every_share_above_nothing(void)
{
    static const struct {
        double share;
        size_t cells;
        const char *box, *ascii;
    } cases[] = {
        {0, 8, "", ""},
        {-1, 8, "", ""},
        {1e-300, 8, "\u258f", ":"},
        {1.0 / 64, 8, "\u258f", ":"},
        {0.06, 8, "\u258c", ":"},
        {0.0625, 8, "\u258c", "#"},
        {0.25, 8, "\u2588\u2588", "##"},
        {0.3, 8, "\u2588\u2588\u258d", "##"},
        {0.32, 8, "\u2588\u2588\u258c", "###"},
        {0.9999, 2, "\u2588\u2588", "##"},
        {1, 2, "\u2588\u2588", "##"},
        {1.25, 4, "\u2588\u2588\u2588\u2588\u2588", "#####"},
        {0.5, 0, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bar[DTI_BAR_SIZE];
        CHECK_STR(dti_picture_bar(bar, cases[i].share, cases[i].cells, false), cases[i].box);
        CHECK_STR(dti_picture_bar(bar, cases[i].share, cases[i].cells, true), cases[i].ascii);
    }
}

static void a_bar_that_is_too_long_ends(void)
{
    char bar[DTI_BAR_SIZE];
    CHECK(strlen(dti_picture_bar(bar, 1e300, 8, true)) == DTI_PICTURE_CELLS);
    CHECK(strlen(dti_picture_bar(bar, 1e300, 8, false)) == DTI_BAR_SIZE - 1);
    CHECK(strlen(dti_picture_bar(bar, 1, 1000, false)) == DTI_BAR_SIZE - 1);
}

static void draw(struct dti_picture *picture, bool ascii, bool colour, const char *want)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out, .colour = colour};
    dti_picture_draw(picture, &line, ascii);
    dti_line_end(&line);
    check_page(out, want);
}

static void marks_are_drawn_within_the_width(void)
{
    struct dti_picture row;
    dti_picture_init(&row, 9);
    draw(&row, true, false, "\n");
    dti_picture_fill(&row, 2, 5, DTI_MARK_AXIS);
    dti_picture_fill(&row, 3, 4, DTI_MARK_POINT);
    dti_picture_fill(&row, 7, 100, DTI_MARK_SHADE);
    dti_picture_fill(&row, 8, 8, DTI_MARK_FULL);
    dti_picture_fill(&row, 9, 10, DTI_MARK_FULL);
    draw(&row, true, false, "  -*-  ::\n");
    draw(&row, false, false, "  \u2500\u25cf\u2500  \u2591\u2591\n");
    draw(&row, true, true, "  \x1b[2m-\x1b[0m\x1b[1m*\x1b[0m\x1b[2m-\x1b[0m  ::\n");
    dti_picture_init(&row, 10 * DTI_PICTURE_CELLS);
    CHECK(row.width == DTI_PICTURE_CELLS);
}

static void marks_differ_without_their_colours(void)
{
    for (unsigned a = 0; a < DTI_MARK_COUNT; a++) {
        const char *const ascii = dti_mark_text((enum dti_mark)a, true);
        CHECK(strlen(ascii) == 1 && ascii[0] >= ' ' && ascii[0] <= '~');
        for (unsigned b = 0; b < a; b++) {
            /* both ends of an axis are "|", one on either side */
            const bool ends = a == DTI_MARK_END && b == DTI_MARK_START;
            CHECK(strcmp(dti_mark_text((enum dti_mark)a, false),
                         dti_mark_text((enum dti_mark)b, false)) != 0);
            CHECK((strcmp(ascii, dti_mark_text((enum dti_mark)b, true)) != 0) != ends);
        }
    }
}

static void places_outside_an_axis_are_at_its_ends(void)
{
    static const struct {
        struct dti_axis axis;
        long at;
        size_t want;
    } cases[] = {
        {{-4, 4, 8}, -4, 0},        {{-4, 4, 8}, -3, 1},
        {{-4, 4, 8}, 3, 7},         {{-4, 4, 8}, 4, 7},
        {{-4, 4, 8}, -1000, 0},     {{-4, 4, 8}, 1000, 7},
        {{-4, 4, 80}, 0, 40},       {{-4, 4, 3}, 0, 1},
        {{0, 1, 1}, 0, 0},          {{0, 1, 1}, 1, 0},
        {{0, 10, 0}, 5, 0},         {{-262144, 262145, 60}, 262143, 59},
        {{-1074, 1024, 53}, 0, 27}, {{-1074, 1024, 53}, -1022, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK(dti_axis_cell(&cases[i].axis, cases[i].at) == cases[i].want))
            printf("  in case %zu\n", i);
    }
}

static void an_axis_has_ticks_at_round_numbers(void)
{
    static const struct {
        struct dti_axis axis;
        const char *want;
    } cases[] = {
        {{-4, 5, 36},
         "  +-------+-------+-------+-------+---\n"
         "  2^-4  2^-2     2^0     2^2     2^4\n"},
        {{-149, 128, 40},
         "  -------+------+------+------+------+----\n"
         "      2^-100  2^-50   2^0   2^50   2^100\n"},
        {{-149, 128, 12}, "  ------+-----\n       2^0\n"},
        {{0, 8, 30},
         "  +------+-------+------+------+\n"
         "  2^0   2^2     2^4    2^6   2^8\n"},
        {{1, 2, 3}, "  --+\n  2^2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *const out = page_open();
        struct dti_line line = {.out = out};
        dti_axis_draw(&cases[i].axis, &line, 2, true);
        check_page(out, cases[i].want);
    }
}

static void names_on_an_axis_stay_apart(void)
{
    for (long low = -300; low < 0; low += 7) {
        for (size_t width = 10; width < 70; width++) {
            const struct dti_axis axis = {low, low / -2 + 9, width};
            FILE *const out = page_open();
            struct dti_line line = {.out = out};
            dti_axis_draw(&axis, &line, 2, true);
            fclose(out);
            const char *const names = strchr(page, '\n') + 1;
            size_t count = 0, ticks = 0;
            for (const char *at = names; (at = strstr(at, "2^")) != NULL; at++, count++)
                CHECK(count == 0 || (at[-1] == ' ' && at[-2] == ' '));
            for (const char *at = page; at < names; at++)
                ticks += *at == '+';
            if (!CHECK(count == ticks && count > 0 && strlen(names) <= width + 3))
                printf("  from %ld in %zu cells:\n%s", low, width, page);
        }
    }
}

static void parts_are_coloured_and_counted(void)
{
    FILE *out = page_open();
    struct dti_line line = {.out = out, .colour = true};
    dti_line_to(&line, 2);
    dti_line_part(&line, 0, "1x", 1);
    dti_line_part(&line, 1, "22", 0);
    dti_line_text(&line, " ");
    dti_line_part(&line, 2, "333", 3);
    dti_line_to(&line, 10);
    dti_line_text(&line, "end\n");
    check_page(out, "  \x1b[35m1\x1b[0m \x1b[94m333\x1b[0m   end\n");
    out = page_open();
    line = (struct dti_line){.out = out};
    dti_line_to(&line, 2);
    dti_line_part(&line, 0, "1x", 1);
    dti_line_to(&line, 6);
    dti_line_text(&line, "end\n");
    check_page(out, "  1   end\n");
}

UNIT_MAIN(bars_show_every_share_above_nothing, a_bar_that_is_too_long_ends,
          marks_are_drawn_within_the_width, marks_differ_without_their_colours,
          places_outside_an_axis_are_at_its_ends, an_axis_has_ticks_at_round_numbers,
          names_on_an_axis_stay_apart, parts_are_coloured_and_counted)
