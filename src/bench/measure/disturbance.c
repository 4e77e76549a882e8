/* SPDX-License-Identifier: MIT
 *
 * What Linux tells about time that was taken from a thread. Other systems tell nothing. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "bench/measure/disturbance.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

long dti_preemptions(void)
{
#ifdef RUSAGE_THREAD
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return usage.ru_nivcsw;
#endif
    return 0;
}

/* The eighth number of the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq
 * steal ...". */
static uint64_t steal_of(const char *line)
{
    enum { STEAL = 8 };
    uint64_t value = 0;
    if (strncmp(line, "cpu ", 4) != 0)
        return 0;
    line += 3;
    for (int field = 0; field < STEAL; field++) {
        line += strspn(line, " ");
        value = 0;
        for (; *line >= '0' && *line <= '9'; line++)
            value = value * 10 + (uint64_t)(*line - '0');
        if (*line != ' ')
            return 0;
    }
    return value;
}

uint64_t dti_stolen_ticks(void)
{
    char text[256];
    const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    (void)close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    return steal_of(text);
}
