/* SPDX-License-Identifier: MIT
 *
 * A bar on stderr for work that takes long. It is drawn over itself with carriage returns and
 * blanks alone, which every terminal knows. */
#include "cli/shared/progress.h"

#include <string.h>
#include <unistd.h>

#include "dtinfo/clock.h"

enum { FIRST_MS = 500, EVERY_MS = 100, BAR = 30 };

static int64_t now_ms(void)
{
    return (int64_t)(dti_clock_now() / 1000000);
}

bool dti_progress_wanted(enum dti_progress_when when, const struct dti_context *cx, bool to_stdout)
{
    if (when != DTI_PROGRESS_AUTO)
        return when == DTI_PROGRESS_ALWAYS;
    return !cx->quiet && isatty(STDERR_FILENO) && !(to_stdout && isatty(STDOUT_FILENO));
}

void dti_progress_start(struct dti_progress *ret, FILE *out, uint64_t total, const char *units)
{
    memset(ret, 0, sizeof *ret);
    ret->out = out;
    ret->total = total;
    ret->units = units;
    ret->started = out ? now_ms() : 0;
}

static int draw(const struct dti_progress *progress, uint64_t done)
{
    char bar[BAR + 1];
    if (progress->total == 0)
        return fprintf(progress->out, "\r  %llu %s", (unsigned long long)done, progress->units);
    /* of a total this large the shares are far from overflow */
    const uint64_t step = progress->total / 100 + (progress->total % 100 != 0);
    const uint64_t part = done / step;
    const unsigned percent = part < 100 ? (unsigned)part : 100;
    const size_t full = (size_t)percent * BAR / 100;
    memset(bar, '.', BAR);
    memset(bar, '#', full);
    bar[BAR] = '\0';
    return fprintf(progress->out, "\r  [%s] %3u %%", bar, percent);
}

void dti_progress_show(void *context, uint64_t done)
{
    struct dti_progress *const progress = context;
    if (!progress->out)
        return;
    const int64_t now = now_ms();
    if (now - progress->started < FIRST_MS || now - progress->drawn < EVERY_MS)
        return;
    const int width = draw(progress, done);
    (void)fflush(progress->out);
    progress->width = width > progress->width ? width : progress->width;
    progress->drawn = now;
}

void dti_progress_end(struct dti_progress *progress)
{
    if (!progress->out || progress->width == 0)
        return;
    (void)fprintf(progress->out, "\r%*s\r", progress->width, "");
    (void)fflush(progress->out);
    progress->width = 0;
}
