/* SPDX-License-Identifier: MIT
 *
 * Plots in characters, as printed, and as SVG. */
#include <math.h>

#include "report/plot.h"
#include "util/buffer.h"
#include "written_page.h"

static const struct dti_plot_point points[] = {
    {3.2e9, -1.1}, {3.6e9, -1.6}, {4.1e9, -2.1},  {4.9e9, -2.7},
    {6.4e9, -3.4}, {8.5e9, -4.6}, {13.4e9, -5.6},
};
static const struct dti_plot_label labels[] = {
    {{5e9, -2.75}, "this choice", true},
    {{4.4e9, -1.9}, "all q4_k", false},
    {{4.42e9, -1.91}, "all <nvfp4> & norms", false},
    {{7.1e9, -3.2}, "all q8_0\x1b[31m", false},
};
static const struct dti_plot plot = {.title = "tiny",
                                     .error_name = "mean error",
                                     .points_name = "frontier",
                                     .points = points,
                                     .count = 7,
                                     .labels = labels,
                                     .label_count = 4,
                                     .limit = 5.2e9,
                                     .limit_name = "budget"};

static void draw(const struct dti_plot *drawn, size_t width, bool ascii, const char *want)
{
    FILE *const out = page_open();
    struct dti_line line = {.out = out};
    CHECK(dti_plot_draw(drawn, &line, 2, width, ascii));
    check_page(out, want);
}

static void points_and_labels_are_drawn(void)
{
    draw(&plot, 60, true,
         "  mean error by size in GiB\n"
         "     1e-1 +o        !\n"
         "          |         !\n"
         "          |  o      !\n"
         "     1e-2 +    o a  !\n"
         "          |         !\n"
         "          |        @!\n"
         "     1e-3 +         !        b\n"
         "          |         !     o\n"
         "     1e-4 +         !\n"
         "          |         !\n"
         "          |         !               o\n"
         "     1e-5 +         !\n"
         "          |         !\n"
         "          |         !                                      o\n"
         "     1e-6 +         !\n"
         "          +-----+---------+---------+---------+----------+--\n"
         "                4         6         8        10         12\n"
         "           @ this choice   a all q4_k\n"
         "           a all <nvfp4> & norms   b all q8_0\\x1b[31m\n"
         "           o frontier   ! budget\n");
    draw(&plot, 60, false,
         "  mean error by size in GiB\n"
         "     1e-1 \u253c\u2022        \u250a\n"
         "          \u2502         \u250a\n"
         "          \u2502  \u2022      \u250a\n"
         "     1e-2 \u253c    \u2022 a  \u250a\n"
         "          \u2502         \u250a\n"
         "          \u2502        \u25c6\u250a\n"
         "     1e-3 \u253c         \u250a        b\n"
         "          \u2502         \u250a     \u2022\n"
         "     1e-4 \u253c         \u250a\n"
         "          \u2502         \u250a\n"
         "          \u2502         \u250a               \u2022\n"
         "     1e-5 \u253c         \u250a\n"
         "          \u2502         \u250a\n"
         "          \u2502         \u250a                                      \u2022\n"
         "     1e-6 \u253c         \u250a\n"
         "          "
         "\u2514\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
         "\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u253c\u2500"
         "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500"
         "\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\n"
         "                4         6         8        10         12\n"
         "           \u25c6 this choice   a all q4_k\n"
         "           a all <nvfp4> & norms   b all q8_0\\x1b[31m\n"
         "           \u2022 frontier   \u250a budget\n");
}

static void what_has_no_error_is_in_a_row_of_its_own(void)
{
    static const struct dti_plot_point all[] = {{100, 0}, {200, -3}, {300, -INFINITY}};
    static const struct dti_plot exact = {.title = "",
                                          .error_name = "error",
                                          .points_name = "points",
                                          .points = all,
                                          .count = 3,
                                          .limit = 1e9,
                                          .limit_name = "far away"};
    draw(&exact, 1, true,
         "  error by size in bytes\n"
         "      1e0 +o\n"
         "          |\n"
         "          |\n"
         "          |\n"
         "          |\n"
         "     1e-1 +\n"
         "          |\n"
         "          |\n"
         "          |\n"
         "     1e-2 +\n"
         "          |\n"
         "          |\n"
         "          |\n"
         "          |\n"
         "     1e-3 +              o\n"
         "        0 +                            o\n"
         "          ++------+------+------+------+\n"
         "          100    150    200    250\n"
         "           o points\n");
}

