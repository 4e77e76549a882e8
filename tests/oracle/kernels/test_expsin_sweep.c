/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of fp32 in every row against the C library in fp64, whose error is negligible here:
 * all inputs, or every STRIDE-th. Prints the largest error of each row.
 *
 *   test_expsin_sweep STRIDE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/math/expsin.h"
#include "util/run/parallel.h"

enum { BLOCK = 4096, ROWS_MAX = 16, MEMBERS_MAX = 64 };

struct worst {
    double within, beyond; /* for arguments within +-10, and for all others */
    uint32_t at;           /* argument of the larger one */
    uint64_t wrong;        /* errors beyond the promised bound, and unexpected numbers */
};

static struct worst worst[MEMBERS_MAX][ROWS_MAX];
static uint64_t stride;

static float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void judge(struct worst *row, const struct dti_expsin_kernel *kernel, const float *x,
                  const float *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            row->wrong += isnan(got[i]) ? 0 : 1;
            continue;
        }
        const double place = want[i] >= 2     ? 0x1p-22
                             : want[i] >= 1   ? 0x1p-23
                             : want[i] >= 0.5 ? 0x1p-24
                                              : 0x1p-25;
        const double error = fabs((double)got[i] - want[i]) / place;
        double *const largest = fabsf(x[i]) <= 10 ? &row->within : &row->beyond;
        if (!(error <= kernel->max_ulp))
            row->wrong++;
        if (error > fmax(row->within, row->beyond))
            memcpy(&row->at, &x[i], sizeof row->at);
        *largest = fmax(*largest, error);
    }
}

static void sweep(void *context, size_t member, size_t size)
{
    static const uint64_t all = UINT64_C(1) << 32;
    const uint64_t step = stride * BLOCK;
    (void)context;
    for (uint64_t first = member * step; first < all; first += size * step) {
        float x[BLOCK], got[BLOCK];
        double want[BLOCK];
        size_t n = 0;
        for (uint64_t at = first; at < all && n < BLOCK; at += stride)
            x[n++] = number_of((uint32_t)at);
        for (size_t i = 0; i < n; i++)
            want[i] = exp(sin((double)x[i]));
        size_t row = 0;
        for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
            const struct dti_expsin_kernel *const kernel = &dti_expsin_kernels[i];
            if (kernel->dtype != DTI_FP32)
                continue;
            if (dti_level_present(kernel->level)) {
                kernel->run(got, x, n);
                judge(&worst[member][row], kernel, x, got, want, n);
            }
            row++;
        }
    }
}

static bool report(size_t members)
{
    bool good = true;
    size_t row = 0;
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        const struct dti_expsin_kernel *const kernel = &dti_expsin_kernels[i];
        struct worst all = {0};
        if (kernel->dtype != DTI_FP32)
            continue;
        for (size_t m = 0; m < members; m++) {
            const struct worst *const one = &worst[m][row];
            if (fmax(one->within, one->beyond) > fmax(all.within, all.beyond))
                all.at = one->at;
            all.within = fmax(all.within, one->within);
            all.beyond = fmax(all.beyond, one->beyond);
            all.wrong += one->wrong;
        }
        if (dti_level_present(kernel->level))
            printf("%s: %.4f ulp within +-10, %.4f beyond (largest at %a), promised %.2f; %llu "
                   "wrong\n",
                   kernel->name, all.within, all.beyond, (double)number_of(all.at), kernel->max_ulp,
                   (unsigned long long)all.wrong);
        good = good && all.wrong == 0;
        row++;
    }
    return good;
}

int main(int argc, char **argv)
{
    struct dti_team *team;
    size_t members = dti_cpu_count();
    stride = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (stride == 0) {
        fprintf(stderr, "usage: test_expsin_sweep STRIDE\n");
        return 2;
    }
    members = members < MEMBERS_MAX ? members : MEMBERS_MAX;
    if (dti_team_new(&team, members, DTI_WAIT_SLEEP, false, NULL) != DTI_OK)
        return 1;
    dti_team_run(team, sweep, NULL);
    dti_team_free(team);
    return report(members) ? 0 : 1;
}
