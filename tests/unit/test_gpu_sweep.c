/* SPDX-License-Identifier: MIT
 *
 * A CUDA driver that fails or hangs, at every call of a run. Each fault gives a status and a
 * reason, results confirmed before it are right, nothing that can be released leaks, and timeouts
 * are respected. */
#define _POSIX_C_SOURCE 200809L
#include "gpu_run.h"
#include "util/run/clock.h"

/* The number after a name in the fake driver's report. */
static unsigned report_value(const char *path, const char *name)
{
    char line[128];
    unsigned value = 0;
    FILE *const file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return 0;
    while (fgets(line, sizeof line, file)) {
        const size_t length = strlen(name);
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            value = (unsigned)strtoul(line + length, NULL, 10);
    }
    fclose(file);
    return value;
}

static const char *report_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/dtinfo-test-%ld.report", (long)getpid());
    return path;
}

/* Counts what a run did not release. */
static unsigned count_leaks(void)
{
    static const char *const names[] = {"leaked_blocks", "leaked_pinned",  "leaked_streams",
                                        "leaked_events", "leaked_modules", "leaked_contexts",
                                        "overruns"};
    unsigned count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        count += report_value(report_path(), names[i]);
    return count;
}

static unsigned count_calls(bool launch)
{
    char script[128];
    struct child_result result;
    const struct run run = {.script = script, .launch = launch};
    snprintf(script, sizeof script, "report=%s", report_path());
    CHECK_STR(run_child(&result, &run), "right");
    const unsigned calls = report_value(report_path(), "calls");
    CHECK(calls > 20);
    CHECK_U64(count_leaks(), 0);
    return calls;
}

/* Sticky faults, after which nothing can be released, and other faults. */
static void each_call_fails_in_turn(void)
{
    static const int codes[] = {1, 2, 46, 100, 201, 214, 222, 400, 700, 719, 803, 999};
    const bool launch = has_kernels();
    const unsigned calls = count_calls(launch);
    unsigned bad = 0;
    for (unsigned i = 1; i <= calls && bad == 0; i++) {
        const int code = codes[i % (sizeof codes / sizeof *codes)];
        char script[160];
        struct child_result result;
        const struct run run = {.script = script, .launch = launch};
        snprintf(script, sizeof script, "fail=*:%u:%d,report=%s", i, code, report_path());
        const char *const output = run_child(&result, &run);
        /* the last calls only release things: the result was complete before */
        const bool right = strcmp(output, "right") == 0;
        const bool told = strncmp(output, "unavailable: ", 13) == 0 ||
                          strncmp(output, "no_memory: ", 11) == 0 ||
                          strncmp(output, "device_failed: ", 15) == 0;
        if (!CHECK(right || told)) {
            printf("%s: %s\n", script, output);
            bad++;
        }
        /* the failing call may be one that releases something */
        const bool stays = code == 214 || code == 700 || code == 719 || code == 999;
        if (!stays && !CHECK(count_leaks() <= 1)) {
            printf("%s: %u things leaked\n", script, count_leaks());
            bad++;
        }
    }
    unlink(report_path());
}

static void each_call_hangs_in_turn(void)
{
    const bool launch = has_kernels();
    const unsigned calls = count_calls(launch);
    unlink(report_path());
    /* loading queries each kernel: sample these calls */
    const unsigned step = calls > 60 ? 7 : 1;
    for (unsigned i = 1; i <= calls; i += i < 30 || i + 40 > calls ? 1 : step) {
        char script[64];
        struct child_result result;
        const struct run run = {.script = script, .timeout = "0.05", .launch = launch};
        snprintf(script, sizeof script, "hang=*:%u", i);
        const uint64_t start = dti_clock_now();
        const char *const output = run_child(&result, &run);
        if (!CHECK(dti_clock_now() - start < UINT64_C(20000000000)) ||
            !CHECK(strncmp(output, "device_failed: ", 15) == 0 || strcmp(output, "right") == 0)) {
            printf("%s: %s\n", script, output);
            break;
        }
    }
}

UNIT_MAIN(each_call_fails_in_turn, each_call_hangs_in_turn)
