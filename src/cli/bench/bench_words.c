/* SPDX-License-Identifier: MIT
 *
 * Sizes, figures and bars of `bench` as people read them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "dtinfo/picture.h"

const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu %s", (unsigned long long)bytes,
                   bytes == 1 && unit == 0 ? "byte" : units[unit]);
    return buffer;
}

const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    const double scaled = number * (double)power;
    if (!(scaled >= 0 && scaled < 1e18)) {
        (void)snprintf(buffer, DTI_TEXT_SIZE, "-");
        return buffer;
    }
    const uint64_t units = (uint64_t)llround(scaled);
    if (decimals == 0)
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu", (unsigned long long)units);
    else
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu.%0*llu", (unsigned long long)(units / power),
                       (int)decimals, (unsigned long long)(units % power));
    return buffer;
}

const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number)
{
    unsigned decimals = 2;
    for (double limit = 9.995; decimals > 0 && number >= limit; limit *= 10)
        decimals--;
    for (double limit = 0.9995; decimals < 9 && number > 0 && number < limit; limit /= 10)
        decimals++;
    return dti_bench_fixed(buffer, number, decimals);
}

const char *dti_bench_seconds(char buffer[DTI_TEXT_SIZE], double seconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
    size_t at = 0;
    while (at + 1 < sizeof units / sizeof *units && seconds >= 999.5 * units[at].unit)
        at++;
    (void)dti_bench_three(buffer, seconds / units[at].unit);
    (void)snprintf(buffer + strlen(buffer), DTI_TEXT_SIZE - strlen(buffer), " %s", units[at].name);
    return buffer;
}

const char *dti_bench_percent(char buffer[DTI_TEXT_SIZE], double share, unsigned decimals)
{
    (void)dti_bench_fixed(buffer, share * 100, decimals);
    (void)snprintf(buffer + strlen(buffer), DTI_TEXT_SIZE - strlen(buffer), " %%");
    return buffer;
}

const char *dti_bench_mad(char buffer[DTI_TEXT_SIZE], const struct dti_bench_figure *time)
{
    return time->has_mad ? dti_bench_percent(buffer, time->mad, 1) : "-";
}

const char *dti_bench_samples(char buffer[BENCH_SAMPLES_SIZE], const struct dti_bench *bench,
                              size_t at, size_t samples)
{
    (void)snprintf(buffer, BENCH_SAMPLES_SIZE, "%zu sample%s of %llu pass%s, %llu discarded",
                   samples, samples == 1 ? "" : "s", (unsigned long long)bench->passes[at],
                   bench->passes[at] == 1 ? "" : "es", (unsigned long long)bench->discarded[at]);
    return buffer;
}

void dti_bench_put_bar(struct dti_line *line, double share, bool ascii)
{
    const double most = (double)BENCH_BAR_COLUMN / BENCH_BAR_CELLS;
    const size_t end = line->column + line->owed + BENCH_BAR_GAP + BENCH_BAR_COLUMN;
    char bar[DTI_BAR_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%*s", BENCH_BAR_GAP, "");
    dti_line_put(line, share >= 0.8 ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN,
                 dti_picture_bar(bar, share < most ? share : most, BENCH_BAR_CELLS, ascii));
    line->owed += end - line->column - line->owed;
}

enum { CELL = 256 };

void dti_bench_put_words(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between)
{
    const size_t gap = strlen(between), wide = cx->width < CELL ? (size_t)cx->width : CELL - 1;
    const size_t width = wide > indent ? wide - indent : 1;
    while (text[0] != '\0') {
        size_t used = 0;
        do {
            const char *const end = strstr(text + used + (used > 0 ? gap : 0), between);
            const size_t next = end ? (size_t)(end - text) : strlen(text);
            if (next > width && used > 0)
                break;
            used = next;
        } while (text[used] != '\0');
        dti_put_line(cx, style, indent, "%.*s", used < CELL ? (int)used : CELL - 1, text);
        text += used;
        text += text[0] != '\0' ? gap : 0;
    }
}
