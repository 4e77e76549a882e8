/* SPDX-License-Identifier: MIT
 *
 * Compares the CUDA kernels, compiled for the host, with the definition: everything except the
 * device itself. It iterates over the table rows and names no kernel.
 *
 *   checkgpu rows [--row NAME] [--quick|--long]
 *   checkgpu all                   every fp32 code into the formats that matter most
 *   checkgpu --selftest            wrong results must be caught
 *   checkgpu list                  entries with the sizes of their parameters
 *   checkgpu program               the PTX that is built in
 *
 * Exit status: 0, or 1 for a difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_gpu.h"
#include "util/run/process_environment.h"

static void tell_row(const struct check *check, const char *name, uint64_t arrays, bool passed)
{
    printf("%s %-44s %llu arrays\n", passed ? "ok    " : "FAILED", name,
           (unsigned long long)(check->arrays - arrays));
    fflush(stdout);
}

static bool check_one(struct check *check, enum dti_gpu_kernel kernel)
{
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    if (!row->cast) {
        const struct dti_loss_kernel *const loss = gpu_as_loss_kernel(kernel);
        return !loss || check_loss_row(check, loss);
    }
    if (row->then != DTI_OP_COUNT)
        return check_gpu_pair(check, kernel);
    return check_row(check, gpu_as_kernel(kernel));
}

static void check_rows(struct check *check, const char *name)
{
    for (unsigned i = 0; i < DTI_GPU_KERNEL_COUNT; i++) {
        const uint64_t arrays = check->arrays;
        if (name && !strstr(dti_gpu_rows[i].name, name))
            continue;
        const enum effort effort = check->effort;
        if (effort == EFFORT_QUICK && dti_gpu_rows[i].domain != DTI_DOMAIN_ANY)
            check->effort = EFFORT_PUSH; /* few formats, so test all their policies */
        const bool passed = check_one(check, (enum dti_gpu_kernel)i);
        check->effort = effort;
        if (check->arrays != arrays || !passed)
            tell_row(check, dti_gpu_rows[i].name, arrays, passed);
    }
    if (name)
        return;
    (void)check_gpu_losses(check);
    (void)check_gpu_math(check);
    (void)check_gpu_find(check);
}

static int list(void)
{
    for (unsigned i = 0; i < DTI_GPU_KERNEL_COUNT; i++)
        printf("%s %zu\n", dti_gpu_rows[i].name, dti_gpu_rows[i].args_size);
    return 0;
}

static int show_program(void)
{
    static const unsigned too_old[][3] = {{7, 0, 13000}, {6, 1, 13000}, {9, 0, 9020}};
    const char *why = "", *const program = dti_gpu_program(7, 5, 10000, &why);
    if (!program) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    fputs(program, stdout);
    for (size_t i = 0; i < sizeof too_old / sizeof *too_old; i++)
        if (dti_gpu_program(too_old[i][0], too_old[i][1], too_old[i][2], &why))
            return 1;
    return !dti_gpu_program(12, 1, 13020, &why);
}

int main(int argc, char **argv)
{
    struct check check = {.state = 20261121, .effort = EFFORT_PUSH};
    const char *what = "", *row = NULL;
    dti_environment_use(true);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            check.effort = EFFORT_QUICK;
        else if (strcmp(argv[i], "--long") == 0)
            check.effort = EFFORT_LONG;
        else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc)
            row = argv[++i];
        else
            what = argv[i];
    }
    if (strcmp(what, "rows") == 0) {
        check_rows(&check, row);
    } else if (strcmp(what, "all") == 0) {
        (void)check_gpu_all(&check);
    } else if (strcmp(what, "list") == 0) {
        return list();
    } else if (strcmp(what, "program") == 0) {
        return show_program();
    } else if (strcmp(what, "--selftest") == 0) {
        (void)check_gpu_selftest(&check);
    } else {
        fprintf(stderr,
                "usage: checkgpu rows|all|list|program|--selftest [--quick|--long] [--row NAME]\n");
        return 2;
    }
    printf("%llu arrays, %llu failures\n", (unsigned long long)check.arrays,
           (unsigned long long)check.failures);
    return check.failures != 0 || check.arrays == 0;
}
