/* SPDX-License-Identifier: MIT
 *
 * A comparison in words, and as JSON. Tensors are written as they are built, so memory does not
 * grow with their number. */
#include "answers/compare.h"

#include <math.h>
#include <string.h>

#include "answers/rows.h"
#include "answers/tensors.h"

const struct dti_tensor *dti_compare_tensor(const struct dti_compare *compare,
                                            const struct dti_compare_result *result)
{
    return result->way == DTI_COMPARE_ONLY_B ? &compare->b->tensors[result->b]
                                             : &compare->a->tensors[result->a];
}

const char *dti_compare_reason(char buffer[DTI_COMPARE_REASON], const struct dti_compare *compare,
                               const struct dti_compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(compare, result);
    const char *const dtype = dti_tensor_dtype(tensor);
    char why[DTI_SCAN_WHY_SIZE], words[DTI_REMEDY_WORDS];
    enum dti_remedy remedy;
    switch (result->way) {
    case DTI_COMPARE_NUMBERS:
        buffer[0] = '\0';
        break;
    case DTI_COMPARE_BYTES:
        if (result->first_byte == UINT64_MAX)
            (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s, the same bytes", dtype);
        else
            (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s, bytes differ from byte %llu on",
                           dtype, (unsigned long long)result->first_byte);
        break;
    case DTI_COMPARE_NEVER:
        (void)dti_scan_comparable(tensor, &compare->b->tensors[result->b], why, &remedy);
        (void)snprintf(buffer, DTI_COMPARE_REASON, "%s", compare->words(words, remedy, why));
        break;
    case DTI_COMPARE_ONLY_A:
    case DTI_COMPARE_ONLY_B: {
        char shape[DTI_SHAPE_SIZE];
        (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s %s", dtype,
                       dti_shape_words(shape, tensor));
        break;
    }
    }
    return buffer;
}

struct pair_of {
    const struct dti_compare *compare;
    const struct dti_compare_result *result;
};

DTI_WORDS(way_words, "numbers", "bytes", "not_comparable", "only_in_a", "only_in_b")
DTI_WORDS(outcome_words, "equal", "within_tolerance", "unreadable", "different", "ignored")
DTI_WORDS(verdict_words, "equal", "within_tolerance", "unreadable", "different")

static enum dti_compare_outcome verdict_of(const struct dti_compare *compare)
{
    return compare->tensors[DTI_COMPARE_DIFFERS] > 0      ? DTI_COMPARE_DIFFERS
           : compare->tensors[DTI_COMPARE_UNREADABLE] > 0 ? DTI_COMPARE_UNREADABLE
           : compare->tensors[DTI_COMPARE_WITHIN] > 0     ? DTI_COMPARE_WITHIN
                                                          : DTI_COMPARE_EQUAL;
}

static size_t count_way(const struct dti_compare *compare, enum dti_compare_way way)
{
    size_t count = 0;
    for (size_t i = 0; i < compare->result_count; i++)
        count += compare->results[i].way == way;
    return count;
}

struct dti_compare dti_compare_of_one(const struct dti_compare *compare, size_t result)
{
    struct dti_compare one = *compare;
    one.results += result;
    one.result_count = 1;
    memset(one.tensors, 0, sizeof one.tensors);
    one.tensors[one.results->outcome] = 1;
    one.total = one.results->way == DTI_COMPARE_NUMBERS
                    ? one.results->figures
                    : (struct dti_compare_figures){.elements = 0};
    return one;
}

#define DTI_ROWS "answers/compare.def"
#include "answers/rows.h"
