/* SPDX-License-Identifier: MIT
 *
 * Comparisons of tiles of fp64 and of 64-bit integers, in blocks of one pair per lane. Compiled
 * once per level. */
#include "kernels/scan/comparison_lanes.h"
#include "kernels/scan/comparison_kernels.h"

DTI_LANE double number_of(uint64_t word, bool with_sign)
{
    return with_sign ? (double)(int64_t)word : (double)word;
}

DTI_LANE void add_integer_tile(const struct dti_comparison_rule *rule, const void *a, const void *b,
                               size_t n, uint64_t index, bool with_sign,
                               struct dti_comparison *comparison)
{
    const unsigned char *const from_a = a, *const from_b = b;
    const uint64_t middle = with_sign ? UINT64_C(1) << 63 : 0;
    const struct comparison_view look = {
        .atol = rule->atol, .rtol = rule->rtol, .ratio = comparison->max_relative};
    struct dti_comparison_tile tile = {.compared = n, .max_relative = look.ratio};
    struct comparison_sums s;
    memset(&s, 0, sizeof s);
    for (size_t at = 0; at < n; at += LANES) {
        const unsigned count = n - at < LANES ? (unsigned)(n - at) : LANES;
        uint64_t p[LANES] = {0}, q[LANES] = {0};
        double x[LANES], y[LANES], error[LANES];
        memcpy(p, from_a + at * sizeof p[0], count * sizeof p[0]);
        memcpy(q, from_b + at * sizeof q[0], count * sizeof q[0]);
        for (unsigned i = 0; i < LANES; i++) {
            const bool less = (p[i] ^ middle) < (q[i] ^ middle);
            x[i] = number_of(p[i], with_sign);
            y[i] = number_of(q[i], with_sign);
            error[i] = (double)(less ? q[i] - p[i] : p[i] - q[i]);
        }
        const uint64_t above = add_numbers(&s, &look, x, y, error, LANES);
        for (unsigned i = 0; above && i < LANES; i++) {
            if (!(error[i] > 0) || !(fabs(y[i]) > 0))
                continue;
            const double ratio = dti_fp64_divide(error[i], fabs(y[i]));
            tile.max_relative = ratio > tile.max_relative ? ratio : tile.max_relative;
        }
    }
    end_sums(&s, &tile);
    dti_comparison_add_tile(rule, &tile, a, b, n, index, comparison);
}

void DTI_LANES_NAME(dti_comparison_f64)(const struct dti_comparison_rule *rule, const void *a,
                                        const void *b, size_t n, uint64_t index,
                                        struct dti_comparison *comparison)
{
    add_float_tile(rule, a, b, n, index, false, comparison);
}

void DTI_LANES_NAME(dti_comparison_i64)(const struct dti_comparison_rule *rule, const void *a,
                                        const void *b, size_t n, uint64_t index,
                                        struct dti_comparison *comparison)
{
    add_integer_tile(rule, a, b, n, index, true, comparison);
}

void DTI_LANES_NAME(dti_comparison_u64)(const struct dti_comparison_rule *rule, const void *a,
                                        const void *b, size_t n, uint64_t index,
                                        struct dti_comparison *comparison)
{
    add_integer_tile(rule, a, b, n, index, false, comparison);
}
