/* SPDX-License-Identifier: MIT
 *
 * The machine that figures are of, and what about it makes them doubtful. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench/bench_job.h"
#include "cli/shared/amount.h"
#include "dtinfo/clock.h"
#include "dtinfo/machine.h"

/* "0.52 0.41 0.30 1/123 4567": the first number, which has two decimals. */
static double read_load(void)
{
    char text[64];
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    const ssize_t length = read(file, text, sizeof text);
    (void)close(file);
    const char *at = text;
    size_t left = length > 0 ? (size_t)length : 0;
    uint64_t whole, hundredths;
    if (!dti_amount_digits(&at, &left, &whole) || left < 3 || at[0] != '.')
        return -1;
    at++;
    left = 2;
    if (!dti_amount_digits(&at, &left, &hundredths) || left > 0)
        return -1;
    return (double)whole + (double)hundredths / 100;
}

void dti_bench_host_read(struct bench_host *ret)
{
    *ret = (struct bench_host){.load = read_load()};
    struct dti_machine *const machine = malloc(sizeof *machine);
    if (machine && dti_machine_read(machine, NULL, NULL) == DTI_OK) {
        memcpy(ret->model, machine->model, sizeof ret->model);
        memcpy(ret->governor, machine->governor, sizeof ret->governor);
    }
    free(machine);
}

static void put_words(struct dti_json *json, const char *key, const char *text)
{
    dti_json_string(json, key, text[0] != '\0' ? text : NULL);
}

void dti_bench_host_json(struct dti_json *json, const struct bench_job *job)
{
    struct bench_host host;
    dti_bench_host_read(&host);
    dti_json_object(json, "host");
    put_words(json, "model", host.model);
    dti_json_string(json, "level", dti_level_name(job->levels[0]));
    dti_json_uint(json, "cpus", job->cpus);
    dti_json_uint(json, "last_cache_bytes", dti_last_cache_bytes());
    dti_bench_json_number(json, "clock_resolution_seconds", true,
                          (double)dti_clock_resolution() * 1e-9);
    put_words(json, "frequency_governor", host.governor);
    dti_bench_json_number(json, "load_average", host.load >= 0, host.load);
    dti_json_end(json);
}

size_t dti_bench_host_doubts(char doubts[BENCH_DOUBTS][BENCH_DOUBT_SIZE],
                             const struct bench_job *job)
{
    static const double own_share = 1.5; /* of the load: this program's threads, and some more */
    struct bench_host host;
    size_t count = 0, threads = 1;
    dti_bench_host_read(&host);
    for (size_t i = 0; i < job->thread_count; i++)
        threads = job->threads[i] > threads ? job->threads[i] : threads;
    if (host.governor[0] != '\0' && strcmp(host.governor, "performance") != 0) {
        char quoted[DTI_QUOTE_SIZE];
        (void)snprintf(doubts[count++], BENCH_DOUBT_SIZE,
                       "the frequency governor is %s: clocks may change while it is measured; "
                       "'performance' keeps them high",
                       dti_quote(quoted, host.governor, strlen(host.governor)));
    }
    if (host.load > (double)job->cpus * 0.5 && host.load > own_share * (double)threads) {
        char load[DTI_TEXT_SIZE];
        (void)snprintf(doubts[count++], BENCH_DOUBT_SIZE,
                       "the load average is %s on %zu CPU%s: other programs are running",
                       dti_bench_fixed(load, host.load, 2), job->cpus, job->cpus == 1 ? "" : "s");
    }
    return count;
}
