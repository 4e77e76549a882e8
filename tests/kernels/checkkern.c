/* SPDX-License-Identifier: MIT
 *
 * Compares the array kernels with the definition. It iterates over the table rows and names no
 * kernel, so none can be forgotten.
 *
 *   checkkern rows [LEVEL] [--quick|--long]   the rows of one level, or of all that are present
 *   checkkern plans|rules [--quick|--long]    plans, plans with --like, at every level
 *   checkkern --selftest                      deliberately wrong kernels must be caught
 *   checkkern speed [--row TYPE]              GGUF decoders compared with a copy of their numbers
 *   --row NAME                                only rows whose name contains NAME
 *
 * DTI_TEST_QUICK in the environment implies --quick, for builds that only test another compiler.
 * Exit status: 0, 1 for a difference, 77 if this machine does not have the level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { EXIT_SKIPPED = 77 };

struct options {
    const char *what, *level, *row;
    enum effort effort;
};

static bool is_wanted(const struct options *options, const char *name)
{
    return !options->row || strstr(name, options->row) != NULL;
}

static void tell_row(const struct check *check, const char *name, uint64_t arrays, bool passed)
{
    printf("%s %-44s %llu arrays\n", passed ? "ok    " : "FAILED", name,
           (unsigned long long)(check->arrays - arrays));
    fflush(stdout);
}

static size_t check_rows_of(struct check *check, const struct options *options)
{
    size_t rows = 0;
    for (size_t i = 0; i < dti_kernel_count; i++) {
        const uint64_t arrays = check->arrays;
        if (dti_kernels[i].level != check->level || !is_wanted(options, dti_kernels[i].name))
            continue;
        rows++;
        const bool passed = check_row(check, &dti_kernels[i]);
        tell_row(check, dti_kernels[i].name, arrays, passed);
    }
    for (size_t i = 0; i < dti_loss_kernel_count; i++) {
        const uint64_t arrays = check->arrays;
        if (dti_loss_kernels[i].level != check->level ||
            !is_wanted(options, dti_loss_kernels[i].name))
            continue;
        rows++;
        const bool passed = check_loss_row(check, &dti_loss_kernels[i]);
        tell_row(check, dti_loss_kernels[i].name, arrays, passed);
    }
    for (size_t i = 0; i < dti_quant_kernel_count; i++) {
        const uint64_t arrays = check->arrays;
        if (dti_quant_kernels[i].level != check->level ||
            !is_wanted(options, dti_quant_kernels[i].name))
            continue;
        rows++;
        const bool passed = check_quant_row(check, &dti_quant_kernels[i]);
        tell_row(check, dti_quant_kernels[i].name, arrays, passed);
    }
    for (size_t i = 0; i < dti_gguf_kernels_count; i++) {
        const uint64_t arrays = check->arrays;
        if (dti_gguf_kernels[i].level != check->level ||
            !is_wanted(options, dti_gguf_kernels[i].name))
            continue;
        rows++;
        const bool passed = check_gguf_row(check, &dti_gguf_kernels[i]);
        tell_row(check, dti_gguf_kernels[i].name, arrays, passed);
    }
    return rows;
}

static void tell_skipped(enum dti_level level)
{
    for (size_t i = 0; i < dti_kernel_count; i++)
        if (dti_kernels[i].level == level)
            printf("skipped %s: no %s here\n", dti_kernels[i].name, dti_level_name(level));
    for (size_t i = 0; i < dti_loss_kernel_count; i++)
        if (dti_loss_kernels[i].level == level)
            printf("skipped %s: no %s here\n", dti_loss_kernels[i].name, dti_level_name(level));
    for (size_t i = 0; i < dti_quant_kernel_count; i++)
        if (dti_quant_kernels[i].level == level)
            printf("skipped %s: no %s here\n", dti_quant_kernels[i].name, dti_level_name(level));
    for (size_t i = 0; i < dti_gguf_kernels_count; i++)
        if (dti_gguf_kernels[i].level == level)
            printf("skipped %s: no %s here\n", dti_gguf_kernels[i].name, dti_level_name(level));
}

static size_t check_rows(struct check *check, const struct options *options, size_t *ret_skipped)
{
    size_t rows = 0;
    for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++) {
        check->level = (enum dti_level)level;
        if (options->level && strcmp(options->level, dti_level_name(check->level)) != 0)
            continue;
        if (dti_level_present(check->level)) {
            rows += check_rows_of(check, options);
        } else {
            tell_skipped(check->level);
            ++*ret_skipped;
        }
    }
    return rows;
}

static bool read_options(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--quick") == 0)
            options->effort = EFFORT_QUICK;
        else if (strcmp(word, "--long") == 0)
            options->effort = EFFORT_LONG;
        else if (strcmp(word, "--row") == 0 && i + 1 < argc)
            options->row = argv[++i];
        else if (!options->what)
            options->what = word;
        else if (!options->level)
            options->level = word;
        else
            return false;
    }
    enum dti_level level;
    return options->what &&
           (!options->level || dti_level_lookup(options->level, &level, NULL) == DTI_OK);
}

int main(int argc, char **argv)
{
    struct options options = {.effort = getenv("DTI_TEST_QUICK") ? EFFORT_QUICK : EFFORT_PUSH};
    struct check check = {.state = 20260701};
    size_t rows = 1, skipped = 0;
    if (!read_options(&options, argc, argv)) {
        fprintf(stderr, "usage: checkkern rows [LEVEL]|plans|rules|speed|--selftest "
                        "[--quick|--long] [--row NAME]\n");
        return 2;
    }
    check.effort = options.effort;
    if (strcmp(options.what, "speed") == 0)
        return tell_gguf_speed(options.row) ? 0 : 1;
    if (strcmp(options.what, "rows") == 0)
        rows = check_rows(&check, &options, &skipped);
    else if (strcmp(options.what, "plans") == 0)
        (void)check_plans(&check);
    else if (strcmp(options.what, "rules") == 0)
        (void)check_rules(&check);
    else if (strcmp(options.what, "--selftest") == 0)
        (void)(check_selftest(&check) && check_quant_selftest(&check));
    else
        return 2;
    printf("%llu arrays, %llu failures\n", (unsigned long long)check.arrays,
           (unsigned long long)check.failures);
    if (check.failures)
        return 1;
    if (rows == 0 || check.arrays == 0)
        return skipped ? EXIT_SKIPPED : 1; /* a run that checked nothing does not pass */
    return 0;
}
