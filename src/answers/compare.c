/* SPDX-License-Identifier: MIT
 *
 * A comparison in words, and as JSON. Tensors are written as they are built, so memory does not
 * grow with their number. */
#include "answers/compare.h"

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

/* What rows on a result name. */
struct pair_rows {
    const struct dti_compare_result *result;
    const struct dti_tensor *a, *b;  /* NULL for a side that lacks it */
    const char *reason;              /* NULL unless they cannot be compared */
    const struct pair_rows *figures; /* itself if numbers are compared, or NULL */
    bool differs;                    /* at first_byte */
    struct dti_place most, first_differing, first_unmatched;
    char room[DTI_COMPARE_REASON];
};

DTI_WORDS(way_words, "numbers", "bytes", "not_comparable", "only_in_a", "only_in_b")
DTI_WORDS(outcome_words, "equal", "within_tolerance", "unreadable", "different", "ignored")
DTI_WORDS(verdict_words, "equal", "within_tolerance", "unreadable", "different")

void dti_compare_count(struct dti_compare *compare)
{
    memset(compare->tensors, 0, sizeof compare->tensors);
    memset(compare->ways, 0, sizeof compare->ways);
    compare->outcome = DTI_COMPARE_EQUAL;
    for (size_t i = 0; i < compare->result_count; i++) {
        const enum dti_compare_outcome outcome = compare->results[i].outcome;
        compare->tensors[outcome]++;
        compare->ways[compare->results[i].way]++;
        if (outcome > compare->outcome && outcome != DTI_COMPARE_IGNORED)
            compare->outcome = outcome;
    }
}

struct dti_compare dti_compare_of_one(const struct dti_compare *compare, size_t result)
{
    struct dti_compare one = *compare;
    one.results += result;
    one.result_count = 1;
    dti_compare_count(&one);
    one.total = one.results->way == DTI_COMPARE_NUMBERS
                    ? one.results->figures
                    : (struct dti_compare_figures){.elements = 0};
    return one;
}

static void fill_pair(struct pair_rows *ret, const struct dti_compare *compare,
                      const struct dti_compare_result *result)
{
    const struct dti_compare_figures *const figures = &result->figures;
    ret->result = result;
    ret->a = result->way == DTI_COMPARE_ONLY_B ? NULL : &compare->a->tensors[result->a];
    ret->b = result->way == DTI_COMPARE_ONLY_A ? NULL : &compare->b->tensors[result->b];
    ret->reason =
        result->way == DTI_COMPARE_NEVER ? dti_compare_reason(ret->room, compare, result) : NULL;
    ret->differs = result->way == DTI_COMPARE_BYTES && result->first_byte != UINT64_MAX;
    ret->figures = result->way == DTI_COMPARE_NUMBERS ? ret : NULL;
    if (ret->figures) {
        ret->most = dti_place_of(ret->a, figures->max_index);
        ret->first_differing = dti_place_of(ret->a, figures->first_differing);
        ret->first_unmatched = dti_place_of(ret->a, figures->first_unmatched);
    }
}

static void put_warnings(struct dti_json *json, const struct dti_compare *compare)
{
    for (size_t i = 0; i < compare->note_count; i++)
        dti_put_warning(json, NULL,
                        &(struct dti_warning_answer){"dtype_name", NULL, compare->notes[i], 0});
    dti_put_logical_warnings(json, compare->a, compare->words);
    dti_put_logical_warnings(json, compare->b, compare->words);
}

static void put_pairs(struct dti_json *json, const struct dti_compare *compare);

#define DTI_ROWS "answers/compare.def"
#include "answers/rows.h"

static void put_pairs(struct dti_json *json, const struct dti_compare *compare)
{
    dti_json_stream(json, compare->out);
    for (size_t i = 0; i < compare->result_count && !compare->unlisted; i++) {
        struct pair_rows pair;
        fill_pair(&pair, compare, &compare->results[i]);
        dti_put_compared_pair(json, NULL, &pair);
    }
}
