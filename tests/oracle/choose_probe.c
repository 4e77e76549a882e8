/* SPDX-License-Identifier: MIT
 *
 * The best choice for a size, and the frontier, for the oracle tests. Standard input: requests in
 * this machine's byte order: the number of groups in 4 bytes, a budget in 8, the starts in 4 each,
 * the choices as bytes and error, 8 each. Answers are lines: "picks", the size, error and bound,
 * whether it is proved, seconds of processor time, peak memory in KiB, and the picks; or "no" and
 * the least size; or "error" and its text. Then the frontier: the number of points, and each one's
 * size, error, group and choice. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "files/advise/choose.h"
#include "util/run/allocate.h"

static void get(void *ret, size_t size, size_t count)
{
    if (fread(ret, size, count, stdin) != count)
        exit(1);
}

/* Of this process alone: the machine may be busy. */
static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The peak in KiB; getrusage() has that of the parent, too. */
static long peak_memory(void)
{
    char line[256];
    long peak = 0;
    FILE *const status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmHWM: %ld", &peak) == 1)
            break;
    }
    if (status)
        (void)fclose(status);
    return peak;
}

static void answer_choice(const struct dti_choice_set *set, uint64_t budget)
{
    struct dti_chosen chosen;
    struct dti_error error;
    uint32_t *const picks = calloc((size_t)set->n_groups + 1, sizeof *picks);
    const double start = seconds();
    const enum dti_status status = dti_choose(set, budget, picks, &chosen, &error);
    const double end = seconds();
    if (status == DTI_ANSWER_NO) {
        printf("no %" PRIu64 " %s\n", chosen.bytes, error.text);
    } else if (status != DTI_OK) {
        printf("error %s\n", error.text);
    } else {
        printf("picks %" PRIu64 " %a %a %d %.6f %ld", chosen.bytes, chosen.error, chosen.bound,
               chosen.proved, end - start, peak_memory());
        for (uint32_t i = 0; i < set->n_groups; i++)
            printf(" %" PRIu32, picks[i]);
        putchar('\n');
    }
    free(picks);
}

static void answer_frontier(const struct dti_choice_set *set)
{
    struct dti_frontier_point *points;
    struct dti_error error;
    size_t count;
    if (dti_frontier(set, &points, &count, &error) != DTI_OK) {
        printf("error %s\n", error.text);
        return;
    }
    printf("%zu", count);
    for (size_t i = 0; i < count; i++)
        printf(" %" PRIu64 " %a %" PRIu32 " %" PRIu32, points[i].bytes, points[i].error,
               points[i].group, points[i].choice);
    putchar('\n');
    dti_free(points);
}

int main(void)
{
    struct dti_choice_set set;
    while (fread(&set.n_groups, sizeof set.n_groups, 1, stdin) == 1) {
        uint64_t budget;
        get(&budget, sizeof budget, 1);
        uint32_t *const starts = calloc((size_t)set.n_groups + 1, sizeof *starts);
        get(starts, sizeof *starts, (size_t)set.n_groups + 1);
        struct dti_format_choice *const choices =
            calloc((size_t)starts[set.n_groups] + 1, sizeof *choices);
        get(choices, sizeof *choices, starts[set.n_groups]);
        set.starts = starts;
        set.choices = choices;
        answer_choice(&set, budget);
        answer_frontier(&set);
        fflush(stdout);
        free(starts);
        free(choices);
    }
    return 0;
}
