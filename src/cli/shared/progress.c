/* SPDX-License-Identifier: MIT
 *
 * A progress bar on stderr for long work. It is redrawn with carriage returns and blanks only,
 * which every terminal supports. */
#include "cli/shared/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/shared/human.h"
#include "io/output.h"
#include "util/run/clock.h"
#include "util/text/utf8.h"

/* A terminal echoes Ctrl-C as "^C" after the bar: without room for it the line wraps and the bar
 * stays on the screen. */
enum { FIRST_MS = 500, EVERY_MS = 100, BAR = 10, ECHO = 2 };

static int64_t now_ms(void)
{
    return (int64_t)(dti_clock_now() / 1000000);
}

bool dti_progress_wanted(enum dti_progress_when when, const struct dti_command_context *cx,
                         bool to_stdout)
{
    if (when != DTI_PROGRESS_AUTO)
        return when == DTI_PROGRESS_ALWAYS;
    return !cx->quiet && isatty(STDERR_FILENO) && !(to_stdout && isatty(STDOUT_FILENO));
}

/* Erases the widest bar and the echo. Set for the signal handler while a bar may be on the
 * screen. */
static char erasure[DTI_PROGRESS_SIZE + ECHO + 3];

static size_t screen_columns(void)
{
    enum { USUAL = 80, LEAST = 20 };
    struct winsize size;
    size_t columns = USUAL;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST)
        columns = size.ws_col;
    columns -= ECHO;
    return columns <= DTI_PROGRESS_SIZE ? columns - 1 : DTI_PROGRESS_SIZE - 1;
}

void dti_progress_start(struct dti_progress *ret, FILE *out, uint64_t total, const char *units)
{
    memset(ret, 0, sizeof *ret);
    ret->out = out;
    ret->total = total;
    ret->units = units;
    if (!out)
        return;
    ret->started = now_ms();
    ret->columns = screen_columns();
    (void)snprintf(erasure, sizeof erasure, "\r%*s\r", (int)ret->columns + ECHO, "");
    dti_output_guard_signals();
}

/* "  1.20 GiB/s", and "  0:12 left" if the total is known. */
static void put_rate(char *text, size_t size, const struct dti_progress *progress, uint64_t done,
                     int64_t ms)
{
    char rate[DTI_TEXT_SIZE];
    if (ms <= 0 || done == 0)
        return;
    const double per_second = (double)done * 1000 / (double)ms;
    if (strcmp(progress->units, "bytes") == 0)
        (void)snprintf(text, size, "  %s/s", dti_human_bytes(rate, (uint64_t)per_second));
    else
        (void)snprintf(text, size, "  %llu %s/s", (unsigned long long)per_second, progress->units);
    if (progress->total <= done)
        return;
    const double left = (double)(progress->total - done) / per_second;
    const unsigned long long seconds = left < 1e9 ? (unsigned long long)left + 1 : 0;
    const size_t length = strlen(text);
    if (seconds >= 3600)
        (void)snprintf(text + length, size - length, "  %llu:%02llu:%02llu left", seconds / 3600,
                       seconds / 60 % 60, seconds % 60);
    else if (seconds > 0)
        (void)snprintf(text + length, size - length, "  %llu:%02llu left", seconds / 60,
                       seconds % 60);
}

static void put_bar(char *text, size_t size, const struct dti_progress *progress, uint64_t done)
{
    char bar[BAR + 1];
    /* with a limit this large the shares are far from overflow */
    const uint64_t step = progress->total / 100 + (progress->total % 100 != 0);
    const uint64_t part = done / step;
    const unsigned percent = part < 100 ? (unsigned)part : 100;
    const size_t full = (size_t)percent * BAR / 100;
    memset(bar, '.', BAR);
    memset(bar, '#', full);
    bar[BAR] = '\0';
    (void)snprintf(text, size, "  [%s] %3u %%", bar, percent);
}

/* As much of a name as fits: its start, which identifies the layer. */
static void put_name(char *text, size_t room, const struct dti_progress *progress, uint64_t done)
{
    enum { LEAST = 8 };
    char quoted[DTI_QUOTE_SIZE];
    size_t length;
    const char *const name =
        progress->name ? progress->name(progress->name_context, done, &length) : NULL;
    if (!name || room < LEAST)
        return;
    dti_quote(quoted, name, length);
    size_t shown = strlen(quoted) - 2;
    const bool cut = dti_utf8_columns(quoted + 1, shown) > room - 2;
    while (dti_utf8_columns(quoted + 1, shown) > room - 2 - (cut ? 3 : 0) ||
           ((unsigned char)quoted[1 + shown] & 0xC0) == 0x80)
        shown--;
    (void)snprintf(text, DTI_QUOTE_SIZE, "  %.*s%s", (int)shown, quoted + 1, cut ? "..." : "");
}

void dti_progress_words(char text[DTI_PROGRESS_SIZE], const struct dti_progress *progress,
                        uint64_t done, int64_t ms)
{
    char rate[DTI_TEXT_SIZE] = "", name[DTI_QUOTE_SIZE] = "";
    if (progress->total == 0)
        (void)snprintf(text, DTI_PROGRESS_SIZE, "  %llu %s", (unsigned long long)done,
                       progress->units);
    else
        put_bar(text, DTI_PROGRESS_SIZE, progress, done);
    put_rate(rate, sizeof rate, progress, done, ms);
    if (strlen(text) + strlen(rate) > progress->columns)
        rate[0] = '\0';
    const size_t taken = strlen(text) + strlen(rate);
    put_name(name, progress->columns > taken ? progress->columns - taken : 0, progress, done);
    (void)snprintf(text + strlen(text), DTI_PROGRESS_SIZE - strlen(text), "%s%s", rate, name);
}

void dti_progress_show(void *context, uint64_t done)
{
    struct dti_progress *const progress = context;
    char text[DTI_PROGRESS_SIZE];
    if (!progress->out)
        return;
    const int64_t now = now_ms();
    if (now - progress->started < FIRST_MS || now - progress->drawn < EVERY_MS)
        return;
    dti_output_farewell(erasure);
    dti_progress_words(text, progress, done, now - progress->started);
    const int width = (int)dti_utf8_columns(text, strlen(text));
    const int rest = progress->width > width ? progress->width - width : 0;
    (void)fprintf(progress->out, "\r%s%*s", text, rest, "");
    (void)fflush(progress->out);
    progress->width = width + rest;
    progress->drawn = now;
}

void dti_progress_end(struct dti_progress *progress)
{
    if (!progress->out || progress->width == 0)
        return;
    (void)fprintf(progress->out, "\r%*s\r", progress->width, "");
    (void)fflush(progress->out);
    dti_output_farewell(NULL);
    progress->width = 0;
}
