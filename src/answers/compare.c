/* SPDX-License-Identifier: MIT
 *
 * A comparison as JSON. Tensors are written as they are built, so that their number does not
 * matter. */
#include "answers/compare.h"

#include <math.h>
#include <string.h>

#include "answers/common.h"
#include "answers/rows.h"
#include "answers/tensors.h"

struct pair_of {
    const struct dti_compare *compare;
    const struct dti_compare_result *result;
};

DTI_WORDS(way_words, "numbers", "bytes", "not_comparable", "only_in_a", "only_in_b")
DTI_WORDS(outcome_words, "equal", "within_tolerance", "different", "ignored")
DTI_WORDS(verdict_words, "equal", "within_tolerance", "different")

static enum dti_compare_outcome verdict_of(const struct dti_compare *compare)
{
    return compare->tensors[DTI_COMPARE_DIFFERS] > 0  ? DTI_COMPARE_DIFFERS
           : compare->tensors[DTI_COMPARE_WITHIN] > 0 ? DTI_COMPARE_WITHIN
                                                      : DTI_COMPARE_EQUAL;
}

static size_t count_way(const struct dti_compare *compare, enum dti_compare_way way)
{
    size_t count = 0;
    for (size_t i = 0; i < compare->result_count; i++)
        count += compare->results[i].way == way;
    return count;
}

#define DTI_ROWS "answers/compare.def"
#include "answers/rows.h"