static void any_points_fit_into_any_width(void)
{
    static const double sizes[] = {0, 1, 1000, 4e9, 9e18},
                        decades[] = {-INFINITY, -300, -2.5, 0, 300};
    for (size_t i = 0; i < 25 * 25; i++) {
        const struct dti_plot_point two[] = {{sizes[i % 5], decades[i / 5 % 5]},
                                             {sizes[i / 25 % 5], decades[i / 125]}};
        const struct dti_plot_label label = {two[0], "an \xff invalid name", i % 2};
        const struct dti_plot drawn = {.title = "&",
                                       .error_name = "error",
                                       .points_name = "points",
                                       .points = two,
                                       .count = 2,
                                       .labels = &label,
                                       .label_count = i % 3 > 0,
                                       .limit = sizes[i % 5],
                                       .limit_name = "budget"};
        const size_t width = DTI_PLOT_LEAST + i % 90;
        FILE *const out = page_open();
        struct dti_line line = {.out = out};
        struct dti_buffer svg;
        CHECK(dti_plot_draw(&drawn, &line, i % 9, width, true));
        fclose(out);
        for (const char *at = page; *at != '\0'; at += strcspn(at, "\n") + 1)
            CHECK(strcspn(at, "\n") <= (width < DTI_PLOT_MOST ? width : DTI_PLOT_MOST));
        dti_buffer_init(&svg);
        dti_plot_svg(&drawn, &svg);
        CHECK(!svg.failed && svg.length > 1000 && !strstr(svg.data, "inf") &&
              !strstr(svg.data, "nan"));
        dti_buffer_free(&svg);
    }
}

static void nothing_is_drawn_of_nothing(void)
{
    static const struct dti_plot none = {
        .title = "", .error_name = "", .points_name = "", .limit_name = ""};
    draw(&none, 80, true, "");
}

/* How often a text contains another one. */
static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void a_document_has_every_point_and_no_raw_text(void)
{
    struct dti_buffer svg;
    dti_buffer_init(&svg);
    dti_plot_svg(&plot, &svg);
    CHECK(!svg.failed);
    CHECK_SIZE(count_of(svg.data, "<circle class=\"dot\""), 7);
    CHECK_SIZE(count_of(svg.data, "class=\"mark\""), 3);
    CHECK_SIZE(count_of(svg.data, "class=\"chosen\""), 1);
    CHECK_SIZE(count_of(svg.data, "class=\"limit\""), 1);
    CHECK_SIZE(count_of(svg.data, ">all &lt;nvfp4&gt; &amp; norms</text>"), 1);
    CHECK_SIZE(count_of(svg.data, ">all q8_0\\x1b[31m</text>"), 1);
    CHECK_SIZE(count_of(svg.data, "prefers-color-scheme:dark"), 1);
    CHECK_SIZE(count_of(svg.data, "<title>tiny</title>"), 1);
    CHECK_SIZE(count_of(svg.data, "<text "), count_of(svg.data, "</text>"));
    CHECK(svg.length > 7 && strcmp(svg.data + svg.length - 7, "</svg>\n") == 0);
    dti_buffer_free(&svg);
}

static void many_points_are_a_line(void)
{
    enum { MANY = 100000 };
    struct dti_plot_point *const many = calloc(MANY, sizeof *many);
    struct dti_plot line = plot;
    struct dti_buffer svg;
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct dti_plot_point){1e9 + (double)i * 1e5, -(double)i / MANY};
    line.points = many;
    line.count = MANY;
    dti_buffer_init(&svg);
    dti_plot_svg(&line, &svg);
    CHECK_SIZE(count_of(svg.data, "<circle class=\"dot\""), 0);
    CHECK(svg.length < 20000);
    dti_buffer_free(&svg);
    free(many);
}

UNIT_MAIN(points_and_labels_are_drawn, what_has_no_error_is_in_a_row_of_its_own,
          any_points_fit_into_any_width, nothing_is_drawn_of_nothing,
          a_document_has_every_point_and_no_raw_text, many_points_are_a_line)
