/* SPDX-License-Identifier: MIT
 *
 * Percentages: only a complete whole is 100 %. */
#include "cli/shared/human.h"

#include "unit.h"

static void only_all_of_it_is_a_hundred_percent(void)
{
    static const struct {
        uint64_t part, whole;
        const char *want;
    } cases[] = {
        {1, 1, "100 %"},
        {UINT64_MAX, UINT64_MAX, "100 %"},
        {0, 7, "0 %"},
        {1, 3, "33.3 %"},
        {999, 1000, "99.9 %"},
        {9994, 10000, "99.9 %"},
        {9996, 10000, "99.96 %"},
        {23039, 23040, "99.996 %"},
        {UINT32_MAX - 1, UINT32_MAX, "99.99999998 %"},
        {UINT64_MAX - 1, UINT64_MAX, "99.99999999999999 %"},
        {1, 8472, "0.0118 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DTI_TEXT_SIZE];
        CHECK_STR(dti_human_share(text, cases[i].part, cases[i].whole), cases[i].want);
    }
}

UNIT_MAIN(only_all_of_it_is_a_hundred_percent)
