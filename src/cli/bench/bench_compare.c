/* SPDX-License-Identifier: MIT
 *
 * Comparing times of two runs. */
#include <string.h>

#include "cli/bench/bench_comparison.h"
#include "cli/shared/amount.h"
#include "dtinfo/error.h"

void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now)
{
    *ret = (struct dti_bench_figure){.samples = 1, .median = now->median / then->median};
    ret->minimum = ret->low = ret->high = ret->median;
    ret->has_interval = then->has_interval && now->has_interval;
    if (!ret->has_interval)
        return;
    ret->low = now->low / then->high;
    ret->high = now->high / then->low;
}

bool dti_bench_is_regression(const struct dti_bench_figure *ratio, double allowed)
{
    return ratio->median > 1 + allowed && dti_bench_judge(ratio) == DTI_BENCH_MORE;
}

size_t dti_bench_match(struct bench_records *then, struct bench_records *now)
{
    size_t pairs = 0;
    for (size_t i = 0; i < then->count; i++)
        then->rows[i].partner = SIZE_MAX;
    for (size_t i = 0; i < now->count; i++) {
        now->rows[i].partner = SIZE_MAX;
        for (size_t j = 0; j < then->count; j++) {
            if (then->rows[j].partner == SIZE_MAX &&
                strcmp(then->rows[j].label, now->rows[i].label) == 0) {
                now->rows[i].partner = j;
                then->rows[j].partner = i;
                pairs++;
                break;
            }
        }
    }
    return pairs;
}

enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr)
{
    static const uint64_t most = 10000;
    enum { DECIMALS = 3 };
    const char *at = text;
    size_t left = strlen(text);
    uint64_t percent = 0, fraction = 0;
    bool good = dti_amount_digits(&at, &left, &percent) && percent <= most;
    if (good && left > 0 && at[0] == '.') {
        at++, left--;
        const size_t digits = strspn(at, "0123456789");
        good = digits <= DECIMALS && dti_amount_digits(&at, &left, &fraction);
        for (size_t i = digits; i < DECIMALS; i++)
            fraction *= 10;
    }
    if (good && left == 1 && at[0] == '%') {
        *ret_share = ((double)percent * 1000 + (double)fraction) / 100000;
        return DTI_OK;
    }
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE,
                   "--max-regression takes percent, as in 10%% or 2.5%%; %s is not",
                   dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_USAGE;
}
