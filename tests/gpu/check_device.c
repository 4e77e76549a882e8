/* SPDX-License-Identifier: MIT
 *
 * Compares casts on a CUDA device with the same casts on the CPU, bit for bit: every pair of
 * formats, layouts, all fp32 codes for the main pairs, losses, memory use. (launch_on_device.c
 * checks the kernels one by one.)
 *
 *   check_device [--quick|--long] [--device cuda:N] [--leave MIB]
 *
 * --leave first allocates device memory until only that many MiB are free.
 *
 * Exit status: 0, 1 for a difference, 77 without a device. tests/gpu/run.sh runs it. */
#include <stdio.h>
#include <string.h>

#include "check_device.h"
#include "util/run/process_environment.h"

enum { EXIT_SKIPPED = 77 };

static const struct {
    const char *name;
    bool (*run)(struct device_check *gpu);
} parts[] = {
    {"pairs", device_check_pairs},
    {"layouts", device_check_layouts},
    {"all fp32", device_check_all_fp32},
    {"memory", device_check_memory},
};

struct options {
    const char *device, *leave;
};

static bool read_options(struct device_check *gpu, struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            gpu->check.effort = EFFORT_QUICK;
        else if (strcmp(argv[i], "--long") == 0)
            gpu->check.effort = EFFORT_LONG;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            options->device = argv[++i];
        else if (strcmp(argv[i], "--leave") == 0 && i + 1 < argc)
            options->leave = argv[++i];
        else
            return false;
    }
    return true;
}

static enum dti_status open_device(struct device_check *gpu, const char *name,
                                   struct dti_error *reterr)
{
    struct dti_device_choice choice;
    enum dti_status status = dti_level_choose(NULL, &gpu->check.level, reterr);
    if (status == DTI_OK)
        status = dti_device_choice_parse(&choice, name, reterr);
    if (status == DTI_OK)
        status = dti_team_new(&gpu->team, dti_cpu_count(), DTI_WAIT_SLEEP, false, reterr);
    return status == DTI_OK ? dti_runner_open(&gpu->runner, &choice, reterr) : status;
}

/* Allocates ever smaller pieces. They are freed when the process exits. */
static void take_memory(struct device_check *gpu, const char *leave)
{
    uint64_t mebibytes = 0, there = 0, taken = 0;
    for (; *leave >= '0' && *leave <= '9'; leave++)
        mebibytes = mebibytes * 10 + (uint64_t)(*leave - '0');
    struct dti_gpu *const device = dti_runner_gpu(gpu->runner);
    for (uint64_t piece = UINT64_C(1) << 36; piece >= 1 << 20;) {
        dti_gpu_address memory;
        if (dti_gpu_free_bytes(device, &there, NULL) != DTI_OK)
            break;
        if (there < piece + (mebibytes << 20) ||
            dti_gpu_alloc(device, piece, &memory, NULL) != DTI_OK)
            piece /= 2;
        else
            taken += piece;
    }
    printf("%llu MiB taken, %llu MiB left\n", (unsigned long long)(taken >> 20),
           (unsigned long long)(there >> 20));
}

int main(int argc, char **argv)
{
    struct device_check gpu = {.check = {.effort = EFFORT_PUSH, .state = 20260701}};
    struct options options = {.device = "cuda"};
    struct dti_error error;
    dti_environment_use(true);
    if (!read_options(&gpu, &options, argc, argv)) {
        fprintf(stderr, "usage: check_device [--quick|--long] [--device cuda:N] "
                        "[--leave MIB]\n");
        return 2;
    }
    const enum dti_status status = open_device(&gpu, options.device, &error);
    if (status != DTI_OK) {
        printf("%s: %s\n", status == DTI_UNAVAILABLE ? "skipped" : "FAILED", error.text);
        return status == DTI_UNAVAILABLE ? EXIT_SKIPPED : 1;
    }
    if (options.leave)
        take_memory(&gpu, options.leave);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const uint64_t plans = gpu.plans;
        gpu.check.told = 0;
        const bool passed = parts[i].run(&gpu);
        printf("%s %-12s %llu casts\n", passed ? "ok    " : "FAILED", parts[i].name,
               (unsigned long long)(gpu.plans - plans));
        (void)fflush(stdout);
    }
    printf("%s: %llu casts compared, %llu without a kernel there, %llu failures\n",
           dti_runner_device(gpu.runner), (unsigned long long)gpu.plans,
           (unsigned long long)gpu.left, (unsigned long long)gpu.check.failures);
    dti_runner_close(gpu.runner);
    dti_team_free(gpu.team);
    return gpu.check.failures > 0 || gpu.plans == 0;
}
