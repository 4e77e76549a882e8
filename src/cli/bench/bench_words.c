/* SPDX-License-Identifier: MIT
 *
 * Sizes, figures and bars of `bench` as people read them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "dtinfo/ascii.h"

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

/* Whether the locale's characters are UTF-8, as the environment tells. */
static bool is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *const terminal = getenv("TERM");
    if (terminal && strcmp(terminal, "dumb") == 0)
        return false;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const value = getenv(variables[i]);
        if (!value || value[0] == '\0')
            continue;
        const char *const charset = strchr(value, '.');
        return charset && (dti_ascii_equal(charset, ".utf-8") || dti_ascii_equal(charset, ".utf8"));
    }
    return false;
}

void dti_bench_put_bar(struct dti_line *line, double share)
{
    char buffer[BENCH_BAR_SIZE];
    const bool utf8 = is_utf8();
    /* U+2588 is a full block, U+258F down to U+2589 are one to seven eighths of one */
    const unsigned parts = utf8 ? 8 : 1;
    const double most = 1.25 * BENCH_BAR_CELLS * parts;
    const double wanted = share > 0 ? share * BENCH_BAR_CELLS * parts : 0;
    const unsigned units = (unsigned)lround(wanted < most ? wanted : most);
    size_t length = 0;
    for (unsigned i = 0; i < units / parts; i++) {
        const char *const full = utf8 ? "\xe2\x96\x88" : "#";
        memcpy(buffer + length, full, strlen(full));
        length += strlen(full);
    }
    if (units % parts > 0) {
        const char eighths[] = {'\xe2', '\x96', (char)(0x90 - (int)(units % parts))};
        memcpy(buffer + length, eighths, sizeof eighths);
        length += sizeof eighths;
    }
    buffer[length] = '\0';
    dti_line_put(line, DTI_STYLE_PLAIN, "  ");
    dti_line_put(line, share >= 0.8 ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN, buffer);
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
